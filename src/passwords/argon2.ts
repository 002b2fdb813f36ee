import { argon2, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import type { Passwords } from '../ports/context.ts'
import { unavailable } from '../protocol/errors.ts'
import type { Random } from '../protocol/ids.ts'

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
/** Hashes that are computed at a time. Each takes a thread of the pool and 19 MiB. */
const CONCURRENCY = 2
/** Hashes that wait in addition. */
const QUEUE_LIMIT = 100

const derive = promisify(argon2)

/**
 * Hashes passwords with argon2id on libuv's threads, a few at a time. Hashes are PHC strings
 * (https://github.com/P-H-C/phc-string-format).
 */
export function openPasswords(random: Random): Passwords {
  const pool = openPool()
  // For emails without an account: verifying takes the same time, and never matches.
  const decoy = formatPhc(COST, random(SALT_BYTES), random(TAG_BYTES))
  return {
    hash: (password) =>
      pool(async () => {
        const salt = random(SALT_BYTES)
        return formatPhc(COST, salt, await tagOf(password, COST, salt, TAG_BYTES))
      }),
    verify: (password, phc) =>
      pool(async () => {
        const { cost, salt, tag } = parsePhc(phc ?? decoy)
        const matches = timingSafeEqual(await tagOf(password, cost, salt, tag.length), tag)
        return matches && phc !== undefined
      }),
  }
}

function openPool(): <T>(work: () => Promise<T>) => Promise<T> {
  const queue: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (running >= CONCURRENCY) {
      if (queue.length >= QUEUE_LIMIT) throw unavailable('password_queue_full', 5)
      await new Promise<void>((resolve) => queue.push(resolve))
    } else running += 1
    try {
      return await work()
    } finally {
      const next = queue.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}

function tagOf(password: string, cost: Cost, salt: Buffer, tagLength: number): Promise<Buffer> {
  const message = Buffer.from(password.normalize('NFKC'))
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
