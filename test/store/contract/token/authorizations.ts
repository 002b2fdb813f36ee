import assert from 'node:assert/strict'
import { NEVER_REVOKED } from '../never-revoked.ts'
import type { AuthorizationRecord } from '../../../../src/ports/records/authorization.ts'
import type { ConsentKey } from '../../../../src/ports/records/grant.ts'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import type { Approval } from '../../../../src/ports/operations/authorization.ts'
import type { EpochMs } from '../../../../src/base/brand.ts'
import { mintUserId, type OrganizationId } from '../../../../src/protocol/ids.ts'
import { randomBytes } from 'node:crypto'
import type { Scope } from '../../../../src/protocol/token/scope.ts'
import { perform, performAll, race, tally, times, type Suite } from '../harness.ts'
import {
  aClient,
  aHash,
  anApproval,
  anAuthorization,
  anOrganization,
  aMembership,
  aRedemption,
  aSession,
  at,
  MINUTE,
  NOW,
} from '../../../support/records.ts'

const EVER = 0 as EpochMs

export const authorizationCases: Suite = (check) => {
  check('startAuthorization stores the whole request', async ({ first, second }) => {
    const full = anAuthorization({ organizationId: anOrganization().id })
    const bare = anAuthorization({ state: undefined, loginHint: undefined, resources: [], scope: '' as Scope })
    assert.equal(await perform(first, 'startAuthorization', full), 'started')
    await perform(first, 'startAuthorization', bare)
    assert.deepEqual(await second.findAuthorization(full.id), full)
    assert.deepEqual(await second.findAuthorization(bare.id), bare)
  })

  check('startAuthorization and approveAuthorization store what OpenID Connect needs', async ({ first, second }) => {
    const openid = { nonce: 'a "nonce"', idTokenClaims: ['email'], session: undefined } as const
    const login = anAuthorization({ openid, responseMode: 'form_post', authenticatedSince: at(-9), onlyUserId: 'x' })
    const bare = anAuthorization({ openid: { ...openid, nonce: undefined }, codeChallenge: undefined })
    for (const one of [login, bare]) {
      await perform(first, 'startAuthorization', one)
      assert.deepEqual(await second.findAuthorization(one.id), one)
    }
    const session = { rootId: aSession().id, methods: ['pwd'], at: at(-3) } as const
    const decided = { ...login, openid: { ...openid, session } }
    assert.equal(await perform(first, 'approveAuthorization', anApproval(login, { decided })), 'approved')
    assert.deepEqual((await first.findAuthorization(login.id))?.openid, decided.openid)
  })

  check('DEV-18: listOpenCodes lists what a user approved and no client has redeemed, newest first', async (stores) => {
    const { first, second } = stores
    const userId = mintUserId(NOW, randomBytes)
    let begun = 0
    const approve = async (differing: Partial<Approval> = {}) => {
      begun += 1
      const { approval } = await approved(first, { userId, ...differing }, anAuthorization({}, at(begun)))
      return { approval, read: await second.findAuthorization(approval.id) }
    }
    const [old, expired, redeemed, burned, newest] = [
      await approve(),
      await approve({ codeExpiresAt: at(9) }),
      await approve(),
      await approve(),
      await approve(),
    ]
    await approve({ userId: mintUserId(NOW, randomBytes) })
    assert.equal(await perform(first, 'redeemCode', aRedemption(redeemed.approval)), 'redeemed')
    const { id, codeHash } = burned.approval
    assert.equal(await perform(first, 'burnCode', { id, codeHash, now: at(1), about: {} }), 'burned')
    const list = (asked: object) => second.listOpenCodes({ userId, now: at(9), codesSince: EVER, limit: 9, ...asked })
    assert.deepEqual(await list({}), [newest.read, old.read])
    assert.deepEqual(await list({ limit: 1 }), [newest.read])
    assert.deepEqual(await list({ now: at(8) }), [newest.read, expired.read, old.read])
    assert.deepEqual(await list({ codesSince: at(MINUTE * 60) }), [])
  })

  check('findAuthorization returns undefined for an id that does not exist', async ({ first }) => {
    assert.equal(await first.findAuthorization(anAuthorization().id), undefined)
  })

  check('approveAuthorization stores the user, the time, the code hash and the code’s expiry', async ({ first }) => {
    for (const organizationId of [undefined, anOrganization().id]) {
      const { authorization, approval } = await approved(first, { organizationId })
      const { userId, codeHash } = approval
      assert.deepEqual(await first.findAuthorization(authorization.id), {
        ...authorization,
        expiresAt: approval.codeExpiresAt,
        status: { kind: 'approved', userId, organizationId, codeHash, approvedAt: NOW },
      })
    }
  })

  check('an approval of a part stores that part as the scope', async ({ first }) => {
    const authorizations = times(2, () => anAuthorization({ scope: 'read write' as Scope }))
    await performAll(first, 'startAuthorization', authorizations)
    const [whole, part] = authorizations as [AuthorizationRecord, AuthorizationRecord]
    const narrower = { scope: 'read' as Scope, ungrantedScope: 'admin write' as Scope }
    const approvals = [anApproval(whole), anApproval(part, { decided: { ...part, ...narrower } })]
    await performAll(first, 'approveAuthorization', approvals)
    assert.partialDeepStrictEqual(await first.findAuthorization(part.id), narrower)
    assert.partialDeepStrictEqual(await first.findAuthorization(whole.id), { scope: whole.scope })
    // A later answer changes nothing.
    assert.equal(await perform(first, 'approveAuthorization', anApproval(part, { decided: part })), 'decided')
    assert.partialDeepStrictEqual(await first.findAuthorization(part.id), narrower)
  })

  check('approvals for several organizations in one batch each store their own', async ({ first }) => {
    const authorizations = times(3, () => anAuthorization())
    await performAll(first, 'startAuthorization', authorizations)
    const organizationIds = [anOrganization().id, undefined, anOrganization().id]
    const approvals = authorizations.map((authorization, index) =>
      anApproval(authorization, { organizationId: organizationIds[index] }),
    )
    await performAll(first, 'approveAuthorization', approvals)
    const kept = await Promise.all(authorizations.map(({ id }) => first.findAuthorization(id)))
    assert.deepEqual(
      kept.map((one) => one?.status.kind === 'approved' && one.status.organizationId),
      organizationIds,
    )
  })

  check('approveAuthorization returns decided in every state but pending, and changes nothing', async ({ first }) => {
    const { authorization: allowed, approval } = await approved(first)
    const { authorization: spent, approval: spentApproval } = await approved(first)
    await perform(first, 'redeemCode', aRedemption(spentApproval))
    const { authorization: burned, approval: burnedApproval } = await approved(first)
    await perform(first, 'burnCode', { id: burned.id, codeHash: burnedApproval.codeHash, now: at(1) })
    const denied = anAuthorization()
    await perform(first, 'startAuthorization', denied)
    await perform(first, 'denyAuthorization', { id: denied.id, now: NOW })
    for (const decided of [allowed, spent, burned, denied]) {
      const before = await first.findAuthorization(decided.id)
      assert.equal(await perform(first, 'approveAuthorization', anApproval(decided)), 'decided')
      assert.equal(await perform(first, 'denyAuthorization', { id: decided.id, now: NOW }), 'decided')
      assert.deepEqual(await first.findAuthorization(decided.id), before)
    }
    assert.equal((await first.findAuthorization(allowed.id))?.status.kind, 'approved')
    assert.ok(approval)
  })

  check('an authorization that is unknown or expired can be neither approved nor denied', async ({ first }) => {
    const authorization = anAuthorization()
    const late = authorization.expiresAt
    assert.equal(await perform(first, 'approveAuthorization', anApproval(authorization)), 'unknown')
    assert.equal(await perform(first, 'denyAuthorization', { id: authorization.id, now: NOW }), 'unknown')
    await perform(first, 'startAuthorization', authorization)
    assert.equal(await perform(first, 'approveAuthorization', anApproval(authorization, { now: late })), 'unknown')
    assert.equal(await perform(first, 'denyAuthorization', { id: authorization.id, now: late }), 'unknown')
    assert.deepEqual(await first.findAuthorization(authorization.id), authorization)
  })

  check('an authorization can be approved one millisecond before it expires', async ({ first }) => {
    const authorization = anAuthorization({ expiresAt: at(MINUTE) })
    await perform(first, 'startAuthorization', authorization)
    const approval = anApproval(authorization, { now: at(MINUTE - 1) })
    assert.equal(await perform(first, 'approveAuthorization', approval), 'approved')
  })

  check('denyAuthorization denies once', async ({ first }) => {
    const authorization = anAuthorization()
    await perform(first, 'startAuthorization', authorization)
    assert.equal(await perform(first, 'denyAuthorization', { id: authorization.id, now: NOW }), 'denied')
    assert.deepEqual((await first.findAuthorization(authorization.id))?.status, { kind: 'denied' })
  })

  check('of concurrent approvals and denials of one authorization exactly one decides', async (stores) => {
    const authorization = anAuthorization()
    await perform(stores.first, 'startAuthorization', authorization)
    const approvals = times(10, () => anApproval(authorization))
    const denial = { id: authorization.id, now: NOW }
    const outcomes = await Promise.all([
      race(stores, 'approveAuthorization', approvals),
      race(
        stores,
        'denyAuthorization',
        times(10, () => denial),
      ),
    ])
    const { decided, approved: allowed = 0, denied = 0 } = tally(outcomes.flat())
    assert.deepEqual({ decided, winners: allowed + denied }, { decided: 19, winners: 1 })
  })

  check('of several approvals in one batch the first one counts, with its code', async ({ first }) => {
    const authorization = anAuthorization()
    await perform(first, 'startAuthorization', authorization)
    const approvals = times(3, () => anApproval(authorization))
    assert.deepEqual(await performAll(first, 'approveAuthorization', approvals), ['approved', 'decided', 'decided'])
    const { status } = (await first.findAuthorization(authorization.id)) ?? {}
    assert.equal(status?.kind === 'approved' && status.codeHash, approvals[0]?.codeHash)
  })

  check('a consent is remembered only if the approval succeeds', async ({ first }) => {
    const authorization = anAuthorization()
    await perform(first, 'startAuthorization', authorization)
    const [winner, loser] = [anApproval(authorization), anApproval(authorization)]
    await performAll(first, 'approveAuthorization', [winner, loser])
    assert.equal(await first.findConsent(keyOf(winner)), 'read')
    assert.equal(await first.findConsent(keyOf(loser)), undefined)
    assert.equal(await first.hasConsented(keyOf(winner)), true)
    assert.equal(await first.hasConsented(keyOf(loser)), false)
  })

  check('an approval without `remember` stores no consent', async ({ first }) => {
    const remembered = keyOf(anApproval(anAuthorization()))
    const { approval, authorization } = await approved(first, { remember: undefined })
    const key = { ...remembered, userId: approval.userId, clientId: authorization.clientId }
    assert.equal(await first.hasConsented(key), false)
  })

  check('a remembered consent gains the scopes of later approvals, in a fixed order', async ({ first }) => {
    const userId = mintUserId(NOW, randomBytes)
    const consent = {
      userId,
      clientId: anAuthorization().clientId,
      organizationId: anOrganization().id,
      redirectHost: 'app.example',
      resources: '',
      since: EVER,
      under: NEVER_REVOKED,
    }
    for (const scope of ['write read', 'admin', 'read'] as Scope[])
      await approved(first, { remember: { ...consent, scope } })
    assert.equal(await first.findConsent(consent), 'admin read write')
  })

  check('a consent from before `since` is ignored, and replaced rather than extended', async ({ first }) => {
    const { approval } = await approved(first)
    const key = keyOf(approval)
    const [until, later] = [NOW, at(1)]
    assert.equal(await first.findConsent({ ...key, since: until }), 'read')
    assert.equal(await first.findConsent({ ...key, since: later }), undefined)
    assert.equal(await first.hasConsented({ ...key, since: until }), true)
    assert.equal(await first.hasConsented({ ...key, since: later }), false)
    await approved(first, { remember: { ...key, since: later, scope: 'write' as Scope }, now: later })
    assert.equal(await first.findConsent({ ...key, since: later }), 'write')
  })

  check(
    'STO-13: a consent counts only under the not-before times under which it was given, and is replaced',
    async ({ first }) => {
      const { approval } = await approved(first)
      const key = keyOf(approval)
      for (const under of [
        { server: at(1), organization: undefined },
        { server: EVER, organization: at(1) },
        { server: at(2), organization: at(1) },
      ]) {
        assert.equal(await first.findConsent({ ...key, under }), undefined)
        assert.equal(await first.hasConsented({ ...key, under }), under.server === EVER)
        await approved(first, { remember: { ...key, under, scope: 'write' as Scope } })
        assert.equal(await first.findConsent({ ...key, under }), 'write')
        assert.equal(await first.findConsent(key), undefined)
        const [listed] = await first.listConsents(key.userId, 1)
        assert.deepEqual(listed?.under, under)
        await approved(first, { remember: { ...key, scope: 'read' as Scope } })
        assert.equal(await first.findConsent(key), 'read')
      }
    },
  )

  check('a consent applies to its whole key and to no other', async ({ first }) => {
    const { approval } = await approved(first)
    const key = keyOf(approval)
    const other = anApproval(anAuthorization())
    const neighbours: Partial<ConsentKey>[] = [
      { userId: other.userId },
      { clientId: anAuthorization().clientId },
      { redirectHost: 'app.example:8443' },
      { resources: 'https://api.example' },
      { organizationId: anOrganization().id },
    ]
    assert.equal(await first.findConsent(key), 'read')
    for (const difference of neighbours) {
      assert.equal(await first.findConsent({ ...key, ...difference }), undefined)
      const isSameHost = 'resources' in difference || 'organizationId' in difference
      assert.equal(await first.hasConsented({ ...key, ...difference }), isSameHost)
    }
  })

  check(
    'CID-03: the chosen id of an organization is not taken for a resource, nor for the start of another id',
    async (stores) => {
      const { first, second } = stores
      const approval = anApproval(anAuthorization())
      const ids = ['urn:api', 'urn:api:x', undefined] as (OrganizationId | undefined)[]
      for (const organizationId of ids) {
        const key = {
          ...keyOf(approval),
          organizationId,
          resources: organizationId === undefined ? 'urn:api urn:api:x' : 'urn:api:x',
        }
        const { userId } = key
        await approved(first, { userId, organizationId, remember: { ...key, scope: 'read' as Scope } })
      }
      const targets = async () => (await second.listConsents(approval.userId, 9)).map(({ target }) => target)
      const [none, short, long] = [
        { organizationId: undefined, resources: ['urn:api', 'urn:api:x'] },
        { organizationId: 'urn:api', resources: ['urn:api:x'] },
        { organizationId: 'urn:api:x', resources: ['urn:api:x'] },
      ]
      assert.deepEqual(await targets(), [none, short, long])
      const membership = aMembership({ userId: approval.userId, organizationId: 'urn:api' as OrganizationId })
      await perform(first, 'addMember', membership)
      await perform(first, 'removeMember', { ...membership, now: 0 as EpochMs })
      assert.deepEqual(await targets(), [none, long])
    },
  )

  check(
    'a consent for one organization does not apply to another organization or to none, with and without resources',
    async (stores) => {
      const { first, second } = stores
      const [one, other] = [anOrganization().id, anOrganization().id]
      const resources = 'https://api.example https://other.example'
      for (const organizationId of [one, undefined]) {
        const key = { ...keyOf((await approved(first)).approval), organizationId, resources, clientId: aClient().id }
        await approved(first, { organizationId, remember: { ...key, scope: 'read' as Scope } })
        assert.equal(await second.findConsent(key), 'read')
        const others = [one, other, undefined].filter((id) => id !== organizationId)
        for (const id of others) assert.equal(await second.findConsent({ ...key, organizationId: id }), undefined)
        assert.equal(await second.findConsent({ ...key, resources: '' }), undefined)
        assert.equal(await second.hasConsented(key), true)
      }
    },
  )

  check('burnCode makes an approved code unusable, once', async ({ first }) => {
    const { authorization, approval } = await approved(first)
    const burn = { id: authorization.id, codeHash: approval.codeHash, now: at(1) }
    assert.equal(await perform(first, 'burnCode', burn), 'burned')
    assert.equal(await perform(first, 'burnCode', burn), 'spent')
    assert.equal(await perform(first, 'redeemCode', aRedemption(approval)), 'unknown')
    const { status } = (await first.findAuthorization(authorization.id)) ?? {}
    assert.equal(status?.kind, 'burned')
  })

  check('burnCode changes nothing for another code, or one that is expired, redeemed or pending', async ({ first }) => {
    const { authorization, approval } = await approved(first)
    const { id } = authorization
    const { codeHash, codeExpiresAt } = approval
    const pending = anAuthorization()
    await perform(first, 'startAuthorization', pending)
    assert.equal(await perform(first, 'burnCode', { id, codeHash: aHash(), now: at(1) }), 'spent')
    assert.equal(await perform(first, 'burnCode', { id, codeHash, now: codeExpiresAt }), 'spent')
    assert.equal(await perform(first, 'burnCode', { id: pending.id, codeHash, now: at(1) }), 'spent')
    assert.equal(await perform(first, 'redeemCode', aRedemption(approval)), 'redeemed')
    assert.equal(await perform(first, 'burnCode', { id, codeHash, now: at(1) }), 'spent')
    assert.equal((await first.findAuthorization(id))?.status.kind, 'approved')
  })
}

/** An authorization that a user approved. */
export async function approved(
  store: StoreDriver,
  differing: Partial<Approval> = {},
  authorization = anAuthorization(),
): Promise<{ authorization: AuthorizationRecord; approval: Approval }> {
  const approval = anApproval(authorization, differing)
  await perform(store, 'startAuthorization', authorization)
  assert.equal(await perform(store, 'approveAuthorization', approval), 'approved')
  return { authorization, approval }
}

function keyOf({ remember }: Approval): ConsentKey {
  assert.ok(remember)
  const { scope: _, ...key } = remember
  return key
}
