import assert from 'node:assert/strict'
import { coversAll } from '../../../../src/endpoints/sign-in/changing-session.ts'
import type { EnrolmentReason, TotpUse } from '../../../../src/ports/operations/second-factor.ts'
import type { Input } from '../../../../src/ports/operations/index.ts'
import type { Hit } from '../../../../src/ports/operations/server.ts'
import type { SecondFactorRecord } from '../../../../src/ports/records/second-factor.ts'
import type { SessionRecord, UserRecord } from '../../../../src/ports/records/user.ts'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import { after } from '../../../../src/base/brand.ts'
import { GUESS_LIMIT } from '../../../../src/protocol/sign-in/totp.ts'
import { hitCounts, perform, performAll, race, startSessions, tally, times, type Suite } from '../harness.ts'
import { anIdentity, aProvider } from '../../../support/provider/provider-records.ts'
import { aHash, aSession, aSessionStart, aUser, at, HOUR } from '../../../support/records.ts'
import { aPasskey, aSecondFactor, aSignInBasis } from '../../../support/sign-in/factor-records.ts'
import { aReplacement, place } from '../server/master-key.ts'
import { END } from './sessions.ts'

/** A user who is signed in, and has no app. */
interface Person {
  readonly user: UserRecord
  readonly session: SessionRecord
}

async function aPerson(store: StoreDriver): Promise<Person> {
  const user = aUser()
  const session = aSession({ userId: user.id })
  await perform(store, 'createUser', user)
  await startSessions(store, aSessionStart({ session }))
  return { user, session }
}

function enabling(
  { user, session }: Person,
  differing: Partial<Input<'enableTotp'>> & { readonly app?: Partial<SecondFactorRecord> } = {},
): Input<'enableTotp'> {
  const { app, ...other } = differing
  return {
    factor: aSecondFactor({ userId: user.id, ...app }),
    recoveryDigests: times(10, aHash),
    replaces: undefined,
    reason: { kind: 'session', session: coversAll(session) },
    mails: [],
    ...other,
  }
}

/** An attempt in a bucket of its own. */
function aHit(): Hit {
  return { bucket: aHash(), now: at(5), windowMs: HOUR, by: 1 }
}

/** A person with an app whose last step is 10. */
export async function aUserOfApp(store: StoreDriver, app: Partial<SecondFactorRecord> = {}) {
  const person = await aPerson(store)
  const input = enabling(person, { app: { lastStep: 10, ...app } })
  assert.equal(await perform(store, 'enableTotp', input), 'enabled')
  const { factor, recoveryDigests } = input
  const use = (differing: Partial<TotpUse> = {}): TotpUse => ({
    userId: factor.userId,
    createdAt: factor.createdAt,
    step: 11,
    isKnownBrowser: false,
    now: at(5),
    mails: [],
    ...differing,
  })
  return { ...person, factor, recoveryDigests, use }
}

