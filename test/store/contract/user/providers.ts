import assert from 'node:assert/strict'
import { perform, performAll, race, tally, times, type Suite } from '../harness.ts'
import { anIdentity, anIdentityProof, aProvider } from '../../../support/provider/provider-records.ts'
import { aHash, aUser, at, MINUTE } from '../../../support/records.ts'

export const providerCases: Suite = (check) => {
  check('createProvider stores a provider, once, and lists providers in their order', async ({ first, second }) => {
    const [one, two] = [aProvider({ createdAt: at(2) }), aProvider({ createdAt: at(1), encryptedSecret: undefined })]
    assert.deepEqual(await performAll(first, 'createProvider', [one, two, one]), ['created', 'created', 'taken'])
    const listed = await second.listProviders()
    assert.deepEqual(listed, [two, one])
    // Each second a node lists up to 1,000, and parses those that have changed.
    assert.equal((await second.listProviders())[0], listed[0])
    assert.deepEqual(await second.findProvider(one.id), one)
    assert.equal(await second.findProvider(aProvider().id), undefined)
  })

  check('an id belongs to one provider, also if several are created at the same time', async (stores) => {
    const { id } = aProvider()
    const wanting = times(20, () => ({ ...aProvider(), id }))
    assert.deepEqual(tally(await race(stores, 'createProvider', wanting)), { created: 1, taken: 19 })
  })

  check('a domain belongs to one provider, also if several are created or changed at the same time', async (stores) => {
    const { first } = stores
    const domains = ['shared.example']
    const wanting = times(20, () => aProvider()).map((one) => ({ ...one, settings: { ...one.settings, domains } }))
    assert.deepEqual(tally(await race(stores, 'createProvider', wanting)), { created: 1, 'domain-taken': 19 })
    const other = aProvider()
    await perform(first, 'createProvider', other)
    const settings = { ...other.settings, domains: ['another.example', ...domains] }
    const update = { id: other.id, previous: other.settings, settings, encryptedSecret: undefined }
    assert.equal(await perform(first, 'updateProvider', update), 'domain-taken')
    assert.deepEqual(await first.findProvider(other.id), other)
  })

  check('updateProvider replaces unchanged settings, and the secret if one is given', async (stores) => {
    const { first, second } = stores
    const provider = aProvider()
    const { id, settings: previous, encryptedSecret: secret } = provider
    await perform(first, 'createProvider', provider)
    const updates = times(10, (index) => ({
      id,
      previous,
      settings: { ...previous, name: `Name ${index}`, membership: 'anybody' as const, multiFactor: true },
      encryptedSecret: undefined,
    }))
    assert.deepEqual(tally(await race(stores, 'updateProvider', updates)), { changed: 1, conflict: 9 })
    const changed = await second.findProvider(id)
    assert.match(changed?.settings.name ?? '', /^Name \d$/)
    assert.equal(changed?.encryptedSecret, secret)
    assert.deepEqual([changed?.settings.membership, changed?.settings.multiFactor], ['anybody', true])
    const encryptedSecret = aHash()
    const settings = { ...previous, organizationId: undefined }
    const again = { id, previous: changed?.settings ?? previous, settings, encryptedSecret }
    assert.equal(await perform(first, 'updateProvider', again), 'changed')
    assert.deepEqual(await second.findProvider(id), { ...provider, encryptedSecret })
    assert.equal(
      await perform(first, 'updateProvider', { ...again, id: aProvider().id, settings: { ...settings, domains: [] } }),
      'conflict',
    )
  })

  check('a provider is disabled at the first time, and enabled', async ({ first, second }) => {
    const provider = aProvider()
    const { id } = provider
    await perform(first, 'createProvider', provider)
    const changes = [at(1), at(2)].map((now) => ({ id, now }))
    assert.deepEqual(await performAll(first, 'disableProvider', changes), ['changed', 'changed'])
    assert.equal((await second.findProvider(id))?.disabledAt, at(1))
    const none = aProvider().id
    assert.equal(await perform(first, 'disableProvider', { id: none, now: at(1) }), 'unknown')
    assert.deepEqual(await performAll(first, 'enableProvider', [id, none]), ['changed', 'unknown'])
    assert.deepEqual(await second.findProvider(id), provider)
  })

  check('deleteProvider deletes its identities and open proofs, and nothing of others', async ({ first, second }) => {
    const [gone, kept] = [aProvider(), aProvider()]
    await performAll(first, 'createProvider', [gone, kept])
    const made = [gone, kept].map(({ id: providerId }) => {
      const user = aUser()
      return { user, identity: anIdentity({ userId: user.id, providerId }) }
    })
    assert.deepEqual(await performAll(first, 'provisionUser', made), ['created', 'created'])
    const proofs = made.map(({ user, identity: { providerId } }) =>
      anIdentityProof({ identity: anIdentity({ userId: user.id, providerId }), expiresAt: at(10 * MINUTE) }),
    )
    assert.deepEqual(await performAll(first, 'createIdentityProof', proofs), ['created', 'created'])
    const deletion = { id: gone.id, now: at(9 * MINUTE) }
    assert.deepEqual(await performAll(first, 'deleteProvider', [deletion, deletion]), ['deleted', 'unknown'])
    assert.deepEqual(await second.listProviders(), [kept])
    for (const [index, { user, identity }] of made.entries()) {
      assert.deepEqual(await second.listIdentities(user.id), index === 0 ? [] : [identity])
      assert.deepEqual(await second.findIdentityProof(user.id), index === 0 ? undefined : proofs[index])
      assert.ok(await second.findUser(user.id))
    }
  })

  check('a server has a limited number of providers', async ({ first }) => {
    const outcomes = await performAll(
      first,
      'createProvider',
      times(5, () => ({ ...aProvider(), limit: 3 })),
    )
    assert.deepEqual(tally(outcomes), { created: 3, 'too-many': 2 })
  })
}
