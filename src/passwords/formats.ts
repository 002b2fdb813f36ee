import { argon2, createCipheriv, pbkdf2, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import type { HashFormat, HashRefusal } from '../protocol/sign-in/password-formats.ts'
import { normalizePassword } from '../protocol/sign-in/password-rules.ts'

/** What the thread of bcrypt gets: the password, and the text of a hash up to its salt. */
export interface BcryptQuestion {
  readonly password: string
  readonly salt: string
}
export type Bcrypt = (question: BcryptQuestion) => Promise<string>

/** A hash whose format is known, and whose costs are within the limits. */
export interface ReadHash {
  readonly format: HashFormat
  /** Its text without the salt and the hash. */
  readonly costs: string
  /** How long a verification takes, compared with another hash of the format. */
  readonly work: number
  readonly salt: Buffer
  readonly hash: Buffer
  /** Returns what `hash` is for this password, or its first bytes. */
  readonly derive: (password: string, bcrypt: Bcrypt) => Promise<Buffer>
  /** Whether the format compares a password that is typed like this at all, and all of it. */
  readonly comparison: (password: string) => 'whole' | 'in-part' | 'none'
}

type Parameters = ReadonlyMap<string, string>

/** The parts of `$name$v=1$a=1,b=2$salt$hash` (https://github.com/P-H-C/phc-string-format). */
interface Phc {
  readonly name: string
  readonly version: string | undefined
  readonly parameters: Parameters
  readonly salt: Buffer
  readonly hash: Buffer
}

interface Reader {
  readonly format: HashFormat
  readonly version?: '19'
  /** The parameters that are costs, and the others, in their order. `nfkc` may follow. */
  readonly costs: readonly string[]
  readonly others: readonly string[]
  /** The other ones of an example. */
  readonly example: string
  /** Whether passwords are normalized if there is no `nfkc`. */
  readonly isNormalized: boolean
  readonly check: (parts: Phc) => HashRefusal | undefined
  readonly work: (parameters: Parameters) => number
  readonly derive: (password: string, parts: Phc) => Promise<Buffer>
}

const TEXT_LIMIT = 512
const SALT = { min: 4, max: 64 }
/** RFC 9106 §3.1. */
const ARGON2_SALT_MIN = 8
const HASH = { min: 16, max: 128 }
/** One verification takes at most about a second of one core, and 64 MiB. */
const LIMITS = {
  argon2: { memory: 65_536, passes: 10, parallelism: 4 },
  bcrypt: 12,
  pbkdf2: { min: 1000, max: 1_500_000 },
  scrypt: { memory: 64 * 1024 * 1024, parallelism: 4 },
}
/** The parameter that says whether passwords are normalized before they are hashed. */
export const NORMALIZES = 'nfkc'
/** bcrypt reads no more of a password. */
const BCRYPT_BYTES = 72
const BCRYPT = /^(\$2[aby]\$(\d\d))\$([./A-Za-z0-9]{22})([./A-Za-z0-9]{31})$/
const BCRYPT_ALPHABET = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const BASE64_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const PHC = /^\$([a-z0-9-]+)(?:\$v=(\d+))?\$([^$]+)\$([^$]+)\$([^$]+)$/
const EXAMPLE_SALT = unpadded(Buffer.alloc(16))
const EXAMPLE_HASH = unpadded(Buffer.alloc(32))
const AES_KEY_BYTES = 32
/** More than `LIMITS.scrypt` needs besides. */
const SCRYPT_MAXMEM = 2 * LIMITS.scrypt.memory

const deriveArgon2 = promisify(argon2)
const derivePbkdf2 = promisify(pbkdf2)
const deriveScrypt = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scrypt,
)

/** By their names, which the texts begin with. bcrypt has another form. */
const READERS: ReadonlyMap<string, Reader> = new Map(
  [
    argon2Reader('argon2id'),
    argon2Reader('argon2i'),
    argon2Reader('argon2d'),
    pbkdf2Reader('sha1', 20),
    pbkdf2Reader('sha256', 32),
    pbkdf2Reader('sha512', 64),
    scryptReader('scrypt', (derived, length) => derived.subarray(0, length)),
    // https://github.com/firebase/scrypt, whose hashes are stored without the signer key (`readForeignHash`).
    scryptReader('firebase-scrypt', keyStreamOf),
  ].map((reader) => [reader.format, reader]),
)

/** The costs of each format that take longest. */
export function costliest(costs: readonly string[]): readonly string[] {
  const byFormat = new Map<HashFormat, { readonly costs: string; readonly work: number }>()
  for (const one of costs) {
    const read = readHash(exampleOf(one))
    if (typeof read !== 'string' && read.work > (byFormat.get(read.format)?.work ?? 0)) byFormat.set(read.format, read)
  }
  return [...byFormat.values()].map((kept) => kept.costs)
}

/** The key stream of AES-256-CTR under the first bytes of `derived`. */
function keyStreamOf(derived: Buffer, length: number): Buffer {
  return createCipheriv('aes-256-ctr', derived.subarray(0, AES_KEY_BYTES), Buffer.alloc(16)).update(
    Buffer.alloc(length),
  )
}