export const secondFactorCases: Suite = (check) => {
  check('enableTotp stores the app and the codes, and ends the other sessions', async ({ first, second }) => {
    const person = await aPerson(first)
    const other = aSession({ userId: person.user.id })
    await startSessions(first, aSessionStart({ session: other }))
    const input = enabling(person)
    assert.equal(await second.findSecondFactor(person.user.id), undefined)
    assert.equal(await perform(first, 'enableTotp', input), 'enabled')
    assert.deepEqual(await second.findSecondFactor(person.user.id), input.factor)
    assert.equal(await second.countRecoveryCodes(person.user.id), 10)
    assert.equal(await second.findSession(other.id), undefined)
    assert.deepEqual(await second.findSession(person.session.id), person.session)
  })

  check('enableTotp: of concurrent apps of one user one is enabled, with its codes alone', async (stores) => {
    const person = await aPerson(stores.first)
    const inputs = times(8, () => enabling(person))
    const outcomes = await race(stores, 'enableTotp', inputs)
    assert.deepEqual(tally(outcomes), { enabled: 1, known: 7 })
    const winner = inputs[outcomes.indexOf('enabled')]
    assert.deepEqual(await stores.second.findSecondFactor(person.user.id), winner?.factor)
    const codes = inputs.flatMap(({ factor: { userId }, recoveryDigests }) =>
      recoveryDigests.map((digest) => ({ userId, digest, now: at(5) })),
    )
    const uses = await performAll(stores.first, 'useRecoveryCode', codes)
    assert.deepEqual(tally(uses), { used: 10, unknown: 70 })
  })

  check('enableTotp replaces the app that the caller knows, and no other one', async ({ first }) => {
    const { user, session, factor } = await aUserOfApp(first)
    const another = (replaces: SecondFactorRecord['createdAt'] | undefined) =>
      enabling({ user, session }, { app: { createdAt: at(9) }, replaces })
    for (const replaces of [undefined, at(8)]) {
      assert.equal(await perform(first, 'enableTotp', another(replaces)), 'known')
      assert.deepEqual(await first.findSecondFactor(user.id), factor)
    }
    const replacing = another(factor.createdAt)
    assert.equal(await perform(first, 'enableTotp', replacing), 'enabled')
    assert.deepEqual(await first.findSecondFactor(user.id), replacing.factor)
    assert.equal(await first.countRecoveryCodes(user.id), 10)
  })

  check('enableTotp is refused if the session or the account of the sign-in has changed', async ({ first }) => {
    const signIn = ({ user: { passwordHash } }: Person): EnrolmentReason => ({
      kind: 'sign-in',
      ...aSignInBasis({ since: at(3), passwordHash }),
    })
    const ends: readonly (readonly [string, EnrolmentReason['kind'], (person: Person) => Promise<unknown>])[] = [
      ['the session ended', 'session', ({ session: { id } }) => perform(first, 'endSession', { id, ...END })],
      ['the user is disabled', 'sign-in', ({ user: { id } }) => perform(first, 'disableUser', { id, now: at(2) })],
      ['tokens were revoked', 'sign-in', ({ user: { id } }) => perform(first, 'revokeUserTokens', { id, now: at(4) })],
      [
        'the password was changed',
        'sign-in',
        ({ user: { id } }) => perform(first, 'setPassword', { id, passwordHash: 'another', now: at(2) }),
      ],
      ['the user was deleted', 'sign-in', ({ user: { id } }) => perform(first, 'deleteUser', { id })],
    ]
    for (const [why, kind, end] of ends) {
      const person = await aPerson(first)
      await end(person)
      const refused = enabling(person, kind === 'session' ? {} : { reason: signIn(person) })
      assert.equal(await perform(first, 'enableTotp', refused), 'refused', why)
      assert.equal(await first.findSecondFactor(person.user.id), undefined, why)
      assert.equal(await first.countRecoveryCodes(person.user.id), 0, why)
    }
    const person = await aPerson(first)
    assert.equal(await perform(first, 'enableTotp', enabling(person, { reason: signIn(person) })), 'enabled')
    assert.equal(await first.findSession(person.session.id), undefined)
  })

  check('OTP-05: no session without a second step starts beside an app', async (stores) => {
    for (const isSecondStepDone of [false, true]) {
      const { user } = await aUserOfApp(stores.first)
      const start = aSessionStart({ session: aSession({ userId: user.id }), isSecondStepDone })
      const { kind } = await perform(stores.second, 'startSession', start)
      assert.equal(kind, isSecondStepDone ? 'started' : 'user-changed')
    }
    const people = await Promise.all(times(6, () => aPerson(stores.first)))
    const starts = people.map(({ user: { id: userId } }) => aSessionStart({ session: aSession({ userId }) }))
    const [enabled] = await Promise.all([
      race(
        stores,
        'enableTotp',
        people.map((person) => enabling(person)),
      ),
      race({ first: stores.second, second: stores.first }, 'startSession', starts),
    ])
    assert.deepEqual(tally(enabled), { enabled: 6 })
    for (const { session } of starts) assert.equal(await stores.first.findSession(session.id), undefined)
  })

  check('OTP-04: of concurrent uses of one code one is accepted, and of older codes none', async (stores) => {
    const { user, factor, use } = await aUserOfApp(stores.first)
    const outcomes = await race(
      stores,
      'useTotp',
      times(12, () => use()),
    )
    assert.deepEqual(tally(outcomes), { accepted: 1, 'used-before': 11 })
    assert.deepEqual(await stores.first.findSecondFactor(user.id), { ...factor, lastStep: 11, usedAt: at(5) })
    const later = [use({ step: 10 }), use({ step: 12 }), use({ step: 11 }), use({ step: 12, isKnownBrowser: true })]
    const expected = ['used-before', 'accepted', 'used-before', 'used-before']
    assert.deepEqual(await performAll(stores.first, 'useTotp', later), expected)
  })

  check('useTotp accepts nothing for another app, or a user without one', async ({ first }) => {
    const { user, use } = await aUserOfApp(first)
    const uses = [use({ createdAt: at(7) }), use({ userId: aUser().id }), use({ createdAt: at(7), step: undefined })]
    assert.deepEqual(await performAll(first, 'useTotp', uses), ['none', 'none', 'none'])
    assert.equal((await first.findSecondFactor(user.id))?.failures, 0)
  })

  check('OTP-01: after 100 wrong codes those of unknown browsers are refused, also right ones', async (stores) => {
    const { first, second } = stores
    const { user, use, recoveryDigests } = await aUserOfApp(first)
    const failures = async () => (await second.findSecondFactor(user.id))?.failures
    const wrong = use({ step: undefined })
    assert.equal(await perform(first, 'useTotp', wrong), 'wrong')
    assert.equal(await perform(first, 'useTotp', use({ step: 11 })), 'accepted')
    assert.equal(await failures(), 0)
    const known = { isKnownBrowser: true } as const
    assert.equal(await perform(first, 'useTotp', { ...wrong, ...known }), 'wrong')
    assert.equal(await failures(), 0)
    const outcomes = await race(
      stores,
      'useTotp',
      times(GUESS_LIMIT + 4, () => wrong),
    )
    assert.deepEqual(tally(outcomes), { wrong: GUESS_LIMIT, locked: 4 })
    assert.equal(await perform(first, 'useTotp', use({ step: 12 })), 'locked')
    assert.equal(await perform(first, 'useTotp', use({ step: 12, ...known })), 'accepted')
    assert.equal(await perform(first, 'useTotp', use({ step: 13 })), 'locked')
    const code = { userId: user.id, digest: recoveryDigests[0] ?? '', now: at(6) }
    assert.deepEqual(await perform(first, 'useRecoveryCode', code), { kind: 'used', left: 9 })
    assert.equal(await perform(first, 'useTotp', use({ step: 13 })), 'accepted')
  })

  check('OTP-01: a session with a passkey ends the lock of wrong codes', async ({ first }) => {
    const { user, use } = await aUserOfApp(first)
    const passkey = aPasskey({ userId: user.id })
    const session = aSession({ userId: user.id })
    await perform(first, 'startSession', aSessionStart({ session, isSecondStepDone: true }))
    const reason = { kind: 'session', session: coversAll(session) } as const
    assert.equal(await perform(first, 'addPasskey', { passkey, reason }), 'added')
    await performAll(
      first,
      'useTotp',
      times(GUESS_LIMIT, () => use({ step: undefined })),
    )
    assert.equal(await perform(first, 'useTotp', use()), 'locked')
    const again = aSession({ userId: user.id })
    await perform(first, 'startSession', aSessionStart({ session: again, passkey: passkey.id, isSecondStepDone: true }))
    assert.equal(await perform(first, 'useTotp', use()), 'accepted')
  })

  check('of concurrent uses of one recovery code one succeeds, and that of another user is unknown', async (stores) => {
    const { user, factor, recoveryDigests } = await aUserOfApp(stores.first)
    const { user: other } = await aUserOfApp(stores.first)
    const [digest = ''] = recoveryDigests
    const stolen = { userId: other.id, digest, now: at(5) }
    assert.deepEqual(await perform(stores.first, 'useRecoveryCode', stolen), { kind: 'unknown' })
    const isLeft = ({ id }: Pick<UserRecord, 'id'>) => stores.second.hasRecoveryCode(id, digest)
    assert.deepEqual([await isLeft(user), await isLeft(other)], [true, false])
    const uses = times(12, () => ({ userId: user.id, digest, now: at(5) }))
    const outcomes = await race(stores, 'useRecoveryCode', uses)
    assert.deepEqual(tally(outcomes), { used: 1, unknown: 11 })
    assert.deepEqual(
      outcomes.find(({ kind }) => kind === 'used'),
      { kind: 'used', left: 9 },
    )
    assert.equal(await isLeft(user), false)
    assert.deepEqual(await stores.second.findSecondFactor(user.id), { ...factor, usedAt: at(5) })
  })

  check('disableTotp and replaceRecoveryCodes need the session and the app', async ({ first, second }) => {
    const { user, session, recoveryDigests } = await aUserOfApp(first)
    const change = { userId: user.id, session: coversAll(session), recoveryDigests: times(3, aHash) }
    const gone = { ...change, session: coversAll(aSession({ userId: user.id })) }
    assert.equal(await perform(first, 'replaceRecoveryCodes', gone), 'unknown')
    assert.equal(await perform(first, 'disableTotp', gone), 'unknown')
    assert.equal(await second.countRecoveryCodes(user.id), 10)
    assert.equal(await perform(first, 'replaceRecoveryCodes', change), 'changed')
    assert.equal(await second.countRecoveryCodes(user.id), 3)
    const old = { userId: user.id, digest: recoveryDigests[0] ?? '', now: at(5) }
    assert.deepEqual(await perform(first, 'useRecoveryCode', old), { kind: 'unknown' })
    assert.deepEqual(await performAll(first, 'disableTotp', [change, change]), ['changed', 'unknown'])
    assert.equal(await second.findSecondFactor(user.id), undefined)
    assert.equal(await second.countRecoveryCodes(user.id), 0)
    assert.equal(await perform(first, 'replaceRecoveryCodes', change), 'unknown')
    assert.deepEqual(await second.findSession(session.id), session)
  })

  check('resetSecondFactor removes the app and the codes, and ends all sessions', async ({ first, second }) => {
    const { user, session } = await aUserOfApp(first)
    assert.deepEqual(
      await performAll(
        first,
        'resetSecondFactor',
        times(2, () => ({ userId: user.id })),
      ),
      ['changed', 'unknown'],
    )
    assert.equal(await second.findSecondFactor(user.id), undefined)
    assert.equal(await second.countRecoveryCodes(user.id), 0)
    assert.equal(await second.findSession(session.id), undefined)
  })

  check('OTP-09: an app that is set up makes each browser of the user an unknown one', async ({ first, second }) => {
    const person = await aPerson(first)
    const [{ user }, browserHash] = [person, aHash()]
    await startSessions(first, aSessionStart({ session: aSession({ userId: user.id }), browserHash }))
    assert.equal(await second.knowsBrowser(user.id, browserHash), true)
    assert.equal(await perform(first, 'enableTotp', enabling(person)), 'enabled')
    assert.equal(await second.knowsBrowser(user.id, browserHash), false)
  })

  check('OTP-08: a session follows from the app that the user has, and from no other', async ({ first }) => {
    const { user, factor } = await aUserOfApp(first)
    for (const [app, kind] of [
      [after(factor.createdAt, 1), 'user-changed'],
      [factor.createdAt, 'started'],
    ] as const) {
      const start = aSessionStart({ session: aSession({ userId: user.id }), app, isSecondStepDone: true })
      assert.equal((await perform(first, 'startSession', start)).kind, kind)
    }
    await perform(first, 'resetSecondFactor', { userId: user.id })
    const start = { session: aSession({ userId: user.id }), app: factor.createdAt, isSecondStepDone: true }
    assert.deepEqual(await perform(first, 'startSession', aSessionStart(start)), { kind: 'user-changed' })
  })

  check(
    'unlockUser ends the counts in its buckets and the failures of the app, and no others; of no user it ends nothing',
    async ({ first, second }) => {
      const [{ user, session, use }, { user: other, use: useOther }] = [
        await aUserOfApp(first),
        await aUserOfApp(first),
      ]
      const [password, code, foreign] = [aHit(), aHit(), aHit()]
      const hits = [password, code, foreign]
      await performAll(first, 'countHit', [...hits, password])
      await performAll(first, 'useTotp', [use({ step: undefined }), useOther({ step: undefined })])
      const buckets = [password.bucket, code.bucket, aHash()]
      assert.equal(await perform(first, 'unlockUser', { id: aUser().id, buckets: [password.bucket] }), 'unknown')
      assert.deepEqual(await hitCounts(second, [password]), [2])
      assert.equal(await perform(first, 'unlockUser', { id: user.id, buckets }), 'unlocked')
      assert.deepEqual(await hitCounts(second, hits), [undefined, undefined, 1])
      assert.deepEqual(
        await Promise.all([user, other].map(async ({ id }) => (await second.findSecondFactor(id))?.failures)),
        [0, 1],
      )
      assert.deepEqual(await second.findSession(session.id), session)
      assert.equal(await perform(first, 'unlockUser', { id: user.id, buckets: [] }), 'unlocked')
    },
  )

  check('an attempt that is counted while its user is unlocked counts once, or not at all', async (stores) => {
    const { user } = await aUserOfApp(stores.first)
    const hit = aHit()
    for (let round = 0; round < 10; round += 1) {
      await perform(stores.first, 'countHit', { ...hit, by: 10 })
      const [counted] = await Promise.all([
        perform(stores.second, 'countHit', hit),
        perform(stores.first, 'unlockUser', { id: user.id, buckets: [hit.bucket] }),
      ])
      const [left] = await hitCounts(stores.first, [hit])
      assert.ok(
        counted.count === 11 ? left === undefined : counted.count === 1 && left === 1,
        `${counted.count}, ${left}`,
      )
      await perform(stores.first, 'unlockUser', { id: user.id, buckets: [hit.bucket] })
    }
  })

  check('deleteUser removes the app and the codes', async ({ first, second }) => {
    const { user } = await aUserOfApp(first)
    await perform(first, 'deleteUser', { id: user.id })
    assert.equal(await second.findSecondFactor(user.id), undefined)
    assert.equal(await second.countRecoveryCodes(user.id), 0)
  })

  check(
    'OTP-07: the app of a user stays when the master key is replaced, so one factor is not enough',
    async ({ first }) => {
      await place(first)
      const { user, factor } = await aUserOfApp(first)
      assert.equal(await perform(first, 'replaceMasterKey', aReplacement({ now: at(5) })), 'replaced')
      assert.deepEqual(await first.findSecondFactor(user.id), factor)
      const session = aSession({ userId: user.id, createdAt: at(6) })
      assert.deepEqual(await perform(first, 'startSession', aSessionStart({ session })), { kind: 'user-changed' })
    },
  )

  check(
    'ACC-20: where one second factor must remain, one does, whatever is removed at once, and an app only if it counts',
    async ({ first, second }) => {
      const provider = aProvider()
      await perform(first, 'createProvider', provider)
      for (const app of ['none', 'void', 'counts'] as const) {
        const { user, session } = app === 'none' ? await aPerson(first) : await aUserOfApp(first)
        const { id: userId } = user
        const reason = { kind: 'session', session: coversAll(session) } as const
        const passkey = aPasskey({ userId })
        const identity = anIdentity({ userId, providerId: provider.id })
        await perform(first, 'addPasskey', { passkey, reason })
        await perform(first, 'linkIdentity', { identity, reason, now: at(1) })
        const factors = { app: app === 'counts', identities: [identity.key] }
        const by = { kind: 'user', session: coversAll(session), passwordCounts: true, factors } as const
        const outcomes = await Promise.all([
          perform(first, 'removePasskey', { userId, id: passkey.id, by }),
          perform(second, 'unlinkIdentity', { ...identity, ...by, passkeysCount: true, now: at(2) }),
        ])
        assert.equal(outcomes.filter((one) => one === 'last').length, app === 'counts' ? 0 : 1, app)
      }
    },
  )
}
