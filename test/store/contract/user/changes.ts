import assert from 'node:assert/strict'
import { coversAll } from '../../../../src/endpoints/sign-in/changing-session.ts'
import type { ChangingSession } from '../../../../src/ports/operations/second-factor.ts'
import type { UserRecord } from '../../../../src/ports/records/user.ts'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import { anIdentity, aProvider, aStrongProvider } from '../../../support/provider/provider-records.ts'
import { aHash, aLink, aSession, aSessionStart, aUser, at } from '../../../support/records.ts'
import { aPasskey, aSecondFactor } from '../../../support/sign-in/factor-records.ts'
import { perform, startSessions, times, type Suite } from '../harness.ts'
import { anEmailCode } from './email-codes.ts'
import { END } from './sessions.ts'

/** A user with a password, an identity at an enabled provider, and a session. */
interface Person {
  readonly user: UserRecord
  readonly session: ChangingSession
  readonly identity: ReturnType<typeof anIdentity>
}

async function aPerson(store: StoreDriver, provider = aProvider()): Promise<Person> {
  const user = aUser()
  const session = aSession({ userId: user.id })
  await perform(store, 'createProvider', provider)
  await perform(store, 'createUser', user)
  await startSessions(store, aSessionStart({ session, passwordHash: user.passwordHash }))
  const identity = anIdentity({ userId: user.id, providerId: provider.id })
  const person = { user, session: coversAll(session), identity }
  assert.equal(await link(store, person, person.session), 'linked')
  return person
}

function link(store: StoreDriver, { identity }: Pick<Person, 'identity'>, session: ChangingSession) {
  return perform(store, 'linkIdentity', { identity, reason: { kind: 'session', session }, now: at(1) })
}

type Change = (store: StoreDriver, person: Person, session: ChangingSession) => Promise<string>

/** Each operation by which a user changes how the user signs in, as a session asks for it. */
const CHANGES: Readonly<Record<string, Change>> = {
  changePassword: (store, { user: { id, passwordHash: previousHash } }, session) =>
    perform(store, 'changePassword', { id, previousHash, passwordHash: 'new', session }),
  createEmailCode: (store, { user: { id: userId } }, session) =>
    perform(store, 'createEmailCode', { ...anEmailCode({ userId }), session }),
  async confirmEmail(store, { user: { id: userId }, session: first }, session) {
    const { email, digest } = anEmailCode({ userId })
    await perform(store, 'createEmailCode', { ...anEmailCode({ userId, email, digest }), session: first })
    return perform(store, 'confirmEmail', { userId, email, digest, session, now: at(1) })
  },
  linkIdentity: (store, { identity: { userId, providerId } }, session) =>
    link(store, { identity: anIdentity({ userId, providerId }) }, session),
  unlinkIdentity: (store, { identity }, session) =>
    perform(store, 'unlinkIdentity', {
      ...identity,
      passwordCounts: true,
      factors: undefined,
      passkeysCount: true,
      session,
      now: at(1),
    }),
  addPasskey: (store, { user: { id: userId } }, session) =>
    perform(store, 'addPasskey', { passkey: aPasskey({ userId }), reason: { kind: 'session', session } }),
  async removePasskey(store, { user: { id: userId } }, session) {
    const [passkey = aPasskey()] = await store.listPasskeys(userId)
    const by = { kind: 'user', session, passwordCounts: true, factors: undefined } as const
    return perform(store, 'removePasskey', { userId, id: passkey.id, by })
  },
  removePassword: (store, { user: { id: userId } }, session) =>
    perform(store, 'removePassword', { userId, session, passkeysCount: true }),
  async enableTotp(store, { user: { id: userId } }, session) {
    const replaces = (await store.findSecondFactor(userId))?.createdAt
    const factor = aSecondFactor({ userId, createdAt: at(2) })
    return perform(store, 'enableTotp', { factor, recoveryDigests: [], replaces, reason: { kind: 'session', session } })
  },
  replaceRecoveryCodes: (store, { user: { id: userId } }, session) =>
    perform(store, 'replaceRecoveryCodes', { userId, session, recoveryDigests: [aHash()] }),
  disableTotp: (store, { user: { id: userId } }, session) => perform(store, 'disableTotp', { userId, session }),
}

