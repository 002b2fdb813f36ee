import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createProvider } from '../../src/admin/provider/provider.ts'
import { EMAIL, PASSWORD } from '../../tools/flow.ts'
import { isSignedIn, openServerWithProvider } from '../endpoints/sign-in/provider/server-with-provider.ts'
import { briefly, openClient } from '../outbound/open-client.ts'
import { createAda } from '../support/accounts.ts'
import { CLIENT_SECRET, metadataOf } from '../support/provider/provider-host.ts'
import { ADA_CLAIMS } from '../support/provider/providers.ts'
import { openWebHost, sendJson } from '../support/hosts/web-host.ts'
import { dumpStore } from '../support/store/dump.ts'

/** What a provider can make the server request, and what it can learn. */

const POLICY = { issuer: 'https://auth.example', ports: [443], loopbackExcept: undefined }
const NETWORK = {
  resolve: async (host: string) => [
    { address: host.startsWith('metadata') ? '169.254.169.254' : '10.0.0.7', family: 4 },
  ],
  isPublicAddress: (address: string) => !address.startsWith('10.') && !address.startsWith('169.254.'),
}

const REQUESTS: readonly (readonly [url: string, privateHosts: readonly string[], outcome: string])[] = [
  ['https://idp.internal/token', [], 'unacceptable address'],
  ['https://idp.internal:8443/token', [], 'unacceptable url has a port that GRANTOR_OUTBOUND_PORTS does not name'],
  ['https://metadata.internal/token', ['metadata.internal'], 'unacceptable address'],
  ['https://169.254.169.254/token', ['169.254.169.254'], 'unacceptable address'],
  ['https://[::ffff:169.254.169.254]/token', ['[::ffff:a9fe:a9fe]'], 'unacceptable address'],
  ['https://[64:ff9b::169.254.169.254]/token', ['[64:ff9b::a9fe:a9fe]'], 'unacceptable address'],
  ['https://169.254.169.254/token', [], 'unacceptable url has a host that is not a DNS name with a dot'],
  ['http://idp.internal/token', ['idp.internal'], 'unacceptable url does not use https'],
  ['https://127.0.0.1/token', [], 'unacceptable url leads to this computer'],
  ['https://auth.example/token', ['auth.example'], 'unacceptable url leads to this server itself'],
  ['https://auth.example/token', [], 'unacceptable url leads to this server itself'],
  ['file:///etc/passwd', [], 'unacceptable url does not use https'],
]

for (const [url, privateHosts, expected] of REQUESTS) {
  test(`UP-14: a request to ${url}, where the operator named ${privateHosts.join(' ') || 'nothing'}: ${expected}`, async () => {
    const client = openClient({ policy: POLICY, network: NETWORK })
    const answer = await client.ask({ method: 'GET', url, headers: {}, body: undefined, privateHosts })
    assert.ok(answer.kind !== 'answered')
    assert.equal(briefly(answer), expected)
  })
}

test('UP-14: hosts that the metadata of a provider name are checked, and redirects are not followed', async (t) => {
  const setup = await openServerWithProvider(t, { signUp: 'anybody' })
  const { host, server } = setup
  const { providerSignIn, store } = server.context
  const provider = await store.findProvider('idp' as never)
  assert.ok(provider)
  const trap = await openWebHost(t, {}, sendJson({}))
  const changes = [
    { jwks_uri: 'https://10.0.0.7/jwks' },
    { jwks_uri: 'http://169.254.169.254/jwks' },
    { token_endpoint: 'https://192.168.0.1/token' },
  ]
  for (const change of changes) {
    server.clock.advance(3_600_000)
    host.answer('/.well-known/openid-configuration', sendJson({ ...metadataOf(host.issuer), ...change }))
    assert.equal((await setup.signIn()).statusCode, 403, JSON.stringify(change))
  }
  host.answer('/.well-known/openid-configuration', (_request, response) => {
    response.writeHead(302, { location: `http://127.0.0.1:${trap.port}/` }).end()
  })
  const [finding] = await providerSignIn.probe(provider, 'http://localhost:3000/v2/oauth/callback/idp')
  assert.deepEqual([finding?.isOk, finding?.detail], [false, 'redirect'])
  assert.deepEqual(trap.requests, [])
  assert.deepEqual(setup.rows('users'), [])
})

test('UP-17: the secret, the codes and the tokens of a provider are in no log, audit, page or table', async (t) => {
  const setup = await openServerWithProvider(t, { signUp: 'anybody' })
  const answers = [
    await setup.signIn(),
    await setup.signIn(ADA_CLAIMS, { idToken: { nonce: 'wrong' } }),
    await setup.signIn(ADA_CLAIMS, { callback: { code: 'wrong' } }),
  ]
  assert.deepEqual(answers.map(isSignedIn), [true, false, false])
  const { store } = setup.server.context
  const audit = await store.listAuditLinks({ before: undefined, limit: 100, since: 0 as never })
  const seen = [
    setup.server.log(),
    JSON.stringify(audit),
    JSON.stringify(dumpStore(setup.server)),
    ...answers.map(({ body, headers }) => body + JSON.stringify(headers)),
  ].join('\n')
  assert.ok(setup.host.secrets.length >= 4)
  for (const secret of [CLIENT_SECRET, ...setup.host.secrets]) assert.ok(!seen.includes(secret))
})

test('UP-18: a provider whose answer never ends, or that closes the connection, delays no other sign-in', async (t) => {
  const setup = await openServerWithProvider(t, { signUp: 'anybody' })
  await createAda(setup.server)
  setup.host.answer('/token', (_request, response) => response.socket?.destroy())
  const closed = await setup.signIn()
  assert.equal(closed.statusCode, 503)
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  setup.host.answer('/token', (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write('{')
    void released.then(() => response.destroy())
    ask()
  })
  const waiting = setup.signIn()
  await asked
  // The answer of the provider does not end until Ada has signed in to her account here.
  const { browser, page } = await setup.arrive()
  assert.ok(isSignedIn(await browser.submit(page, { email: EMAIL, password: PASSWORD })))
  release()
  assert.equal((await waiting).statusCode, 503)
})

test('a provider over http is only accepted on this computer, for a server on this computer', async (t) => {
  const { server } = await openServerWithProvider(t)
  const input = { id: 'plain' as never, template: 'oidc', name: 'Plain', clientId: 'x', clientSecret: 'y' } as const
  await assert.rejects(
    createProvider(server.context, { ...input, settings: { issuer: 'http://idp.example' } }),
    /uses https/,
  )
})
