import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { listAudit } from '../../src/admin/audit/list.ts'
import { verifyAudit } from '../../src/admin/audit/verify.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { AUDIT_SECRETS, openTestChains } from '../store/contract/chains.ts'
import { openAdminServer } from '../support/admin-server.ts'
import { temporaryFolder } from '../support/server.ts'

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
  const stage = await openAdminServer(t)
  const { token } = await stage.issue('read')
  const verify = async () => (await stage.performByName('audit.verify', {}, token)).statusCode
  assert.deepEqual(await Promise.all([verify(), verify(), verify()]), [200, 409, 409])
  assert.equal(await verify(), 200)
})
