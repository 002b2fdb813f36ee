import assert from 'node:assert/strict'
import { coversAll } from '../../../../src/endpoints/sign-in/changing-session.ts'
import type { PasskeyReason } from '../../../../src/ports/operations/passkey.ts'
import type { Input } from '../../../../src/ports/operations/index.ts'
import type { PasskeyRecord } from '../../../../src/ports/records/passkey.ts'
import type { SessionRecord, UserRecord } from '../../../../src/ports/records/user.ts'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import { PASSKEY_LIMIT } from '../../../../src/protocol/sign-in/passkey.ts'
import { perform, performAll, race, startSessions, tally, times, type Suite } from '../harness.ts'
import { anIdentity, aProvider } from '../../../support/provider/provider-records.ts'
import { aHash, aLink, aSession, aSessionStart, aUser, at, HOUR } from '../../../support/records.ts'
import { aPasskey, aSecondFactor, aSignInBasis } from '../../../support/sign-in/factor-records.ts'
import { END } from './sessions.ts'

/** A user who is signed in. */
interface Person {
  readonly user: UserRecord
  readonly session: SessionRecord
}

async function aPerson(store: StoreDriver, differing: Parameters<typeof aUser>[0] = {}): Promise<Person> {
  const user = aUser(differing)
  const session = aSession({ userId: user.id })
  await perform(store, 'createUser', user)
  await startSessions(store, aSessionStart({ session, passwordHash: user.passwordHash }))
  return { user, session }
}

function adding({ user, session }: Person, differing: Partial<PasskeyRecord> = {}): Input<'addPasskey'> {
  return {
    passkey: aPasskey({ userId: user.id, ...differing }),
    reason: { kind: 'session', session: coversAll(session) },
    mails: [],
  }
}

/** A person with a passkey. */
async function anOwner(store: StoreDriver, differing: Partial<PasskeyRecord> = {}) {
  const person = await aPerson(store)
  const { passkey, reason } = adding(person, differing)
  assert.equal(await perform(store, 'addPasskey', { passkey, reason }), 'added')
  return { ...person, passkey }
}

function using({ userId, id, isBackupEligible }: PasskeyRecord, counter: number): Input<'usePasskey'> {
  const said = { counter, isBackupEligible, wasBackupEligible: isBackupEligible, isBackedUp: true }
  return { userId, id, ...said, now: at(5), mails: [] }
}

/** Removes a passkey for its user, who has no password that counts. */
function removing({ session }: Person, { userId, id }: PasskeyRecord): Input<'removePasskey'> {
  return {
    userId,
    id,
    by: { kind: 'user', session: coversAll(session), passwordCounts: false, factors: undefined },
    mails: [],
  }
}

async function linkTo(store: StoreDriver, { id: userId }: UserRecord) {
  const link = aLink({ userId })
  await perform(store, 'createLink', link)
  return {
    kind: 'link',
    hash: link.hash,
    keep: [],
    isSecondStepRequired: false,
    now: at(HOUR),
  } as const satisfies PasskeyReason
}

