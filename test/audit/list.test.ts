import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { requireTask } from '../../src/admin/tasks.ts'
import { AdminError } from '../../src/admin/admin-error.ts'
import { readInput } from '../../src/admin/run-task.ts'
import { listAudit, type AuditEntry, type AuditFilter } from '../../src/admin/audit/list.ts'
import type { AuditEvent } from '../../src/ports/records/audit.ts'
import type { StoreDriver } from '../../src/ports/store.ts'
import type { AuditEventName } from '../../src/protocol/audit/event-names.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import type { ClientId, OrganizationId, UserId } from '../../src/protocol/ids.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { openTestChains, startNewChains } from '../store/contract/chains.ts'
import { temporaryFolder } from '../support/server.ts'

const [ada, app] = ['ada' as UserId, 'app' as ClientId]
const acme = 'acme' as OrganizationId
/** Three links of several events each. */
const LINKS: readonly (readonly AuditEvent[])[] = [
  [
    { event: 'client.registered', clientId: app },
    { event: 'user.created', userId: ada, requestId: 'r-1' },
    { event: 'key.added' },
  ],
  [
    { event: 'client.verified', clientId: app, actor: 'command-line' },
    { event: 'audit.head' },
    // A family that begins as another does.
    { event: 'clients.other' as AuditEventName },
  ],
  [
    { event: 'authorization.approved', clientId: app, userId: ada, organizationId: acme, details: { n: 1 } },
    { event: 'organization.created', organizationId: acme },
  ],
]
/** What is listed when nothing is asked for. */
const NEWEST_FIRST = LINKS.flat()
  .filter(({ event }) => event !== 'audit.head')
  .toReversed()

test('the audit is listed newest first, in pages that may end in the middle of a link', async (t) => {
  const { store } = await openStoreWithChains(t)
  for (const limit of [1, 2, 3, 5, 100]) {
    const seen: AuditEntry[] = []
    let before: string | undefined
    do {
      const { rows, next } = await listAudit({ store }, { before, limit })
      assert.ok(rows.length <= limit)
      seen.push(...rows)
      before = next ?? undefined
    } while (before !== undefined)
    assert.deepEqual(seen.map(withoutPlace), NEWEST_FIRST, `limit ${limit}`)
    assert.equal(new Set(seen.map(({ id }) => id)).size, seen.length)
  }
})

const FILTERS: readonly (readonly [AuditFilter, readonly string[]])[] = [
  [{ event: 'client.' }, ['client.verified', 'client.registered']],
  [{ event: 'client' }, []],
  [{ event: 'audit.' }, ['audit.head']],
  [{ event: 'audit.head' }, ['audit.head']],
  [{ event: 'key.added' }, ['key.added']],
  [{ clientId: app }, ['authorization.approved', 'client.verified', 'client.registered']],
  [{ userId: ada }, ['authorization.approved', 'user.created']],
  [{ organizationId: acme }, ['organization.created', 'authorization.approved']],
  [{ clientId: app, userId: ada }, ['authorization.approved']],
  [{ userId: 'nobody' as UserId }, []],
  [{ requestId: 'r-1' }, ['user.created']],
]
for (const [filter, words] of FILTERS) {
  test(`the audit is filtered by ${JSON.stringify(filter)}`, async (t) => {
    const { store } = await openStoreWithChains(t)
    const { rows, next } = await listAudit({ store }, { before: undefined, limit: 100, ...filter })
    assert.deepEqual([rows.map(({ event }) => event), next], [words, null])
  })
}

test('the audit is listed from a given time on', async (t) => {
  const { store, lastHour } = await openStoreWithChains(t)
  const { rows } = await listAudit({ store }, { before: undefined, limit: 100, since: lastHour })
  assert.deepEqual(rows.map(withoutPlace), LINKS[2]?.toReversed())
  for (const { recordedAt } of rows) assert.equal(recordedAt, lastHour)
})

test('a filter without matches reads a limited number of links, and the page ends with a cursor', async () => {
  const link = (index: number) => ({
    id: `${(1e12 - index).toString(16).padStart(12, '0')}${'0'.repeat(8)}${'A'.repeat(14)}`,
    chainId: 'A'.repeat(34),
    sequence: 0,
    recordedAt: 0 as EpochMs,
    previousHash: '',
    events: '[{"event":"client.registered"}]',
    hash: '',
  })
  let read = 0
  const store = {
    async findListEnd({ size }: { readonly size: number }) {
      read += size
      return link(read).id
    },
    async listAuditLinks({ limit }: { readonly limit: number }) {
      return Array.from({ length: limit }, (_, index) => link(read - limit + 1 + index))
    },
  }
  for (const [limit, most] of [
    [10, 2500],
    [50, 10_000],
    [1000, 20_000],
  ] as const) {
    read = 0
    const { rows, next } = await listAudit({ store }, { before: undefined, limit, event: 'user.created' })
    assert.deepEqual([rows, next, read], [[], `${link(most).id}-0`, most])
  }
})

test('an invalid cursor of the audit, an invalid limit, and an end before the start are rejected', async (t) => {
  const { store } = await openStoreWithChains(t)
  for (const before of ['', 'x', "' or 1=1 --", '0'.repeat(34), `${'0'.repeat(34)}--1`, `${'~'.repeat(34)}-0`])
    assert.equal(readInput(requireTask('audit.list'), { before }).kind, 'invalid', before)
  for (const limit of [0, 1001, 1.5]) assert.equal(readInput(requireTask('audit.list'), { limit }).kind, 'invalid')
  for (const until of [1, 2] as EpochMs[])
    await assert.rejects(listAudit({ store }, { before: undefined, limit: 1, since: 2 as EpochMs, until }), AdminError)
})

async function openStoreWithChains(
  t: TestContext,
): Promise<{ readonly store: StoreDriver; readonly lastHour: EpochMs }> {
  const path = join(temporaryFolder(t), 'grantor.db')
  const store = openSqliteStore({ path, patienceMs: 1000, checkpoints: 'inline', audit: openTestChains() })
  t.after(() => store.close())
  let lastHour = 0 as EpochMs
  for (const events of LINKS) {
    lastHour = startNewChains()
    await store.commit(events.map((input) => ({ name: 'recordEvent', input }) as const))
  }
  return { store, lastHour }
}

function withoutPlace(entry: AuditEntry): AuditEvent {
  const event: Partial<AuditEntry> = { ...entry }
  delete (event as { id?: string }).id
  delete (event as { recordedAt?: number }).recordedAt
  return event as AuditEvent
}
