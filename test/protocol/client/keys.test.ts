import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import {
  clientKeys,
  parseKeySet,
  readClientKeys,
  type ClientKeys,
  type KeyFields,
} from '../../../src/protocol/client/keys.ts'
import type { Problem } from '../../../src/base/validation.ts'
import { makeClientKey, type AssertionSigner } from '../../../tools/client-assertion.ts'

const EC = makeClientKey('ES256', { kid: 'one' }).jwk
const RSA = makeClientKey('RS256').jwk
const ED = makeClientKey('EdDSA').jwk
const P384 = makeClientKey('ES384').jwk
const OUTBOUND = { issuer: 'https://auth.example', ports: [443], loopbackExcept: undefined }
const ALGORITHM = 'token_endpoint_auth_signing_alg'

function readFields(fields: KeyFields): {
  readonly keys: ClientKeys | undefined
  readonly problems: readonly Problem[]
} {
  const problems: Problem[] = []
  const keys = clientKeys(readClientKeys(fields, OUTBOUND, (problem) => void problems.push(problem)))
  return { keys, problems }
}

function accept(keys: readonly object[], more: KeyFields = {}) {
  const { problems, keys: read } = readFields({ jwks: { keys }, ...more })
  assert.deepEqual(problems, [])
  assert.ok(read?.kind === 'jwks')
  return read
}

/** Returns each problem as `body.jwks.keys.0:value_error`. No problem may repeat what was sent. */
function refuse(fields: KeyFields): readonly string[] {
  const { problems } = readFields(fields)
  for (const { loc, input } of problems) if (loc.includes('jwks')) assert.equal(input, null)
  return problems.map(({ loc, type }) => `${loc.join('.')}:${type}`)
}

const refuseKey = (key: unknown): readonly string[] => refuse({ jwks: { keys: [EC, key] } })

test('RFC 7517 §5: public keys are kept, with the members that identify them, and others are dropped', () => {
  assert.deepEqual(accept([EC, RSA, ED, P384]), {
    kind: 'jwks',
    jwks: [EC, RSA, ED, P384],
    algorithm: undefined,
  })
  const decorated = { ...EC, use: 'sig', key_ops: ['verify'], ext: true, x5c: ['MII'], x5t: 'x', nonsense: {} }
  assert.deepEqual(accept([decorated]).jwks, [EC])
  assert.deepEqual(accept([{ ...RSA, alg: 'PS256' }]).jwks, [{ ...RSA, alg: 'PS256' }])
  assert.deepEqual(accept([{ ...ED, alg: 'Ed25519' }]).jwks, [{ ...ED, alg: 'Ed25519' }])
})

test('RFC 7517 §4.2: keys for encryption are dropped, and a set without another key is refused', () => {
  const others = [
    { ...RSA, use: 'enc' },
    { ...RSA, key_ops: ['encrypt'] },
    { kty: 'EC', crv: 'secp256k1', use: 'enc' },
  ]
  assert.deepEqual(accept([...others, EC]).jwks, [EC])
  assert.deepEqual(refuse({ jwks: { keys: others } }), ['body.jwks.keys:value_error'])
})

test('CA-10: a private or symmetric key is refused, and no problem repeats it', () => {
  const exported = (algorithm: AssertionSigner) => makeClientKey(algorithm).privateKey.export({ format: 'jwk' })
  const secret = [
    ...(['ES256', 'EdDSA', 'RS256'] as const).map(exported),
    { kty: 'oct', k: 'AAAA' },
    ...['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'].map((member) => ({ ...RSA, [member]: 'AQAB' })),
    { ...RSA, use: 'enc', d: 'AQAB' },
    { ...EC, d: null },
  ]
  for (const key of secret) assert.deepEqual(refuseKey(key), ['body.jwks.keys.1:value_error'], JSON.stringify(key))
})

test('CA-10: a weak or malformed key is refused', () => {
  const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' })
  const long = { ...RSA, n: Buffer.alloc(1025, 0xff).toString('base64url') }
  const { x = '', y = '' } = EC as { x?: string; y?: string }
  const faulty = [
    short,
    long,
    { ...RSA, e: 'AQ' },
    { ...RSA, e: 'Ag' },
    { ...RSA, e: Buffer.alloc(200, 0xff).toString('base64url') },
    { ...RSA, n: '' },
    { ...RSA, n: 'not base64url!' },
    { ...RSA, alg: 'ES256' },
    { ...RSA, alg: 'RSA-OAEP' },
    { ...EC, x: y, y: x },
    { ...EC, x: 'AAAA' },
    { ...EC, crv: 'P-384' },
    { ...EC, crv: 'P-521' },
    { ...EC, alg: 'ES384' },
    { ...EC, alg: 'none' },
    { ...EC, kid: 5 },
    { ...EC, kid: 'x'.repeat(257) },
    { ...ED, crv: 'X25519' },
    { ...ED, x: 'AAAA' },
    { kty: 'AKP', pub: 'AAAA', alg: 'ML-DSA-44' },
    {},
    null,
    'key',
    [],
  ]
  for (const key of faulty) assert.deepEqual(refuseKey(key), ['body.jwks.keys.1:value_error'], JSON.stringify(key))
})

