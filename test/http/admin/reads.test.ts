import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApiCredentials } from '../../../src/admin/api/api.ts'
import { isReading } from '../../../src/admin/task.ts'
import { TASKS } from '../../../src/admin/tasks.ts'
import { mintClientId } from '../../../src/protocol/ids.ts'
import { dumpStore } from '../../support/store/dump.ts'
import { RULES } from './rules.ts'
import { openAdminServer, type AdminServer } from '../../support/admin-server.ts'
import { openProviderHost } from '../../support/provider/provider-host.ts'
import { addProvider } from '../../support/provider/providers.ts'
import { type Members } from '../../support/tasks.ts'

const READS = TASKS.filter(isReading)
const LISTS = TASKS.filter((task) => isReading(task) && 'before' in task.input.shape)
/** What no answer may have in it, by the column's name. */
const SECRET_COLUMN = /hash|secret|private|password/

test('ADM-05: no answer to a read has a secret, the hash of a secret, or a private key', async (t) => {
  const stage = await openAdminServer(t)
  const issued = await plantSecrets(stage)
  const { token } = await stage.issue('read')
  const samples: (Members | undefined)[] = []
  for (const { name } of READS) samples.push(await RULES[name]?.sample(stage))
  const secrets = [...issued, token, ...storedSecrets(stage)]
  assert.ok(secrets.length > 20 && secrets.every((secret) => secret.length > 20), secrets.join())
  for (const [index, task] of READS.entries()) {
    const answer = await stage.perform(task, samples[index] ?? {}, token)
    assert.equal(answer.statusCode, 200, `${task.name}: ${answer.body}`)
    for (const secret of secrets) assert.ok(!answer.body.includes(secret), `${task.name} answers ${secret}`)
  }
})

test('ADM-05: credentials of administrators are stored as hashes only', async (t) => {
  const stage = await openAdminServer(t)
  const { token, id } = await stage.issue('write')
  const rows = JSON.stringify(dumpStore(stage.server))
  assert.ok(rows.includes(id))
  for (const part of [token, token.slice(0, -22), token.slice('gad_'.length + id.length, -22)]) {
    assert.ok(!rows.includes(part), 'the token can be read in the store')
  }
})

test('ADM-04: a malformed `before` is rejected, and no part of it reaches the database as SQL', async (t) => {
  const stage = await openAdminServer(t)
  const { token } = await stage.issue('read')
  const organization = await stage.makePeopledOrganization()
  const { clock, random } = stage.server.context
  const foreign = mintClientId(clock(), random)
  const tampered = [
    "'",
    "' or 1=1 --",
    '.x',
    '-1',
    '~',
    `${foreign}x`,
    foreign.slice(0, -1),
    `${foreign}'`,
    '\u0000',
    '%',
  ]
  const before = dumpStore(stage.server)
  assert.ok(LISTS.length > 1)
  for (const task of LISTS) {
    for (const cursor of tampered) {
      const answer = await stage.perform(task, { ...placeOf(task.path, organization), before: cursor }, token)
      assert.equal(answer.statusCode, 422, `${task.name} before ${cursor}: ${answer.body}`)
      const { detail } = answer.json<{ detail: { loc: string[]; type: string; input: unknown }[] }>()
      assert.deepEqual(
        detail.map(({ loc }) => loc),
        [['query', 'before']],
      )
    }
  }
  assert.deepEqual(dumpStore(stage.server), before)
})

test('the pages of a list have each row once, newest first, and the last page has no next one', async (t) => {
  const stage = await openAdminServer(t)
  const { token } = await stage.issue('read')
  const made: string[] = []
  for (let count = 0; count < 5; count += 1) {
    made.push((await stage.makeClient()).client_id)
    stage.server.clock.advance(1)
  }
  const seen: string[] = []
  let before: string | null | undefined
  const pages: number[] = []
  do {
    const input = { limit: 2, ...(before === undefined ? {} : { before }) }
    const answer = await stage.performByName('client.list', input, token)
    const { clients, next } = answer.json<{ clients: { client_id: string }[]; next: string | null }>()
    seen.push(...clients.map(({ client_id }) => client_id))
    pages.push(clients.length)
    before = next
  } while (before !== null)
  assert.deepEqual(pages, [2, 2, 1])
  assert.deepEqual(seen, made.toReversed())
})

