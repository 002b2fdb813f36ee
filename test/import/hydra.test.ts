import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ClientRecord } from '../../src/ports/records/client.ts'
import { chosenClientId } from '../../src/protocol/client/identifier.ts'
import type { ClientId } from '../../src/protocol/ids.ts'
import { HYDRA } from '../../src/import/sources/hydra.ts'
import { authorizeUrl, PlainBrowser, requestToken } from '../../tools/flow.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { openTestServer, temporaryFolder } from '../support/server.ts'
import { HASH_VECTORS } from '../support/sign-in/hash-vectors.ts'
import { importFile, outcomesOf, writeInput, writeRecords } from './importing.ts'

const server = await openTestServer(WHOLE_FILE)

/** Of the table `hydra_client` of Hydra 2.3.0, the last by its bcrypt, and what it gave `Job` as its secret. Without most columns. */
const ROWS = {
  web: [
    '$pbkdf2-sha256$i=25000,l=32$sCy5AGCOTEHg6Xsw0u1XKg$UCLpIu0WFE2GYySaMM+9Saei5ZBnpzU6xHYkCaW58JQ',
    'a-secret:with%2Band+more',
  ],
  job: [
    '$pbkdf2-sha256$i=25000,l=32$c5b5iL1YcCXTPt98/gJXJg$xBs+HB+uJ9xVmngWooA/ZvWKLRro+I5r41kAjFYcgBg',
    'VqQCTNUGKzEHHxpOB3hvH5M_Rm',
  ],
  short: ['$pbkdf2-sha256$i=25000,l=32$xmfJaygj9X+fMBZBqw82FQ$98k5ezfWpX+FKnTOIz21pOmwW9zzWBUb7hxgAr5MS/c', 'secret'],
  old: ['$2a$08$CAi7Y5r2ZR2f0ilH3jfxX.vRZVZyWO.dcBKfMrmKx014eTF30JzRG', 'bcrypt-of_Hydra~1.26'],
} as const

