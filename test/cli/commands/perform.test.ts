import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { runHere, runJsonHere, serveHere } from '../../support/command.ts'
import { openPlace, run } from '../../support/process.ts'
import { PROGRAM } from '../../../tools/process/command-line.ts'

const PERFORM = ['perform', 'authorization-code']
const EMAIL = ['--email', 'ada@acme.test']
const ADA = [...EMAIL, '--password', 'correct horse battery staple']

// A flow that fails while an answer is waited for is ended by the end of its process, so it is played in one.

interface Performance {
  readonly client_id: string
  readonly tokens: { readonly access_token: string; readonly refresh_token: string }
  readonly refreshed: { readonly refresh_token: string }
  readonly claims: Readonly<Record<string, unknown>>
  readonly refreshed_claims: Readonly<Record<string, unknown>>
}

test('perform runs a whole flow, verifies it and prints the result', async (t) => {
  const place = await openPlace(t)
  await runHere(place, ['user', 'create', ...ADA])
  await serveHere(t, place)
  const aim = ['--scope', 'read write', '--resource', 'https://api.acme.test']
  const result = await runJsonHere<Performance>(place, [...PERFORM, ...ADA, ...aim])
  assert.equal(result.claims['iss'], place.issuer)
  assert.equal(result.claims['aud'], 'https://api.acme.test')
  assert.equal(result.claims['scope'], 'read write')
  assert.equal(result.claims['client_id'], result.client_id)
  assert.notEqual(result.refreshed.refresh_token, result.tokens.refresh_token)
  const { stdout, code } = await run(place, [...PERFORM, ...EMAIL, '--password', '-', '--issuer', place.issuer], {
    input: 'correct horse battery staple\n',
  })
  assert.equal(code, 0)
  assert.match(stdout, /✓ Refreshed once[^]*iss +http[^]*refresh_token +grt_/)
})

