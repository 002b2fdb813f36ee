import assert from 'node:assert/strict'
import { verifyAudit } from '../../../../src/admin/audit/verify.ts'
import type { Operation } from '../../../../src/ports/operations/index.ts'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import type { EpochMs } from '../../../../src/base/brand.ts'
import { approved } from '../token/authorizations.ts'
import { AUDIT_SECRETS, eventsOf, listLinks, startNewChains } from '../chains.ts'
import { kindsOf, outcomesOf, perform, performAll, tally, times, type Suite } from '../harness.ts'
import { aClient, aHash, aRedemption, aRotation, at, aUser, NOW } from '../../../support/records.ts'
import { aLiveGrant } from '../token/tokens.ts'

export const auditCases: Suite = (check) => {
  check(
    'a batch records its relevant operations with their actors in the audit, and nothing else',
    async ({ first, second }) => {
      const since = startNewChains()
      const client = aClient()
      outcomesOf(
        await first.commit([
          { name: 'registerClient', input: client },
          { name: 'countHit', input: { bucket: aHash(), now: NOW, windowMs: 1000, by: 1 } },
          { name: 'verifyClient', input: { id: client.id, now: NOW }, by: 'command-line' },
          { name: 'recordEvent', input: { event: 'sign-in.failed', clientId: client.id } },
          { name: 'disableClient', input: { id: aClient().id, now: NOW }, by: 'command-line' },
        ]),
      )
      const events = eventsOf(await listLinks(second, since))
      assert.deepEqual(
        new Set(events),
        new Set([
          { event: 'client.registered', clientId: client.id },
          { event: 'sign-in.failed', clientId: client.id },
          { event: 'client.verified', clientId: client.id, actor: 'command-line' },
        ]),
      )
      assert.equal(events.length, 3)
      await assertWhole(second, since)
    },
  )

  check('a batch without audit events adds no link', async ({ first }) => {
    const since = startNewChains()
    outcomesOf(
      await first.commit([
        { name: 'useClient', input: { id: aClient().id, now: NOW } },
        { name: 'deleteClient', input: aClient().id },
        { name: 'countHit', input: { bucket: aHash(), now: NOW, windowMs: 1000, by: 1 } },
      ]),
    )
    assert.deepEqual(await listLinks(first, since), [])
  })

  check('the operations of one batch on one row are recorded in their order', async ({ first }) => {
    const since = startNewChains()
    const { id, ...rest } = aClient()
    const operations: Operation[] = [
      { name: 'registerClient', input: { id, ...rest } },
      { name: 'disableClient', input: { id, now: NOW } },
      { name: 'enableClient', input: id },
      { name: 'deleteClient', input: id },
    ]
    outcomesOf(await first.commit(operations))
    const words = eventsOf(await listLinks(first, since)).map(({ event }) => event)
    assert.deepEqual(words, ['client.registered', 'client.disabled', 'client.enabled', 'client.deleted'])
    await assertWhole(first, since)
  })

  check(
    'an operation that fails leaves nothing in the audit, and its neighbours, which are retried alone, are recorded once',
    async ({ first }) => {
      const existing = aClient()
      await perform(first, 'registerClient', existing)
      const since = startNewChains()
      const [before, after] = [aClient(), aClient()]
      const results = await first.commit(
        [before, existing, after].map((input) => ({ name: 'registerClient', input }) as const),
      )
      assert.deepEqual(kindsOf(results), ['done', 'failed', 'done'])
      const recorded = eventsOf(await listLinks(first, since)).map(({ clientId }) => clientId)
      assert.deepEqual(new Set(recorded), new Set([before.id, after.id]))
      assert.equal(recorded.length, 2)
      await assertWhole(first, since)
      const next = aUser()
      await perform(first, 'createUser', next)
      await assertWhole(first, since)
    },
  )

  check(
    'concurrent batches through both handles are each recorded once, in chains without a gap',
    async ({ first, second }) => {
      const since = startNewChains()
      const batches = times(24, () => times(5, () => aClient()))
      await Promise.all(
        batches.map(async (clients, index) =>
          outcomesOf(
            await (index % 2 === 0 ? first : second).commit(
              clients.map((input) => ({ name: 'registerClient', input }) as const),
            ),
          ),
        ),
      )
      const links = await listLinks(first, since)
      assert.equal(links.length, batches.length)
      const recorded = eventsOf(links).map(({ clientId }) => clientId)
      assert.deepEqual(new Set(recorded), new Set(batches.flat().map(({ id }) => id)))
      assert.equal(recorded.length, 24 * 5)
      assert.ok(new Set(links.map(({ chainId }) => chainId)).size >= 2)
      await assertWhole(second, since)
    },
  )

  check('of codes and refresh tokens in one batch the audit records only replays and reuse', async ({ first }) => {
    const [copied, live] = [await aLiveGrant(first), await aLiveGrant(first)]
    const [spent, fresh] = [
      aRedemption((await approved(first)).approval),
      aRedemption((await approved(first)).approval),
    ]
    await perform(first, 'redeemCode', spent)
    const since = startNewChains()
    const rotations = [aRotation(live), aRotation(copied, { presentedHash: aHash() })]
    assert.deepEqual(tally(await performAll(first, 'rotateRefreshToken', rotations)), { rotated: 1, reused: 1 })
    const redemptions = [fresh, spent]
    assert.deepEqual(await performAll(first, 'redeemCode', redemptions), ['redeemed', 'replayed'])
    const events = eventsOf(await listLinks(first, since))
    assert.deepEqual(
      new Set(events.map(({ event, grantId }) => `${event} ${grantId ?? ''}`)),
      new Set([`refresh-token.reused ${copied.id}`, 'code.replayed ']),
    )
    assert.equal(events.length, 2)
    await assertWhole(first, since)
  })

  check('a new hour starts new chains', async ({ first }) => {
    const since = startNewChains()
    await perform(first, 'registerClient', aClient())
    await perform(first, 'registerClient', aClient())
    const later = startNewChains()
    await perform(first, 'registerClient', aClient())
    const [newest, ...older] = await listLinks(first, since)
    assert.equal(newest?.sequence, 0)
    assert.deepEqual(
      older.map(({ sequence }) => sequence),
      [1, 0],
    )
    assert.deepEqual(await listLinks(first, later), [newest])
    await assertWhole(first, since)
  })

  check(
    'audit links are listed in pages, newest first; the heads are the last link of each chain',
    async ({ first, second }) => {
      const since = startNewChains()
      for (const store of [first, second, first, second, first]) await perform(store, 'registerClient', aClient())
      const all = await listLinks(first, since)
      const page = await first.listAuditLinks({ before: all[1]?.id, limit: 2, since })
      assert.deepEqual(page, all.slice(2, 4))
      const end = await second.findListEnd({ list: 'audit', before: all[0]?.id, size: 2 })
      assert.equal(end, all[2]?.id)
      const search = { before: undefined, limit: 9, since, from: end ?? '' }
      assert.deepEqual(await second.listAuditLinks(search), all.slice(0, 3))
      const [{ clientId: sought = '' } = {}] = eventsOf(all.slice(1, 2))
      assert.deepEqual(await second.listAuditLinks({ ...search, containing: sought }), all.slice(1, 2))
      assert.deepEqual(await second.listAuditLinks({ ...search, containing: '%' }), [])
      const heads = await second.listAuditHeads({ since, limit: 10 })
      assert.deepEqual(new Set(heads.map(({ sequence }) => sequence)), new Set([1, 2]))
      for (const head of heads) assert.ok(all.some(({ id, hash }) => id === head.id && hash === head.hash))
      assert.equal((await first.listAuditHeads({ since, limit: 1 })).length, 1)
      assert.deepEqual(await first.listAuditHeads({ since: startNewChains(), limit: 10 }), [])
      for (const { chainId, sequence } of heads) {
        const ofChain = all.filter((link) => link.chainId === chainId).toReversed()
        assert.deepEqual(await first.listChainLinks({ chainId, from: 0, limit: 10 }), ofChain)
        assert.deepEqual(await first.listChainLinks({ chainId, from: 1, limit: 1 }), ofChain.slice(1, 2))
        assert.deepEqual(await second.listChainLinks({ chainId, from: sequence + 1, limit: 10 }), [])
      }
    },
  )

  check(
    'a sweep of the audit is recorded in the audit, and verification does not report the swept links as missing',
    async ({ first }) => {
      const since = startNewChains()
      for (const client of times(3, () => aClient())) await perform(first, 'registerClient', client)
      const [last] = await listLinks(first, since)
      const head = { chain: last?.chainId, sequence: last?.sequence ?? -1, hash: last?.hash, recorded_at: since }
      const later = startNewChains()
      await perform(first, 'recordEvent', { event: 'audit.head', details: head as Record<string, string | number> })
      const sweep = {
        now: later,
        revocationsBefore: 0 as EpochMs,
        unusedSince: 0 as EpochMs,
        authorizationsBefore: 0 as EpochMs,
        grantsBefore: 0 as EpochMs,
        evidenceBefore: 0 as EpochMs,
        initialTokensBefore: 0 as EpochMs,
        logoutNoticesBefore: 0 as EpochMs,
        unusedClients: 1000,
        evictedBefore: 0 as EpochMs,
        figuresBefore: { '5m': 0 as EpochMs, '1h': 0 as EpochMs, '1d': 0 as EpochMs },
        figuresLeftBefore: 0 as EpochMs,
        authorizationsAfter: '',
        grantsAfter: '',
        consentsAfter: '',
        removedTo: {},
      } as const
      assert.ok((await perform(first, 'sweepExpired', { ...sweep, limit: 1000, auditBefore: later })).auditLinks >= 3)
      assert.equal((await listLinks(first, since)).length, 2)
      assert.deepEqual(
        eventsOf(await listLinks(first, since)).map(({ event }) => event),
        ['audit.head', 'audit.swept'],
      )
      await assertWhole(first, since)
      assert.equal((await perform(first, 'sweepExpired', { ...sweep, limit: 1000, auditBefore: later })).auditLinks, 0)
      assert.equal((await listLinks(first, since)).length, 2)
      assert.ok(at(0) < later)
    },
  )
}

/** Asserts that verification finds no fault in any chain that started at or after `since`. */
async function assertWhole(store: StoreDriver, since: EpochMs): Promise<void> {
  const recent = {
    listAuditLinks: (page: Parameters<StoreDriver['listAuditLinks']>[0]) => store.listAuditLinks({ ...page, since }),
  }
  const { faults } = await verifyAudit({ store: recent, secrets: AUDIT_SECRETS }, [])
  assert.deepEqual(faults, [])
}