test('an administrator who tests a provider gets 409 for another test meanwhile', async (t) => {
  const stage = await openAdminServer(t)
  const host = await openProviderHost(t)
  const { id } = await addProvider(stage.server, host)
  const { token } = await stage.issue('read')
  const probe = async () => (await stage.performByName('provider.test', { provider_id: id }, token)).statusCode
  const [reached, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  host.holdBack('/jwks', () => {
    reached.resolve()
    return held.promise
  })
  const first = probe()
  await reached.promise
  assert.equal(await probe(), 409)
  held.resolve()
  assert.equal(await first, 200)
})

test('clients are listed by use, verification and state', async (t) => {
  const stage = await openAdminServer(t)
  const { token } = await stage.issue('write')
  const { server } = stage
  const names = ['never used', 'used', 'verified', 'disabled'] as const
  const ids = new Map<string, string>()
  for (const name of names) ids.set(name, (await stage.makeClient()).client_id)
  const idOf = (name: (typeof names)[number]) => ids.get(name) as ReturnType<typeof mintClientId>
  const usedAt = server.clock.now()
  await server.context.store.useClient({ id: idOf('used'), now: usedAt })
  await server.context.store.noteUses([{ id: idOf('used'), at: usedAt }])
  await stage.performByName('client.verify', { client_id: idOf('verified') }, token)
  await stage.performByName('client.disable', { client_id: idOf('disabled') }, token)
  const later = new Date(usedAt + 120_000).toISOString()
  const earlier = new Date(usedAt - 120_000).toISOString()
  const cases: readonly (readonly [object, readonly (typeof names)[number][]])[] = [
    [{ used: true }, ['used']],
    [{ used: false }, ['never used', 'verified', 'disabled']],
    [{ verified: true }, ['verified']],
    [{ disabled: true }, ['disabled']],
    [{ disabled: false, verified: false }, ['never used', 'used']],
    [{ unused_since: later }, ['never used', 'used', 'verified', 'disabled']],
    [{ unused_since: earlier }, ['never used', 'verified', 'disabled']],
  ]
  for (const [filter, expected] of cases) {
    const answer = await stage.performByName('client.list', { ...filter }, token)
    const { clients } = answer.json<{ clients: { client_id: string }[] }>()
    assert.deepEqual(
      clients.map(({ client_id }) => client_id).toSorted(),
      expected.map(idOf).toSorted(),
      JSON.stringify(filter),
    )
  }
})

/** Everything that a server gives away or keeps, as its holders know it. */
async function plantSecrets(stage: AdminServer): Promise<readonly string[]> {
  const client = await stage.makeClient()
  const tokens = await stage.makeTokens()
  const api = await createApiCredentials(stage.server.context, await stage.makeApi())
  await stage.makePeopledOrganization()
  return [
    client.client_secret ?? '',
    String(client['registration_access_token']),
    tokens.access_token,
    tokens.refresh_token ?? '',
    api.secret,
  ]
}

/** The values of every column that holds such a thing. */
function storedSecrets({ server }: AdminServer): readonly string[] {
  return Object.values(dumpStore(server)).flatMap((rows) =>
    rows.flatMap((row) =>
      Object.entries(row)
        .filter(([column, value]) => SECRET_COLUMN.test(column) && typeof value === 'string')
        .map(([, value]) => String(value)),
    ),
  )
}

/** The members of a path, of things that are there. */
function placeOf(path: string, organization: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(organization).filter(([name]) => path.includes(`{${name}}`)))
}
