import assert from 'node:assert/strict'
import { NEVER_REVOKED } from '../never-revoked.ts'
import { coversAll } from '../../../../src/endpoints/sign-in/changing-session.ts'
import type { AuthorizationId } from '../../../../src/protocol/ids.ts'
import type { GrantSlice, Sweep, Swept, SweptSlice } from '../../../../src/ports/operations/server.ts'
import type { GrantRecord } from '../../../../src/ports/records/grant.ts'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import type { EpochMs } from '../../../../src/base/brand.ts'
import type { Scope } from '../../../../src/protocol/token/scope.ts'
import { approved } from '../token/authorizations.ts'
import { perform, performAll, startSessions, times, type Suite } from '../harness.ts'
import { anEmailCode } from '../user/email-codes.ts'
import {
  aClient,
  aFamily,
  aGrant,
  aHash,
  anApproval,
  anAuthorization,
  anInstallation,
  anInteraction,
  aLink,
  aRedemption,
  aRotation,
  aSession,
  aSessionStart,
  aUser,
  at,
  HOUR,
  NOW,
} from '../../../support/records.ts'

const EVER = 0 as EpochMs

const NOTHING: Swept = {
  authorizationsAfter: '',
  authorizationsExamined: 0,
  removedTo: {},
  clients: 0,
  authorizations: 0,
  sessions: 0,
  links: 0,
  emailCodes: 0,
  groupMembers: 0,
  interactions: 0,
  pushedRequests: 0,
  devices: 0,
  identityProofs: 0,
  hits: 0,
  revokedTokens: 0,
  opaqueTokens: 0,
  consumed: 0,
  initialTokens: 0,
  mails: 0,
  logoutNotices: 0,
  logoutNoticesEnded: 0,
  registrationCounts: 0,
  auditLinks: 0,
  figures: 0,
}

