import assert from 'node:assert/strict'
import type { Hit } from '../../src/ports/operation-inputs.ts'
import { perform, performAll, race, tally, times, type Suite } from './harness.ts'
import { aHash, aSession, aUser, at, NOW } from './records.ts'

export const accountCases: Suite = (check) => {
  check('createUser keeps the whole account, found by id and by address', async ({ first, second }) => {
    const named = aUser()
    const nameless = aUser({ name: undefined })
    for (const user of [named, nameless]) {
      assert.equal(await perform(first, 'createUser', user), 'created')
      assert.deepEqual(await second.findUser(user.id), user)
      assert.deepEqual(await second.findUserByEmail(user.email), user)
      assert.equal(await second.findUserIdByEmail(user.email, aUser().id), user.id)
    }
  })

  check('nobody is found under an id or address that nobody has', async ({ first }) => {
    const { id, email } = aUser()
    assert.equal(await first.findUser(id), undefined)
    assert.equal(await first.findUserByEmail(email), undefined)
    assert.equal(await first.findUserIdByEmail(email, id), id)
  })

  check('a text that no store can hold is found nowhere, and spoils no other question', async ({ first }) => {
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

  check('of many who create a user with one address, one does', async (stores) => {
    const { email } = aUser()
    const users = times(20, () => aUser({ email }))
    const outcomes = await race(stores, 'createUser', users)
    assert.deepEqual(tally(outcomes), { created: 1, 'email-taken': 19 })
    assert.equal((await stores.first.findUserByEmail(email))?.id, users[outcomes.indexOf('created')]?.id)
  })

  check('one address twice in one batch: the first one has it', async ({ first }) => {
    const { email } = aUser()
    const users = [aUser({ email }), aUser({ email }), aUser()]
    assert.deepEqual(await performAll(first, 'createUser', users), ['created', 'email-taken', 'created'])
  })

  check('setPassword puts the new hash and ends what was before', async ({ first }) => {
    const user = aUser()
    await perform(first, 'createUser', user)
    const change = { id: user.id, passwordHash: 'another', now: at(5) }
    assert.equal(await perform(first, 'setPassword', change), 'changed')
    assert.deepEqual(await first.findUser(user.id), { ...user, passwordHash: 'another', notBefore: at(5) })
  })

  check('a change whose clock is behind never makes anything valid again', async ({ first }) => {
    const user = aUser({ notBefore: at(100) })
    await perform(first, 'createUser', user)
    await perform(first, 'setPassword', { id: user.id, passwordHash: 'x', now: at(5) })
    await perform(first, 'disableUser', { id: user.id, now: at(6) })
    assert.equal((await first.findUser(user.id))?.notBefore, at(100))
  })

  check('disableUser ends what was before; enableUser brings back the user and nothing else', async ({ first }) => {
    const user = aUser()
    await perform(first, 'createUser', user)
    assert.equal(await perform(first, 'disableUser', { id: user.id, now: at(5) }), 'changed')
    const disabled = { ...user, disabledAt: at(5), notBefore: at(5) }
    assert.deepEqual(await first.findUser(user.id), disabled)
    assert.equal(await perform(first, 'enableUser', { id: user.id, now: at(4) }), 'changed')
    assert.deepEqual(await first.findUser(user.id), { ...disabled, disabledAt: undefined })
  })

  check('what a node issued before it knew that the user was disabled is dead once enabled', async ({ first }) => {
    const [user, other] = [aUser(), aUser()]
    await performAll(first, 'createUser', [user, other])
    await perform(first, 'disableUser', { id: user.id, now: at(5) })
    const moments = [at(9), at(12)].map((now) => ({ id: user.id, now }))
    // The second one enables what is enabled, which ends nothing.
    assert.deepEqual(await performAll(first, 'enableUser', moments), ['changed', 'changed'])
    assert.deepEqual(await first.findUser(user.id), { ...user, notBefore: at(9) })
    assert.deepEqual(await first.findUser(other.id), other)
  })

  check('a user is disabled since the first time, and dead until the last', async ({ first }) => {
    const user = aUser()
    await perform(first, 'createUser', user)
    const moments = [at(5), at(9), at(7)].map((now) => ({ id: user.id, now }))
    assert.deepEqual(await performAll(first, 'disableUser', moments), ['changed', 'changed', 'changed'])
    assert.deepEqual(await first.findUser(user.id), { ...user, disabledAt: at(5), notBefore: at(9) })
  })

  check('expireUser ends what was before, and of several moments the greatest counts', async ({ first }) => {
    const [user, other] = [aUser(), aUser()]
    await performAll(first, 'createUser', [user, other])
    await first.findUser(user.id)
    const moments = [at(5), at(9), at(7)].map((now) => ({ id: user.id, now }))
    assert.deepEqual(await performAll(first, 'expireUser', moments), ['changed', 'changed', 'changed'])
    assert.deepEqual(await first.findUser(user.id), { ...user, notBefore: at(9) })
    assert.deepEqual(await first.findUser(other.id), other)
  })

  check('a change to nobody is unknown', async ({ first }) => {
    const { id } = aUser()
    assert.equal(await perform(first, 'setPassword', { id, passwordHash: 'x', now: NOW }), 'unknown')
    assert.equal(await perform(first, 'disableUser', { id, now: NOW }), 'unknown')
    assert.equal(await perform(first, 'enableUser', { id, now: NOW }), 'unknown')
    assert.equal(await perform(first, 'expireUser', { id, now: NOW }), 'unknown')
    assert.equal(await perform(first, 'deleteUser', id), 'unknown')
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

  check('startSession keeps the session and that this browser knows this user', async ({ first, second }) => {
    const [session, browserHash] = [aSession(), aHash()]
    assert.equal(await perform(first, 'startSession', { session, browserHash }), 'started')
    assert.deepEqual(await second.findSession(session.id), session)
    assert.equal(await second.knowsBrowser(session.userId, browserHash), true)
    assert.equal(await second.knowsBrowser(session.userId, aHash()), false)
    assert.equal(await second.knowsBrowser(aSession().userId, browserHash), false)
  })

  check('a browser may start any number of sessions', async ({ first }) => {
    const browserHash = aHash()
    const one = aSession()
    const two = aSession({ userId: one.userId })
    await performAll(first, 'startSession', [
      { session: one, browserHash },
      { session: two, browserHash },
    ])
    assert.deepEqual(await first.findSession(two.id), two)
    assert.equal(await first.knowsBrowser(one.userId, browserHash), true)
  })

  check('of each user twenty browsers are remembered, those that were seen last', async ({ first }) => {
    const { userId } = aSession()
    const browsers = Array.from({ length: 22 }, aHash)
    for (const [index, browserHash] of browsers.entries())
      await perform(first, 'startSession', { session: aSession({ userId, createdAt: at(index) }), browserHash })
    const known = await Promise.all(browsers.map((browserHash) => first.knowsBrowser(userId, browserHash)))
    assert.deepEqual(known, [false, false, ...Array.from({ length: 20 }, () => true)])
  })

  check('endSession ends that one, once', async (stores) => {
    const [session, other] = [aSession(), aSession()]
    for (const one of [session, other])
      await perform(stores.first, 'startSession', { session: one, browserHash: aHash() })
    const outcomes = await race(
      stores,
      'endSession',
      times(6, () => session.id),
    )
    assert.deepEqual(tally(outcomes), { ended: 1, unknown: 5 })
    assert.equal(await stores.second.findSession(session.id), undefined)
    assert.deepEqual(await stores.second.findSession(other.id), other)
  })

  check('countHit is exact: of many at once each is told another count', async (stores) => {
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

  check('countHit counts by bucket and window, and says when the window ends', async ({ first }) => {
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

  check('forgiveHit takes one back, never below none', async ({ first }) => {
    const hit = aHit()
    await performAll(first, 'countHit', [hit, hit])
    for (const _ of times(5, () => hit)) assert.equal(await perform(first, 'forgiveHit', hit), 'forgiven')
    assert.equal((await perform(first, 'countHit', hit)).count, 1)
  })

  check('forgiveHit of a bucket that was never counted is nothing', async ({ first }) => {
    const hit = aHit()
    assert.equal(await perform(first, 'forgiveHit', hit), 'forgiven')
    assert.equal((await perform(first, 'countHit', hit)).count, 1)
  })
}

function aHit(): Hit {
  return { bucket: aHash(), now: NOW, windowMs: 60_000, by: 1 }
}
