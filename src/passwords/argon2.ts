import { argon2, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import type { Passwords } from '../ports/context.ts'
import { unavailable } from '../protocol/errors.ts'
import type { Random } from '../protocol/ids.ts'
import { openSlots } from '../base/slots.ts'
import { normalizePassword } from '../protocol/sign-in/password-rules.ts'
import { readCommonPasswords } from './common-passwords.ts'

interface Cost {
  /** KiB. */
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
}

/** RFC 9106 §4 leaves the cost to the deployment. These are OWASP's values for argon2id (19 MiB, 2 passes, 1 lane). */
const COST: Cost = { memory: 19_456, passes: 2, parallelism: 1 }
const SALT_BYTES = 16
const TAG_BYTES = 32
/** Hashes that are computed at a time, each of which takes a thread of the pool and 19 MiB, and those that wait in addition. */
const AT_ONCE = { total: 2, perHost: 2, waiting: 100 }
/** There is one. */
const HOST = ''

const derive = promisify(argon2)

/**
 * Hashes passwords with argon2id on libuv's threads, a few at a time. Hashes are PHC strings
 * (https://github.com/P-H-C/phc-string-format).
 */
export function openPasswords(random: Random): Passwords {
  const pool = openPool()
  // For emails without an account: verifying takes the same time, and never matches.
  const decoy = formatPhc(COST, random(SALT_BYTES), random(TAG_BYTES))
  // A list of 94 kB, which most processes never need.
  let common: string | undefined
  return {
    isCommon: (text) => !/\s/.test(text) && (common ??= readCommonPasswords()).includes(` ${text} `),
    hash: (password, network) =>
      pool(network, async () => {
        const salt = random(SALT_BYTES)
        return formatPhc(COST, salt, await tagOf(password, COST, salt, TAG_BYTES))
      }),
    verify: (password, phc, network) =>
      pool(network, async () => {
        const { cost, salt, tag } = parsePhc(phc ?? decoy)
        const matches = timingSafeEqual(await tagOf(password, cost, salt, tag.length), tag)
        return matches && phc !== undefined
      }),
  }
}

/** A network with many sign-ins takes no turns from others (threats.md UI-09). */
function openPool(): <T>(network: string | undefined, work: () => Promise<T>) => Promise<T> {
  const slots = openSlots(AT_ONCE)
  return async (network, work) => {
    const free = await slots.take(HOST, network ?? '', new AbortController().signal)
    if (free === undefined) throw unavailable('password_queue_full', 5)
    try {
      return await work()
    } finally {
      free()
    }
  }
}

function tagOf(password: string, cost: Cost, salt: Buffer, tagLength: number): Promise<Buffer> {
  const message = Buffer.from(normalizePassword(password))
  return derive('argon2id', { message, nonce: salt, tagLength, ...cost })
}

function formatPhc({ memory, passes, parallelism }: Cost, salt: Buffer, tag: Buffer): string {
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(tag)}`
}

function parsePhc(phc: string): { cost: Cost; salt: Buffer; tag: Buffer } {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/.exec(phc)
  if (match === null) throw new Error('A password hash in the store is not an argon2id PHC string.')
  const [memory, passes, parallelism] = match.slice(1, 4).map(Number) as [number, number, number]
  const [salt, tag] = match.slice(4).map((part) => Buffer.from(part, 'base64')) as [Buffer, Buffer]
  return { cost: { memory, passes, parallelism }, salt, tag }
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}
