import assert from 'node:assert/strict'
import { IMPORTED } from '../../../../src/protocol/sign-in/account.ts'
import { coversAll } from '../../../../src/endpoints/sign-in/changing-session.ts'
import type { LinkingReason } from '../../../../src/ports/operations/provider.ts'
import type { SessionStart } from '../../../../src/ports/operations/session.ts'
import type { IdentityProofRecord, IdentityRecord, ProviderRecord } from '../../../../src/ports/records/provider.ts'
import type { UserRecord } from '../../../../src/ports/records/user.ts'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import { APPLICATION, type CoveredFactors } from '../../../../src/protocol/sign-in/authentication.ts'
import { perform, performAll, race, tally, times, type Suite } from '../harness.ts'
import { anIdentity, anIdentityProof, aProvider } from '../../../support/provider/provider-records.ts'
import {
  aHash,
  aLink,
  aMembership,
  aSession,
  aSessionStart,
  aUser,
  aUserOfProvider,
  at,
  HOUR,
} from '../../../support/records.ts'
import { aPasskey } from '../../../support/sign-in/factor-records.ts'
import { aSweep } from '../server/sweep.ts'

interface UserAtProvider {
  readonly provider: ProviderRecord
  readonly user: UserRecord & { readonly email: string }
  readonly identity: IdentityRecord
}

async function prepare(store: StoreDriver, differing: Partial<UserAtProvider['user']> = {}): Promise<UserAtProvider> {
  const provider = aProvider()
  const user = aUser(differing)
  await perform(store, 'createProvider', provider)
  await perform(store, 'createUser', user)
  return { provider, user, identity: anIdentity({ userId: user.id, providerId: provider.id }) }
}

/** A session of the user. */
async function sessionOf(store: StoreDriver, { id: userId }: Pick<UserRecord, 'id'>) {
  const start = aSessionStart({ session: aSession({ userId }) })
  await perform(store, 'startSession', start)
  return { kind: 'session', session: coversAll(start.session) } as const
}

/** The reasons that hold for an account that prepare() made with these members, each with what makes it hold. */
const REASONS: Readonly<
  Record<
    LinkingReason['kind'],
    {
      readonly user: Partial<UserAtProvider['user']>
      readonly make: (store: StoreDriver, made: UserAtProvider) => Promise<LinkingReason>
    }
  >
> = {
  session: {
    user: {},
    make: (store, { user }) => sessionOf(store, user),
  },
  link: {
    user: {},
    async make(store, { user }) {
      const link = aLink({ userId: user.id })
      await perform(store, 'createLink', link)
      return { kind: 'link', hash: link.hash, keep: [], isMultiFactor: false, isSecondStepRequired: false }
    },
  },
  address: { user: {}, make: async (_, { user }) => ({ kind: 'address', email: user.email }) },
  unused: {
    user: { emailVerifiedAt: undefined, firstSignedInAt: undefined },
    make: async (_, { user }) => ({ kind: 'unused', email: user.email }),
  },
}

