import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'
import type { AssertionAnswer, RegistrationAnswer } from '../../src/ports/passkeys.ts'

/** The algorithms of passkeys, by the names of COSE. */
export type PasskeyAlgorithm = 'ES256' | 'EdDSA' | 'RS256'

/** What an authenticator and its browser say. Each member can be another one than an honest browser sends. */
export interface Said {
  readonly challenge: string
  readonly origin: string
  readonly rpId: string
  readonly type: string
  /** Members of the client data besides. */
  readonly more: Readonly<Record<string, unknown>>
  /** The flags of the authenticator data. WebAuthn Level 3 §6.1. */
  readonly flags: number
  readonly counter: number
  /** After the end of the authenticator data. */
  readonly tail: Buffer
  readonly fmt: string
  readonly attStmt: Cbor
}

export type Asked = Pick<Said, 'challenge' | 'origin' | 'rpId'> & Partial<Said>

export const FLAGS = { up: 0x01, uv: 0x04, be: 0x08, bs: 0x10, at: 0x40, ed: 0x80 } as const

/** An authenticator of software, with one key. It makes what a browser sends, and also what no browser would. */
export interface SoftwareAuthenticator {
  readonly credentialId: string
  readonly register: (asked: Asked) => RegistrationAnswer
  readonly sign: (asked: Asked) => AssertionAnswer
}

const HONEST = { more: { crossOrigin: false }, counter: 0, tail: Buffer.alloc(0), fmt: 'none', attStmt: new Map() }

export function openAuthenticator(
  algorithm: PasskeyAlgorithm = 'ES256',
  coseKey: (publicKey: KeyObject) => Cbor = coseKeyOf,
  keys: { readonly publicKey: KeyObject; readonly privateKey: KeyObject } = makeKeys(algorithm),
  credentialId = randomBytes(32).toString('base64url'),
): SoftwareAuthenticator {
  const id = Buffer.from(credentialId, 'base64url')
  return {
    credentialId,
    register(asked) {
      const said = { ...HONEST, type: 'webauthn.create', flags: FLAGS.up | FLAGS.uv | FLAGS.at, ...asked }
      const length = Buffer.alloc(2)
      length.writeUInt16BE(id.length)
      const attested = Buffer.concat([Buffer.alloc(16), length, id, encodeCbor(coseKey(keys.publicKey))])
      const authData = Buffer.concat([authenticatorData(said), attested, said.tail])
      const object = new Map<Cbor, Cbor>([
        ['fmt', said.fmt],
        ['attStmt', said.attStmt],
        ['authData', authData],
      ])
      return {
        credentialId,
        clientData: clientData(said).toString('base64url'),
        attestationObject: encodeCbor(object).toString('base64url'),
      }
    },
    sign(asked) {
      const said = { ...HONEST, type: 'webauthn.get', flags: FLAGS.up | FLAGS.uv, ...asked }
      const data = Buffer.concat([authenticatorData(said), said.tail])
      const client = clientData(said)
      const signed = Buffer.concat([data, createHash('sha256').update(client).digest()])
      return {
        credentialId,
        clientData: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: sign(algorithm === 'EdDSA' ? null : 'sha256', signed, keys.privateKey).toString('base64url'),
      }
    },
  }
}

export function makeKeys(algorithm: PasskeyAlgorithm, modulusLength = 2048) {
  if (algorithm === 'RS256') return generateKeyPairSync('rsa', { modulusLength })
  return algorithm === 'EdDSA' ? generateKeyPairSync('ed25519') : generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

/** RFC 9053 §7, RFC 8230 §4. */
export function coseKeyOf(publicKey: KeyObject): Cbor {
  const { kty, x = '', y = '', n = '', e = '' } = publicKey.export({ format: 'jwk' })
  const bytes = (text: string): Buffer => Buffer.from(text, 'base64url')
  if (kty === 'RSA') return numbered([1, 3], [3, -257], [-1, bytes(n)], [-2, bytes(e)])
  if (kty === 'OKP') return numbered([1, 1], [3, -8], [-1, 6], [-2, bytes(x)])
  return numbered([1, 2], [3, -7], [-1, 1], [-2, bytes(x)], [-3, bytes(y)])
}

export function numbered(...pairs: readonly (readonly [number, Cbor])[]): Cbor {
  return new Map<Cbor, Cbor>(pairs)
}

function authenticatorData({ rpId, flags, counter }: Pick<Said, 'rpId' | 'flags' | 'counter'>): Buffer {
  const rest = Buffer.alloc(5)
  rest.writeUInt8(flags)
  rest.writeUInt32BE(counter, 1)
  return Buffer.concat([createHash('sha256').update(rpId).digest(), rest])
}

function clientData({ type, challenge, origin, more }: Pick<Said, 'type' | 'challenge' | 'origin' | 'more'>): Buffer {
  return Buffer.from(JSON.stringify({ type, challenge, origin, ...more }))
}

/** What an authenticator encodes. RFC 8949 §3. */
export type Cbor = number | string | Buffer | ReadonlyMap<Cbor, Cbor> | readonly Cbor[]

function encodeCbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (value instanceof Map)
    return Buffer.concat([head(5, value.size), ...[...(value as ReadonlyMap<Cbor, Cbor>)].flat().map(encodeCbor)])
  const list = value as readonly Cbor[]
  return Buffer.concat([head(4, list.length), ...list.map(encodeCbor)])
}

function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value])
  const bytes = Buffer.alloc(value < 256 ? 2 : 3)
  bytes.writeUInt8((major << 5) | (value < 256 ? 24 : 25))
  if (value < 256) bytes.writeUInt8(value, 1)
  else bytes.writeUInt16BE(value, 1)
  return bytes
}