test('perform works with an existing client, several APIs, an opaque token and an organization', async (t) => {
  const place = await openPlace(t)
  const { user_id: ada } = await runJsonHere<{ user_id: string }>(place, ['user', 'create', ...ADA])
  const { organization_id: acme } = await runJsonHere<{ organization_id: string }>(place, ['org', 'create', 'Acme'])
  await runHere(place, ['org', 'add-member', acme, ada])
  const api = ['api', 'create', '--scope', 'read=Read', '--resource']
  await runHere(place, [...api, 'https://files.acme.test', '--format', 'opaque'])
  await runHere(place, [...api, 'https://api.acme.test'])
  await serveHere(t, place)
  const registered = await fetch(`${place.issuer}/v2/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      redirect_uris: ['http://127.0.0.1/callback'],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
    }),
  })
  const { client_id: id } = (await registered.json()) as { client_id: string }
  const perform = [...PERFORM, ...ADA, '--client', id, '--organization', acme, '--scope', 'read', '--resource']
  const [jwt, opaque] = ['https://api.acme.test', 'https://files.acme.test'] as const
  const first = await runJsonHere<Performance>(place, [...perform, jwt, '--resource', opaque])
  const { aud, org_id: organization, client_id: client } = first.claims
  assert.deepEqual([aud, organization, client, first.client_id], [jwt, acme, id, id])
  const { code, stdout } = await runHere(place, [...perform, opaque, '--resource', jwt])
  assert.equal(code, 0)
  assert.match(stdout, /the access token is opaque[^]*access_token +gat_/)
  assert.doesNotMatch(stdout, /client delete/)
  const elsewhere = await runHere(place, [...PERFORM, ...ADA, '--client', id, '--organization', 'elsewhere'])
  assert.deepEqual([elsewhere.code, /access_denied/.test(elsewhere.stderr)], [1, true])
})

test('decision 0005: without resource the scopes name the API of the token, and perform reports for which API the token is', async (t) => {
  const place = await openPlace(t)
  await runHere(place, ['user', 'create', ...ADA])
  for (const name of ['projects', 'files'])
    await runHere(place, ['api', 'create', '--resource', `https://${name}.acme.test`, '--scope', `${name}:read=Read`])
  await serveHere(t, place)
  const aims = [
    { aim: ['--scope', 'projects:read'], audience: 'https://projects.acme.test' },
    { aim: ['--scope', 'openid files:read'], audience: 'https://files.acme.test' },
    { aim: ['--scope', 'openid'], audience: place.issuer },
    { aim: [], audience: place.issuer },
    { aim: ['--resource', 'https://files.acme.test'], audience: 'https://files.acme.test' },
  ]
  for (const { aim, audience } of aims) {
    const { claims, refreshed_claims: again } = await runJsonHere<Performance>(place, [...PERFORM, ...ADA, ...aim])
    assert.deepEqual([claims['aud'], again['aud']], [audience, audience], aim.join(' '))
  }
  const { stdout } = await runHere(place, [...PERFORM, ...ADA, '--scope', 'projects:read'])
  assert.match(stdout, /✓ .*signed by the server and meant for https:\/\/projects\.acme\.test\n/)
})

test('without credentials perform prints the address to open, and reports when no response arrives', async (t) => {
  const place = await openPlace(t)
  await serveHere(t, place)
  const finished = await runHere(place, [...PERFORM, '--timeout', '1'])
  assert.match(
    finished.stdout,
    new RegExp(`Open this in a browser:\n\n${place.issuer}/v2/oauth/authorize\\?response_type=code&`),
  )
  assert.deepEqual(
    [finished.code, finished.stderr],
    [1, 'grantor: There was no response within 1 s. Try again, or give --timeout.\n'],
  )
})

test('RFC 9700 §4.4: a response with another state is rejected', async (t) => {
  const place = await openPlace(t)
  await serveHere(t, place)
  const child = spawn(process.execPath, [PROGRAM, ...PERFORM], { cwd: place.folder, env: place.environment })
  let [stdout, stderr] = ['', '']
  child.stderr.on('data', (chunk: Buffer) => void (stderr += chunk.toString()))
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
    const address = /^http.*$/m.exec(stdout)?.[0]
    if (address === undefined) return
    child.stdout.removeAllListeners('data')
    const redirectUri = new URL(address).searchParams.get('redirect_uri') ?? ''
    void fetch(`${redirectUri}?code=x&state=other`)
  })
  const [code] = (await once(child, 'close')) as [number]
  assert.deepEqual([code, stderr], [1, 'grantor: The state of the response differs from that of the request.\n'])
})

test('a wrong password, no server and another server are each reported in one line', async (t) => {
  const place = await openPlace(t)
  const gone = await runHere(place, [...PERFORM, ...ADA])
  assert.deepEqual([gone.code, /^grantor: Discovery failed: .*Is the server running\?\n$/.test(gone.stderr)], [1, true])
  await serveHere(t, place)
  const wrong = await runHere(place, [...PERFORM, ...ADA])
  assert.deepEqual([wrong.code, /rejected the sign-in of ada@acme\.test/.test(wrong.stderr)], [1, true])
  const other = createServer((_request, response) => response.end('{"issuer":"https://evil.test"}')).listen(
    0,
    '127.0.0.1',
  )
  t.after(() => other.close())
  await once(other, 'listening')
  const { port } = other.address() as { port: number }
  const evil = await runHere(place, [...PERFORM, '--issuer', `http://127.0.0.1:${port}`])
  assert.deepEqual([evil.code, /The issuer of the server is https:\/\/evil\.test/.test(evil.stderr)], [1, true])
  const usage = await runHere(place, [...PERFORM, '--issuer', 'nonsense'])
  assert.equal(usage.code, 2)
})

test('a name instead of the id of a client or an organization is rejected before a request is sent', async (t) => {
  const place = await openPlace(t)
  for (const [option, name, says] of [
    ['--client', 'Notes desktop', /Give an id; .*See "grantor client list"/],
    ['--organization', 'Acme Corp', /Give an id; .*See "grantor org list"/],
  ] as const) {
    const { code, stdout, stderr } = await runHere(place, [...PERFORM, option, name])
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, says)
  }
})