/** A text as the store has it: the parameters in their order, `l` also if it is not given, and base64 without padding. */
export function writtenOut(text: string): string {
  const parts = partsOf(text)
  const reader = parts === undefined ? undefined : READERS.get(parts.name)
  if (parts === undefined || reader === undefined) return text
  const { name, version, parameters, salt, hash } = parts
  const length = reader.others.includes('l') && !parameters.has('l') ? [['l', String(hash.length)] as const] : []
  const all = new Map([...parameters, ...length])
  // What the reader does not know stays, so that the text is refused.
  if (!hasParameters(all, reader)) return text
  return formatPhc(
    costsOf({ name, version, parameters: all }, [...reader.costs, ...reader.others, NORMALIZES]),
    salt,
    hash,
  )
}

/** A text whose hash has these costs, and matches no password. */
export function exampleOf(costs: string): string {
  if (costs.startsWith('$2')) return `${costs}$${'.'.repeat(53)}`
  const name = /^\$([a-z0-9-]+)/.exec(costs)?.[1] ?? ''
  return `${costs}${READERS.get(name)?.example ?? ''}$${EXAMPLE_SALT}$${EXAMPLE_HASH}`
}

/** Reads a hash as the store has it. */
export function readHash(text: string): ReadHash | HashRefusal {
  if (text.length > TEXT_LIMIT) return 'hash_unsupported'
  return readBcrypt(text) ?? readPhc(text) ?? 'hash_unsupported'
}

/** A text of the form of PHC, with these costs. */
export function formatPhc(costs: string, salt: Buffer, hash: Buffer): string {
  return `${costs}$${unpadded(salt)}$${unpadded(hash)}`
}

function readBcrypt(text: string): ReadHash | HashRefusal | undefined {
  const [, costs, cost, salt, hash] = BCRYPT.exec(text) ?? []
  if (costs === undefined || salt === undefined || hash === undefined) return undefined
  const rounds = Number(cost)
  if (rounds < 4) return 'hash_unsupported'
  if (rounds > LIMITS.bcrypt) return 'hash_too_expensive'
  return {
    format: 'bcrypt',
    costs,
    work: 2 ** rounds,
    salt: bcryptBytes(salt),
    hash: bcryptBytes(hash),
    async derive(password, bcrypt) {
      const derived = await bcrypt({ password, salt: `${costs}$${salt}` })
      return bcryptBytes(derived.slice(-hash.length))
    },
    comparison(password) {
      // Programs in C end at the first NUL, so everything after it would be ignored.
      if (password.includes('\0')) return 'none'
      return Buffer.byteLength(password) > BCRYPT_BYTES ? 'in-part' : 'whole'
    },
  }
}

function readPhc(text: string): ReadHash | HashRefusal | undefined {
  const parts = partsOf(text)
  const reader = parts === undefined ? undefined : READERS.get(parts.name)
  if (parts === undefined || reader === undefined) return undefined
  const { version, parameters, salt, hash } = parts
  const isKnown = version === reader.version && hasParameters(parameters, reader)
  if (!isKnown || !isWithin(salt.length, SALT) || !isWithin(hash.length, HASH)) return 'hash_unsupported'
  const refusal = reader.check(parts)
  if (refusal !== undefined) return refusal
  const normalizes = parameters.get(NORMALIZES)
  const isNormalized = normalizes === undefined ? reader.isNormalized : normalizes === '1'
  return {
    format: reader.format,
    costs: costsOf(parts, [...reader.costs, NORMALIZES]),
    work: reader.work(parameters),
    salt,
    hash,
    derive: (password) => reader.derive(isNormalized ? normalizePassword(password) : password, parts),
    comparison: () => 'whole',
  }
}

function partsOf(text: string): Phc | undefined {
  const [, name, version, list, saltText, hashText] = PHC.exec(text) ?? []
  const [salt, hash] = [bytesOf(saltText ?? ''), bytesOf(hashText ?? '')]
  if (name === undefined || list === undefined || salt === undefined || hash === undefined) return undefined
  const pairs = list.split(',').map((pair) => /^([a-z]+)=(.*)$/.exec(pair))
  const known = pairs.filter((pair) => pair !== null).map(([, key = '', value = '']) => [key, value] as const)
  const parameters = new Map(known)
  return parameters.size === pairs.length ? { name, version, parameters, salt, hash } : undefined
}

/** The parameters are those of the reader, in any order, and each is a number. */
function hasParameters(parameters: Parameters, { costs, others }: Reader): boolean {
  const names = [...costs, ...others]
  const given = [...parameters].filter(([name, value]) => name !== NORMALIZES || !/^[01]$/.test(value))
  const isNumeric = given.every(([, value]) => /^[1-9]\d{0,9}$/.test(value))
  return isNumeric && given.length === names.length && names.every((name) => parameters.has(name))
}

function costsOf(
  { name, version, parameters }: Pick<Phc, 'name' | 'version' | 'parameters'>,
  names: readonly string[],
): string {
  const start = version === undefined ? `$${name}` : `$${name}$v=${version}`
  return `${start}$${names.flatMap((one) => (parameters.has(one) ? `${one}=${parameters.get(one)}` : [])).join(',')}`
}