test('CA-10: two keys with one kid are refused, and more than twenty keys', () => {
  assert.deepEqual(refuse({ jwks: { keys: [EC, { ...RSA, kid: 'one' }] } }), ['body.jwks.keys:value_error'])
  assert.equal(accept(Array.from({ length: 20 }, () => RSA)).jwks.length, 20)
  assert.deepEqual(refuse({ jwks: { keys: Array.from({ length: 21 }, () => RSA) } }), ['body.jwks.keys:too_many'])
})

test('RFC 7591 §2: a set of keys is required, and must be one', () => {
  assert.deepEqual(refuse({}), ['body.jwks:missing'])
  for (const jwks of [null, 'x', 5, [], [EC], {}, { keys: EC }, { keys: null }])
    assert.deepEqual(refuse({ jwks }), ['body.jwks:value_error'], JSON.stringify(jwks))
  assert.deepEqual(refuse({ jwks: { keys: [] } }), ['body.jwks.keys:value_error'])
})

test('RFC 7591 §2: the registered algorithm is one that is accepted, and that a key of the set can verify', () => {
  for (const [key, ...algorithms] of [
    [EC, 'ES256'],
    [P384, 'ES384'],
    [ED, 'EdDSA', 'Ed25519'],
    [RSA, 'PS256', 'RS256'],
  ] as const)
    for (const algorithm of algorithms) assert.equal(accept([key], { [ALGORITHM]: algorithm }).algorithm, algorithm)
  for (const absent of [null, '', undefined]) assert.equal(accept([EC], { [ALGORITHM]: absent }).algorithm, undefined)
  for (const unknown of ['none', 'HS256', 'RS1', 'es256', 5])
    assert.deepEqual(refuse({ jwks: { keys: [EC] }, [ALGORITHM]: unknown }), [`body.${ALGORITHM}:literal_error`])
  assert.deepEqual(refuse({ jwks: { keys: [EC] }, [ALGORITHM]: 'RS256' }), [`body.${ALGORITHM}:value_error`])
  const bound = { jwks: { keys: [{ ...RSA, alg: 'RS256' }] }, [ALGORITHM]: 'PS256' }
  assert.deepEqual(refuse(bound), [`body.${ALGORITHM}:value_error`])
})

test('RFC 7591 §2: keys may be at a URI that the server may request, and not be sent as well', () => {
  const uri = 'https://app.example/jwks'
  assert.deepEqual(readFields({ jwks_uri: uri }), {
    keys: { kind: 'jwks_uri', uri, algorithm: undefined },
    problems: [],
  })
  const bound = readFields({ jwks_uri: uri, jwks: null, [ALGORITHM]: 'ES256' })
  assert.deepEqual(bound, { keys: { kind: 'jwks_uri', uri, algorithm: 'ES256' }, problems: [] })
  assert.deepEqual(refuse({ jwks_uri: uri, jwks: { keys: [EC] } }), ['body.jwks:value_error'])
  for (const wrong of [
    'http://app.example/jwks',
    'https://127.0.0.1/jwks',
    'https://localhost/jwks',
    'https://auth.example/v2/oauth/jwks',
    'https://app.example:22/jwks',
    'https://app.example/../jwks',
    'https://app/jwks',
    'file:///etc/passwd',
    'jwks',
    5,
    {},
  ])
    assert.deepEqual(refuse({ jwks_uri: wrong }), ['body.jwks_uri:value_error'], JSON.stringify(wrong))
})

test('a server that requests nothing from others refuses a jwks_uri', () => {
  const messages: string[] = []
  readClientKeys({ jwks_uri: 'https://app.example/jwks' }, undefined, ({ msg }) => void messages.push(msg))
  assert.deepEqual(messages, ['This server fetches no keys. Send them in jwks.'])
})

test('RFC 7517 §5: of a set that was fetched, keys that cannot be used are ignored', () => {
  const secret = makeClientKey('ES256').privateKey.export({ format: 'jwk' })
  const keys = [
    { ...RSA, use: 'enc' },
    secret,
    { kty: 'oct', k: 'AAAA' },
    { kty: 'EC', crv: 'P-521' },
    null,
    5,
    EC,
    RSA,
  ]
  assert.deepEqual(parseKeySet(JSON.stringify({ keys })), { kind: 'jwks', jwks: [EC, RSA] })
  const many = Array.from({ length: 21 }, () => EC)
  for (const text of [
    '',
    '{',
    '[]',
    '{}',
    '{"keys":{}}',
    '{"keys":[]}',
    '{"keys":[{}]}',
    JSON.stringify({ keys: many }),
  ])
    assert.equal(parseKeySet(text), undefined, text)
})
