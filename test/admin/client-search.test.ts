import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClientDocument, PurgedClientDocument } from '../../src/admin/client/document.ts'
import { after } from '../../src/base/brand.ts'
import { hasText, textPage } from '../../src/admin/page.ts'
import type { ClientRecord } from '../../src/ports/records/client.ts'
import type { ClientId } from '../../src/protocol/ids.ts'
import type { Store } from '../../src/ports/store.ts'
import { registerClient, requestToken, type RegisteredClient } from '../../tools/flow.ts'
import { evaluateDomain } from '../support/domains.ts'
import { aClient, at } from '../support/records.ts'
import { times } from '../store/contract/harness.ts'
import { openOffice, type Office, type Perform } from './office.ts'

interface Marked {
  readonly clients: readonly PurgedClientDocument[]
}

interface Found {
  readonly clients: readonly ClientDocument[]
  readonly next: string | null
}

/** The ids of the clients that a search finds, newest first. */
async function idsOf(perform: Perform, search: object, task = 'client.list'): Promise<readonly string[]> {
  return (await perform<Found>(task, { ...search })).clients.map(({ client_id }) => client_id)
}

async function registerAll(store: Pick<Store, 'registerClient'>, clients: readonly ClientRecord[]): Promise<void> {
  for (let start = 0; start < clients.length; start += 500)
    await Promise.all(clients.slice(start, start + 500).map((client) => store.registerClient(client)))
}

/** One client of each kind, by name. */
async function openWithClients({ stage, perform }: Office) {
  const { server } = stage
  const register = (metadata: Parameters<typeof registerClient>[1] = {}) => {
    // Ids of one millisecond have no order.
    server.clock.advance(1)
    return registerClient(server, metadata)
  }
  await evaluateDomain(server, '*.bad.example', 'blocked')
  const blockedLater = 'https://app.later.example/cb'
  const plain = await register()
  const known = await register({
    redirect_uris: ['https://app.known.example:8443/cb'],
    post_logout_redirect_uris: ['https://out.known.example/'],
  })
  const blocked = await register({ redirect_uris: ['http://127.0.0.1/cb', blockedLater] })
  const used = await register()
  await requestToken(server, used, { grant_type: 'client_credentials' })
  server.clock.advance(1)
  const made = await perform<RegisteredClient>('client.create', {
    client_name: 'Nightly',
    'client_name#de': 'Nachtlauf',
  })
  await evaluateDomain(server, '*.known.example', 'trusted')
  await evaluateDomain(server, 'app.later.example', 'blocked')
  const ids = { plain, known, blocked, used, made }
  return Object.fromEntries(Object.entries(ids).map(([name, { client_id }]) => [name, client_id])) as {
    readonly [Name in keyof typeof ids]: string
  }
}

test('clients are found by source, trust level and host', async (t) => {
  const office = await openOffice(t)
  const { plain, known, blocked, used, made } = await openWithClients(office)
  for (const [search, expected] of [
    [{}, [made, used, blocked, known, plain]],
    [{ source: 'operator' }, [made]],
    [{ source: 'registration' }, [used, blocked, known, plain]],
    [{ source: 'document' }, []],
    [{ trust_level: 'verified' }, [made]],
    [{ trust_level: 'known-domain' }, [known]],
    [{ trust_level: 'unverified' }, [used, plain]],
    [{ trust_level: 'blocked' }, [blocked]],
    [{ host: 'app.known.example' }, [known]],
    [{ host: 'out.known.example' }, [known]],
    [{ host: 'APP.example' }, [used, plain]],
    [{ host: 'app.later.example', trust_level: 'blocked' }, [blocked]],
    [{ host: '127.0.0.1' }, [blocked]],
    [{ host: 'example' }, []],
    [{ name: 'nachtl' }, [made]],
    [{ name: 'night' }, [made]],
    [{ host: 'app.example', used: true }, [used]],
  ] as const) {
    assert.deepEqual(await idsOf(office.perform, search), expected, JSON.stringify(search))
  }
})

test('a search by host pages through all clients, and examines at most 2,000 of them for one page', async (t) => {
  const { stage, perform } = await openOffice(t)
  const { store } = stage.server.context
  const metadata = { ...aClient().metadata, redirect_uris: ['https://rare.example/cb'] }
  const rare = new Set([0, 5, 6, 5_500])
  const clients = times(5_600, (index) => aClient(rare.has(index) ? { metadata } : {}, at(index)))
  await registerAll(store, clients)
  const found: string[] = []
  let [pages, before]: [number, string | null | undefined] = [0, undefined]
  do {
    const page: Found = await perform<Found>('client.list', {
      host: 'rare.example',
      limit: 2,
      before: before ?? undefined,
    })
    found.push(...page.clients.map(({ client_id }) => client_id))
    before = page.next
    pages += 1
  } while (before !== null)
  assert.deepEqual(
    found,
    [5_500, 6, 5, 0].map((index) => clients[index]?.id),
  )
  assert.ok(pages >= 3, `${pages} pages`)
})