export const identityCases: Suite = (check) => {
  for (const [kind, { user: differing, make }] of Object.entries(REASONS)) {
    check(
      `linkIdentity by ${kind}: of concurrent links of one identity one succeeds, and ends the open proof`,
      async (stores) => {
        const { first, second } = stores
        const made = await prepare(first, differing)
        const { identity, user } = made
        const link = aLink({ userId: user.id })
        await perform(first, 'createLink', link)
        await perform(first, 'createIdentityProof', anIdentityProof({ identity }))
        const reason = await make(first, made)
        const links = times(20, () => ({ identity, reason, now: at(HOUR) }))
        assert.deepEqual(tally(await race(stores, 'linkIdentity', links)), { linked: 1, taken: 19 })
        assert.deepEqual(await second.findIdentity(identity.key), identity)
        assert.deepEqual(await second.listIdentities(user.id), [identity])
        assert.equal(await second.findIdentityProof(user.id), undefined)
        // LNK-04: a link ends by its use, and when the account is taken over.
        const isEnded = kind === 'link' || kind === 'unused'
        assert.deepEqual(await second.listLinks(user.id), isEnded ? [] : [link])
      },
    )

    check(`linkIdentity by ${kind} needs an enabled provider and an enabled user`, async ({ first }) => {
      const made = await prepare(first, differing)
      const { identity, provider, user } = made
      const link = { identity, reason: await make(first, made), now: at(HOUR) }
      await perform(first, 'disableProvider', { id: provider.id, now: at(1) })
      assert.equal(await perform(first, 'linkIdentity', link), 'provider-off')
      await perform(first, 'enableProvider', provider.id)
      await perform(first, 'disableUser', { id: user.id, now: at(1) })
      assert.equal(await perform(first, 'linkIdentity', link), 'refused')
      assert.equal(await first.findIdentity(identity.key), undefined)
      const gone = { ...link, identity: anIdentity({ userId: user.id, providerId: aProvider().id }) }
      assert.equal(await perform(first, 'linkIdentity', gone), 'provider-off')
    })
  }

  check('linkIdentity by a reason that no longer holds is refused, and links nothing', async ({ first }) => {
    const made = await prepare(first)
    const { identity, user } = made
    const open = aLink({ userId: user.id })
    await perform(first, 'createLink', open)
    const stale: readonly LinkingReason[] = [
      { kind: 'session', session: coversAll(aSession()) },
      { kind: 'link', hash: aHash(), keep: [], isMultiFactor: false, isSecondStepRequired: false },
      { kind: 'address', email: 'another@acme.test' },
      { kind: 'unused', email: user.email },
    ]
    for (const reason of stale) {
      assert.equal(await perform(first, 'linkIdentity', { identity, reason, now: at(HOUR) }), 'refused', reason.kind)
    }
    assert.deepEqual(await first.listIdentities(user.id), [])
    assert.deepEqual(await first.findUser(user.id), user)
    assert.deepEqual(await first.listLinks(user.id), [open])
  })

  check(
    'startSession: of concurrent sign-ins with one proof one links its identity, and the others start without',
    async (stores) => {
      const { first, second } = stores
      const { identity, user } = await prepare(first)
      const proof = anIdentityProof({ identity, expiresAt: at(2 * HOUR) })
      await perform(first, 'createIdentityProof', proof)
      const starts = times(20, () => connecting(proof))
      const outcomes = await race(stores, 'startSession', starts)
      const linked = outcomes.map((outcome) => outcome.kind === 'started' && outcome.isLinked)
      assert.deepEqual([tally(outcomes), linked.filter(Boolean).length], [{ started: 20 }, 1])
      assert.deepEqual(await second.listIdentities(user.id), [identity])
      assert.equal(await second.findIdentityProof(user.id), undefined)
    },
  )

  check('UP-04: startSession links nothing by a proof that is not valid, and starts', async ({ first }) => {
    const { identity, provider, user } = await prepare(first)
    const proof = anIdentityProof({ identity })
    await perform(first, 'createIdentityProof', proof)
    const valid = connecting(proof)
    const link = valid.link ?? assert.fail()
    const other = anIdentity({ userId: user.id, providerId: provider.id })
    const late = { ...valid, session: { ...valid.session, id: aSession().id, createdAt: proof.expiresAt } }
    const invalid = [
      { ...connecting(proof), link: { ...link, hash: aHash() } },
      { ...connecting(proof), link: { ...link, identity: other } },
      late,
    ]
    for (const start of invalid)
      assert.partialDeepStrictEqual(await perform(first, 'startSession', start), { kind: 'started', isLinked: false })
    await perform(first, 'disableProvider', { id: provider.id, now: at(1) })
    const off = await perform(first, 'startSession', connecting(proof))
    assert.partialDeepStrictEqual(off, { kind: 'started', isLinked: false })
    assert.deepEqual(await first.listIdentities(user.id), [])
    assert.deepEqual(await first.findIdentityProof(user.id), proof)
  })

  check('ACR-06: startSession links nothing that the sign-in does not cover', async ({ first }) => {
    const { identity, user } = await prepare(first)
    const { session } = await sessionOf(first, user)
    const addition = { passkey: aPasskey({ userId: user.id }), reason: { kind: 'session', session } } as const
    assert.equal(await perform(first, 'addPasskey', addition), 'added')
    const proof = anIdentityProof({ identity, expiresAt: at(2 * HOUR) })
    await perform(first, 'createIdentityProof', proof)
    for (const passkey of [false, true]) {
      const start = connecting(proof, { passkey, others: true })
      const started = await perform(first, 'startSession', start)
      assert.partialDeepStrictEqual(started, { kind: 'started', isLinked: passkey })
    }
  })

  check(
    'linkIdentity by address needs a verified address, and an account without an identity of any provider',
    async ({ first }) => {
      const { identity, user, provider } = await prepare(first)
      const other = aProvider()
      await perform(first, 'createProvider', other)
      const reason = { kind: 'address', email: user.email } as const
      const more = [provider, other].map(({ id }) => anIdentity({ userId: user.id, providerId: id }))
      const links = [identity, ...more].map((one) => ({ identity: one, reason, now: at(HOUR) }))
      assert.deepEqual(await performAll(first, 'linkIdentity', links), ['linked', 'refused', 'refused'])
      const ofApplication = aUser()
      const known = anIdentity({ userId: ofApplication.id, providerId: APPLICATION })
      await perform(first, 'provisionUser', { user: ofApplication, identity: known })
      const moved = {
        identity: anIdentity({ userId: ofApplication.id, providerId: provider.id }),
        reason: { ...reason, email: ofApplication.email },
        now: at(HOUR),
      }
      assert.equal(await perform(first, 'linkIdentity', moved), 'linked')
      const unverified = await prepare(first, { emailVerifiedAt: undefined })
      const link = { identity: unverified.identity, reason: { ...reason, email: unverified.user.email }, now: at(HOUR) }
      assert.equal(await perform(first, 'linkIdentity', link), 'refused')
    },
  )

  check(
    'linkIdentity by unused ends what the account had, and takes no account that was used',
    async ({ first, second }) => {
      const made = await prepare(first, { emailVerifiedAt: undefined, firstSignedInAt: undefined })
      const { identity, user } = made
      const membership = aMembership({ userId: user.id })
      await perform(first, 'addMember', membership)
      await perform(first, 'createLink', aLink({ userId: user.id }))
      for (const store of [first, second]) await store.findMembership(membership)
      const reason = { kind: 'unused', email: user.email } as const
      assert.equal(await perform(first, 'linkIdentity', { identity, reason, now: at(HOUR) }), 'linked')
      assert.deepEqual(await first.findUser(user.id), {
        ...user,
        passwordHash: undefined,
        emailVerifiedAt: at(HOUR),
        updatedAt: at(HOUR),
        notBefore: at(HOUR),
      })
      assert.deepEqual(await first.listMemberships(user.id), [])
      assert.equal(await first.findMembership(membership), undefined)
      assert.deepEqual(await first.listLinks(user.id), [])
      // Nor an imported account.
      for (const used of [{ firstSignedInAt: at(1) }, { firstSignedInAt: IMPORTED }, { emailVerifiedAt: at(1) }]) {
        const other = await prepare(first, { emailVerifiedAt: undefined, firstSignedInAt: undefined, ...used })
        const taking = { identity: other.identity, reason: { ...reason, email: other.user.email }, now: at(HOUR) }
        assert.equal(await perform(first, 'linkIdentity', taking), 'refused')
        assert.deepEqual(await first.findUser(other.user.id), other.user)
      }
    },
  )

  check('provisionUser creates an account once for an identity, and never takes an address', async (stores) => {
    const { first, second } = stores
    const { provider, user } = await prepare(first)
    const people = times(20, () => aUserOfProvider())
    const identity = anIdentity({ providerId: provider.id })
    const accounts = people.map((one) => ({ user: one, identity: { ...identity, userId: one.id } }))
    const outcomes = await race(stores, 'provisionUser', accounts)
    assert.deepEqual(tally(outcomes), { created: 1, taken: 19 })
    const owner = people[outcomes.indexOf('created')]
    assert.equal((await second.findIdentity(identity.key))?.userId, owner?.id)
    assert.deepEqual(await second.findUser(owner?.id ?? user.id), owner)
    const taken = aUser({ email: user.email })
    const late = { user: taken, identity: anIdentity({ userId: taken.id, providerId: provider.id }) }
    assert.equal(await perform(first, 'provisionUser', late), 'email-taken')
    assert.deepEqual(
      [await first.findUser(taken.id), await first.findIdentity(late.identity.key)],
      [undefined, undefined],
    )
    await perform(first, 'disableProvider', { id: provider.id, now: at(1) })
    const off = aUserOfProvider()
    const account = { user: off, identity: anIdentity({ userId: off.id, providerId: provider.id }) }
    assert.equal(await perform(first, 'provisionUser', account), 'provider-off')
  })

  check(
    'useIdentity records the time and the address, of the identity of that user at an enabled provider',
    async ({ first, second }) => {
      const { identity, provider } = await linkOne(first)
      const { key, userId, providerId } = identity
      const use = { key, userId, providerId, email: undefined, now: at(HOUR) }
      const others = [
        { ...use, userId: aUser().id },
        { ...use, key: anIdentity().key },
      ]
      assert.deepEqual(await performAll(first, 'useIdentity', others), ['unknown', 'unknown'])
      assert.deepEqual(await second.findIdentity(identity.key), identity)
      assert.equal(await perform(first, 'useIdentity', use), 'used')
      await perform(first, 'disableProvider', { id: provider.id, now: at(1) })
      assert.equal(await perform(first, 'useIdentity', { ...use, now: at(2 * HOUR) }), 'provider-off')
      assert.deepEqual(await second.findIdentity(identity.key), { ...identity, email: undefined, usedAt: at(HOUR) })
    },
  )

  check('unlinkIdentity removes an identity while another method remains', async ({ first }) => {
    const made = await linkOne(first)
    const { identity } = made
    const { key, userId, providerId } = identity
    const reason = await sessionOf(first, made.user)
    const { session } = reason
    const unlink = {
      key,
      userId,
      providerId,
      passwordCounts: false,
      factors: undefined,
      passkeysCount: false,
      session,
      now: at(HOUR),
    }
    assert.equal(await perform(first, 'unlinkIdentity', unlink), 'last')
    assert.equal(await perform(first, 'unlinkIdentity', { ...unlink, userId: aUser().id }), 'unknown')
    assert.equal(
      await perform(first, 'unlinkIdentity', { ...unlink, key: anIdentity().key, passwordCounts: true }),
      'unknown',
    )
    const second = aProvider()
    await perform(first, 'createProvider', second)
    const other = anIdentity({ userId, providerId: second.id })
    assert.equal(await perform(first, 'linkIdentity', { identity: other, reason, now: at(HOUR) }), 'linked')
    await perform(first, 'disableProvider', { id: second.id, now: at(1) })
    assert.equal(await perform(first, 'unlinkIdentity', unlink), 'last', 'the other provider is disabled')
    await perform(first, 'enableProvider', second.id)
    const link = aLink({ userId })
    await perform(first, 'createLink', link)
    await perform(first, 'createIdentityProof', anIdentityProof({ identity }))
    assert.equal(await perform(first, 'unlinkIdentity', unlink), 'unlinked')
    assert.deepEqual(await first.listIdentities(userId), [other])
    assert.deepEqual([await first.findIdentityProof(userId), await first.listLinks(userId)], [undefined, [link]])
    const last = { ...unlink, key: other.key, providerId: second.id, passwordCounts: true }
    const ended = coversAll(aSession({ userId }))
    assert.equal(await perform(first, 'unlinkIdentity', { ...last, session: ended }), 'unknown')
    assert.equal(await perform(first, 'unlinkIdentity', last), 'unlinked')
  })

  check('of concurrent removals of all identities one method remains', async (stores) => {
    const made = await linkOne(stores.first)
    const { identity, user } = made
    const provider = aProvider()
    await perform(stores.first, 'createProvider', provider)
    const other = anIdentity({ userId: user.id, providerId: provider.id })
    const reason = await sessionOf(stores.first, made.user)
    await perform(stores.first, 'linkIdentity', { identity: other, reason, now: at(HOUR) })
    const removals = times(10, (index) => ({
      ...(index % 2 === 0 ? identity : other),
      passwordCounts: false,
      factors: undefined,
      passkeysCount: false,
      session: reason.session,
      now: at(HOUR),
    }))
    const outcomes = await race(stores, 'unlinkIdentity', removals)
    assert.equal(tally(outcomes)['unlinked'], 1)
    assert.equal((await stores.second.listIdentities(user.id)).length, 1)
  })

  check('createIdentityProof keeps the newest proof, of an enabled user and provider', async ({ first, second }) => {
    const { identity, provider, user } = await prepare(first)
    const proofs = times(2, () => anIdentityProof({ identity }))
    assert.deepEqual(await performAll(first, 'createIdentityProof', proofs), ['created', 'created'])
    assert.deepEqual(await second.findIdentityProof(user.id), proofs[1])
    await perform(first, 'disableUser', { id: user.id, now: at(1) })
    const nobody = anIdentity({ providerId: provider.id })
    const late = [identity, nobody, anIdentity()].map((one) => anIdentityProof({ identity: one }))
    assert.deepEqual(await performAll(first, 'createIdentityProof', late), ['unknown', 'unknown', 'provider-off'])
    await perform(first, 'disableProvider', { id: provider.id, now: at(1) })
    assert.equal(await perform(first, 'createIdentityProof', anIdentityProof({ identity })), 'provider-off')
  })

  check(
    'deleteUser deletes the identities and the proof, so that the person can come back',
    async ({ first, second }) => {
      const { identity, user } = await linkOne(first)
      await perform(first, 'createIdentityProof', anIdentityProof({ identity }))
      await perform(first, 'deleteUser', { id: user.id })
      assert.equal(await second.findIdentity(identity.key), undefined)
      assert.equal(await second.findIdentityProof(user.id), undefined)
    },
  )

  check('sweepExpired removes proofs that have expired', async ({ first }) => {
    const { identity } = await prepare(first)
    await perform(first, 'createIdentityProof', anIdentityProof({ identity, expiresAt: at(HOUR) }))
    for (const [now, count] of [
      [at(HOUR), 0],
      [at(HOUR + 1), 1],
    ] as const) {
      assert.equal((await perform(first, 'sweepExpired', aSweep({ now }))).identityProofs, count)
    }
  })
}

/** A sign-in that connects what was proved. */
function connecting(
  { identity, hash }: IdentityProofRecord,
  covers: CoveredFactors = { passkey: true, others: true },
): SessionStart {
  const session = aSession({ userId: identity.userId })
  return aSessionStart({ session, link: { identity, hash, covers, mails: [] } })
}

async function linkOne(store: StoreDriver): Promise<UserAtProvider> {
  const made = await prepare(store)
  const { identity, user } = made
  const reason = { kind: 'address', email: user.email } as const
  assert.equal(await perform(store, 'linkIdentity', { identity, reason, now: at(HOUR) }), 'linked')
  return made
}
