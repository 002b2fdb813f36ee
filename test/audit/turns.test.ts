import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { listAudit } from '../../src/admin/audit/list.ts'
import { verifyAudit } from '../../src/admin/audit/verify.ts'
import type { Context } from '../../src/ports/context.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { AUDIT_SECRETS, openTestChains } from '../store/contract/chains.ts'
import { openTestServer, temporaryFolder } from '../support/server.ts'
import { perform } from '../support/tasks.ts'

const LINKS = 1000
const SLICE = 200

test('audit: reading the whole audit on SQLite yields to other requests after each slice', async (t) => {
  const path = join(temporaryFolder(t), 'grantor.db')
  const store = openSqliteStore({ path, patienceMs: 1000, checkpoints: 'inline', audit: openTestChains() })
  t.after(() => store.close())
  for (let link = 0; link < LINKS; link += 1)
    await store.commit([{ name: 'recordEvent', input: { event: 'sign-in.failed' } }])
  const verifying = () => verifyAudit({ store, secrets: AUDIT_SECRETS }, [])
  const listing = () => listAudit({ store }, { before: undefined, limit: 10, event: 'nothing' })
  for (const read of [verifying, listing]) {
    let turns = 0
    let turn = setImmediate(function count() {
      turns += 1
      turn = setImmediate(count)
    })
    await read()
    clearImmediate(turn)
    assert.ok(turns >= LINKS / SLICE, `${read.name}: ${turns}`)
  }
})

test('audit: one verification runs at a time, and another caller gets no result of an earlier one', async (t) => {
  const { context } = await openTestServer(t)
  const begun = Promise.withResolvers<void>()
  const mayRead = Promise.withResolvers<void>()
  const actingAs: Context['actingAs'] = (...administrator) => {
    const store = context.actingAs(...administrator)
    return {
      ...store,
      listAuditLinks: async (page) => {
        begun.resolve()
        await mayRead.promise
        return store.listAuditLinks(page)
      },
    }
  }
  const verify = () => perform({ ...context, actingAs }, 'audit.verify', {})
  const first = verify()
  await begun.promise
  for (const _ of ['second', 'third']) await assert.rejects(verify, { kind: 'conflict' })
  mayRead.resolve()
  assert.deepEqual((await first)['faults'], [])
  await verify()
})
