import type { GroupId } from '../../../../src/protocol/access/group.ts'
import assert from 'node:assert/strict'
import type { EpochMs } from '../../../../src/base/brand.ts'
import type { Input } from '../../../../src/ports/operations/index.ts'
import type { ClientRecord } from '../../../../src/ports/records/client.ts'
import { slowSecretHash } from '../../../../src/protocol/client/authentication.ts'
import { chosenClientId } from '../../../../src/protocol/client/identifier.ts'
import { DEFAULT_RULES } from '../../../../src/protocol/client/policy.ts'
import type { SecretHash } from '../../../../src/protocol/secrets.ts'
import type { Scope } from '../../../../src/protocol/token/scope.ts'
import { perform, performAll, race, tally, times, type Suite } from '../harness.ts'
import { aSweep } from '../server/sweep.ts'
import { aClient, aHash, anInstallation, aSharedClient, at, HOUR, NOW } from '../../../support/records.ts'

export const operatorClientCases: Suite = (check) => {
  check('CON-35: of concurrent approvals of what was read one counts, and none of another identity', async (stores) => {
    const client = aClient()
    await perform(stores.first, 'registerClient', client)
    const { id } = client
    const approvals = ['a', 'b', 'c'].map((scope) => ({ id, scope: scope as Scope, previous: client }))
    assert.deepEqual(tally(await race(stores, 'approveClientScope', approvals)), { changed: 1, conflict: 2 })
    const { metadata, approvedScope } = (await stores.second.findClient(id)) ?? assert.fail()
    const renamed = { id, previous: metadata, metadata: { ...metadata, clientName: 'Other' }, identityFrom: at(1) }
    await perform(stores.first, 'updateClient', renamed)
    const late = { id, scope: approvedScope, previous: { ...client, approvedScope: '' as Scope } }
    assert.equal(await perform(stores.first, 'approveClientScope', late), 'conflict')
  })

  check('createClient stores all members of the client, visible through both handles', async ({ first, second }) => {
    const plain = aClient({ source: 'operator', managementHash: undefined, verifiedAt: at(1) })
    const firstParty = aClient({
      source: 'operator',
      rules: { ...DEFAULT_RULES, consent: 'implied' },
      approvedScope: 'admin' as Scope,
      previousSecret: { hash: aHash(), until: at(2) },
      usedAt: at(3),
      disabledAt: at(4),
      identityFrom: at(5),
      notBefore: at(6),
      lastUsedAt: at(7),
    })
    const clients = [plain, firstParty]
    assert.deepEqual(
      await performAll(first, 'createClient', clients),
      clients.map(() => 'created'),
    )
    for (const client of clients) {
      assert.deepEqual(await first.findClient(client.id), client)
      assert.deepEqual(await second.findClient(client.id), client)
    }
    assert.deepEqual(await second.listClients({ before: undefined, limit: 4 }), byNewest(clients))
  })

  check('CID-01: of concurrent creations of one chosen client_id exactly one succeeds', async (stores) => {
    const { first, second } = stores
    const id = chosenClientId('board:1') ?? aClient().id
    const made = times(8, (index) =>
      aClient({ source: 'operator', id, chosenId: 'board:1', secretHash: aHash() }, at(index)),
    )
    const outcomes = await race(stores, 'createClient', made)
    assert.deepEqual(tally(outcomes), { created: 1, 'id-taken': 7 })
    const winner = made[outcomes.indexOf('created')]
    for (const store of [first, second]) assert.deepEqual(await store.findClient(id), winner)
    await perform(first, 'deleteClient', id)
    const again = aClient({ source: 'operator', id, chosenId: 'board:1' })
    assert.equal(await perform(first, 'createClient', again), 'created')
    assert.deepEqual(await first.findClient(id), again)
  })

  check('a created client is never swept, whether or not it is held for an authorization', async ({ first }) => {
    const old = at(-2000 * HOUR)
    const clients = times(2, () => aClient({ source: 'operator' }, old))
    const registered = aClient({}, old)
    await performAll(first, 'createClient', clients)
    await perform(first, 'registerClient', registered)
    await perform(first, 'extendRetention', { id: clients[0]?.id ?? registered.id, until: at(-HOUR) })
    const { clients: swept } = await perform(first, 'sweepExpired', aSweep({ now: (Date.now() * 2) as EpochMs }))
    assert.equal(swept, 1)
    for (const client of clients) assert.deepEqual(await first.findClient(client.id), client)
    assert.equal(await first.findClient(registered.id), undefined)
  })

  check('listClients lists the clients of a source', async ({ first }) => {
    const made = (['operator', 'document'] as const).map((source, index) => aClient({ source }, at(index)))
    const registered = aClient({}, at(5))
    await performAll(first, 'createClient', made)
    await perform(first, 'registerClient', registered)
    for (const client of [...made, registered]) {
      const found = await first.listClients({ before: undefined, limit: 5, source: client.source })
      assert.deepEqual(found, [client])
    }
  })

  check(
    'GRP-02: listGroupReaders pages through the clients of the operator that read groups, whatever others have',
    async (stores) => {
      const { first, second } = stores
      const words = [{ group: 'dev' as GroupId, word: 'Admin' }]
      const rules = { ...DEFAULT_RULES, groupClaim: { name: 'roles', words } } as const
      const made = [0, 1, 2].map((place) => aClient({ source: 'operator', rules }, at(place)))
      const others = [aClient({ source: 'operator' }, at(3)), aClient({ source: 'document', rules }, at(4))]
      await performAll(first, 'createClient', [...made, ...others])
      const page = await second.listGroupReaders({ before: undefined, limit: 2 })
      assert.deepEqual(page, byNewest(made).slice(0, 2))
      assert.deepEqual(await second.listGroupReaders({ before: page[1]?.id, limit: 2 }), byNewest(made).slice(2))
    },
  )

  check('adoptClient verifies a client, ends its registration access token, and keeps its secret', async (stores) => {
    const { first, second } = stores
    const old = at(-2000 * HOUR)
    const [client, other] = [aClient({}, old), aClient({}, at(-HOUR))]
    await performAll(first, 'registerClient', [client, other])
    const adoption = { id: client.id, previous: client.metadata, now: at(1) }
    assert.equal(await perform(first, 'adoptClient', adoption), 'adopted')
    const adopted = { ...client, source: 'operator', verifiedAt: at(1), managementHash: undefined } as const
    assert.deepEqual(await second.findClient(client.id), adopted)
    assert.equal(await perform(second, 'adoptClient', { ...adoption, now: at(2) }), 'conflict')
    assert.equal((await perform(first, 'sweepExpired', aSweep())).clients, 0)
    assert.deepEqual(await first.findClient(client.id), adopted)
    assert.deepEqual(await first.findClient(other.id), other)
  })

  check('adoptClient keeps an earlier verification', async ({ first }) => {
    const { id, metadata: previous, ...rest } = aClient()
    await perform(first, 'registerClient', { id, metadata: previous, ...rest })
    await perform(first, 'verifyClient', { id, now: at(1) })
    await perform(first, 'adoptClient', { id, previous, now: at(2) })
    assert.equal((await first.findClient(id))?.verifiedAt, at(1))
  })

  check('a registration does not return an adopted client', async ({ first }) => {
    const client = aSharedClient()
    const [again, third] = times(2, () => ({ ...client, id: aClient().id }))
    assert.ok(again && third)
    await perform(first, 'registerPublicClient', { client, retainUntil: at(1) })
    await perform(first, 'adoptClient', { id: client.id, previous: client.metadata, now: at(1) })
    const made = await perform(first, 'registerPublicClient', { client: again, retainUntil: at(1) })
    assert.equal(made.id, again.id)
    assert.equal((await perform(first, 'registerPublicClient', { client: third, retainUntil: at(1) })).id, again.id)
    assert.equal((await first.findClient(client.id))?.dedupeKey, undefined)
  })

  check('adoptClient of a client that is unknown, was changed, or is a document changes nothing', async ({ first }) => {
    const [client, documented] = [aClient(), aClient({ source: 'document' })]
    await perform(first, 'registerClient', client)
    await perform(first, 'createClient', documented)
    const attempts = [
      { id: client.id, previous: { ...client.metadata, redirect_uris: [] }, now: NOW },
      { id: documented.id, previous: documented.metadata, now: NOW },
      { id: aClient().id, previous: client.metadata, now: NOW },
    ]
    assert.deepEqual(tally(await performAll(first, 'adoptClient', attempts)), { conflict: 3 })
    assert.deepEqual(await first.findClient(client.id), client)
    assert.deepEqual(await first.findClient(documented.id), documented)
  })

  check('WAY-05: of concurrent adoptions and updates of one client exactly one succeeds', async ({ first, second }) => {
    const client = aClient()
    const { id, metadata: previous } = client
    await perform(first, 'registerClient', client)
    const metadata = { ...previous, client_name: 'Another' }
    const adoptions = times(10, () => perform(first, 'adoptClient', { id, previous, now: at(1) }))
    const updates = times(10, () => perform(second, 'updateClient', { id, previous, metadata, identityFrom: at(1) }))
    const outcomes = await Promise.all([...adoptions, ...updates])
    assert.equal(outcomes.filter((outcome) => outcome !== 'conflict').length, 1)
    const isAdopted = outcomes.includes('adopted')
    const stored = await first.findClient(id)
    assert.deepEqual(
      [stored?.source, stored?.metadata],
      isAdopted ? ['operator', previous] : ['registration', metadata],
    )
  })

  check(
    'updateClient, with which a client changes itself, does not change a client of the operator',
    async ({ first }) => {
      const client = aClient({ source: 'operator' })
      const { id, metadata: previous } = client
      await perform(first, 'createClient', client)
      const update = { id, previous, metadata: { ...previous, redirect_uris: [] }, identityFrom: undefined }
      assert.equal(await perform(first, 'updateClient', update), 'conflict')
      assert.deepEqual(await first.findClient(id), client)
    },
  )

  check('changeClient replaces the metadata of a client of the operator, and keeps what it may do', async (stores) => {
    const { first, second } = stores
    const client = aClient({ source: 'operator', verifiedAt: at(1), approvedScope: 'admin' as Scope })
    const { id, metadata: previous } = client
    await perform(first, 'createClient', client)
    const metadata = { ...previous, client_name: 'Another' }
    const { rules } = client
    const change = { id, previous, rules, metadata, identityFrom: at(5) }
    assert.equal(await perform(first, 'changeClient', change), 'changed')
    assert.deepEqual(await first.findClient(id), { ...client, metadata, identityFrom: at(5) })
    const back = { id, previous: metadata, rules, metadata: previous, identityFrom: undefined }
    assert.deepEqual(tally(await race(stores, 'changeClient', [back, back, back])), { changed: 1, conflict: 2 })
    assert.deepEqual(await second.findClient(id), { ...client, identityFrom: at(5) })
  })

  check(
    'changeClient changes no client that registered, and setClientRules none of another source than before',
    async ({ first }) => {
      const client = aClient()
      const { id, metadata: previous, rules } = client
      await perform(first, 'registerClient', client)
      const change = { id, previous, rules, metadata: { ...previous, redirect_uris: [] }, identityFrom: at(1) }
      assert.equal(await perform(first, 'changeClient', change), 'conflict')
      const implied = {
        id,
        previous: { ...client, source: 'operator' },
        rules: { ...rules, consent: 'implied' },
      } as const
      assert.equal(await perform(first, 'setClientRules', implied), 'conflict')
      assert.deepEqual(await first.findClient(id), client)
      const strict = { ...rules, copies: 'strict' } as const
      assert.equal(await perform(first, 'setClientRules', { id, previous: client, rules: strict }), 'changed')
      assert.deepEqual(await first.findClient(id), { ...client, rules: strict })
    },
  )

  check('setClientRules replaces the rules of a client of the operator', async ({ first, second }) => {
    const [client, other] = times(2, () => aClient({ source: 'operator' }))
    assert.ok(client && other)
    await performAll(first, 'createClient', [client, other])
    const { id } = client
    let previous = client
    for (const consent of ['implied', 'asked'] as const) {
      const rules = { ...DEFAULT_RULES, consent }
      assert.equal(await perform(first, 'setClientRules', { id, previous, rules }), 'changed')
      previous = { ...client, rules }
      assert.deepEqual(await first.findClient(id), previous)
    }
    assert.deepEqual(await second.findClient(id), client)
    assert.deepEqual(await first.findClient(other.id), other)
    const absent = { id: aClient().id, previous: client, rules: DEFAULT_RULES }
    assert.equal(await perform(first, 'setClientRules', absent), 'conflict')
  })

  check('of concurrent changes of the rules or the metadata of one client exactly one succeeds', async (stores) => {
    const { first, second } = stores
    // An adopted client has no rules in the store before they are set.
    const [made, adopted] = [aClient({ source: 'operator' }), aClient()]
    await perform(first, 'createClient', made)
    await perform(first, 'registerClient', adopted)
    await perform(first, 'adoptClient', { id: adopted.id, previous: adopted.metadata, now: at(1) })
    for (const previous of [made, { ...adopted, source: 'operator' } as const]) {
      const { id, rules } = previous
      const given = (['implied', 'asked'] as const).flatMap((consent) =>
        (['nonce', 'optional'] as const).map((pkce) => ({ ...rules, consent, pkce })),
      )
      const metadata = { ...previous.metadata, client_name: 'Another' }
      const ruled = given.map((one) => ({ id, previous, rules: one }))
      const change = { id, previous: previous.metadata, rules, metadata, identityFrom: undefined }
      const changes = await Promise.all([
        race(stores, 'setClientRules', ruled),
        race(stores, 'changeClient', [change, change]),
      ])
      const outcomes = changes.flat()
      assert.deepEqual(tally(outcomes), { changed: 1, conflict: 5 })
      const winner = outcomes.indexOf('changed')
      const stored = await second.findClient(id)
      assert.deepEqual(
        [stored?.rules, stored?.metadata],
        winner < given.length ? [given[winner], previous.metadata] : [rules, metadata],
      )
    }
  })

  check(
    'setManagementToken replaces the token of a registered client with a secret or a token, and of no other',
    async (stores) => {
      const { first, second } = stores
      const bare = { secretHash: undefined, managementHash: undefined }
      const [client, owned, open] = [aClient(), aClient({ secretHash: undefined }), aClient(bare)]
      const made = aClient({ source: 'operator' })
      await performAll(first, 'registerClient', [client, owned, open])
      await perform(first, 'createClient', made)
      const managementHash = aHash()
      const tokens = [client, owned, open, made, aClient()].map(({ id }) => ({ id, managementHash }))
      const outcomes = await performAll(first, 'setManagementToken', tokens)
      assert.deepEqual(tally(outcomes), { changed: 2, unknown: 3 })
      assert.deepEqual(await second.findClient(owned.id), { ...owned, managementHash })
      assert.deepEqual(await second.findClient(client.id), { ...client, managementHash })
      assert.deepEqual(await second.findClient(open.id), open)
      assert.deepEqual(await second.findClient(made.id), made)
    },
  )

  check(
    'FLOOD-05: purgeClient deletes a client with its installations, unless it no longer matches',
    async (stores) => {
      const { first, second } = stores
      const [client, other] = [aClient(), aClient()]
      await performAll(first, 'registerClient', [client, other])
      const { id } = client
      const [gone, kept] = [anInstallation({ clientId: id }), anInstallation({ clientId: other.id })]
      await performAll(first, 'install', [gone, kept])
      await perform(first, 'useClient', { id, now: at(1) })
      for (const filter of [
        { isUsed: false },
        { isVerified: true },
        { isDisabled: true },
        { unusedSince: NOW },
        { source: 'operator' },
      ] as const) {
        assert.equal(await perform(first, 'purgeClient', { id, filter }), 'kept', JSON.stringify(filter))
      }
      assert.ok((await first.findClient(id)) && (await first.findInstallation(gone)))
      const purges = times(5, () => ({ id, filter: { isUsed: true, source: 'registration' } as const }))
      assert.deepEqual(tally(await race(stores, 'purgeClient', purges)), { deleted: 1, kept: 4 })
      assert.equal(await second.findClient(id), undefined)
      assert.equal(await second.findInstallation(gone), undefined)
      assert.deepEqual(await second.findInstallation(kept), kept)
      assert.deepEqual(await second.findClient(other.id), other)
    },
  )

  check('a registration with the metadata of a purged client makes a new one', async ({ first }) => {
    const client = aSharedClient()
    const again = { ...client, id: aClient().id }
    await perform(first, 'registerPublicClient', { client, retainUntil: at(1) })
    assert.equal(await perform(first, 'purgeClient', { id: client.id, filter: {} }), 'deleted')
    assert.equal((await perform(first, 'registerPublicClient', { client: again, retainUntil: at(1) })).id, again.id)
  })

  check(
    'upgradeClientSecret replaces the hash alone, present or previous, and none that is no longer stored',
    async ({ first, second }) => {
      const [slow, rotated, other] = [aSlowClient(), aSlowClient(), aSlowClient()]
      await performAll(first, 'createClient', [slow, rotated, other])
      const keptUntil = at(HOUR)
      const rotation = { secretHash: aHash(), kept: hashOf(rotated), keptUntil }
      await perform(first, 'rotateClientSecret', { id: rotated.id, previous: hashOf(rotated), ...rotation })
      for (const client of [slow, rotated])
        assert.equal(await perform(first, 'upgradeClientSecret', upgradeOf(client)), 'changed')
      assert.deepEqual(await second.findClient(slow.id), { ...slow, secretHash: upgradeOf(slow).secretHash })
      assert.deepEqual(await second.findClient(rotated.id), {
        ...rotated,
        secretHash: rotation.secretHash,
        previousSecret: { hash: upgradeOf(rotated).secretHash, until: keptUntil },
      })
      for (const client of [slow, rotated, aSlowClient()])
        assert.equal(await perform(second, 'upgradeClientSecret', upgradeOf(client)), 'unknown')
      assert.deepEqual(await first.findClient(other.id), other)
    },
  )

  check('of concurrent upgrades of one secret exactly one succeeds', async (stores) => {
    const client = aSlowClient()
    await perform(stores.first, 'createClient', client)
    const changes = times(10, () => ({ ...upgradeOf(client), secretHash: aHash() }))
    const outcomes = await race(stores, 'upgradeClientSecret', changes)
    assert.deepEqual(tally(outcomes), { changed: 1, unknown: 9 })
    const kept = await stores.second.findClient(client.id)
    assert.equal(kept?.secretHash, changes[outcomes.indexOf('changed')]?.secretHash)
  })

  check('an upgrade beside a rotation leaves the rotated secret in force, or the rotation fails', async (stores) => {
    for (const client of times(8, () => aSlowClient())) {
      await perform(stores.first, 'createClient', client)
      const secretHash = aHash()
      const rotation = { id: client.id, previous: hashOf(client), secretHash, kept: hashOf(client), keptUntil: at(5) }
      const [rotated, upgraded] = await Promise.all([
        perform(stores.first, 'rotateClientSecret', rotation),
        perform(stores.second, 'upgradeClientSecret', upgradeOf(client)),
      ])
      assert.equal(upgraded, 'changed')
      const digest = upgradeOf(client).secretHash
      const { secretHash: present, previousSecret } = (await stores.second.findClient(client.id)) ?? {}
      assert.deepEqual(
        [present, previousSecret?.hash],
        rotated === 'rotated' ? [secretHash, digest] : [digest, undefined],
      )
    }
  })
}

function byNewest<Row extends { readonly id: string }>(rows: readonly Row[]): readonly Row[] {
  return rows.toSorted((one, other) => (one.id < other.id ? 1 : -1))
}

function aSlowClient(): ClientRecord {
  return aClient({ source: 'operator', managementHash: undefined, secretHash: slowSecretHash(aHash()) })
}

function hashOf({ secretHash }: ClientRecord): SecretHash {
  assert.ok(secretHash)
  return secretHash
}

function upgradeOf(client: ClientRecord): Input<'upgradeClientSecret'> {
  const secretHash = `given:${client.id}` as SecretHash
  return { id: client.id, previous: hashOf(client), secretHash, format: 'bcrypt' }
}
