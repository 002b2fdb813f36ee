import assert from 'node:assert/strict'
import { coversAll } from '../../../../src/endpoints/sign-in/changing-session.ts'
import type { LinkPurpose, SessionRecord, UserRecord } from '../../../../src/ports/records/user.ts'
import type { IdentityRecord } from '../../../../src/ports/records/provider.ts'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import { APPLICATION, type ProviderId } from '../../../../src/protocol/sign-in/authentication.ts'
import type { IdentityKey } from '../../../../src/protocol/sign-in/provider-identity.ts'
import { anIdentity, anIdentityProof, aProvider } from '../../../support/provider/provider-records.ts'
import {
  aGrant,
  aHash,
  aLink,
  aRedemption,
  aSession,
  aSessionStart,
  aUser,
  at,
  HOUR,
} from '../../../support/records.ts'
import { approved } from '../token/authorizations.ts'
import { perform, performAll, startSessions, times, type Suite } from '../harness.ts'

/** What takes ways to sign in away from an account takes them from a thief too, whatever happens at the same time (LNK-01). */

const IDP = 'idp' as ProviderId

interface UserWithIdentities {
  readonly user: UserRecord
  /** The identities that the account has at the provider. */
  readonly identities: readonly IdentityRecord[]
  readonly ofApplication: IdentityRecord
  readonly session: SessionRecord
}

/** An account with a password, several identities, that of the application, an open proof, and a session of the provider. */
async function prepare(store: StoreDriver, differing: Parameters<typeof aUser>[0] = {}): Promise<UserWithIdentities> {
  const user = aUser(differing)
  const [ofApplication, ...identities] = [APPLICATION, IDP, IDP].map((providerId) =>
    anIdentity({ userId: user.id, providerId }),
  )
  assert.ok(ofApplication)
  if ((await store.findProvider(IDP)) === undefined) await perform(store, 'createProvider', { ...aProvider(), id: IDP })
  await perform(store, 'provisionUser', { user, identity: ofApplication })
  const session = aSession({ userId: user.id, authentication: { methods: ['fed'], at: at(0), providerId: IDP } })
  await startSessions(store, aSessionStart({ session, passwordHash: user.passwordHash }))
  for (const identity of identities) assert.equal(await linkBySession(store, identity, session), 'linked')
  await perform(store, 'createIdentityProof', anIdentityProof({ identity: anIdentity({ userId: user.id }) }))
  return { user, identities, ofApplication, session }
}

function linkBySession(store: StoreDriver, identity: IdentityRecord, session: SessionRecord) {
  return perform(store, 'linkIdentity', {
    identity,
    reason: { kind: 'session', session: coversAll(session) },
    now: at(HOUR),
  })
}

function unlinking(identity: IdentityRecord, session: SessionRecord) {
  return {
    ...identity,
    passwordCounts: true,
    factors: undefined,
    passkeysCount: false,
    session: coversAll(session),
    now: at(HOUR),
  }
}

/** A grant by an assertion, of the provider of the identity unless another one is named. */
function anOpening({ key, userId, providerId }: IdentityRecord, provider = providerId) {
  return { grant: aGrant({ userId, family: undefined, providerId: provider }), identity: key }
}

const WAYS = ['a password', 'a new identity', 'an identity of the account'] as const
const PURPOSES: readonly LinkPurpose[] = ['invitation', 'reset']

