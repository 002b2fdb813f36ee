import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sweep, SWEEP_START } from '../../src/server/background/sweep.ts'
import { verifyAudit } from '../../src/admin/audit/verify.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import { eventsOf, listLinks } from '../store/contract/chains.ts'
import { HOUR, NOW } from '../support/records.ts'
import { registerClient } from '../../tools/flow.ts'
import { openTestServer, type TestServer } from '../support/server.ts'
import { openSteadyClock } from '../support/clocks.ts'

const eventNames = async ({ context }: TestServer): Promise<readonly string[]> =>
  eventsOf(await listLinks(context.store, 0 as EpochMs)).map(({ event }) => event)

test('the audit is kept for the configured time, in whole hours, and swept links are not reported as missing', async (t) => {
  const options = { clock: openSteadyClock(), env: { GRANTOR_AUDIT_RETENTION: '7200' } }
  const first = await openTestServer(t, options)
  await registerClient(first)
  first.clock.advance(HOUR / 2)
  // Ends its chain, and is followed by another that names it.
  const server = await first.reopen()
  await registerClient(server)
  server.clock.advance(HOUR)
  const last = await server.reopen()
  await registerClient(last)
  const before = await eventNames(last)
  assert.equal(before.filter((word) => word === 'client.registered').length, 3)
  assert.ok(before.includes('audit.head'))

  last.clock.advance(HOUR + HOUR / 4)
  assert.equal((await sweep(last.context, SWEEP_START)).auditLinks, 0)
  last.clock.advance(HOUR / 2)
  assert.ok((await sweep(last.context, SWEEP_START)).auditLinks >= 2)
  const links = await listLinks(last.context.store, 0 as EpochMs)
  assert.ok(links.every(({ recordedAt }) => recordedAt >= NOW + HOUR))
  const [swept] = links
  assert.deepEqual(eventsOf(swept === undefined ? [] : [swept])[0]?.details?.['before'], NOW + HOUR)
  assert.deepEqual((await verifyAudit(last.context, [])).faults, [])
})

test('links that are swept during a verification are not reported as missing', async (t) => {
  const options = { clock: openSteadyClock(), env: { GRANTOR_AUDIT_RETENTION: '7200' } }
  const first = await openTestServer(t, options)
  // More than one read takes.
  for (let link = 0; link < 300; link += 1) await first.context.store.recordEvent({ event: 'sign-in.failed' })
  const server = await first.reopen()
  server.clock.advance(3 * HOUR)
  await registerClient(server)
  const { store, secrets } = server.context
  let reads = 0
  const busy: Pick<typeof store, 'listAuditLinks'> = {
    async listAuditLinks(page) {
      const links = await store.listAuditLinks(page)
      if (reads === 0) while ((await sweep(server.context, SWEEP_START)).auditLinks > 0);
      reads += 1
      return links
    },
  }
  assert.deepEqual((await verifyAudit({ store: busy, secrets }, [])).faults, [])
})

test('with a retention of 0 the audit is never removed', async (t) => {
  const server = await openTestServer(t, { clock: openSteadyClock(), env: { GRANTOR_AUDIT_RETENTION: '0' } })
  await registerClient(server)
  const before = await eventNames(server)
  server.clock.advance(10_000 * 24 * HOUR)
  assert.equal((await sweep(server.context, SWEEP_START)).auditLinks, 0)
  assert.deepEqual(await eventNames(server), before)
})
