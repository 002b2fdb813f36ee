import assert from 'node:assert/strict'
import type { ClientFilter, SecretRotation } from '../../../../src/ports/operations/client.ts'
import type { ClientRecord } from '../../../../src/ports/records/client.ts'
import type { EpochMs } from '../../../../src/base/brand.ts'
import type { Scope } from '../../../../src/protocol/token/scope.ts'
import { perform, performAll, race, tally, times, type Suite } from '../harness.ts'
import { aClient, aHash, at, HOUR, NOW } from '../../../support/records.ts'

export const clientCases: Suite = (check) => {
  check('registerClient stores all members of the client, visible through both handles', async ({ first, second }) => {
    const client = aClient()
    assert.equal(await perform(first, 'registerClient', client), 'registered')
    assert.deepEqual(await first.findClient(client.id), client)
    assert.deepEqual(await second.findClient(client.id), client)
  })

  check('registerClient stores a public client without a secret', async ({ first }) => {
    const client = aClient({ secretHash: undefined, managementHash: undefined })
    await perform(first, 'registerClient', client)
    assert.deepEqual(await first.findClient(client.id), client)
  })

  check('registerClient distinguishes "no scope registered" from "an empty scope"', async ({ first }) => {
    const { metadata } = aClient()
    const { scope: _, ...unscoped } = metadata
    const none = aClient({ metadata: unscoped })
    const empty = aClient({ metadata: { ...metadata, scope: '' as never } })
    await Promise.all([perform(first, 'registerClient', none), perform(first, 'registerClient', empty)])
    assert.equal((await first.findClient(none.id))?.metadata.scope, undefined)
    assert.equal((await first.findClient(empty.id))?.metadata.scope, '')
  })

  check('findClient returns undefined for an id that does not exist', async ({ first }) => {
    assert.equal(await first.findClient(aClient().id), undefined)
  })

  check('useClient stores the first use and keeps it', async ({ first }) => {
    const client = aClient()
    await perform(first, 'registerClient', client)
    assert.equal(await perform(first, 'useClient', { id: client.id, now: at(1) }), 'used')
    assert.equal(await perform(first, 'useClient', { id: client.id, now: at(2) }), 'used')
    assert.equal((await first.findClient(client.id))?.usedAt, at(1))
  })

  check('extendRetention returns whether the client exists', async ({ first }) => {
    const client = aClient()
    await perform(first, 'registerClient', client)
    assert.equal(await perform(first, 'extendRetention', { id: client.id, until: at(1) }), 'held')
    assert.equal(await perform(first, 'extendRetention', { id: aClient().id, until: at(1) }), 'unknown')
  })

  check('useClient of a deleted client returns unknown and does not restore it', async ({ first }) => {
    const { id } = aClient()
    assert.equal(await perform(first, 'useClient', { id, now: NOW }), 'unknown')
    assert.equal(await first.findClient(id), undefined)
  })

  check('updateClient replaces the metadata and changes nothing else', async ({ first, second }) => {
    const client = aClient()
    const metadata = { ...client.metadata, redirect_uris: [], scope: 'read' as Scope }
    await perform(first, 'registerClient', client)
    await perform(first, 'verifyClient', { id: client.id, now: at(1) })
    const update = { id: client.id, previous: client.metadata, metadata, identityFrom: undefined }
    assert.equal(await perform(first, 'updateClient', update), 'updated')
    assert.deepEqual(await second.findClient(client.id), { ...client, metadata, verifiedAt: at(1) })
  })

  check(
    'updateClient with another identity clears the verification and the approved scopes, and stores the time',
    async ({ first }) => {
      const client = aClient()
      const { id, metadata: previous } = client
      const metadata = { ...previous, client_name: 'Another' }
      await perform(first, 'registerClient', client)
      await perform(first, 'verifyClient', { id, now: at(1) })
      await perform(first, 'approveClientScope', { id, scope: 'admin' as Scope })
      await perform(first, 'updateClient', { id, previous, metadata, identityFrom: at(2) })
      assert.deepEqual(await first.findClient(id), { ...client, metadata, identityFrom: at(2) })
      const update = { id, previous: metadata, metadata: previous, identityFrom: undefined }
      assert.equal(await perform(first, 'updateClient', update), 'updated')
      assert.deepEqual(await first.findClient(id), { ...client, identityFrom: at(2) })
    },
  )

  check('updateClient of a client that was deleted or changed meanwhile changes nothing', async ({ first }) => {
    const client = aClient()
    const metadata = { ...client.metadata, redirect_uris: [] }
    await perform(first, 'registerClient', client)
    const update = { id: client.id, previous: metadata, metadata, identityFrom: at(1) }
    assert.equal(await perform(first, 'updateClient', update), 'conflict')
    assert.equal(await perform(first, 'updateClient', { ...update, id: aClient().id }), 'conflict')
    assert.deepEqual(await first.findClient(client.id), client)
  })

  check('of concurrent updates of one client exactly one succeeds', async (stores) => {
    const { id, metadata: previous, ...rest } = aClient()
    await perform(stores.first, 'registerClient', { id, metadata: previous, ...rest })
    const updates = times(20, (index) => ({
      id,
      previous,
      metadata: { ...previous, client_name: `Name ${index}` },
      identityFrom: at(index),
    }))
    assert.deepEqual(tally(await race(stores, 'updateClient', updates)), { updated: 1, conflict: 19 })
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
    'verifyClient stores the first time and keeps it, and unverifyClient removes it, through both handles',
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
    'disableClient stores the first time and keeps it, and enableClient removes it, through both handles',
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

  check('a deleted client can be neither verified nor disabled, and is not restored', async ({ first }) => {
    const { id } = aClient()
    assert.equal(await perform(first, 'verifyClient', { id, now: NOW }), 'unknown')
    assert.equal(await perform(first, 'unverifyClient', id), 'unknown')
    assert.equal(await perform(first, 'disableClient', { id, now: NOW }), 'unknown')
    assert.equal(await perform(first, 'enableClient', id), 'unknown')
    assert.equal(await first.findClient(id), undefined)
  })

  check('of concurrent deletions of one client exactly one succeeds', async (stores) => {
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

  check('rotateClientSecret replaces the secret, and stores the kept secret and its end', async ({ first, second }) => {
    const [client, other] = [aClient(), aClient()]
    await performAll(first, 'registerClient', [client, other])
    const [one, two] = [aRotationOf(client), aRotationOf(client)]
    assert.equal(await perform(first, 'rotateClientSecret', one), 'rotated')
    const previousSecret = { hash: client.secretHash, until: one.keptUntil }
    assert.deepEqual(await first.findClient(client.id), { ...client, secretHash: one.secretHash, previousSecret })
    // A caller that never received the second secret keeps the first one.
    assert.equal(await perform(first, 'rotateClientSecret', { ...two, previous: one.secretHash }), 'rotated')
    assert.deepEqual(await first.findClient(client.id), { ...client, secretHash: two.secretHash, previousSecret })
    const three = { ...aRotationOf({ ...client, secretHash: two.secretHash }), keptUntil: at(2 * HOUR) }
    assert.equal(await perform(first, 'rotateClientSecret', three), 'rotated')
    assert.deepEqual(await second.findClient(client.id), {
      ...client,
      secretHash: three.secretHash,
      previousSecret: { hash: two.secretHash, until: three.keptUntil },
    })
    assert.deepEqual(await second.findClient(other.id), other)
  })

  check(
    'rotateClientSecret with another previous secret, of a public client, or of an unknown client changes nothing',
    async (stores) => {
      const { first, second } = stores
      const [client, open] = [aClient(), aClient({ secretHash: undefined })]
      await performAll(first, 'registerClient', [client, open])
      const rotations = [
        { ...aRotationOf(client), previous: aHash() },
        { ...aRotationOf(open), previous: aHash() },
        aRotationOf(aClient()),
      ]
      assert.deepEqual(tally(await performAll(first, 'rotateClientSecret', rotations)), { conflict: 3 })
      assert.deepEqual(await second.findClient(client.id), client)
      assert.deepEqual(await second.findClient(open.id), open)
    },
  )

  check('rotateClientSecret: a secret that was replaced cannot be replaced again', async ({ first, second }) => {
    const client = aClient()
    await perform(first, 'registerClient', client)
    const [one, two] = [aRotationOf(client), aRotationOf(client)]
    assert.deepEqual(await performAll(first, 'rotateClientSecret', [one, two]), ['rotated', 'conflict'])
    assert.equal((await second.findClient(client.id))?.secretHash, one.secretHash)
  })

  check('of concurrent rotations of one secret exactly one succeeds', async (stores) => {
    const client = aClient()
    await perform(stores.first, 'registerClient', client)
    const rotations = times(20, () => aRotationOf(client))
    const outcomes = await race(stores, 'rotateClientSecret', rotations)
    assert.deepEqual(tally(outcomes), { rotated: 1, conflict: 19 })
    const kept = await stores.first.findClient(client.id)
    assert.equal(kept?.secretHash, rotations[outcomes.indexOf('rotated')]?.secretHash)
    assert.equal(kept?.previousSecret?.hash, client.secretHash)
  })

  check('approveClientScope replaces the approved scopes, also with none', async ({ first, second }) => {
    const [client, other] = [aClient(), aClient()]
    await performAll(first, 'registerClient', [client, other])
    for (const scope of ['read write', 'admin', ''] as Scope[]) {
      assert.equal(await perform(first, 'approveClientScope', { id: client.id, scope }), 'changed')
      assert.deepEqual(await first.findClient(client.id), { ...client, approvedScope: scope })
    }
    assert.deepEqual(await second.findClient(other.id), other)
    assert.equal(await perform(first, 'approveClientScope', { id: aClient().id, scope: '' as Scope }), 'unknown')
  })

  check('revokeClientTokens moves the client’s not-before time forward, never back', async ({ first, second }) => {
    const [client, other] = [aClient(), aClient()]
    await performAll(first, 'registerClient', [client, other])
    for (const [now, notBefore] of [
      [at(5), at(5)],
      [at(3), at(5)],
      [at(9), at(9)],
    ] as const) {
      assert.equal(await perform(first, 'revokeClientTokens', { id: client.id, now }), 'changed')
      assert.deepEqual(await first.findClient(client.id), { ...client, notBefore })
    }
    assert.deepEqual(await second.findClient(other.id), other)
    assert.equal(await perform(first, 'revokeClientTokens', { id: aClient().id, now: NOW }), 'unknown')
  })

  check('of concurrent revokeClientTokens calls the latest time is kept', async (stores) => {
    const client = aClient()
    await perform(stores.first, 'registerClient', client)
    const expiries = times(12, (index) => ({ id: client.id, now: at((index * 5) % 12) }))
    assert.deepEqual(tally(await race(stores, 'revokeClientTokens', expiries)), { changed: 12 })
    assert.equal((await stores.second.findClient(client.id))?.notBefore, at(11))
  })

  check('noteUses stores when each client was used, and keeps the later time', async ({ first, second }) => {
    const [one, two, other] = [aClient(), aClient(), aClient()]
    await performAll(first, 'registerClient', [one, two, other])
    const uses = [
      { id: one.id, at: at(1) },
      { id: two.id, at: at(7) },
      { id: aClient().id, at: at(9) },
      { id: one.id, at: at(5) },
      { id: one.id, at: at(3) },
    ]
    assert.equal(await perform(first, 'noteUses', uses), 'noted')
    assert.equal(await perform(first, 'noteUses', [{ id: two.id, at: at(2) }]), 'noted')
    assert.equal(await perform(first, 'noteUses', []), 'noted')
    assert.deepEqual(await second.findClient(one.id), { ...one, lastUsedAt: at(5) })
    assert.deepEqual(await second.findClient(two.id), { ...two, lastUsedAt: at(7) })
    assert.deepEqual(await second.findClient(other.id), other)
    const all = await first.listClients({ before: undefined, limit: 10 })
    assert.equal(all.length, 3, 'a deleted client is not restored')
  })

  check('noteUses several times in one batch and concurrently: the latest time is kept', async (stores) => {
    const clients = times(3, () => aClient())
    await performAll(stores.first, 'registerClient', clients)
    const lists = times(10, (index) => clients.map(({ id }) => ({ id, at: at((index * 3) % 10) })))
    assert.deepEqual(tally(await performAll(stores.first, 'noteUses', [...lists, []])), { noted: 11 })
    const later = lists.map((list, index) => (index % 2 === 0 ? list : list.toReversed()))
    const raced = later.map((list) => list.map((use) => ({ ...use, at: (use.at + 100) as EpochMs })))
    assert.deepEqual(tally(await race(stores, 'noteUses', raced)), { noted: 10 })
    for (const { id } of clients) assert.equal((await stores.second.findClient(id))?.lastUsedAt, at(109))
  })

  check('listClients returns the clients that match all given filters', async ({ first, second }) => {
    const [fresh, used, idle, before, verified, off] = times(6, (index) => aClient({}, at(index))) as Six
    const named = { fresh, used, idle, before, verified, off }
    await performAll(first, 'registerClient', Object.values(named))
    for (const { id } of [used, idle, before]) await perform(first, 'useClient', { id, now: at(10) })
    await perform(first, 'noteUses', [
      { id: used.id, at: at(50) },
      { id: idle.id, at: at(20) },
    ])
    for (const { id } of [verified, off]) await perform(first, 'verifyClient', { id, now: NOW })
    await perform(first, 'disableClient', { id: off.id, now: NOW })

    const cases: readonly (readonly [ClientFilter, readonly (keyof typeof named)[]])[] = [
      [{}, ['off', 'verified', 'before', 'idle', 'used', 'fresh']],
      [{ isUsed: undefined, unusedSince: undefined }, ['off', 'verified', 'before', 'idle', 'used', 'fresh']],
      [{ isUsed: true }, ['before', 'idle', 'used']],
      [{ isUsed: false }, ['off', 'verified', 'fresh']],
      [{ isVerified: true }, ['off', 'verified']],
      [{ isVerified: false }, ['before', 'idle', 'used', 'fresh']],
      [{ isDisabled: true }, ['off']],
      [{ isDisabled: false }, ['verified', 'before', 'idle', 'used', 'fresh']],
      [{ unusedSince: at(50) }, ['off', 'verified', 'before', 'idle', 'fresh']],
      [{ unusedSince: at(20) }, ['off', 'verified', 'before', 'fresh']],
      [{ unusedSince: at(10), isUsed: true }, []],
      [{ unusedSince: at(11), isUsed: true }, ['before']],
      [{ isVerified: true, isDisabled: false }, ['verified']],
      [{ isUsed: false, isVerified: false, isDisabled: false, unusedSince: NOW }, ['fresh']],
    ]
    for (const [filter, expected] of cases) {
      const found = await second.listClients({ before: undefined, limit: 10, ...filter })
      const ids = expected.map((name) => named[name].id)
      assert.deepEqual(
        found.map(({ id }) => id),
        ids,
        JSON.stringify(filter),
      )
    }
  })

  check(
    'listClients goes as far as a slice, which ends with the last of so many clients',
    async ({ first, second }) => {
      const clients = times(5, (index) => aClient({}, at(index)))
      await performAll(first, 'registerClient', clients)
      const [newest, , third, , oldest] = clients.map(({ id }) => id).toReversed()
      assert.ok(newest && third && oldest)
      const end = (before: string | undefined, size: number) => second.findListEnd({ list: 'clients', before, size })
      assert.deepEqual(
        [await end(undefined, 3), await end(third, 3), await end(oldest, 3), await end(newest, 2)],
        [third, oldest, undefined, third],
      )
      const found = await second.listClients({ before: newest, from: third, limit: 9, isUsed: false })
      assert.deepEqual(
        found.map(({ id }) => id),
        clients
          .slice(2, 4)
          .map(({ id }) => id)
          .toReversed(),
      )
    },
  )

  check('listClients pages through the clients that match a filter', async ({ first }) => {
    const clients = times(7, (index) => aClient({}, at(index)))
    await performAll(first, 'registerClient', clients)
    for (const { id } of clients.filter((_, index) => index % 2 === 0))
      await perform(first, 'useClient', { id, now: NOW })
    const used = clients
      .filter((_, index) => index % 2 === 0)
      .map(({ id }) => id)
      .toReversed()
    const page = await first.listClients({ before: undefined, limit: 3, isUsed: true })
    assert.deepEqual(
      page.map(({ id }) => id),
      used.slice(0, 3),
    )
    const rest = await first.listClients({ before: page[2]?.id, limit: 3, isUsed: true })
    assert.deepEqual(
      rest.map(({ id }) => id),
      used.slice(3),
    )
  })
}

type Six = [ClientRecord, ClientRecord, ClientRecord, ClientRecord, ClientRecord, ClientRecord]

/** A rotation of the secret that the client was registered with. */
function aRotationOf({ id, secretHash }: ClientRecord): SecretRotation {
  const previous = secretHash ?? aHash()
  return { id, previous, secretHash: aHash(), kept: previous, keptUntil: at(HOUR) }
}