export const evictionCases: Suite = (check) => {
  for (const way of WAYS) {
    check(`LNK-01, LNK-05: a link that is accepted with ${way} ends every other way in`, async ({ first, second }) => {
      for (const purpose of PURPOSES) {
        for (const kept of [0, 1, 2]) {
          const { user, identities, ofApplication, session } = await prepare(first)
          const link = aLink({ userId: user.id, purpose })
          await perform(first, 'createLink', link)
          const keep = [ofApplication, ...identities].slice(0, kept).map(({ key }) => key)
          const chosen = way === 'a new identity' ? anIdentity({ userId: user.id }) : identities.at(-1)
          assert.ok(chosen)
          await accept(first, way, { link, keep, chosen })
          const left = new Set([...keep, ...(way === 'a password' ? [] : [chosen.key])])
          const why = JSON.stringify({ way, purpose, kept })
          assert.deepEqual(await keysOf(second, user), left, why)
          const passwordHash = way === 'a password' ? 'a new hash' : undefined
          assert.deepEqual(await second.findUser(user.id), { ...user, passwordHash, notBefore: at(HOUR) }, why)
          assert.deepEqual([await second.listLinks(user.id), await second.findIdentityProof(user.id)], NONE, why)
          assert.equal(await linkBySession(first, anIdentity({ userId: user.id }), session), 'refused', why)
        }
      }
    })
  }

  check('LNK-01: a link takes no identity of another account, and is still open then', async ({ first }) => {
    const [one, other] = [await prepare(first), await prepare(first)]
    const link = aLink({ userId: one.user.id })
    await perform(first, 'createLink', link)
    const [taken] = other.identities
    assert.ok(taken)
    const reason = {
      kind: 'link',
      hash: link.hash,
      keep: [],
      isMultiFactor: false,
      isSecondStepRequired: false,
    } as const
    const attempt = { identity: { ...taken, userId: one.user.id }, reason, now: at(HOUR) }
    assert.equal(await perform(first, 'linkIdentity', attempt), 'taken')
    assert.deepEqual(await first.listLinks(one.user.id), [link])
    assert.deepEqual(await first.findUser(one.user.id), one.user)
    assert.deepEqual(await first.findIdentity(taken.key), taken)
  })

  check(
    'LNK-01: of a link and what adds an identity at the same time, no order leaves the identity',
    async (stores) => {
      const { first, second } = stores
      const rounds = times(20, (index) => index)
      for (const index of rounds) {
        const { user, session } = await prepare(first)
        const link = aLink({ userId: user.id })
        await perform(first, 'createLink', link)
        const added = anIdentity({ userId: user.id })
        const proof = anIdentityProof({ identity: added, expiresAt: at(2 * HOUR) })
        await perform(first, 'createIdentityProof', proof)
        const change = {
          identity: added,
          reason: { kind: 'session', session: coversAll(session) },
          now: at(HOUR),
        } as const
        const connection = { identity: added, hash: proof.hash, covers: { passkey: true, others: true }, mails: [] }
        const start = aSessionStart({ session: aSession({ userId: user.id }), link: connection })
        const use = {
          userId: user.id,
          hash: link.hash,
          passwordHash: 'a new hash',
          keep: [],
          isSecondStepRequired: false,
          browserHash: aHash(),
          now: at(HOUR),
        }
        await Promise.all([
          perform(first, 'useLink', use),
          index % 2 === 0 ? perform(second, 'linkIdentity', change) : perform(second, 'startSession', start),
        ])
        // LNK-04: an identity that was added before does not end the link.
        assert.equal((await first.findUser(user.id))?.passwordHash, 'a new hash')
        assert.equal(await first.findIdentity(added.key), undefined)
      }
    },
  )

  check('unlinkIdentity ends the other sessions of its provider, and no others', async ({ first, second }) => {
    const { user, identities, session } = await prepare(first)
    const authentication = { methods: ['pwd'], at: at(0), providerId: undefined } as const
    const others = [
      aSession({ userId: user.id, authentication }),
      aSession({ userId: user.id, authentication: { ...session.authentication, providerId: 'other' as ProviderId } }),
      aSession({ authentication: session.authentication }),
    ]
    const kept = aSession({ userId: user.id, authentication: session.authentication })
    const { passwordHash } = user
    await startSessions(first, ...[...others, kept].map((one) => aSessionStart({ session: one, passwordHash })))
    const [identity] = identities
    assert.ok(identity)
    const unlink = unlinking(identity, kept)
    assert.equal(await perform(first, 'unlinkIdentity', unlink), 'unlinked')
    assert.equal(await second.findSession(session.id), undefined)
    for (const one of [...others, kept]) assert.deepEqual(await second.findSession(one.id), one)
  })

  check(
    'JAG-15: unlinkIdentity ends the grants that came by assertions of its provider, and no others',
    async ({ first, second }) => {
      const [{ user, identities, session }, other] = [await prepare(first), await prepare(first)]
      const [identity, foreign] = [identities[0], other.identities[0]]
      assert.ok(identity && foreign)
      const { approval } = await approved(first, { userId: user.id })
      const allowed = aRedemption(approval, { grant: aGrant({ userId: user.id }) })
      await perform(first, 'redeemCode', allowed)
      const ended = times(30, () => anOpening(identity))
      const kept = [anOpening(foreign), anOpening(identity, 'other' as ProviderId)]
      await performAll(first, 'openGrant', [...ended, ...kept])
      assert.equal(await perform(second, 'unlinkIdentity', unlinking(identity, session)), 'unlinked')
      for (const { grant } of ended) assert.equal((await first.findGrant(grant.id))?.revokedAt, at(HOUR))
      for (const { grant } of [...kept, allowed]) assert.deepEqual(await first.findGrant(grant.id), grant)
    },
  )

  check(
    'JAG-15: openGrant needs that the user still has the identity, also at the same time',
    async ({ first, second }) => {
      for (const isUnlinkedFirst of [true, ...times(10, () => false)]) {
        const { identities, session } = await prepare(first)
        const [identity] = identities
        assert.ok(identity)
        const opening = anOpening(identity)
        const unlink = () => perform(second, 'unlinkIdentity', unlinking(identity, session))
        if (isUnlinkedFirst) await unlink()
        const [opened] = await Promise.all([perform(first, 'openGrant', opening), isUnlinkedFirst || unlink()])
        const grant = await first.findGrant(opening.grant.id)
        assert.equal(grant?.revokedAt, opened === 'opened' ? at(HOUR) : undefined)
        if (isUnlinkedFirst) assert.equal(opened, 'unlinked')
        if (opened === 'unlinked') assert.equal(grant, undefined)
      }
      const { identities } = await prepare(first)
      const [opening] = identities.map((one) => anOpening(one))
      assert.ok(opening)
      const strange = { ...opening, grant: { ...opening.grant, userId: aUser().id } }
      assert.deepEqual(await performAll(first, 'openGrant', [strange, opening]), ['unlinked', 'opened'])
    },
  )

  check('disabling and deleting a provider ends no session', async ({ first, second }) => {
    const { session } = await prepare(first)
    await perform(first, 'disableProvider', { id: IDP, now: at(HOUR) })
    assert.deepEqual(await second.findSession(session.id), session)
    await perform(first, 'deleteProvider', { id: IDP, now: at(HOUR) })
    assert.deepEqual(await second.findSession(session.id), session)
  })

  check('startSession with an identity needs that the user still has it, also at the same time', async (stores) => {
    const { first, second } = stores
    for (const isRemovedFirst of [true, ...times(10, () => false)]) {
      const { user, identities, session } = await prepare(first)
      const [identity] = identities
      assert.ok(identity)
      const late = aSession({ userId: user.id, authentication: session.authentication })
      const start = aSessionStart({ session: late, passwordHash: user.passwordHash, identity: identity.key })
      const unlink = unlinking(identity, session)
      if (isRemovedFirst) await perform(second, 'unlinkIdentity', unlink)
      const [started] = await Promise.all([
        perform(first, 'startSession', start),
        ...(isRemovedFirst ? [] : [perform(second, 'unlinkIdentity', unlink)]),
      ])
      if (isRemovedFirst) assert.deepEqual(started, { kind: 'user-changed' })
      assert.equal(await first.findSession(late.id), undefined)
    }
    const { user, session } = await prepare(first)
    const foreign = {
      session: aSession({ userId: user.id }),
      passwordHash: user.passwordHash,
      identity: aHash() as string as IdentityKey,
    }
    assert.deepEqual(await performAll(first, 'startSession', [aSessionStart(foreign)]), [{ kind: 'user-changed' }])
    assert.ok(await first.findSession(session.id))
  })
}

const NONE = [[], undefined]

interface Acceptance {
  readonly link: ReturnType<typeof aLink>
  readonly keep: readonly IdentityKey[]
  readonly chosen: IdentityRecord
}

async function accept(
  store: StoreDriver,
  way: (typeof WAYS)[number],
  { link, keep, chosen }: Acceptance,
): Promise<void> {
  const { userId, hash } = link
  const now = at(HOUR)
  if (way === 'a password') {
    assert.equal(
      await perform(store, 'useLink', {
        userId,
        hash,
        passwordHash: 'a new hash',
        keep,
        isSecondStepRequired: false,
        browserHash: aHash(),
        now,
      }),
      'used',
    )
    return
  }
  const reason = { kind: 'link', hash, keep, isMultiFactor: false, isSecondStepRequired: false } as const
  assert.equal(await perform(store, 'linkIdentity', { identity: chosen, reason, now }), 'linked')
}

async function keysOf(store: StoreDriver, { id }: UserRecord): Promise<ReadonlySet<IdentityKey>> {
  return new Set((await store.listIdentities(id)).map(({ key }) => key))
}
