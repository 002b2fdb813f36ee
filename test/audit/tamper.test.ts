import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { verifyAudit, type AuditFault } from '../../src/admin/audit/verify.ts'
import { NOW } from '../support/records.ts'
import { createAda } from '../support/accounts.ts'
import { obtainTokens, refresh, registerClient } from '../../tools/flow.ts'
import { openTestServer, STRICT, type TestServer } from '../support/server.ts'
import { databasePath } from '../support/store/dump.ts'
import { openSteadyClock } from '../support/clocks.ts'

const COLUMNS = ['link_id', 'chain_id', 'sequence', 'recorded_at', 'previous_hash', 'events', 'link_hash'] as const

type LinkRow = Readonly<Record<(typeof COLUMNS)[number], string | number>>

test('audit: one changed byte in any column of any row is found, with its row', async (t) => {
  const audited = await openAuditedServer(t)
  for (const row of audited.rows) {
    for (const column of COLUMNS) {
      const id = audited.change(row, column, oneByteOff(row[column]))
      const faults = await audited.verify()
      const named = faults.filter(({ kind, link }) => kind === 'changed' && link === id)
      assert.equal(named.length, 1, `${column} of ${String(row.link_id)}: ${JSON.stringify(faults)}`)
      audited.restore()
    }
  }
  assert.deepEqual(await audited.verify(), [])
})

test('audit: a change of any byte of the events of a link is found', async (t) => {
  const audited = await openAuditedServer(t)
  const row = audited.rows.find(({ events }) => String(events).includes('refresh-token.reused'))
  assert.ok(row)
  const events = String(row.events)
  for (let place = 0; place < events.length; place += 1) {
    audited.change(row, 'events', events.slice(0, place) + oneByteOff(events[place] ?? '') + events.slice(place + 1))
    assert.deepEqual(
      (await audited.verify()).map(({ kind, link }) => [kind, link]),
      [['changed', row.link_id]],
    )
    audited.restore()
  }
})

test('audit: a removed row is found at the start, in the middle and at the end of a chain', async (t) => {
  const audited = await openAuditedServer(t)
  for (const row of audited.rows.filter(({ chain_id }) => chain_id !== audited.lastChain)) {
    audited.remove('link_id = ?', row.link_id)
    const faults = await audited.verify()
    const missed = faults.filter(
      ({ chain, sequence, through }) =>
        chain === row.chain_id && sequence <= Number(row.sequence) && Number(row.sequence) <= through,
    )
    assert.equal(missed.length, 1, JSON.stringify(faults))
    assert.equal(missed[0]?.link, undefined)
    audited.restore()
  }
})

test('audit: a removed or truncated chain is found, because other chains recorded its head', async (t) => {
  const audited = await openAuditedServer(t)
  const chains = new Set(audited.rows.map(({ chain_id }) => chain_id))
  assert.equal(chains.size, 3)
  for (const chain of chains) {
    if (chain === audited.lastChain) continue
    audited.remove('chain_id = ?', chain)
    assert.deepEqual(
      (await audited.verify()).map((fault) => [fault.kind, fault.chain]),
      [['chain-missing', chain]],
    )
    audited.restore()
    audited.remove('chain_id = ? and sequence >= 1', chain)
    assert.deepEqual(
      (await audited.verify()).map((fault) => [fault.kind, fault.chain]),
      [['cut-off', chain]],
    )
    audited.restore()
  }
})

test('audit: truncating the newest chain is detected with its head from the log', async (t) => {
  const audited = await openAuditedServer(t)
  const chain = String(audited.lastChain)
  const sequence = Math.max(...audited.rows.flatMap((row) => (row.chain_id === chain ? [Number(row.sequence)] : [])))
  assert.match(audited.log(), new RegExp(`"event":"audit.head","chain":"${chain}","sequence":${sequence},"hash":"`))
  const known = [{ chain, sequence, recordedAt: undefined }]
  assert.deepEqual(await audited.verify(known), [])
  audited.remove('chain_id = ? and sequence = ?', chain, sequence)
  assert.deepEqual(await audited.verify(), [])
  assert.deepEqual(
    (await audited.verify(known)).map(({ kind }) => kind),
    ['cut-off'],
  )
  audited.remove('chain_id = ?', chain)
  assert.deepEqual(
    (await audited.verify(known)).map(({ kind }) => kind),
    ['chain-missing'],
  )
})

