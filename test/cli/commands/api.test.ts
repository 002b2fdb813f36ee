import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { runHere, runJsonHere, serveHere } from '../../support/command.ts'
import { openPlace, serve } from '../../support/process.ts'
import { said } from '../../support/tasks.ts'

interface Client {
  readonly client_id: string
  readonly client_secret?: string
}

async function register(issuer: string, metadata: object): Promise<Client> {
  const response = await fetch(`${issuer}/v2/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ grant_types: ['client_credentials'], ...metadata }),
  })
  return (await response.json()) as Client
}

test('decision 0006: a running server knows a declared API within about a second', async (t) => {
  const place = await openPlace(t)
  await serveHere(t, place)
  const client = await register(place.issuer, {})
  const words = ['api', 'create', '--resource', 'https://api.acme.test', '--name', 'Acme']
  const scopes = ['--scope', 'read=Read your projects', '--machine-scope', 'sync=Keep a copy up to date']
  scopes.push('--step-up', 'read=2fa,300', '--scope-on-request', 'wipe=Delete your projects')
  const created = await runJsonHere(place, [...words, ...scopes])
  const sentence = { read: 'Read your projects', sync: 'Keep a copy up to date', wipe: 'Delete your projects' }
  assert.deepEqual(
    { ...(created as object), created_at: '' },
    {
      resource: 'https://api.acme.test',
      name: 'Acme',
      scopes: [
        { name: 'read', sentence: sentence.read, granted_to: 'users', step_up: { level: '2fa', max_age: 300 } },
        { name: 'wipe', sentence: sentence.wipe, granted_to: 'users-on-request', step_up: null },
        { name: 'sync', sentence: sentence.sync, granted_to: 'users-and-machines', step_up: null },
      ],
      tokens: {
        format: 'jwt',
        lifetime: null,
        algorithm: null,
        jwt_type: 'at+jwt',
        application_subject: false,
        binding: 'any',
      },
      groups: 'off',
      group_words: [],
      exchange: [],
      introspection_id: null,
      created_at: '',
      notice: null,
    },
  )
  const ask = async (scope: string): Promise<number> => {
    const form = { grant_type: 'client_credentials', resource: 'https://api.acme.test', scope }
    const credentials = { client_id: client.client_id, client_secret: client.client_secret ?? '' }
    const body = new URLSearchParams({ ...form, ...credentials })
    return (await fetch(`${place.issuer}/v2/oauth/token`, { method: 'POST', body })).status
  }
  const deadline = performance.now() + 10_000
  while ((await ask('read')) !== 400) assert.ok(performance.now() < deadline, 'The server never learned it.')
  assert.equal(await ask('sync'), 200)
  const list = (await runHere(place, ['api', 'list'])).stdout
  assert.match(list, /sync +with consent, or without a user/)
  assert.match(list, /wipe +with consent, on request/)
  const update = ['api', 'update', 'https://api.acme.test', '--step-up', 'wipe=phr', '--step-up', 'read=none']
  update.push('--scope-de', 'read=Ihre Projekte: lesen', '--name-de', 'Firma', '--name-en', 'Acme')
  await runHere(place, update)
  const shown = (await runHere(place, ['api', 'show', 'https://api.acme.test'])).stdout
  assert.match(shown, /wipe +with consent, on request +phr +Delete/)
  assert.doesNotMatch(shown, /2fa/)
  assert.match(shown, /Read your projects \(de: Ihre Projekte: lesen\)/)
  assert.match(shown, /Acme \(de: Firma\)/)
  assert.match(
    (await runHere(place, ['api', 'delete', 'https://api.acme.test/'])).stdout,
    new RegExp(`^${said('api.delete', { resource: 'https://api\\.acme\\.test' })}`),
  )
  assert.deepEqual(await runJsonHere(place, ['api', 'list']), { apis: [], next: null })
})

test('api create-credentials prints the credentials for introspection once, and a running server accepts them', async (t) => {
  const place = await openPlace(t)
  await serveHere(t, place)
  const resource = 'https://api.acme.test'
  await runHere(place, ['api', 'create', '--resource', resource])
  const printed = await runHere(place, ['api', 'create-credentials', resource])
  assert.match(printed.stdout, /id +gap_\S+\n +secret +gas_\S+/)
  const made = await runJsonHere<{ id: string; secret: string }>(place, [
    'api',
    'create-credentials',
    '--resource',
    `${resource}/`,
  ])
  const { apis } = await runJsonHere<{ apis: readonly object[] }>(place, ['api', 'list'])
  assert.equal((apis[0] as { introspection_id?: string }).introspection_id, made.id)
  assert.ok(!JSON.stringify(apis).includes(made.secret))
  const ask = async (): Promise<number> => {
    const basic = Buffer.from(`${made.id}:${made.secret}`).toString('base64')
    const response = await fetch(`${place.issuer}/v2/oauth/introspect`, {
      method: 'POST',
      headers: { authorization: `Basic ${basic}` },
      body: new URLSearchParams({ token: 'x' }),
    })
    await response.arrayBuffer()
    return response.status
  }
  const deadline = performance.now() + 10_000
  while ((await ask()) !== 200) assert.ok(performance.now() < deadline, 'The server never learned the credentials.')
  const unknown = await runHere(place, ['api', 'create-credentials', 'https://other.acme.test'])
  assert.equal(unknown.code, 1)
  assert.match(unknown.stderr, /There is no API https:\/\/other\.acme\.test/)
})

const API = ['create', '--resource', 'https://api.acme.test']
const REFUSED: readonly (readonly [why: string, code: number, words: readonly string[], says: RegExp])[] = [
  ['no resource', 2, ['create'], /--resource/],
  ['a relative resource', 1, ['create', '--resource', '/api'], /absolute URI/],
  ['a resource with a fragment', 1, ['create', '--resource', 'https://a.test/#x'], /without a fragment/],
  ['a declared resource, but for the slash', 1, ['create', '--resource', 'https://taken.test/'], /already declared/],
  [
    'a declared resource, but for the case',
    1,
    ['create', '--resource', 'HTTPS://Taken.test'],
    /https:\/\/taken\.test is already declared/,
  ],
  ['a scope without a sentence', 2, [...API, '--scope', 'read'], /a name, "=", and the text/],
  ['a text of no scope', 2, [...API, '--scope-de', 'Lesen'], /a name, "=", and the text/],
  ['a text in an unknown language', 2, [...API, '--scope-xx', 'read=Lire'], /unknown option '--scope-xx'/],
  ['a text of an unknown scope', 1, [...API, '--scope-de', 'read=Lesen'], /has no scope read, which texts names/],
  ['a scope with a space', 1, [...API, '--scope', 'read all=Read'], /The name of a scope has no spaces/],
  ['a scope named twice', 1, [...API, '--scope', 'a=A', '--machine-scope', 'a=B'], /declared twice/],
  ['a sentence with control characters', 1, [...API, '--scope', 'a=A\u0007'], /control character/],
  ['an unknown resource', 1, ['delete', 'https://other.test'], /There is no API/],
]

test('all problems of an API are reported in one message', async (t) => {
  const place = await openPlace(t)
  await runHere(place, ['api', 'create', '--resource', 'https://taken.test'])
  const environment = { GRANTOR_ISSUER: 'http://localhost:7743' }
  const own = await runHere(place, ['api', 'create', '--resource', 'http://localhost:7743/'], { environment })
  assert.deepEqual([own.code, own.stdout], [1, ''])
  assert.match(own.stderr, /is this server/)
  await Promise.all(
    REFUSED.map(([why, code, words, says]) =>
      t.test(why, async () => {
        const finished = await runHere(place, ['api', ...words])
        assert.equal(finished.code, code, finished.stderr)
        assert.match(finished.stderr, says)
        assert.equal(finished.stdout, '')
      }),
    ),
  )
})

test('many concurrent commands beside a busy server all succeed', async (t) => {
  const place = await openPlace(t)
  const server = await serve(place, { environment: { GRANTOR_REGISTRATION_RATE: '100000' } })
  const enough = new AbortController()
  const busy = (async () => {
    while (!enough.signal.aborted) await Promise.all([1, 2, 3, 4].map(() => register(place.issuer, {})))
  })()
  const names = Array.from({ length: 8 }, (_, index) => `https://api-${index}.acme.test`)
  const created = await Promise.all(names.map((resource) => runHere(place, ['api', 'create', '--resource', resource])))
  enough.abort()
  await busy
  assert.deepEqual(
    created.map(({ code, stderr }) => [code, stderr]),
    names.map(() => [0, '']),
  )
  server.child.kill('SIGTERM')
  await once(server.child, 'exit')
})