/** A row as PostgreSQL writes it. */
function rowOf(name: keyof typeof ROWS, differing: object = {}): object {
  return {
    id: `row-${name}`,
    pk: null,
    nid: '0ec4b2c7-a5fe-4b3e-b546-2d854aec6c00',
    jwks: '{}',
    scope: 'offline_access offline openid',
    audience: [],
    jwks_uri: '',
    metadata: '{}',
    client_name: '',
    grant_types: ['client_credentials'],
    skip_consent: false,
    subject_type: 'public',
    client_secret: ROWS[name][0],
    redirect_uris: [],
    backchannel_logout_uri: '',
    post_logout_redirect_uris: [],
    token_endpoint_auth_method: 'client_secret_basic',
    registration_access_token_signature: 'CtnGAfpD99XisZFOuTiVhYfBKqDURJxvmDUP_U6Jqk4',
    ...differing,
  }
}

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
  const outcomes = [
    'created member_dropped',
    'created secret_absent member_dropped',
    'created secret_absent member_dropped',
    'created member_dropped',
    'refused record_malformed',
  ]
  const array = writeInput(t, JSON.stringify(clients, undefined, 2))
  const secrets = join(temporaryFolder(t), 'secrets')
  const dry = await importFile(t, server, array, { source: HYDRA, secrets, isDryRun: true })
  assert.deepEqual(outcomesOf(dry), outcomes)
  assert.deepEqual(dry.counts.dropped, {
    'grant type implicit': 2,
    metadata: 5,
    'scope board.read': 4,
    skip_consent: 1,
    subject_type: 1,
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

test('Hydra: a client of its table goes on with its secret, whose hash is replaced at the first use', async (t) => {
  const web = {
    client_name: 'Web',
    grant_types: ['authorization_code', 'client_credentials'],
    redirect_uris: ['https://web.example/cb', 'https://web.example/cb2'],
    post_logout_redirect_uris: ['https://web.example/'],
  }
  const keys = {
    id: 'row-keys',
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: '{"keys":[{"use":"sig","kty":"EC","kid":"k1","crv":"P-256","alg":"ES256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]}',
  }
  const rows = [
    rowOf('web', { ...web, rotated_secrets: [ROWS.old[0]] }),
    rowOf('job', { token_endpoint_auth_method: 'client_secret_post' }),
    rowOf('short'),
    // The columns of Hydra 1 are text.
    rowOf('old', {
      grant_types: 'authorization_code|client_credentials|implicit',
      redirect_uris: 'https://a.example/|https://b.example/',
    }),
    rowOf('job', keys),
    rowOf('job', { id: 'row-spa', token_endpoint_auth_method: 'none', ...web, grant_types: [] }),
    rowOf('job', { id: 'row-dear', client_secret: ROWS.job[0].replace('i=25000', 'i=25000000') }),
  ]
  const file = writeInput(t, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  const hashes = Object.values(ROWS).map(([hash]) => hash)
  const first = await importFile(t, server, file, { source: HYDRA })
  const [less, whole] = ['created member_dropped', 'created']
  assert.deepEqual(outcomesOf(first), [less, whole, whole, less, whole, whole, 'refused secret_absent'])
  assert.deepEqual(first.counts.dropped, { 'grant type implicit': 1, rotated_secrets: 1 })
  for (const hash of hashes) assert.ok(!first.text.includes(hash) && !server.log().includes(hash))
  for (const [name, [, client_secret]] of Object.entries(ROWS)) {
    const client = { client_id: `row-${name}`, client_secret }
    for (const one of [client, { ...client, client_secret: `${client_secret}x` }, client]) {
      const answer = await requestToken(server, one, { grant_type: 'client_credentials' })
      assert.equal(answer.statusCode, one === client ? 200 : 401, `${name} ${answer.body}`)
    }
    const { secretHash = '' } = await storedOf(client.client_id)
    assert.match(secretHash, name === 'short' ? /^slow:/ : /^given:/)
  }
  const { metadata, secretHash: none } = await storedOf('row-spa')
  assert.deepEqual([metadata.redirect_uris, none], [web.redirect_uris, undefined])
  assert.deepEqual((await storedOf('row-old')).metadata.redirect_uris, ['https://a.example/', 'https://b.example/'])
  assert.ok(!(await storedOf('row-keys')).secretHash?.startsWith('slow:'))
  // A replaced hash cannot be compared, and one of another secret differs.
  const again = rows.slice(0, 3).concat(rowOf('short', { client_secret: ROWS.job[0] }))
  const second = writeInput(t, again.map((row) => `${JSON.stringify(row)}\n`).join(''))
  assert.deepEqual(outcomesOf(await importFile(t, server, second, { source: HYDRA })), [
    'same member_dropped',
    'same',
    'same',
    'differs',
  ])
})

test('CID-04: only the table of Hydra brings a hash: no other file makes a client that authenticates with one', async (t) => {
  const line = { type: 'client', client_id: 'neutral', client_name: 'N', redirect_uris: ['https://n.example/cb'] }
  for (const member of ['client_secret_hash', 'secret_hash', 'secretHash'])
    assert.deepEqual(outcomesOf(await importFile(t, server, writeRecords(t, [{ ...line, [member]: ROWS.job[0] }]))), [
      'refused record_malformed',
    ])
  const listed = hydraClient('listed', { ...MACHINE, id: 'x', client_secret: ROWS.job[0] })
  const slow = hydraClient('slow', { ...MACHINE, client_secret: `slow:${ROWS.job[0]}` })
  const file = writeInput(t, JSON.stringify([listed, slow]))
  await importFile(t, server, file, { source: HYDRA, secrets: join(temporaryFolder(t), 'secrets') })
  for (const client_id of ['listed', 'slow']) {
    const answer = await requestToken(
      server,
      { client_id, client_secret: ROWS.job[1] },
      { grant_type: 'client_credentials' },
    )
    assert.equal(answer.statusCode, 401, client_id)
  }
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
    reasons.map((one) => `created ${one} member_dropped`),
  )
  const written = readFileSync(secrets, 'utf8')
  for (const text of known) assert.ok(!written.includes(text))
  const tried = { client_id: 'h-0', client_secret: String(known[0]) }
  assert.equal((await requestToken(server, tried, { grant_type: 'client_credentials' })).statusCode, 401)
  const kept = hydraClient('kept', { ...MACHINE, client_secret: 'averyLongSecret-of_Hydra.2' })
  assert.deepEqual(outcomesOf(await importFile(t, server, writeInput(t, JSON.stringify([kept])), { source: HYDRA })), [
    'created member_dropped',
  ])
})

async function storedOf(client_id: string): Promise<ClientRecord> {
  const client = await server.context.store.findClient(chosenClientId(client_id) as ClientId)
  assert.ok(client)
  return client
}