function argon2Reader(format: 'argon2id' | 'argon2i' | 'argon2d'): Reader {
  return {
    format,
    version: '19',
    costs: ['m', 't', 'p'],
    others: [],
    example: '',
    isNormalized: format === 'argon2id',
    check({ parameters, salt }) {
      const { memory, passes, parallelism } = argon2Costs(parameters)
      // RFC 9106 §3.1.
      if (salt.length < ARGON2_SALT_MIN || memory < 8 * parallelism) return 'hash_unsupported'
      const { argon2: limit } = LIMITS
      const isCheap = memory <= limit.memory && passes <= limit.passes && parallelism <= limit.parallelism
      return isCheap ? undefined : 'hash_too_expensive'
    },
    work(parameters) {
      const { memory, passes } = argon2Costs(parameters)
      return memory * passes
    },
    derive: (password, { parameters, salt, hash }) =>
      deriveArgon2(format, {
        message: Buffer.from(password),
        nonce: salt,
        tagLength: hash.length,
        ...argon2Costs(parameters),
      }),
  }
}

function argon2Costs(parameters: Parameters) {
  return {
    memory: numberOf(parameters, 'm'),
    passes: numberOf(parameters, 't'),
    parallelism: numberOf(parameters, 'p'),
  }
}

/** Each block of the result costs all rounds, and the first one is as long as the digest: the others add nothing. RFC 8018 §5.2. */
function pbkdf2Reader(digest: 'sha1' | 'sha256' | 'sha512', digestBytes: number): Reader {
  return {
    format: `pbkdf2-${digest}`,
    costs: ['i'],
    others: ['l'],
    example: ',l=32',
    isNormalized: false,
    check({ parameters, hash }) {
      const rounds = numberOf(parameters, 'i')
      if (numberOf(parameters, 'l') !== hash.length) return 'hash_unsupported'
      if (digest === 'sha1' && rounds < LIMITS.pbkdf2.min) return 'hash_unsupported'
      return rounds > LIMITS.pbkdf2.max ? 'hash_too_expensive' : undefined
    },
    work: (parameters) => numberOf(parameters, 'i'),
    derive: (password, { parameters, salt, hash }) =>
      derivePbkdf2(password, salt, numberOf(parameters, 'i'), Math.min(hash.length, digestBytes), digest),
  }
}

interface ScryptCosts {
  readonly ln: number
  readonly r: number
  readonly p: number
}

/** `finish`: makes the hash, whose length is given, of what scrypt derives. */
function scryptReader(
  format: 'scrypt' | 'firebase-scrypt',
  finish: (derived: Buffer, length: number) => Buffer,
): Reader {
  return {
    format,
    costs: ['ln', 'r', 'p'],
    others: [],
    example: '',
    isNormalized: false,
    check({ parameters, hash }) {
      const { ln, r, p } = scryptCosts(parameters)
      // Without its last bytes a hash would match, too.
      if (hash.length % 16 !== 0) return 'hash_unsupported'
      if (128 * 2 ** ln * r > LIMITS.scrypt.memory || p > LIMITS.scrypt.parallelism) return 'hash_too_expensive'
      // RFC 7914 §2: N is less than 2^(128 * r / 8).
      return ln < 16 * r ? undefined : 'hash_unsupported'
    },
    work(parameters) {
      const { ln, r, p } = scryptCosts(parameters)
      return 2 ** ln * r * p
    },
    async derive(password, { parameters, salt, hash }) {
      const length = Math.max(hash.length, AES_KEY_BYTES)
      return finish(await deriveScrypt(password, salt, length, scryptOptions(scryptCosts(parameters))), hash.length)
    },
  }
}

function scryptCosts(parameters: Parameters): ScryptCosts {
  return { ln: numberOf(parameters, 'ln'), r: numberOf(parameters, 'r'), p: numberOf(parameters, 'p') }
}

function scryptOptions({ ln, r, p }: ScryptCosts) {
  return { N: 2 ** ln, r, p, maxmem: SCRYPT_MAXMEM }
}

function numberOf(parameters: Parameters, name: string): number {
  return Number(parameters.get(name))
}

function isWithin(length: number, { min, max }: { readonly min: number; readonly max: number }): boolean {
  return length >= min && length <= max
}

/** With and without padding, and `.` as `+`, as passlib writes it. undefined: the text is no base64. */
export function bytesOf(text: string): Buffer | undefined {
  const plain = text.replaceAll('.', '+').replace(/={1,2}$/, '')
  return /^[A-Za-z0-9+/]+$/.test(plain) && plain.length % 4 !== 1 ? Buffer.from(plain, 'base64') : undefined
}

/** The last bits, which belong to no byte, are not compared: some programs fill them. */
function bcryptBytes(text: string): Buffer {
  return Buffer.from(
    text.replaceAll(/./g, (letter) => BASE64_ALPHABET.charAt(BCRYPT_ALPHABET.indexOf(letter))),
    'base64',
  )
}

export function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}
