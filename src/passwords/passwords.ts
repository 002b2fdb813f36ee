import { timingSafeEqual } from 'node:crypto'
import type { Passwords } from '../ports/context.ts'
import { unavailable } from '../protocol/errors.ts'
import type { Random } from '../protocol/ids.ts'
import { openSlots } from '../base/slots.ts'
import type { HashFormat } from '../protocol/sign-in/password-formats.ts'
import { openAnsweringThread } from '../threads/answering-thread.ts'
import { BCRYPT_THREAD } from './bcrypt-thread.ts'
import { readCommonPasswords } from './common-passwords.ts'
import { openDeadline } from './deadline.ts'
import { exampleOf, formatPhc, readHash, type Bcrypt, type ReadHash } from './formats.ts'

/**
 * RFC 9106 §4 leaves the cost to the deployment. These are OWASP's values for argon2id (19 MiB, 2 passes, 1 lane). Hashes of these costs
 * whose salt and tag have other lengths are of another system.
 */
const OWN_COSTS = '$argon2id$v=19$m=19456,t=2,p=1'
const SALT_BYTES = 16
const TAG_BYTES = 32
/** Hashes that are computed at a time, each of which takes a thread and its memory, and those that wait in addition. */
const AT_ONCE = { total: 2, perHost: 2, waiting: 100 }
/** There is one. */
const HOST = ''

/**
 * Hashes passwords with argon2id, and verifies also hashes that other systems have made, on other threads, a few at a time. Hashes are PHC
 * strings (https://github.com/P-H-C/phc-string-format), apart from those of bcrypt. `foreignCosts`: of the formats that are stored.
 */
export function openPasswords(random: Random, foreignCosts: () => Promise<readonly string[]>): Passwords {
  const pool = openPool()
  const bcrypt: Bcrypt = openAnsweringThread(BCRYPT_THREAD, AT_ONCE.waiting)
  // For emails without an account, and for texts that cannot be read: verifying takes the time of a hash of ours, and never matches.
  const decoy = known(formatPhc(OWN_COSTS, random(SALT_BYTES), random(TAG_BYTES)))
  // A list of 94 kB, which most processes never need.
  let common: string | undefined
  const settle = openDeadline(
    async () => {
      const foreign = await foreignCosts()
      return foreign.length === 0 ? [] : [OWN_COSTS, ...foreign]
    },
    async (costs) => void (await known(exampleOf(costs)).derive('', bcrypt)),
  )

  return {
    isCommon: (text) => !/\s/.test(text) && (common ??= readCommonPasswords()).includes(` ${text} `),
    hash: (password, network) =>
      pool(network, async () => {
        const salt = random(SALT_BYTES)
        const { derive } = known(formatPhc(OWN_COSTS, salt, Buffer.alloc(TAG_BYTES)))
        return formatPhc(OWN_COSTS, salt, await derive(password, bcrypt))
      }),
    verify: (password, stored, network) =>
      pool(network, async () => {
        const startedAt = performance.now()
        const read = stored === undefined ? 'hash_unsupported' : readHash(stored)
        const { derive, hash, comparison } = typeof read === 'string' ? decoy : read
        const derived = await derive(password, bcrypt)
        const isSame = timingSafeEqual(derived, hash.subarray(0, derived.length))
        const isRight = isSame && typeof read !== 'string' && comparison(password) !== 'none'
        return {
          isRight,
          replaceable: isRight && comparison(password) === 'whole' ? foreignFormat(read) : undefined,
          settled: () => settle(startedAt),
        }
      }),
  }
}

/** The format of a stored hash that a sign-in replaces. undefined: the hash is as this server makes it, or cannot be read. */
export function foreignFormatOf(stored: string): HashFormat | undefined {
  const read = readHash(stored)
  return typeof read === 'string' ? undefined : foreignFormat(read)
}

function foreignFormat({ costs, salt, hash, format }: ReadHash): HashFormat | undefined {
  const isOwn = costs === OWN_COSTS && salt.length === SALT_BYTES && hash.length === TAG_BYTES
  return isOwn ? undefined : format
}

function known(text: string): ReadHash {
  const read = readHash(text)
  if (typeof read === 'string') throw new Error('The costs of a format cannot be read.')
  return read
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
