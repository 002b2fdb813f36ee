import assert from 'node:assert/strict'
import type { Scope } from '../../src/protocol/scope.ts'
import { perform, race, tally, times, type Suite } from './harness.ts'
import { aClient, at, NOW } from './records.ts'

export const clientCases: Suite = (check) => {
  check('registerClient keeps everything of the client, for both handles', async ({ first, second }) => {
    const client = aClient()
    assert.equal(await perform(first, 'registerClient', client), 'registered')
    assert.deepEqual(await first.findClient(client.id), client)
    assert.deepEqual(await second.findClient(client.id), client)
  })

  check('registerClient keeps a public client without a secret', async ({ first }) => {
    const client = aClient({ secretHash: undefined, managementHash: undefined })
    await perform(first, 'registerClient', client)
    assert.deepEqual(await first.findClient(client.id), client)
  })

  check('registerClient keeps "no scope registered" apart from "an empty scope"', async ({ first }) => {
    const { metadata } = aClient()
    const none = aClient({ metadata: { ...metadata, scope: undefined } })
    const empty = aClient({ metadata: { ...metadata, scope: '' as never } })
    await Promise.all([perform(first, 'registerClient', none), perform(first, 'registerClient', empty)])
    assert.equal((await first.findClient(none.id))?.metadata.scope, undefined)
    assert.equal((await first.findClient(empty.id))?.metadata.scope, '')
  })

  check('findClient finds nothing under an id that nobody has', async ({ first }) => {
    assert.equal(await first.findClient(aClient().id), undefined)
  })

  check('useClient notes the first use and keeps it', async ({ first }) => {
    const client = aClient()
    await perform(first, 'registerClient', client)
    assert.equal(await perform(first, 'useClient', { id: client.id, now: at(1) }), 'used')
    assert.equal(await perform(first, 'useClient', { id: client.id, now: at(2) }), 'used')
    assert.equal((await first.findClient(client.id))?.usedAt, at(1))
  })

  check('holdClient answers whether there was such a client', async ({ first }) => {
    const client = aClient()
    await perform(first, 'registerClient', client)
    assert.equal(await perform(first, 'holdClient', { id: client.id, until: at(1) }), 'held')
    assert.equal(await perform(first, 'holdClient', { id: aClient().id, until: at(1) }), 'unknown')
  })

  check('useClient of a client that is gone is unknown, and brings nothing back', async ({ first }) => {
    const { id } = aClient()
    assert.equal(await perform(first, 'useClient', { id, now: NOW }), 'unknown')
    assert.equal(await first.findClient(id), undefined)
  })

  check('updateClient replaces the metadata and leaves the rest alone', async ({ first, second }) => {
    const client = aClient()
    const metadata = { ...client.metadata, redirectUris: [], scope: 'read' as Scope }
    await perform(first, 'registerClient', client)
    await perform(first, 'verifyClient', { id: client.id, now: at(1) })
    const update = { id: client.id, previous: client.metadata, metadata, identityFrom: undefined }
    assert.equal(await perform(first, 'updateClient', update), 'updated')
    assert.deepEqual(await second.findClient(client.id), { ...client, metadata, verifiedAt: at(1) })
  })

  check(
    'updateClient to another identity ends the verification and notes when, until the next one',
    async ({ first }) => {
      const client = aClient()
      const { id, metadata: previous } = client
      const metadata = { ...previous, descriptive: { client_name: 'Another' } }
      await perform(first, 'registerClient', client)
      await perform(first, 'verifyClient', { id, now: at(1) })
      await perform(first, 'updateClient', { id, previous, metadata, identityFrom: at(2) })
      assert.deepEqual(await first.findClient(id), { ...client, metadata, identityFrom: at(2) })
      const update = { id, previous: metadata, metadata: previous, identityFrom: undefined }
      assert.equal(await perform(first, 'updateClient', update), 'updated')
      assert.deepEqual(await first.findClient(id), { ...client, identityFrom: at(2) })
    },
  )

  check('updateClient of a client that is gone or is not as it was read changes nothing', async ({ first }) => {
    const client = aClient()
    const metadata = { ...client.metadata, redirectUris: [] }
    await perform(first, 'registerClient', client)
    const update = { id: client.id, previous: metadata, metadata, identityFrom: at(1) }
    assert.equal(await perform(first, 'updateClient', update), 'outrun')
    assert.equal(await perform(first, 'updateClient', { ...update, id: aClient().id }), 'outrun')
    assert.deepEqual(await first.findClient(client.id), client)
  })

  check('of many who update what they read of a client, one does', async (stores) => {
    const { id, metadata: previous, ...rest } = aClient()
    await perform(stores.first, 'registerClient', { id, metadata: previous, ...rest })
    const updates = times(20, (index) => ({
      id,
      previous,
      metadata: { ...previous, descriptive: { client_name: `Name ${index}` } },
      identityFrom: at(index),
    }))
    assert.deepEqual(tally(await race(stores, 'updateClient', updates)), { updated: 1, outrun: 19 })
  })

  check('deleteClient removes that client and no other, once', async ({ first }) => {
    const [gone, kept] = [aClient(), aClient()]
    await Promise.all([perform(first, 'registerClient', gone), perform(first, 'registerClient', kept)])
    assert.equal(await perform(first, 'deleteClient', gone.id), 'deleted')
    assert.equal(await perform(first, 'deleteClient', gone.id), 'unknown')
    assert.equal(await first.findClient(gone.id), undefined)
    assert.deepEqual(await first.findClient(kept.id), kept)
  })

  check(
    'verifyClient notes the first time and keeps it, unverifyClient forgets it, for both handles',
    async (stores) => {
      const { first, second } = stores
      const [client, other] = [aClient(), aClient()]
      await Promise.all([perform(first, 'registerClient', client), perform(first, 'registerClient', other)])
      assert.equal(await perform(first, 'verifyClient', { id: client.id, now: at(1) }), 'changed')
      assert.equal(await perform(first, 'verifyClient', { id: client.id, now: at(2) }), 'changed')
      assert.deepEqual(await second.findClient(client.id), { ...client, verifiedAt: at(1) })
      assert.equal(await perform(first, 'unverifyClient', client.id), 'changed')
      assert.deepEqual(await first.findClient(client.id), client)
      assert.deepEqual(await first.findClient(other.id), other)
    },
  )

  check(
    'disableClient notes the first time and keeps it, enableClient forgets it, for both handles',
    async (stores) => {
      const { first, second } = stores
      const [client, other] = [aClient(), aClient()]
      await Promise.all([perform(first, 'registerClient', client), perform(first, 'registerClient', other)])
      assert.equal(await perform(first, 'disableClient', { id: client.id, now: at(1) }), 'changed')
      assert.equal(await perform(first, 'disableClient', { id: client.id, now: at(2) }), 'changed')
      assert.deepEqual(await second.findClient(client.id), { ...client, disabledAt: at(1) })
      assert.equal(await perform(first, 'enableClient', client.id), 'changed')
      assert.deepEqual(await first.findClient(client.id), client)
      assert.deepEqual(await first.findClient(other.id), other)
    },
  )

  check('a client that is gone can be neither verified nor disabled, and nothing brings it back', async ({ first }) => {
    const { id } = aClient()
    assert.equal(await perform(first, 'verifyClient', { id, now: NOW }), 'unknown')
    assert.equal(await perform(first, 'unverifyClient', id), 'unknown')
    assert.equal(await perform(first, 'disableClient', { id, now: NOW }), 'unknown')
    assert.equal(await perform(first, 'enableClient', id), 'unknown')
    assert.equal(await first.findClient(id), undefined)
  })

  check('of many who delete one client, one is told that it did', async (stores) => {
    const client = aClient()
    await perform(stores.first, 'registerClient', client)
    const outcomes = await race(
      stores,
      'deleteClient',
      times(20, () => client.id),
    )
    assert.deepEqual(tally(outcomes), { deleted: 1, unknown: 19 })
  })

  check('listClients pages newest first, `before` exclusive', async ({ first }) => {
    const clients = times(5, (index) => aClient({}, at(index)))
    await Promise.all(clients.map((client) => perform(first, 'registerClient', client)))
    const newestFirst = clients.map(({ id }) => id).toReversed()
    const page = await first.listClients({ before: undefined, limit: 3 })
    assert.deepEqual(
      page.map(({ id }) => id),
      newestFirst.slice(0, 3),
    )
    const rest = await first.listClients({ before: page[2]?.id, limit: 3 })
    assert.deepEqual(
      rest.map(({ id }) => id),
      newestFirst.slice(3),
    )
  })
}
