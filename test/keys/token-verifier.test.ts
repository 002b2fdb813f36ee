import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { CompactSign, decodeJwt, SignJWT, UnsecuredJWT } from 'jose'
import { openBurstSigner } from '../../src/keys/burst-signer.ts'
import { unlockSigningKey } from '../../src/keys/signing-key.ts'
import { openTokenVerifier } from '../../src/keys/token-verifier.ts'
import { accessTokenClaims } from '../../src/protocol/token/access-token.ts'
import { documentClientId } from '../../src/protocol/client/identifier.ts'
import { aKeyRecord, encryptionKey, ringOf, signText } from './key-records.ts'

const ISSUER = 'https://auth.example'
const CLIENT = `gci_${'0'.repeat(34)}`
const FACTS = {
  issuer: ISSUER,
  resources: ['https://api.example'],
  clientId: CLIENT,
  userId: 'gus_y',
  organizationId: 'gor_z',
  grantId: 'g',
  scope: 'read write',
  tokenId: 'id',
  issuedAt: 1,
  expiresAt: 901,
  applicationSubject: undefined,
  keyThumbprint: '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I',
  authentication: undefined,
  issuedAfter: undefined,
  actors: [],
  firstTokenId: undefined,
} as never
const CLAIMS = accessTokenClaims(FACTS, CLIENT, undefined)

const key = unlockSigningKey(await aKeyRecord(), encryptionKey)
const otherKey = unlockSigningKey(await aKeyRecord(), encryptionKey)
const reader = openTokenVerifier([key.record], ISSUER)
const signer = openBurstSigner(ringOf([key.record], ISSUER))
const good = await signer.sign(CLAIMS, undefined, 'at+jwt')

test('RFC 9068 §2: a signed token is read back unchanged, the second time too', () => {
  assert.deepEqual(reader.read(good), FACTS)
  assert.deepEqual(reader.read(good), FACTS)
})

test('INT-10: a token of either type is read back unchanged', async () => {
  assert.deepEqual(reader.read(await signer.sign(CLAIMS, undefined, 'JWT')), FACTS)
})

test('a token without resource, user, grant and scope is read back unchanged', async () => {
  const facts = {
    ...(FACTS as object),
    resources: [],
    userId: undefined,
    organizationId: undefined,
    grantId: undefined,
    keyThumbprint: undefined,
    scope: '',
  } as never
  assert.deepEqual(
    reader.read(await signer.sign(accessTokenClaims(facts, CLIENT, undefined), undefined, 'at+jwt')),
    facts,
  )
})

test('a token for several resources names them in their order', async () => {
  const facts = { ...(FACTS as object), resources: ['https://b.example', 'https://a.example'] } as never
  assert.deepEqual(
    reader.read(await signer.sign(accessTokenClaims(facts, CLIENT, undefined), undefined, 'at+jwt')),
    facts,
  )
})

test('CIMD-13: the client_id of a client with a metadata document is its URL, and is read back as the id of its record', async () => {
  const url = 'https://app.example/client.json'
  for (const userId of ['gus_y', undefined]) {
    const facts = { ...(FACTS as object), clientId: documentClientId(url), grantId: undefined, userId } as never
    const token = await signer.sign(accessTokenClaims(facts, url, undefined), undefined, 'at+jwt')
    const { sub, client_id, act } = decodeJwt(token)
    assert.deepEqual([sub, client_id, act], [userId ?? url, url, userId === undefined ? undefined : { sub: url }])
    assert.deepEqual(reader.read(token), facts)
  }
})

/** A token with valid claims whose header this server does not write. */
function forge(header: object, sign = key.privateKey): Promise<string> {
  const whole = { alg: 'ES256', typ: 'at+jwt', kid: key.record.id, ...header }
  const options = 'crit' in header ? { crit: { b64: true, exp: true } } : undefined
  return new CompactSign(Buffer.from(CLAIMS)).setProtectedHeader(whole).sign(sign, options)
}

const publicPem = createPublicKey(key.privateKey).export({ type: 'spki', format: 'pem' })
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey

const FORGERIES: Readonly<Record<string, () => Promise<string> | string>> = {
  'no algorithm': () => new UnsecuredJWT(JSON.parse(CLAIMS)).encode(),
  'HS256 under the public key': () =>
    new SignJWT(JSON.parse(CLAIMS))
      .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: key.record.id })
      .sign(Buffer.from(publicPem)),
  RS256: () => forge({ alg: 'RS256' }, rsa),
  'another key under our kid': () => forge({}, otherKey.privateKey),
  'no kid': () => forge({ kid: undefined }),
  'a kid that is a path': () => forge({ kid: '../../dev/null' }),
  'a kid that is SQL': () => forge({ kid: `' or 1=1 --` }),
  'a jku': () => forge({ jku: 'http://127.0.0.1:9/jwks' }),
  'an x5u': () => forge({ x5u: 'http://127.0.0.1:9/x' }),
  'a jwk of its own': () => forge({ jwk: createPublicKey(key.privateKey).export({ format: 'jwk' }) }),
  'a critical extension': () => forge({ crit: ['exp'], exp: 1 }),
  'the type of a logout token': () => forge({ typ: 'logout+jwt' }),
  'a type in other letters': () => forge({ typ: 'jwt' }),
  'no type': () => forge({ typ: undefined }),
  'the claims of an id token': () =>
    signText(
      signer,
      JSON.stringify({ iss: ISSUER, aud: 'gci_x', azp: 'gci_x', sub: 'gus_y', iat: 1, exp: 901, nonce: 'n' }),
      { jwtType: 'JWT' },
    ),
  'another order of the header': () =>
    new CompactSign(Buffer.from(CLAIMS))
      .setProtectedHeader({ typ: 'at+jwt', alg: 'ES256', kid: key.record.id })
      .sign(key.privateKey),
  'a changed claim': () => {
    const [header, , signature] = good.split('.')
    return [header, Buffer.from(CLAIMS.replace('read', 'root')).toString('base64url'), signature].join('.')
  },
  'a signature cut short': () => good.slice(0, -2),
  'a signature with more behind it': () => `${good}AA`,
  'a signature of zeros': () => good.replace(/[^.]+$/, Buffer.alloc(64).toString('base64url')),
  'a signature in DER': () => good.replace(/[^.]+$/, Buffer.alloc(70).toString('base64url')),
  'a fourth part': () => `${good}.x`,
  'another issuer': () => signText(signer, CLAIMS.replace(ISSUER, 'https://evil.example')),
  'a megabyte': () => good.replace('.', `.${'A'.repeat(1_000_000)}`),
  nothing: () => '',
}

for (const [name, make] of Object.entries(FORGERIES)) {
  test(`INT-07: a token with ${name} is rejected`, async () => {
    assert.equal(reader.read(await make()), undefined)
  })
}