export const sweepCases: Suite = (check) => {
  check('sweepExpired of an empty store removes nothing', async ({ first }) => {
    assert.deepEqual(await perform(first, 'sweepExpired', aSweep()), NOTHING)
  })

  check(
    'REG-20: only clients that are old, never got a token and are not being authorized are removed',
    async ({ first }) => {
      const old = at(-25 * HOUR)
      const [unused, used, held, heldBefore, young] = [
        aClient({}, old),
        aClient({}, old),
        aClient({}, old),
        aClient({}, old),
        aClient({}, at(-HOUR)),
      ]
      await performAll(first, 'registerClient', [unused, used, held, heldBefore, young])
      await perform(first, 'useClient', { id: used.id, now: old })
      await perform(first, 'extendRetention', { id: held.id, until: at(HOUR) })
      await perform(first, 'extendRetention', { id: held.id, until: at(-HOUR) }) // A shorter hold never shortens.
      await perform(first, 'extendRetention', { id: heldBefore.id, until: at(-1) })
      assert.equal((await perform(first, 'sweepExpired', aSweep({ unusedSince: at(-24 * HOUR) }))).clients, 2)
      const left = await first.listClients({ before: undefined, limit: 10 })
      assert.deepEqual(new Set(left.map(({ id }) => id)), new Set([used.id, held.id, young.id]))
    },
  )

  check('a swept client’s installations are removed with it', async ({ first, second }) => {
    const [gone, kept] = [aClient({}, at(-25 * HOUR)), aClient({}, at(-HOUR))]
    await performAll(first, 'registerClient', [gone, kept])
    const installations = [gone, kept].map(({ id }) => anInstallation({ clientId: id }))
    await performAll(first, 'install', installations)
    await Promise.all(installations.map(first.findInstallation))
    assert.equal((await perform(first, 'sweepExpired', aSweep({ unusedSince: at(-24 * HOUR) }))).clients, 1)
    assert.deepEqual(await Promise.all(installations.map(first.findInstallation)), [undefined, installations[1]])
    assert.deepEqual(await Promise.all(installations.map(second.findInstallation)), [undefined, installations[1]])
  })

  check('consents to deleted clients are removed, slice by slice, and no others', async ({ first }) => {
    const clients = times(2, () => aClient())
    await performAll(first, 'registerClient', clients)
    const [gone, kept] = clients.map(({ id }) => id)
    assert.ok(gone && kept)
    const users = times(4, () => aUser().id)
    const consents = users.flatMap((userId) => [gone, kept].map((clientId) => ({ userId, clientId })))
    for (const consent of consents) {
      for (const redirectHost of ['app.example', 'other.example']) {
        const key = {
          ...consent,
          organizationId: undefined,
          redirectHost,
          resources: '',
          since: EVER,
          under: NEVER_REVOKED,
        }
        await approved(first, { userId: consent.userId, remember: { ...key, scope: 'read' as Scope } })
      }
    }
    const known = () =>
      Promise.all(
        consents.map((key) =>
          first.hasConsented({ ...key, redirectHost: 'other.example', since: EVER, under: NEVER_REVOKED }),
        ),
      )
    assert.deepEqual(await sweepConsents(first, 3), { slices: 5, consents: 0 })
    await perform(first, 'deleteClient', gone)
    assert.deepEqual(await known(), Array(consents.length).fill(true))
    assert.equal((await sweepConsents(first, 3)).consents, users.length * 2)
    assert.deepEqual(
      await known(),
      consents.map(({ clientId }) => clientId === kept),
    )
    assert.deepEqual(await sweepConsents(first, 100), { slices: 1, consents: 0 })
  })

  check('STO-04: redeemed authorizations are kept as evidence until they are old enough', async ({ first }) => {
    const [old, young] = [anAuthorization({}, at(-25 * HOUR)), anAuthorization({}, at(-23 * HOUR))]
    await performAll(first, 'startAuthorization', [old, young])
    const sweep = aSweep({ evidenceBefore: at(-24 * HOUR) })
    assert.partialDeepStrictEqual(await perform(first, 'sweepExpired', sweep), { ...NOTHING, authorizations: 1 })
    assert.equal(await first.findAuthorization(old.id), undefined)
    assert.deepEqual(await first.findAuthorization(young.id), young)
  })

  check('BND-01: of expired authorizations only those whose code was redeemed are kept', async ({ first, second }) => {
    const made = at(-2 * HOUR)
    const expired = { expiresAt: at(-HOUR) }
    const [pending, denied, unspent, burned, redeemed, later] = [
      anAuthorization(expired, made),
      anAuthorization(expired, made),
      anAuthorization(expired, made),
      anAuthorization(expired, made),
      anAuthorization(expired, made),
      anAuthorization({ expiresAt: at(1) }, made),
    ]
    await performAll(first, 'startAuthorization', [pending, denied, unspent, burned, redeemed, later])
    await perform(first, 'denyAuthorization', { id: denied.id, now: made })
    for (const authorization of [unspent, burned, redeemed]) {
      const { id } = authorization
      const approval = anApproval(authorization, { now: made, codeExpiresAt: at(-HOUR) })
      await perform(first, 'approveAuthorization', approval)
      if (id === burned.id) await perform(first, 'burnCode', { id, codeHash: approval.codeHash, now: made })
      if (id === redeemed.id) await perform(first, 'redeemCode', aRedemption(approval, { now: made }))
    }
    const swept = await perform(second, 'sweepExpired', aSweep({ authorizationsBefore: at(-HOUR) }))
    assert.deepEqual([swept.authorizations, swept.authorizationsExamined], [4, 6])
    for (const { id } of [pending, denied, unspent, burned]) assert.equal(await first.findAuthorization(id), undefined)
    assert.equal((await first.findAuthorization(redeemed.id))?.status.kind, 'approved')
    assert.deepEqual(await first.findAuthorization(later.id), later)
  })

  check('BND-01: expired authorizations are examined slice by slice, each once', async ({ first }) => {
    const made = times(5, (index) => anAuthorization({ expiresAt: at(-1) }, at(-100 + index)))
    await performAll(first, 'startAuthorization', made)
    const seen: (readonly [removed: number, examined: number])[] = []
    let authorizationsAfter: Sweep['authorizationsAfter'] = ''
    for (let slice = 0; slice < 4; slice += 1) {
      const sweep = aSweep({ limit: 2, authorizationsBefore: NOW, authorizationsAfter })
      const swept: Swept = await perform(first, 'sweepExpired', sweep)
      seen.push([swept.authorizations, swept.authorizationsExamined])
      authorizationsAfter = swept.authorizationsAfter
    }
    assert.deepEqual(seen, [
      [2, 2],
      [2, 2],
      [1, 1],
      [0, 0],
    ])
    assert.equal(authorizationsAfter, made.at(-1)?.id)
  })

  check('expired interactions are removed', async ({ first }) => {
    const [expired, live] = [anInteraction({ expiresAt: at(-1) }), anInteraction()]
    for (const interaction of [expired, live]) await perform(first, 'startInteraction', interaction)
    assert.partialDeepStrictEqual(await perform(first, 'sweepExpired', aSweep()), { ...NOTHING, interactions: 1 })
    assert.deepEqual(await first.findInteraction(live.id), live)
  })

  check('expired codes of addresses are removed', async ({ first }) => {
    const [over, live] = [aUser(), aUser()]
    await performAll(first, 'createUser', [over, live])
    const [one, other] = [aSession({ userId: over.id }), aSession({ userId: live.id })]
    await startSessions(first, aSessionStart({ session: one }), aSessionStart({ session: other }))
    await performAll(first, 'createEmailCode', [
      { ...anEmailCode({ userId: over.id, expiresAt: at(-1) }), session: coversAll(one) },
      { ...anEmailCode({ userId: live.id }), session: coversAll(other) },
    ])
    assert.partialDeepStrictEqual(await perform(first, 'sweepExpired', aSweep()), { ...NOTHING, emailCodes: 1 })
    assert.notEqual(await first.findEmailCode(live.id), undefined)
  })

  check('expired links are removed', async ({ first }) => {
    const [over, live] = [aUser(), aUser()]
    await performAll(first, 'createUser', [over, live])
    await performAll(first, 'createLink', [aLink({ userId: over.id, expiresAt: at(-1) }), aLink({ userId: live.id })])
    assert.partialDeepStrictEqual(await perform(first, 'sweepExpired', aSweep()), { ...NOTHING, links: 1 })
    assert.deepEqual(await first.listLinks(over.id), [])
    assert.equal((await first.listLinks(live.id)).length, 1)
  })

  check('expired sessions and finished count windows are removed', async ({ first }) => {
    const [over, live] = [aSession({ expiresAt: at(-1) }), aSession()]
    await startSessions(first, aSessionStart({ session: over }), aSessionStart({ session: live }))
    const [past, present] = [
      { bucket: aHash(), now: at(-HOUR), windowMs: 60_000, by: 1 },
      { bucket: aHash(), now: NOW, windowMs: 60_000, by: 1 },
    ]
    await performAll(first, 'countHit', [past, present])
    assert.partialDeepStrictEqual(await perform(first, 'sweepExpired', aSweep()), { ...NOTHING, sessions: 1, hits: 1 })
    assert.equal(await first.findSession(over.id), undefined)
    assert.deepEqual(await first.findSession(live.id), live)
    assert.equal((await perform(first, 'countHit', present)).count, 2)
  })

  check(
    'a grant is removed when all its tokens must have expired; a revoked one is kept until then',
    async (stores) => {
      const { first } = stores
      const kept = aGrant({}, at(-5))
      const revoked = aGrant({}, at(-4))
      const expired = aGrant({ expiresAt: at(-1) }, at(-3))
      const idle = aGrant({ family: aFamily({ idleExpiresAt: at(-1) }) }, at(-2))
      const bare = aGrant({ family: undefined }, at(-1))
      for (const grant of [kept, revoked, expired, idle, bare]) await keep(stores.first, grant)
      await perform(first, 'rotateRefreshToken', aRotation(revoked, { presentedHash: aHash() }))
      assert.equal((await perform(first, 'sweepGrants', aGrantSlice())).removed, 2)
      for (const grant of [kept, revoked, bare]) assert.ok(await first.findGrant(grant.id))
      for (const grant of [expired, idle]) assert.equal(await first.findGrant(grant.id), undefined)
    },
  )

  check(
    'CODE-01: an expired grant is kept while its code may be valid, so that it is redeemed once',
    async ({ first }) => {
      const { approval } = await approved(first)
      const short = aRedemption(approval, { grant: aGrant({ expiresAt: at(2), family: undefined }) })
      assert.equal(await perform(first, 'redeemCode', short), 'redeemed')
      const slice = aGrantSlice({ now: at(5) })
      assert.equal((await perform(first, 'sweepGrants', slice)).removed, 0)
      assert.equal(await perform(first, 'redeemCode', { ...short, now: at(6) }), 'replayed')
      assert.equal((await perform(first, 'sweepGrants', { ...slice, before: at(5) })).removed, 1)
    },
  )

  check('one sweep removes at most its limit, and several remove everything', async ({ first }) => {
    const clients = times(5, (index) => aClient({}, at(-30 * HOUR + index)))
    await performAll(first, 'registerClient', clients)
    const sweep = aSweep({ limit: 2, unusedSince: at(-24 * HOUR) })
    assert.equal((await perform(first, 'sweepExpired', sweep)).clients, 2)
    const left = await first.listClients({ before: undefined, limit: 10 })
    assert.deepEqual(
      left.map(({ id }) => id).toReversed(),
      clients.slice(2).map(({ id }) => id),
    )
    assert.equal((await perform(first, 'sweepExpired', sweep)).clients, 2)
    assert.equal((await perform(first, 'sweepExpired', sweep)).clients, 1)
  })

  check('grants are examined slice by slice, each once in a round', async ({ first }) => {
    const grants = times(5, (index) => aGrant(index % 2 === 0 ? { expiresAt: at(-1) } : {}, at(-100 + index)))
    for (const grant of grants) await keep(first, grant)
    const seen: (readonly [removed: number, examined: number])[] = []
    let after = ''
    do {
      const swept: SweptSlice = await perform(first, 'sweepGrants', aGrantSlice({ limit: 2, after, before: at(HOUR) }))
      seen.push([swept.removed, swept.examined])
      after = swept.next
    } while (after !== '' && seen.length < 10)
    assert.deepEqual(seen, [
      [1, 2],
      [1, 2],
      [1, 1],
    ])
  })
}