export const passkeyCases: Suite = (check) => {
  check('addPasskey stores a passkey of a session that is active, once', async ({ first, second }) => {
    const person = await aPerson(first)
    const one = adding(person)
    const other = adding(person, { agent: undefined, isBackupEligible: false, createdAt: at(1) })
    assert.deepEqual(await performAll(first, 'addPasskey', [one, one, other]), ['added', 'taken', 'added'])
    assert.deepEqual(await second.listPasskeys(person.user.id), [one.passkey, other.passkey])
    assert.deepEqual(await second.findPasskey(person.user.id, one.passkey.id), one.passkey)
    assert.equal(await second.findPasskey(aUser().id, one.passkey.id), undefined)
    // The same credential of another user does no harm: a sign-in names both.
    const stranger = await aPerson(first)
    const same = adding(stranger, { id: one.passkey.id, credentialId: one.passkey.credentialId })
    assert.equal(await perform(second, 'addPasskey', same), 'added')
  })

  check('addPasskey: a user has at most 20, whatever is added at once', async (stores) => {
    const person = await aPerson(stores.first)
    const outcomes = await race(
      stores,
      'addPasskey',
      times(PASSKEY_LIMIT + 4, () => adding(person)),
    )
    assert.deepEqual(tally(outcomes), { added: PASSKEY_LIMIT, 'too-many': 4 })
    assert.equal((await stores.first.listPasskeys(person.user.id)).length, PASSKEY_LIMIT)
  })

  check(
    'PK-02: addPasskey is refused if what allowed it has ended, or the user has a second step',
    async ({ first }) => {
      const signIn = ({ user: { passwordHash } }: Person): PasskeyReason => ({
        kind: 'sign-in',
        ...aSignInBasis({ since: at(3), passwordHash }),
      })
      const inSession = ({ session }: Person): PasskeyReason => ({ kind: 'session', session: coversAll(session) })
      type End = (person: Person) => Promise<unknown>
      const ends: readonly (readonly [string, (person: Person) => PasskeyReason, End])[] = [
        ['the session ended', inSession, ({ session: { id } }) => perform(first, 'endSession', { id, ...END })],
        ['disabled', inSession, ({ user: { id } }) => perform(first, 'disableUser', { id, now: at(2) })],
        ['disabled', signIn, ({ user: { id } }) => perform(first, 'disableUser', { id, now: at(2) })],
        ['tokens were revoked', signIn, ({ user: { id } }) => perform(first, 'revokeUserTokens', { id, now: at(4) })],
        ['deleted', signIn, ({ user: { id } }) => perform(first, 'deleteUser', { id })],
        ['another passkey', signIn, (person) => perform(first, 'addPasskey', adding(person))],
        [
          'an app',
          signIn,
          ({ user: { id: userId }, session }) =>
            perform(first, 'enableTotp', {
              factor: aSecondFactor({ userId }),
              recoveryDigests: [],
              replaces: undefined,
              reason: { kind: 'session', session: coversAll(session) },
            }),
        ],
      ]
      for (const [why, reasonOf, end] of ends) {
        const person = await aPerson(first)
        await end(person)
        const { passkey } = adding(person)
        assert.equal(await perform(first, 'addPasskey', { passkey, reason: reasonOf(person) }), 'refused', why)
        assert.equal(await first.findPasskey(person.user.id, passkey.id), undefined, why)
      }
      const person = await aPerson(first)
      assert.equal(await perform(first, 'addPasskey', { ...adding(person), reason: signIn(person) }), 'added')
      const app = { factor: aSecondFactor({ userId: person.user.id }), recoveryDigests: [], replaces: undefined }
      const { passwordHash } = person.user
      const byPassword = {
        ...app,
        reason: { kind: 'sign-in', ...aSignInBasis({ since: at(3), passwordHash }) },
      } as const
      assert.equal(await perform(first, 'enableTotp', byPassword), 'refused', 'The passkey is the second step.')
    },
  )

  check('LNK-01: a link adds one passkey; the password, the rest and the sessions end', async (stores) => {
    const { first, second } = stores
    const { user, session, passkey: thief } = await anOwner(first)
    const { passkey: kept } = adding({ user, session })
    assert.equal(
      await perform(first, 'addPasskey', { passkey: kept, reason: { kind: 'session', session: coversAll(session) } }),
      'added',
    )
    const provider = aProvider()
    await perform(first, 'createProvider', provider)
    const identity = anIdentity({ userId: user.id, providerId: provider.id })
    const linking = { identity, reason: { kind: 'session', session: coversAll(session) }, now: at(1) } as const
    assert.equal(await perform(first, 'linkIdentity', linking), 'linked')
    const reason = { ...(await linkTo(first, user)), keep: [kept.id] }
    const wrong = { ...reason, hash: aHash() }
    assert.equal(await perform(first, 'addPasskey', { ...adding({ user, session }), reason: wrong }), 'refused')
    assert.equal((await first.listPasskeys(user.id)).length, 2)
    const additions = times(6, () => ({ ...adding({ user, session }, { createdAt: at(HOUR) }), reason }))
    const outcomes = await race(stores, 'addPasskey', additions)
    assert.deepEqual(tally(outcomes), { added: 1, refused: 5 })
    const won = additions[outcomes.indexOf('added')]?.passkey
    assert.deepEqual(await second.listPasskeys(user.id), [kept, won])
    assert.equal(await second.findPasskey(user.id, thief.id), undefined)
    assert.deepEqual(await second.listIdentities(user.id), [])
    const changed = { ...user, passwordHash: undefined, notBefore: at(HOUR) }
    assert.deepEqual(
      { ...(await second.findUser(user.id)), firstSignedInAt: undefined },
      { ...changed, firstSignedInAt: undefined },
    )
  })

  check('a link whose password was set removes the passkeys that were not kept', async ({ first, second }) => {
    const { user, passkey } = await anOwner(first)
    const { hash, now } = await linkTo(first, user)
    const use = {
      userId: user.id,
      hash,
      passwordHash: 'reset',
      keep: [],
      isSecondStepRequired: false,
      browserHash: aHash(),
      now,
    }
    assert.equal(await perform(first, 'useLink', use), 'used')
    assert.equal(await second.findPasskey(user.id, passkey.id), undefined)
  })

  check(
    'usePasskey keeps the highest counter and the last flags, and reports a counter that did not rise',
    async ({ first, second }) => {
      const { passkey } = await anOwner(first)
      const counterOf = async (): Promise<number | undefined> =>
        (await second.findPasskey(passkey.userId, passkey.id))?.counter
      const rows: readonly (readonly [counter: number, outcome: string, kept: number])[] = [
        [0, 'used', 0],
        [0, 'used', 0],
        [7, 'used', 7],
        [8, 'used', 8],
        [8, 'counter-back', 8],
        [3, 'counter-back', 8],
        [0, 'counter-back', 8],
        [4_294_967_295, 'used', 4_294_967_295],
      ]
      for (const [counter, outcome, kept] of rows) {
        assert.equal(await perform(first, 'usePasskey', using(passkey, counter)), outcome)
        assert.equal(await counterOf(), kept)
      }
      const noted = await second.findPasskey(passkey.userId, passkey.id)
      assert.deepEqual(noted, { ...passkey, counter: 4_294_967_295, isBackedUp: true, usedAt: at(5) })
      for (const counter of [4_294_967_296, 1]) {
        const moved = { ...using(passkey, counter), isBackupEligible: false, isBackedUp: false }
        await perform(first, 'usePasskey', moved)
        const found = await second.findPasskey(passkey.userId, passkey.id)
        assert.deepEqual([found?.isBackupEligible, found?.isBackedUp], [false, false], `${counter}`)
        await perform(first, 'usePasskey', using(passkey, counter))
      }
      for (const stranger of [aPasskey({ id: passkey.id }), aPasskey({ userId: passkey.userId })])
        assert.equal(await perform(first, 'usePasskey', using(stranger, 9)), 'unknown')
    },
  )

  check('usePasskey: of concurrent uses of one counter one rises', async (stores) => {
    const { passkey } = await anOwner(stores.first)
    const uses = times(12, () => using(passkey, 5))
    assert.deepEqual(tally(await race(stores, 'usePasskey', uses)), { used: 1, 'counter-back': 11 })
  })

  check('PK-10: no session starts with a passkey that was removed', async (stores) => {
    const { user, session, passkey } = await anOwner(stores.first)
    const startOf = (id: PasskeyRecord['id']) =>
      aSessionStart({ session: aSession({ userId: user.id }), passkey: id, isSecondStepDone: true })
    assert.equal((await perform(stores.second, 'startSession', startOf(passkey.id))).kind, 'started')
    assert.equal((await perform(stores.second, 'startSession', startOf(aPasskey().id))).kind, 'user-changed')
    const starts = times(6, () => startOf(passkey.id))
    const [removed] = await Promise.all([
      perform(stores.first, 'removePasskey', { ...removing({ user, session }, passkey), by: { kind: 'operator' } }),
      race(stores, 'startSession', starts),
    ])
    assert.equal(removed, 'removed')
    for (const {
      session: { id },
    } of starts)
      assert.equal(await stores.first.findSession(id), undefined)
  })

  check(
    'countPasskeyOnlyUsers counts the users who have neither a password that counts nor a provider',
    async (stores) => {
      const { first, second } = stores
      const count = async (passwordsCount = true) => second.countPasskeyOnlyUsers({ passwordsCount })
      assert.deepEqual([await second.hasAnyPasskey(), await count()], [false, 0])
      const { user, session } = await anOwner(first)
      await perform(first, 'addPasskey', adding(await aPerson(first, { passwordHash: undefined })))
      await perform(first, 'createUser', aUser({ passwordHash: undefined }))
      assert.deepEqual([await second.hasAnyPasskey(), await count(), await count(false)], [true, 1, 2])
      const provider = aProvider()
      const identity = anIdentity({ userId: user.id, providerId: provider.id })
      await perform(first, 'createProvider', provider)
      await perform(first, 'linkIdentity', {
        identity,
        reason: { kind: 'session', session: coversAll(session) },
        now: at(1),
      })
      assert.equal(await count(false), 1)
      await perform(first, 'disableProvider', { id: provider.id, now: at(2) })
      assert.equal(await count(false), 2)
    },
  )

  check('removePasskey ends the other sessions, and the last method stays', async ({ first, second }) => {
    const owner = await anOwner(first)
    const { user, session, passkey } = owner
    const other = aSession({ userId: user.id })
    await startSessions(first, aSessionStart({ session: other }))
    const removal = removing(owner, passkey)
    assert.equal(await perform(first, 'removePasskey', removal), 'last')
    const gone = {
      ...removal,
      by: { kind: 'user', session: coversAll(aSession()), passwordCounts: true, factors: undefined },
    } as const
    assert.equal(await perform(first, 'removePasskey', gone), 'unknown')
    const unknown = { ...removal, id: aPasskey().id }
    assert.equal(await perform(first, 'removePasskey', unknown), 'unknown')
    assert.deepEqual(await second.listPasskeys(user.id), [passkey])
    const withPassword = {
      ...removal,
      by: { kind: 'user', session: coversAll(session), passwordCounts: true, factors: undefined },
    } as const
    assert.deepEqual(await performAll(first, 'removePasskey', [withPassword, withPassword]), ['removed', 'unknown'])
    assert.deepEqual(await second.listPasskeys(user.id), [])
    assert.equal(await second.findSession(other.id), undefined)
    assert.deepEqual(await second.findSession(session.id), session)
  })

  check('removePasskey by the operator removes the last one, and ends all sessions', async ({ first, second }) => {
    const { session, passkey } = await anOwner(first)
    const removal = { userId: passkey.userId, id: passkey.id, by: { kind: 'operator' } } as const
    assert.deepEqual(await performAll(first, 'removePasskey', [removal, removal]), ['removed', 'unknown'])
    assert.equal(await second.findSession(session.id), undefined)
  })

  check('of a password, passkeys and identities one method remains, whatever is removed at once', async (stores) => {
    const { first } = stores
    for (const [count, passwordCounts] of [
      [2, false],
      [1, true],
    ] as const) {
      const person = await aPerson(first)
      const {
        user: { id: userId },
        session,
      } = person
      const passkeys = times(count, () => adding(person))
      await performAll(first, 'addPasskey', passkeys)
      const by = { kind: 'user', session: coversAll(session), passwordCounts, factors: undefined } as const
      const [removed, password] = await Promise.all([
        race(
          stores,
          'removePasskey',
          passkeys.map(({ passkey: { id } }) => ({ userId, id, by })),
        ),
        passwordCounts
          ? perform(stores.second, 'removePassword', { userId, session: by.session, passkeysCount: true })
          : 'last',
      ])
      assert.deepEqual(tally([...removed, password])['removed'], 1)
      const left = (await first.listPasskeys(userId)).length
      const user = await first.findUser(userId)
      assert.ok(left > 0 || (passwordCounts && user?.passwordHash !== undefined))
    }
  })

  check(
    'unlinkIdentity and removePassword count passkeys where users can sign in with them',
    async ({ first, second }) => {
      const person = await anOwner(first)
      const {
        user: { id: userId },
        session,
      } = person
      const provider = aProvider()
      await perform(first, 'createProvider', provider)
      const identity = anIdentity({ userId, providerId: provider.id })
      await perform(first, 'linkIdentity', {
        identity,
        reason: { kind: 'session', session: coversAll(session) },
        now: at(1),
      })
      const unlink = { ...identity, passwordCounts: false, factors: undefined, session: coversAll(session), now: at(2) }
      assert.equal(await perform(first, 'unlinkIdentity', { ...unlink, passkeysCount: false }), 'last')
      assert.equal(await perform(first, 'unlinkIdentity', { ...unlink, passkeysCount: true }), 'unlinked')
      const gone = { userId, session: coversAll(aSession({ userId })), passkeysCount: true }
      const removal = { userId, session: coversAll(session), passkeysCount: true }
      assert.equal(await perform(first, 'removePassword', { ...removal, passkeysCount: false }), 'last')
      assert.equal(await perform(first, 'removePassword', gone), 'unknown')
      assert.deepEqual(await performAll(first, 'removePassword', [removal, removal]), ['removed', 'unknown'])
      assert.equal((await second.findUser(userId))?.passwordHash, undefined)
    },
  )

  check('deleteUser removes the passkeys, and so does a takeover of an unused account', async ({ first, second }) => {
    const { user, passkey } = await anOwner(first)
    await perform(first, 'deleteUser', { id: user.id })
    assert.equal(await second.findPasskey(user.id, passkey.id), undefined)
    const unused = aUser({ emailVerifiedAt: undefined, firstSignedInAt: undefined })
    await perform(first, 'createUser', unused)
    const invited = { passkey: aPasskey({ userId: unused.id }), reason: await linkTo(first, unused) }
    assert.equal(await perform(first, 'addPasskey', invited), 'added')
    const provider = aProvider()
    await perform(first, 'createProvider', provider)
    const identity = anIdentity({ userId: unused.id, providerId: provider.id })
    const takeover = { identity, reason: { kind: 'unused', email: unused.email }, now: at(2 * HOUR) } as const
    assert.equal(await perform(first, 'linkIdentity', takeover), 'linked')
    assert.deepEqual(await second.listPasskeys(unused.id), [])
  })
}
