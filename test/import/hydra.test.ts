import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { HYDRA } from '../../src/import/sources/hydra.ts'
import { authorizeUrl, PlainBrowser, requestToken } from '../../tools/flow.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { openTestServer, temporaryFolder } from '../support/server.ts'
import { HASH_VECTORS } from '../support/sign-in/hash-vectors.ts'
import { importFile, outcomesOf, writeInput } from './importing.ts'

const server = await openTestServer(WHOLE_FILE)

/** As `GET /admin/clients` of Hydra 2 answers, without most members that are empty. */
function hydraClient(id: string, differing: object = {}): object {
  return {
    client_id: id,
    client_name: '',
    redirect_uris: [`https://${id}.example/cb`],
    grant_types: ['authorization_code', 'refresh_token', 'implicit'],
    response_types: ['code'],
    scope: 'offline_access offline openid board.read',
    audience: [],
    contacts: null,
    client_secret_expires_at: 0,
    subject_type: 'public',
    jwks: {},
    token_endpoint_auth_method: 'client_secret_basic',
    userinfo_signed_response_alg: 'none',
    metadata: { foo: 'bar' },
    skip_consent: false,
    skip_logout_consent: null,
    authorization_code_grant_access_token_lifespan: null,
    ...differing,
  }
}

const MACHINE = { grant_types: ['client_credentials'], redirect_uris: [] }

test('Hydra: clients keep id and URIs, get new secrets, and scopes are listed as those that APIs have to declare', async (t) => {
  const clients = [
    hydraClient('spa', { token_endpoint_auth_method: 'none', post_logout_redirect_uris: ['https://spa.example/'] }),
    hydraClient('job', { ...MACHINE, scope: '' }),
    hydraClient('web', { grant_types: null, skip_consent: true, subject_type: 'pairwise', client_name: 'Web' }),
    hydraClient('keys', {
      ...MACHINE,
      token_endpoint_auth_method: 'private_key_jwt',
      jwks_uri: 'https://keys.example/jwks',
    }),
    hydraClient('tls', { token_endpoint_auth_method: 'tls_client_auth' }),
  ]
  const outcomes = ['created', 'created secret_absent', 'created secret_absent', 'created', 'refused record_malformed']
  const array = writeInput(t, JSON.stringify(clients, undefined, 2))
  const secrets = join(temporaryFolder(t), 'secrets')
  const dry = await importFile(t, server, array, { source: HYDRA, secrets, isDryRun: true })
  assert.deepEqual(outcomesOf(dry), outcomes)
  assert.deepEqual(dry.counts.dropped, {
    'grant type implicit': 2,
    'scope board.read': 4,
    skip_consent: 1,
    'subject_type pairwise': 1,
  })
  const ndjson = writeInput(t, clients.map((one) => `${JSON.stringify(one)}\n`).join(''))
  assert.deepEqual(outcomesOf(await importFile(t, server, ndjson, { source: HYDRA, secrets })), outcomes)
  const fresh = readFileSync(secrets, 'utf8').trim().split('\n')
  const [job, web] = fresh.map((line) => JSON.parse(line) as { client_id: string; client_secret: string })
  assert.ok(job && web)
  assert.deepEqual([job.client_id, web.client_id, fresh.length], ['job', 'web', 2])
  assert.equal((await requestToken(server, job, { grant_type: 'client_credentials' })).statusCode, 200)
  const spa = { client_id: 'spa', client_secret: '' }
  const page = await new PlainBrowser(server).get(authorizeUrl(spa, { redirect_uri: 'https://spa.example/cb' }))
  assert.equal(page.statusCode, 303, page.body)
  await assert.rejects(importFile(t, server, writeInput(t, '[{}'), { source: HYDRA }), /not a JSON document/)
})

test('CID-04: neither a secret that can be guessed nor a hash becomes the secret of a client', async (t) => {
  const known = [...HASH_VECTORS.map(({ text }) => text), 'a'.repeat(32), 'short', 'has spaces in it 1234']
  const clients = known.map((secret, index) => hydraClient(`h-${index}`, { ...MACHINE, client_secret: secret }))
  const file = writeInput(t, JSON.stringify(clients))
  const reasons = known.map((_, index) => (index < HASH_VECTORS.length ? 'secret_absent' : 'secret_guessable'))
  const refused = await importFile(t, server, file, { source: HYDRA })
  assert.deepEqual(
    outcomesOf(refused),
    reasons.map((one) => `refused ${one}`),
  )
  const secrets = join(temporaryFolder(t), 'secrets')
  const taken = await importFile(t, server, file, { source: HYDRA, secrets })
  assert.deepEqual(
    outcomesOf(taken),
    reasons.map((one) => `created ${one}`),
  )
  const written = readFileSync(secrets, 'utf8')
  for (const text of known) assert.ok(!written.includes(text))
  const tried = { client_id: 'h-0', client_secret: String(known[0]) }
  assert.equal((await requestToken(server, tried, { grant_type: 'client_credentials' })).statusCode, 401)
  const kept = hydraClient('kept', { ...MACHINE, client_secret: 'averyLongSecret-of_Hydra.2' })
  assert.deepEqual(outcomesOf(await importFile(t, server, writeInput(t, JSON.stringify([kept])), { source: HYDRA })), [
    'created',
  ])
})