async function addFactors(store: StoreDriver, { user: { id: userId }, session }: Person): Promise<void> {
  const reason = { kind: 'session', session } as const
  assert.equal(await perform(store, 'addPasskey', { passkey: aPasskey({ userId }), reason }), 'added')
  const enabling = { factor: aSecondFactor({ userId }), recoveryDigests: [aHash()], replaces: undefined, reason }
  assert.equal(await perform(store, 'enableTotp', enabling), 'enabled')
}

export const changeCases: Suite = (check) => {
  for (const [name, change] of Object.entries(CHANGES)) {
    check(
      `ACR-06: ${name} needs a session that covers the second factors of the account, as they are now`,
      async ({ first, second }) => {
        const person = await aPerson(first)
        await addFactors(second, person)
        const { session, user } = person
        const before = await second.findUser(user.id)
        for (const covers of [
          { passkey: false, others: true },
          { passkey: true, others: false },
        ])
          assert.match(
            await change(first, person, { ...session, covers }),
            /^(?:refused|unknown)$/,
            JSON.stringify(covers),
          )
        assert.deepEqual(await second.findUser(user.id), before)
        assert.deepEqual(await second.listIdentities(user.id), [person.identity])
        assert.equal((await second.listPasskeys(user.id)).length, 1)
        assert.doesNotMatch(await change(first, person, session), /^(?:refused|unknown)$/)
      },
    )

    check(
      `ACR-06: ${name} of an account at a multi-factor provider needs a session that covers it, also while the provider is disabled`,
      async ({ first, second }) => {
        const person = await aPerson(first, aStrongProvider())
        const { identity, session, user } = person
        const disabling = { id: identity.providerId, now: at(1) }
        for (const isDisabled of [false, true]) {
          if (isDisabled) await perform(second, 'disableProvider', disabling)
          const weak = { ...session, covers: { passkey: true, others: false } }
          assert.match(await change(first, person, weak), /^(?:refused|unknown|provider-off)$/)
        }
        assert.deepEqual(await second.findUser(user.id), user)
        assert.deepEqual(await second.listIdentities(user.id), [identity])
        assert.equal(await second.findSecondFactor(user.id), undefined)
      },
    )

    check(`ACC-18: ${name} in a session that has ended changes nothing`, async ({ first, second }) => {
      const person = await aPerson(first)
      const { session, user } = person
      await addFactors(first, person)
      const other = aSession({ userId: user.id })
      await startSessions(second, aSessionStart({ session: other, isSecondStepDone: true }))
      const before = await second.findUser(user.id)
      await perform(second, 'endSession', { id: other.id, ...END })
      assert.match(await change(first, person, coversAll(other)), /^(?:refused|unknown)$/)
      assert.deepEqual(await second.findUser(user.id), before)
      assert.notEqual(session.id, other.id)
    })
  }

  check(
    'ACC-18: of a reset and the code of an address in a session from before, one wins, also on two nodes',
    async ({ first, second }) => {
      for (const nodes of times(10, (index) => (index % 2 === 0 ? [first, second] : [second, first]))) {
        const [one = first, other = second] = nodes
        const { user, session } = await aPerson(first)
        const { id: userId } = user
        const reset = aLink({ userId })
        await perform(first, 'createLink', reset)
        const { email, digest } = anEmailCode({ userId })
        await perform(first, 'createEmailCode', { ...anEmailCode({ userId, email, digest }), session })
        const use = {
          userId,
          hash: reset.hash,
          passwordHash: 'reset',
          keep: [],
          isSecondStepRequired: false,
          browserHash: aHash(),
          now: at(1),
        }
        const outcomes = await Promise.all([
          perform(one, 'confirmEmail', { userId, email, digest, session, now: at(1) }),
          perform(other, 'useLink', use),
        ])
        assert.match(outcomes.join(), /^(?:changed,unknown|unknown,used)$/)
        assert.equal((await first.findUserByEmail(email))?.id, outcomes[0] === 'changed' ? userId : undefined)
        const late = { ...anEmailCode({ userId }), session }
        if (outcomes[1] === 'used') assert.equal(await perform(one, 'createEmailCode', late), 'unknown')
      }
    },
  )
}