export function aSweep(differing: Partial<Sweep> = {}): Sweep {
  const longAgo = at(-1000 * HOUR)
  return {
    now: NOW,
    limit: 100,
    revocationsBefore: NOW,
    unusedSince: longAgo,
    unusedClients: 1000,
    evictedBefore: NOW,
    authorizationsBefore: longAgo,
    evidenceBefore: longAgo,
    initialTokensBefore: longAgo,
    logoutNoticesBefore: longAgo,
    auditBefore: longAgo,
    figuresBefore: { '5m': longAgo, '1h': longAgo, '1d': longAgo },
    figuresLeftBefore: longAgo,
    authorizationsAfter: '',
    removedTo: {},
    ...differing,
  }
}

export function aGrantSlice(differing: Partial<GrantSlice> = {}): GrantSlice {
  return { after: '', limit: 100, now: NOW, before: NOW, ...differing }
}

/** Sweeps one whole round. */
async function sweepConsents(store: StoreDriver, limit: number): Promise<{ slices: number; consents: number }> {
  let [slices, consents, after] = [0, 0, '']
  do {
    const swept: SweptSlice = await perform(store, 'sweepConsents', { after, limit })
    after = swept.next
    consents += swept.removed
    slices += 1
  } while (after !== '' && slices < 20)
  return { slices, consents }
}

async function keep(store: Parameters<typeof approved>[0], grant: GrantRecord): Promise<void> {
  const { approval } = await approved(store, {}, anAuthorization({ id: grant.id as string as AuthorizationId }))
  await perform(store, 'redeemCode', aRedemption(approval, { grant }))
}
