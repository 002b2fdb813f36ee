import assert from 'node:assert/strict'
import { normalizeEmail, type EmailAddress } from '../../../../src/protocol/sign-in/email-address.ts'
import { coversAll } from '../../../../src/endpoints/sign-in/changing-session.ts'
import type { SessionRecord, UserRecord } from '../../../../src/ports/records/user.ts'
import type { Hit } from '../../../../src/ports/operations/server.ts'
import { perform, performAll, race, startSessions, type Suite, tally, times } from '../harness.ts'
import { aHash, aLink, aSession, aSessionStart, aUser, aUserOfProvider, at, NOW } from '../../../support/records.ts'

export const accountCases: Suite = (check) => {
  check('listUsersByEmail returns the addresses with a start, in their order', async ({ first, second }) => {
    const start = `list-${aHash().toLowerCase()}`
    const emails = ['b@acme.test', 'a@acme.test', '\u{10ffff}@acme.test', ''].map(
      (rest) => (start + rest) as EmailAddress,
    )
    await performAll(
      first,
      'createUser',
      emails.map((email) => ({ ...aUser(), email })),
    )
    const found = async (prefix: string, limit: number) =>
      (await second.listUsersByEmail({ prefix, limit })).map(({ email }) => email)
    const [b, a, , bare] = emails
    assert.deepEqual(await found(start, 3), [bare, a, b])
    assert.deepEqual(await found(start, 1), [bare])
    assert.deepEqual(await found(`${start}b`, 9), [b])
    assert.deepEqual(await found(`${start}c`, 9), [])
  })

  check('createUser stores the whole account, which is found by id and by email', async ({ first, second }) => {
    for (const user of [aUser(), aUser({ name: undefined })]) {
      assert.equal(await perform(first, 'createUser', user), 'created')
      assert.deepEqual(await second.findUser(user.id), user)
      assert.deepEqual(await second.findUserByEmail(user.email), user)
      assert.equal(await second.findUserIdByEmail(user.email, aUser().id), user.id)
    }
  })

  check('any number of accounts have no email and no password', async ({ first, second }) => {
    const users = times(2, () => aUserOfProvider())
    assert.deepEqual(await performAll(first, 'createUser', users), ['created', 'created'])
    for (const user of users) assert.deepEqual(await second.findUser(user.id), user)
    const listed = await second.listUsers({ before: undefined, limit: 100 })
    for (const user of users)
      assert.deepEqual(
        listed.find(({ id }) => id === user.id),
        user,
      )
    for (const { id } of users) assert.equal(await perform(first, 'deleteUser', { id }), 'deleted')
  })

  check('an id or email without an account finds nothing', async ({ first }) => {
    const { id, email } = aUser()
    assert.equal(await first.findUser(id), undefined)
    assert.equal(await first.findUserByEmail(email), undefined)
    assert.equal(await first.findUserIdByEmail(email, id), id)
  })

  check('a text that a store cannot hold finds nothing, and does not affect other queries', async ({ first }) => {
    const user = aUser()
    await perform(first, 'createUser', user)
    for (const text of ['\0', `${user.email}\0`, `\0${user.email}`, '\ud800', `${user.email}\udfff`]) {
      const [byEmail, byId, session, known, other] = await Promise.all([
        first.findUserByEmail(text),
        first.findUser(text as never),
        first.findSession(text as never),
        first.knowsBrowser(user.id, text as never),
        first.findUser(user.id),
      ])
      assert.deepEqual([byEmail, byId, session, known, other], [undefined, undefined, undefined, false, user])
    }
  })

  check('of concurrent createUser calls with one email exactly one succeeds', async (stores) => {
    const { email } = aUser()
    const users = times(20, () => aUser({ email }))
    const outcomes = await race(stores, 'createUser', users)
    assert.deepEqual(tally(outcomes), { created: 1, 'email-taken': 19 })
    assert.equal((await stores.first.findUserByEmail(email))?.id, users[outcomes.indexOf('created')]?.id)
  })

  check('of two accounts with one email in one batch the first is created', async ({ first }) => {
    const { email } = aUser()
    const users = [aUser({ email }), aUser({ email }), aUser()]
    assert.deepEqual(await performAll(first, 'createUser', users), ['created', 'email-taken', 'created'])
  })

  check('setPassword stores the new hash and revokes what was issued before', async ({ first }) => {
    const user = aUser()
    await perform(first, 'createUser', user)
    const change = { id: user.id, passwordHash: 'another', now: at(5) }
    assert.equal(await perform(first, 'setPassword', change), 'changed')
    assert.deepEqual(await first.findUser(user.id), { ...user, passwordHash: 'another', notBefore: at(5) })
  })

  check(
    'ACC-10: setEmail replaces the address, when it was verified and when the claims changed, for sign-ins too',
    async ({ first, second }) => {
      const user = aUser()
      await perform(first, 'createUser', user)
      const email = normalizeEmail(`new.${user.email}`)
      const change = { id: user.id, email, emailVerifiedAt: undefined, now: at(2) }
      assert.equal(await perform(first, 'setEmail', change), 'changed')
      const changed = { ...user, email, emailVerifiedAt: undefined, updatedAt: at(2) }
      assert.deepEqual(await second.findUserByEmail(email), changed)
      assert.equal(await second.findUserByEmail(user.email), undefined)
      assert.equal(await perform(first, 'setEmail', { ...change, emailVerifiedAt: at(3), now: at(3) }), 'changed')
      assert.deepEqual(await second.findUserByEmail(email), { ...changed, emailVerifiedAt: at(3), updatedAt: at(3) })
      assert.equal(await perform(first, 'createUser', aUser({ email: user.email })), 'created')
    },
  )

  check('ACC-10: a user without an address can get one', async ({ first }) => {
    const [user, { email }] = [aUserOfProvider(), aUser()]
    await perform(first, 'createUser', user)
    const change = { id: user.id, email, emailVerifiedAt: undefined, now: NOW }
    assert.equal(await perform(first, 'setEmail', change), 'changed')
    assert.equal((await first.findUserByEmail(email))?.id, user.id)
  })

  check('ACC-10: of concurrent changes and creations with one address exactly one succeeds', async (stores) => {
    const { email } = aUser()
    const users = times(8, () => aUser())
    await performAll(stores.first, 'createUser', users)
    const [changes, creations] = await Promise.all([
      race(
        stores,
        'setEmail',
        users.map(({ id }) => ({ id, email, emailVerifiedAt: undefined, now: NOW })),
      ),
      race(
        stores,
        'createUser',
        times(4, () => aUser({ email })),
      ),
    ])
    assert.deepEqual(tally([...changes, ...creations].map((one) => (one === 'email-taken' ? one : 'done'))), {
      done: 1,
      'email-taken': 11,
    })
    for (const [index, { id, email: own }] of users.entries())
      assert.equal((await stores.second.findUser(id))?.email, changes[index] === 'changed' ? email : own)
  })

  check('renameUser replaces the name, or removes it', async ({ first }) => {
    const user = aUser()
    await perform(first, 'createUser', user)
    for (const name of ['Grace', undefined]) {
      assert.equal(await perform(first, 'renameUser', { id: user.id, name, now: at(5) }), 'changed')
      assert.deepEqual(await first.findUser(user.id), { ...user, name, updatedAt: at(5) })
    }
  })

  check('updateUser replaces the name and the profile, and of concurrent changes one succeeds', async (stores) => {
    const user = aUser()
    await perform(stores.first, 'createUser', user)
    let previous = user
    for (const differing of [
      (index: number) => ({ name: undefined, profile: { nickname: `"${index}"` } }),
      (index: number) => ({ name: `Ada ${index}`, profile: previous.profile }),
    ]) {
      const changes = times(8, (index) => ({ id: user.id, previous, ...differing(index), now: at(index) }))
      const outcomes = await race(stores, 'updateUser', changes)
      assert.deepEqual(tally(outcomes), { changed: 1, conflict: 7 })
      const { name, profile, now: updatedAt } = changes[outcomes.indexOf('changed')] ?? assert.fail()
      previous = { ...user, name, profile, updatedAt }
      assert.deepEqual(await stores.second.findUser(user.id), previous)
    }
    const emptied = { id: user.id, previous, name: 'Ada', profile: {}, now: at(9) }
    assert.deepEqual(await performAll(stores.first, 'updateUser', [emptied, emptied]), ['changed', 'conflict'])
    assert.deepEqual((await stores.first.findUser(user.id))?.profile, {})
  })

  check('LNK-04: changePassword ends the other sessions of the user, and no link', async ({ first }) => {
    const [user, other] = [aUser(), aUser()]
    await performAll(first, 'createUser', [user, other])
    const [own, elsewhere, kept] = [user, user, other].map(({ id: userId }) => aSession({ userId })) as [
      SessionRecord,
      SessionRecord,
      SessionRecord,
    ]
    for (const session of [own, elsewhere, kept]) await startSessions(first, aSessionStart({ session }))
    const links = [user, other].map(({ id: userId }) => aLink({ userId }))
    await performAll(first, 'createLink', links)
    const change = { id: user.id, passwordHash: 'mine', previousHash: user.passwordHash, session: coversAll(own) }
    assert.equal(await perform(first, 'changePassword', change), 'changed')
    assert.deepEqual(await first.findUser(user.id), { ...user, passwordHash: 'mine' })
    const sessions = await Promise.all([own, elsewhere, kept].map(({ id }) => first.findSession(id)))
    assert.deepEqual(sessions, [own, undefined, kept])
    assert.deepEqual((await Promise.all([user, other].map(({ id }) => first.listLinks(id)))).flat(), links)
  })

  check(
    'changePassword changes nothing for a user or in a session that ended since the request was checked',
    async ({ first, second }) => {
      const ends: readonly ((user: UserRecord, session: SessionRecord) => Promise<unknown>)[] = [
        ({ id }) => perform(second, 'disableUser', { id, now: at(9) }),
        ({ id }) => perform(second, 'revokeUserTokens', { id, now: at(9) }),
        ({ id }) => perform(second, 'setPassword', { id, passwordHash: 'reset', now: at(9) }),
        (_, { id }) => perform(second, 'endSession', { id, now: at(9), codesSince: at(0) }),
        async (user) => {
          const keep = aSession({ userId: user.id })
          await startSessions(second, aSessionStart({ session: keep }))
          const { id, passwordHash: previousHash } = user
          await perform(second, 'changePassword', { id, passwordHash: 'other', previousHash, session: coversAll(keep) })
        },
      ]
      for (const end of ends) {
        const user = aUser()
        const session = aSession({ userId: user.id })
        await perform(first, 'createUser', user)
        await startSessions(first, aSessionStart({ session }))
        await end(user, session)
        const before = await first.findUser(user.id)
        const change = {
          id: user.id,
          passwordHash: 'mine',
          previousHash: user.passwordHash,
          session: coversAll(session),
        }
        assert.equal(await perform(first, 'changePassword', change), 'unknown')
        assert.deepEqual(await second.findUser(user.id), before)
      }
    },
  )

  check('of concurrent changes of one password in several sessions exactly one succeeds', async (stores) => {
    const user = aUser()
    await perform(stores.first, 'createUser', user)
    const sessions = times(6, () => aSession({ userId: user.id }))
    for (const session of sessions) await startSessions(stores.first, aSessionStart({ session }))
    const changes = sessions.map((session, index) => ({
      id: user.id,
      passwordHash: `mine ${index}`,
      previousHash: user.passwordHash,
      session: coversAll(session),
    }))
    const outcomes = await race(stores, 'changePassword', changes)
    assert.deepEqual(tally(outcomes), { changed: 1, unknown: 5 })
    const won = outcomes.indexOf('changed')
    assert.equal((await stores.first.findUser(user.id))?.passwordHash, `mine ${won}`)
    const left = await stores.second.listSessions({ userId: user.id, before: undefined, limit: 100 })
    assert.deepEqual(
      left.map(({ id }) => id),
      [sessions[won]?.id],
    )
  })

  check('ACC-04: setEmail ends the link of the user, unless another user has the address', async ({ first }) => {
    const [user, other] = [aUser(), aUser()]
    await performAll(first, 'createUser', [user, other])
    await perform(first, 'createLink', aLink({ userId: user.id }))
    const change = { id: user.id, emailVerifiedAt: undefined, now: NOW }
    assert.equal(await perform(first, 'setEmail', { ...change, email: other.email }), 'email-taken')
    assert.equal((await first.listLinks(user.id)).length, 1)
    assert.equal(await perform(first, 'setEmail', { ...change, email: normalizeEmail(`new.${user.email}`) }), 'changed')
    assert.deepEqual(await first.listLinks(user.id), [])
  })

  check('a change by a node whose clock is behind never makes anything valid again', async ({ first }) => {
    const user = aUser({ notBefore: at(100) })
    await perform(first, 'createUser', user)
    await perform(first, 'setPassword', { id: user.id, passwordHash: 'x', now: at(5) })
    await perform(first, 'disableUser', { id: user.id, now: at(6) })
    assert.equal((await first.findUser(user.id))?.notBefore, at(100))
  })

  check(
    'disableUser revokes what was issued before; enableUser restores the user but not the tokens',
    async ({ first }) => {
      const user = aUser()
      await perform(first, 'createUser', user)
      assert.equal(await perform(first, 'disableUser', { id: user.id, now: at(5) }), 'changed')
      const disabled = { ...user, disabledAt: at(5), notBefore: at(5) }
      assert.deepEqual(await first.findUser(user.id), disabled)
      assert.equal(await perform(first, 'enableUser', { id: user.id, now: at(4) }), 'changed')
      assert.deepEqual(await first.findUser(user.id), { ...disabled, disabledAt: undefined })
    },
  )

  check('a token that a node issued for a disabled user stays invalid after enableUser', async ({ first }) => {
    const [user, other] = [aUser(), aUser()]
    await performAll(first, 'createUser', [user, other])
    await perform(first, 'disableUser', { id: user.id, now: at(5) })
    const moments = [at(9), at(12)].map((now) => ({ id: user.id, now }))
    // The second call enables a user who is enabled already, which revokes nothing.
    assert.deepEqual(await performAll(first, 'enableUser', moments), ['changed', 'changed'])
    assert.deepEqual(await first.findUser(user.id), { ...user, notBefore: at(9) })
    assert.deepEqual(await first.findUser(other.id), other)
  })

  check('a second disableUser keeps the first time and moves the not-before time', async ({ first }) => {
    const user = aUser()
    await perform(first, 'createUser', user)
    const moments = [at(5), at(9), at(7)].map((now) => ({ id: user.id, now }))
    assert.deepEqual(await performAll(first, 'disableUser', moments), ['changed', 'changed', 'changed'])
    assert.deepEqual(await first.findUser(user.id), { ...user, disabledAt: at(5), notBefore: at(9) })
  })

  check(
    'revokeUserTokens revokes what was issued before, and the latest of several times is kept',
    async ({ first }) => {
      const [user, other] = [aUser(), aUser()]
      await performAll(first, 'createUser', [user, other])
      await first.findUser(user.id)
      const moments = [at(5), at(9), at(7)].map((now) => ({ id: user.id, now }))
      assert.deepEqual(await performAll(first, 'revokeUserTokens', moments), ['changed', 'changed', 'changed'])
      assert.deepEqual(await first.findUser(user.id), { ...user, notBefore: at(9) })
      assert.deepEqual(await first.findUser(other.id), other)
    },
  )

  check('a change of a user who does not exist returns unknown', async ({ first }) => {
    const { id } = aUser()
    assert.equal(await perform(first, 'setPassword', { id, passwordHash: 'x', now: NOW }), 'unknown')
    assert.equal(await perform(first, 'disableUser', { id, now: NOW }), 'unknown')
    assert.equal(await perform(first, 'enableUser', { id, now: NOW }), 'unknown')
    assert.equal(await perform(first, 'revokeUserTokens', { id, now: NOW }), 'unknown')
    assert.equal(await perform(first, 'deleteUser', { id }), 'unknown')
    assert.equal(await perform(first, 'renameUser', { id, name: 'x', now: NOW }), 'unknown')
    const { email } = aUser()
    assert.equal(await perform(first, 'setEmail', { id, email, emailVerifiedAt: NOW, now: NOW }), 'unknown')
    assert.equal(await perform(first, 'createUser', aUser({ email })), 'created')
    assert.equal(await first.findUser(id), undefined)
  })

  check('listUsers pages newest first, `before` exclusive', async ({ first }) => {
    const users = times(4, () => aUser())
    await performAll(first, 'createUser', users)
    const ids = users
      .map(({ id }) => id)
      .toSorted()
      .toReversed()
    const page = await first.listUsers({ before: undefined, limit: 3 })
    assert.deepEqual(
      page.map(({ id }) => id),
      ids.slice(0, 3),
    )
    const rest = await first.listUsers({ before: ids[2], limit: 3 })
    assert.deepEqual(
      rest.map(({ id }) => id),
      ids.slice(3),
    )
  })

  check('concurrent countHit calls all return different counts', async (stores) => {
    const hit = aHit()
    const outcomes = await race(
      stores,
      'countHit',
      times(40, () => hit),
    )
    const counts = outcomes.map(({ count }) => count).toSorted((left, right) => left - right)
    assert.deepEqual(
      counts,
      times(40, (index) => index + 1),
    )
  })

  check('countHit counts for each bucket and window, and returns the end of the window', async ({ first }) => {
    const hit = aHit()
    const start = NOW - (NOW % hit.windowMs)
    const outcomes = await performAll(first, 'countHit', [
      { ...hit, now: start as never },
      { ...hit, now: (start + hit.windowMs - 1) as never },
      { ...hit, now: (start + hit.windowMs) as never },
      { ...aHit(), now: start as never },
    ])
    assert.deepEqual(outcomes, [
      { count: 1, windowEndsAt: start + hit.windowMs },
      { count: 2, windowEndsAt: start + hit.windowMs },
      { count: 1, windowEndsAt: start + 2 * hit.windowMs },
      { count: 1, windowEndsAt: start + hit.windowMs },
    ])
  })

  check('forgiveHit subtracts one, but never goes below zero', async ({ first }) => {
    const hit = aHit()
    await performAll(first, 'countHit', [hit, hit])
    for (const _ of times(5, () => hit)) assert.equal(await perform(first, 'forgiveHit', hit), 'forgiven')
    assert.equal((await perform(first, 'countHit', hit)).count, 1)
  })

  check('forgiveHit of a bucket that was never counted changes nothing', async ({ first }) => {
    const hit = aHit()
    assert.equal(await perform(first, 'forgiveHit', hit), 'forgiven')
    assert.equal((await perform(first, 'countHit', hit)).count, 1)
  })
}

function aHit(): Hit {
  return { bucket: aHash(), now: NOW, windowMs: 60_000, by: 1 }
}
