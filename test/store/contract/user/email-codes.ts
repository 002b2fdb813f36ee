import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { normalizeEmail } from '../../../../src/protocol/sign-in/email-address.ts'
import { coversAll } from '../../../../src/endpoints/sign-in/changing-session.ts'
import type { Input } from '../../../../src/ports/operations/index.ts'
import type { EmailCodeRecord, UserRecord } from '../../../../src/ports/records/user.ts'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import { mintUserId } from '../../../../src/protocol/ids.ts'
import { perform, performAll, race, startSessions, tally, times, type Suite } from '../harness.ts'
import { aHash, aLink, aSession, aSessionStart, aUser, at, NOW } from '../../../support/records.ts'

/** A code for a new address of the user, of NOW. */
export function anEmailCode(differing: Partial<EmailCodeRecord> = {}): EmailCodeRecord {
  return {
    userId: mintUserId(NOW, randomBytes),
    email: normalizeEmail(`${randomUUID()}@new.test`),
    digest: aHash(),
    failures: 0,
    createdAt: NOW,
    expiresAt: at(15 * 60 * 1000),
    ...differing,
  }
}

export const emailCodeCases: Suite = (check) => {
  check('createEmailCode replaces an earlier code of an enabled user', async ({ first, second }) => {
    const { user, code, session } = await ask(first)
    assert.deepEqual(await second.findEmailCode(user.id), code)
    const later = anEmailCode({ userId: user.id })
    assert.equal(await perform(first, 'createEmailCode', { ...later, session }), 'created')
    assert.deepEqual(await second.findEmailCode(user.id), later)
    await perform(first, 'disableUser', { id: user.id, now: at(1) })
    const codes = [anEmailCode({ userId: user.id }), anEmailCode()].map((one) => ({ ...one, session }))
    assert.deepEqual(await performAll(first, 'createEmailCode', codes), ['unknown', 'unknown'])
  })

  check('confirmEmail changes and verifies the address, once, and ends the links', async (stores) => {
    const { first, second } = stores
    const asked = await ask(first)
    const { user, code } = asked
    await perform(first, 'createLink', aLink({ userId: user.id }))
    const outcomes = await race(
      stores,
      'confirmEmail',
      times(20, () => confirmationOf(asked)),
    )
    assert.deepEqual(tally(outcomes), { changed: 1, unknown: 19 })
    const changed = { email: code.email, emailVerifiedAt: at(1), updatedAt: at(1) }
    assert.deepEqual(await second.findUser(user.id), { ...user, ...changed })
    assert.equal((await second.findUserByEmail(code.email))?.id, user.id)
    assert.equal(await second.findUserByEmail(user.email ?? ''), undefined)
    assert.deepEqual([await second.findEmailCode(user.id), await second.listLinks(user.id)], [undefined, []])
  })

  check("confirmEmail of the user's own address verifies it, and the links stay", async ({ first }) => {
    const user = aUser({ emailVerifiedAt: undefined })
    const asked = await ask(first, user, { email: user.email })
    const before = asked.user
    const link = aLink({ userId: user.id })
    await perform(first, 'createLink', link)
    assert.equal(await perform(first, 'confirmEmail', confirmationOf(asked)), 'changed')
    assert.deepEqual(await first.findUser(user.id), { ...before, emailVerifiedAt: at(1), updatedAt: at(1) })
    assert.deepEqual(await first.listLinks(user.id), [link])
  })

  check(
    'ACC-16: a code of another user, of another address, from before a newer one and an expired one change nothing',
    async ({ first }) => {
      const { user, code: old, session } = await ask(first)
      const other = await ask(first)
      const code = anEmailCode({ userId: user.id })
      await perform(first, 'createEmailCode', { ...code, session })
      const wrong: readonly (readonly [Partial<Input<'confirmEmail'>>, 'wrong' | 'unknown'])[] = [
        [{ digest: other.code.digest }, 'wrong'],
        [{ digest: old.digest }, 'wrong'],
        [{ email: old.email, digest: old.digest }, 'unknown'],
        [{ email: other.code.email }, 'unknown'],
        [{ userId: other.user.id }, 'unknown'],
        [{ now: code.expiresAt }, 'unknown'],
      ]
      for (const [differing, outcome] of wrong) {
        assert.equal(await perform(first, 'confirmEmail', confirmationOf({ code, session }, differing)), outcome)
      }
      assert.deepEqual(await first.findUser(user.id), user)
      assert.equal(await perform(first, 'confirmEmail', confirmationOf({ code, session })), 'changed')
    },
  )

  check('ACC-16: after five wrong codes, also at once on two nodes, the right one is unknown', async (stores) => {
    const asked = await ask(stores.first)
    const { user } = asked
    const guesses = times(50, () => confirmationOf(asked, { digest: aHash() }))
    assert.deepEqual(tally(await race(stores, 'confirmEmail', guesses)), { wrong: 4, unknown: 46 })
    assert.equal(await perform(stores.first, 'confirmEmail', confirmationOf(asked)), 'unknown')
    assert.deepEqual(await stores.second.findUser(user.id), user)
  })

  check('ACC-15: the address of another user is refused, and only the right code learns of it', async (stores) => {
    const { first, second } = stores
    const other = aUser()
    await perform(first, 'createUser', other)
    const asked = await ask(first, aUser(), { email: other.email })
    const { user, code } = asked
    assert.equal(await perform(first, 'confirmEmail', confirmationOf(asked, { digest: aHash() })), 'wrong')
    assert.equal(await perform(first, 'confirmEmail', confirmationOf(asked)), 'email-taken')
    assert.equal(await perform(first, 'confirmEmail', confirmationOf(asked)), 'unknown')
    assert.deepEqual(await second.findUser(user.id), user)
    assert.equal((await second.findUserByEmail(code.email))?.id, other.id)
    // Two users confirm one address at once.
    const email = normalizeEmail(`both.${other.email}`)
    const codes = await Promise.all([ask(first, aUser(), { email }), ask(second, aUser(), { email })])
    const outcomes = await race(
      stores,
      'confirmEmail',
      codes.map((one) => confirmationOf(one)),
    )
    assert.deepEqual(tally(outcomes), { changed: 1, 'email-taken': 1 })
    assert.equal((await second.findUserByEmail(email))?.id, codes[outcomes.indexOf('changed')]?.user.id)
  })

  check(
    'ACC-16: a change of the address by the operator or of the password, and what ends the sessions, ends the code',
    async ({ first }) => {
      const session = aSession()
      const ends: Readonly<Record<string, (user: UserRecord) => Promise<unknown>>> = {
        setEmail: ({ id, email }) =>
          perform(first, 'setEmail', {
            id,
            email: normalizeEmail(`x.${email}`),
            emailVerifiedAt: undefined,
            now: at(1),
          }),
        setPassword: ({ id }) => perform(first, 'setPassword', { id, passwordHash: 'new', now: at(1) }),
        disableUser: ({ id }) => perform(first, 'disableUser', { id, now: at(1) }),
        deleteUser: ({ id }) => perform(first, 'deleteUser', { id }),
        revokeUserTokens: ({ id }) => perform(first, 'revokeUserTokens', { id, now: at(1) }),
        async changePassword({ id, passwordHash: previousHash }) {
          const started = aSessionStart({ session: { ...session, userId: id }, passwordHash: previousHash })
          assert.equal((await perform(first, 'startSession', started)).kind, 'started')
          return perform(first, 'changePassword', {
            id,
            passwordHash: 'own',
            previousHash,
            session: coversAll(session),
          })
        },
        async useLink({ id: userId }) {
          const link = aLink({ userId })
          await perform(first, 'createLink', link)
          const { hash } = link
          return perform(first, 'useLink', {
            userId,
            hash,
            passwordHash: 'reset',
            keep: [],
            isSecondStepRequired: false,
            browserHash: aHash(),
            now: at(1),
          })
        },
      }
      for (const [name, end] of Object.entries(ends)) {
        const asked = await ask(first)
        const { user } = asked
        assert.match(String(await end(user)), /^(changed|deleted|used)$/, name)
        assert.equal(await first.findEmailCode(user.id), undefined, name)
        assert.equal(await perform(first, 'confirmEmail', confirmationOf(asked)), 'unknown', name)
      }
    },
  )
}

type Asked = Awaited<ReturnType<typeof ask>>

/** A user who has asked for a code. */
async function ask(store: StoreDriver, user: UserRecord = aUser(), differing: Partial<EmailCodeRecord> = {}) {
  await perform(store, 'createUser', user)
  const own = aSession({ userId: user.id })
  await startSessions(store, aSessionStart({ session: own, passwordHash: user.passwordHash }))
  const session = coversAll(own)
  const code = anEmailCode({ userId: user.id, ...differing })
  assert.equal(await perform(store, 'createEmailCode', { ...code, session }), 'created')
  return { user: (await store.findUser(user.id)) ?? user, code, session }
}

function confirmationOf(
  { code: { userId, email, digest }, session }: Pick<Asked, 'code' | 'session'>,
  differing: Partial<Input<'confirmEmail'>> = {},
): Input<'confirmEmail'> {
  return { userId, email, digest, session, now: at(1), mails: [], ...differing }
}