test('a purge goes through all clients, the oldest first, and each call says how many it examined', async (t) => {
  const { stage, perform } = await openOffice(t)
  const { store } = stage.server.context
  const metadata = { ...aClient().metadata, redirect_uris: ['https://rare.example/cb'] }
  const rare = new Set([0, 1, 2, 5_999])
  const clients = times(6_000, (index) => aClient(rare.has(index) ? { metadata } : {}, at(index)))
  await registerAll(store, clients)
  const pages: unknown[] = []
  let before: string | undefined
  do {
    const search = { host: 'rare.example', limit: 2, dry_run: true, before }
    const page = await perform<Found & { readonly examined: number }>('client.purge', search)
    pages.push([page.clients.map(({ client_id }) => clients.findIndex(({ id }) => id === client_id)), page.examined])
    before = page.next ?? undefined
  } while (before !== undefined)
  assert.deepEqual(pages, [
    [[0, 1], 2],
    [[2], 5_000],
    [[5_999], 998],
  ])
})

test('FLOOD-05: a purge deletes what its dry run lists: never-used clients, and none of the operator', async (t) => {
  const office = await openOffice(t)
  const { perform } = office
  const { plain, known, blocked, used, made } = await openWithClients(office)
  const dry = await perform<Found>('client.purge', { dry_run: true })
  assert.deepEqual(
    dry.clients.map(({ client_id }) => client_id),
    [plain, known, blocked],
  )
  // What the sweeps spare is marked.
  const { clock, context } = office.stage.server
  await context.auditRecorder.flush()
  const marks = async (search: object) =>
    (await perform<Marked>('client.purge', { ...search, dry_run: true })).clients.map(({ spared_as: mark }) => mark)
  await context.store.extendRetention({ id: plain as ClientId, until: after(clock.now(), 20 * 60_000) })
  assert.deepEqual(await marks({}), ['waiting', 'new', 'new'])
  clock.advance(16 * 60_000)
  await context.auditRecorder.flush()
  assert.deepEqual(await marks({}), ['waiting', null, null])
  assert.deepEqual(await marks({ used: true }), ['active'])
  assert.equal((await idsOf(perform, {})).length, 5)
  assert.deepEqual(await idsOf(perform, { host: 'app.known.example' }, 'client.purge'), [known])
  assert.deepEqual(await idsOf(perform, { limit: 1 }, 'client.purge'), [plain])
  assert.deepEqual(await idsOf(perform, {}, 'client.purge'), [blocked])
  assert.deepEqual(await idsOf(perform, {}, 'client.purge'), [])
  assert.deepEqual(await idsOf(perform, {}), [made, used])
})

test('FLOOD-05: a purge deletes used clients and those of the operator only if a filter asks for them', async (t) => {
  const office = await openOffice(t)
  const { perform } = office
  const { used, made } = await openWithClients(office)
  assert.deepEqual(await idsOf(perform, { verified: true }, 'client.purge'), [])
  assert.deepEqual(await idsOf(perform, { source: 'operator' }, 'client.purge'), [made])
  assert.deepEqual(await idsOf(perform, { used: true }, 'client.purge'), [used])
})

test('FLOOD-05: the audit has an event for each purged client', async (t) => {
  const office = await openOffice(t)
  const { plain, known, blocked } = await openWithClients(office)
  await office.perform('client.purge', {})
  const { events } = await office.perform<{ events: readonly { event: string; client_id: string }[] }>('audit.list', {
    event: 'client.deleted',
  })
  assert.deepEqual(events.map(({ client_id }) => client_id).toSorted(), [plain, known, blocked].toSorted())
})

test('a name among users and organizations is sought in 2,000 rows a call, and the next call goes on after them', async () => {
  const all = Array.from({ length: 12_000 }, (_, index) => ({
    id: 12_000 - index,
    name: index === 11_990 ? 'Globex' : undefined,
  }))
  let read = 0
  const list = async ({
    before = Infinity,
    limit,
  }: {
    readonly before: number | undefined
    readonly limit: number
  }) => {
    const start = all.findIndex(({ id }) => id < before)
    const slice = start === -1 ? [] : all.slice(start, start + limit)
    read += slice.length
    return slice
  }
  const pages = []
  let before: number | undefined
  do {
    const { rows, next } = await textPage(list, ({ name }) => hasText('globEX', name), { before, limit: 50 })
    pages.push([rows.map(({ id }) => id), read])
    before = next ?? undefined
  } while (before !== undefined)
  assert.deepEqual(pages, [
    ...[2000, 4000, 6000, 8000, 10_000].map((examined) => [[], examined]),
    [[10], 12_000],
    [[], 12_000],
  ])
})