test('audit: without the root secret, no link that verifies can be written', async (t) => {
  const audited = await openAuditedServer(t)
  const row = audited.rows.at(-1)
  assert.ok(row)
  // With another root secret the digests are others.
  const other = await openTestServer(t, { env: { GRANTOR_SECRET: 'another root secret of 32 characters' } })
  const report = await verifyAudit({ store: audited.server.context.store, secrets: other.context.secrets }, [])
  assert.equal(report.faults.filter(({ kind }) => kind === 'changed').length, audited.rows.length)
})

test('audit: a change of every row is found, and at most a thousand faults are reported', async (t) => {
  const { context } = await openTestServer(t)
  const link = (index: number) => ({
    id: `${(1e12 - index).toString(16).padStart(12, '0')}${'0'.repeat(8)}${'A'.repeat(14)}`,
    chainId: `${index}`,
    sequence: 0,
    recordedAt: NOW,
    previousHash: '',
    events: '[]',
    hash: '',
  })
  const links = Array.from({ length: 3000 }, (_, index) => link(index))
  const store: Pick<TestServer['context']['store'], 'listAuditLinks'> = {
    async listAuditLinks({ before, limit }) {
      return links.filter(({ id }) => before === undefined || id < before).slice(0, limit)
    },
  }
  const report = await verifyAudit({ store, secrets: context.secrets }, [])
  assert.deepEqual([report.links, report.faults.length], [3000, 1000])
})

interface AuditedServer {
  readonly server: TestServer
  /** Oldest first. */
  readonly rows: readonly LinkRow[]
  /** The chain whose end no other chain has recorded. */
  readonly lastChain: string | number | undefined
  readonly log: () => string
  readonly verify: (known?: Parameters<typeof verifyAudit>[1]) => Promise<readonly AuditFault[]>
  /** Returns the new id of the row. */
  readonly change: (row: LinkRow, column: (typeof COLUMNS)[number], value: string | number) => string
  readonly remove: (where: string, ...values: (string | number)[]) => void
  readonly restore: () => void
}

/** Three processes, one after the other, with whole flows; each names what it finds of the others when it ends. */
async function openAuditedServer(t: TestContext): Promise<AuditedServer> {
  const first = await openTestServer(t, { clock: openSteadyClock(), env: STRICT })
  await createAda(first)
  const client = await registerClient(first)
  const tokens = await obtainTokens(first, client)
  await refresh(first, client, tokens.refresh_token ?? '')
  first.clock.advance(60_000)
  await refresh(first, client, tokens.refresh_token ?? '')
  const second = await first.reopen()
  second.clock.advance(1000)
  await registerClient(second)
  await registerClient(second)
  const third = await second.reopen()
  third.clock.advance(1000)
  await registerClient(third)
  const server = await third.reopen()
  const database = new DatabaseSync(databasePath(server), { timeout: 5000 })
  // What this test breaks need not outlive the machine.
  database.exec('pragma synchronous = off')
  t.after(() => database.close())
  const rows = database.prepare('select * from audit_links order by link_id').all() as unknown as readonly LinkRow[]
  const insert = database.prepare(
    `insert into audit_links (${COLUMNS.join(', ')}) values (${COLUMNS.map(() => '?').join(', ')})`,
  )
  assert.deepEqual((await verifyAudit(server.context, [])).faults, [])
  assert.ok(rows.length >= 8)
  return {
    server,
    rows,
    lastChain: rows.at(-1)?.chain_id,
    log: third.log,
    verify: async (known = []) => (await verifyAudit(server.context, known)).faults,
    change(row, column, value) {
      const { changes } = database
        .prepare(`update audit_links set ${column} = ? where link_id = ?`)
        .run(value, row.link_id)
      assert.equal(changes, 1)
      return String(column === 'link_id' ? value : row.link_id)
    },
    remove: (where, ...values) => void database.prepare(`delete from audit_links where ${where}`).run(...values),
    restore() {
      database.exec('begin immediate; delete from audit_links')
      for (const row of rows) insert.run(...COLUMNS.map((column) => row[column]))
      database.exec('commit')
    },
  }
}

function oneByteOff(value: string | number): string | number {
  if (typeof value === 'number') return value + 1
  if (value === '') return 'x'
  const middle = Math.floor(value.length / 2)
  return value.slice(0, middle) + (value[middle] === 'a' ? 'b' : 'a') + value.slice(middle + 1)
}
