import assert from 'node:assert/strict'
import { normalizeEmail, type EmailAddress } from '../../../../src/protocol/sign-in/email-address.ts'
import type { UserRecord } from '../../../../src/ports/records/user.ts'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import { aHash, aUser, at } from '../../../support/records.ts'
import { perform, race, tally, times, type Suite } from '../harness.ts'

type Addressed = UserRecord & { readonly email: EmailAddress }

/** An account whose row has a spelling that `normalizeEmail` would not give it. */
async function stored(store: StoreDriver, text: string): Promise<Addressed> {
  const user = { ...aUser(), email: text as EmailAddress }
  assert.equal(await perform(store, 'createUser', user), 'created')
  return user
}

const respelling = ({ id, email: previous }: Addressed) => ({
  id,
  previous,
  email: normalizeEmail(previous),
  now: at(1),
})

export const spellingCases: Suite = (check) => {
  check('an account is found by each spelling of its address', async ({ first, second }) => {
    const name = aHash().toLowerCase()
    const user = aUser({ email: `${name}@bücher.example` })
    assert.equal(await perform(first, 'createUser', user), 'created')
    for (const domain of [
      'bücher.example',
      'xn--bcher-kva.example',
      'BÜCHER.Example',
      'bücher.example.',
      'bu\u0308cher.example',
    ]) {
      assert.deepEqual(await second.findUserByEmail(`${name}@${domain}`), user, domain)
      assert.equal(await second.findUserIdByEmail(`${name}@${domain}`, aUser().id), user.id, domain)
    }
  })

  check('respellEmail rewrites a spelling from before, once, and the lists no longer have it', async (stores) => {
    const { first, second } = stores
    for (const domain of ['bücher.example', 'acme.test.']) {
      const user = await stored(first, `${aHash().toLowerCase()}@${domain}`)
      const change = respelling(user)
      const listed = async () =>
        (await second.listOddSpellings({ after: '', limit: 1000 })).filter(({ id }) => id === user.id)
      assert.deepEqual(await listed(), [{ id: user.id, email: user.email }])
      assert.equal(await second.findUserByEmail(user.email), undefined)
      const outcomes = await race(
        stores,
        'respellEmail',
        times(6, () => change),
      )
      assert.deepEqual(tally(outcomes), { changed: 1, unknown: 5 })
      assert.deepEqual(await second.findUserByEmail(user.email), { ...user, email: change.email, updatedAt: at(1) })
      assert.deepEqual(await listed(), [])
      assert.equal(await perform(first, 'createUser', aUser({ email: change.email })), 'email-taken')
      // The previous spelling is free, also where it was the key of a row.
      assert.equal(await perform(first, 'createUser', { ...aUser(), email: user.email }), 'created')
    }
  })

  check(
    'UI-21: of an address that two accounts have in two spellings neither is found, until one is gone',
    async (stores) => {
      const { first, second } = stores
      const name = aHash().toLowerCase()
      const [older, newer] = [await stored(first, `${name}@bücher.example`), aUser({ email: `${name}@bücher.example` })]
      assert.equal(await perform(first, 'createUser', newer), 'created')
      assert.equal(await perform(first, 'respellEmail', respelling(older)), 'email-taken')
      assert.equal(await second.findUserByEmail(newer.email), undefined)
      assert.equal(await second.findUserByEmail(older.email), undefined)
      assert.deepEqual([await second.findUser(older.id), await second.findUser(newer.id)], [older, newer])
      await perform(first, 'deleteUser', { id: newer.id })
      assert.equal(await perform(first, 'respellEmail', respelling(older)), 'changed')
      assert.equal((await second.findUserByEmail(newer.email))?.id, older.id)
    },
  )

  check(
    'respellEmail changes no address that was changed meanwhile, and no user who is gone',
    async ({ first, second }) => {
      const user = await stored(first, `${aHash().toLowerCase()}@bücher.example`)
      const change = respelling(user)
      const email = normalizeEmail(`new.${user.email}`)
      await perform(first, 'setEmail', { id: user.id, email, emailVerifiedAt: undefined, now: at(2) })
      assert.equal(await perform(first, 'respellEmail', change), 'unknown')
      assert.equal((await second.findUser(user.id))?.email, email)
      await perform(first, 'deleteUser', { id: user.id })
      assert.equal(await perform(first, 'respellEmail', change), 'unknown')
    },
  )
}
