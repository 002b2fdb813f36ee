import type { Context } from '../ports/context.ts'
import type { KeyRecord } from '../ports/records.ts'
import { after, type EpochMs } from '../protocol/brand.ts'
import type { KeyId } from '../protocol/ids.ts'
import {
  findReplacement,
  isRotationDue,
  keyState,
  KEEPING_MS,
  PUBLICATION_MS,
  SPREAD_MS,
  type KeyState,
} from '../protocol/key-rotation.ts'
import { AdminError } from './admin-error.ts'

/** Every verifier fetches all of them, and looks through them. */
const KEY_LIMIT = 20
/** A node whose clock differs by more is not ready; neither may it judge when keys change. */
const CLOCK_TOLERANCE_MS = 2000

type StoreNeeds = 'addKey' | 'listKeys' | 'ping' | 'removeKey'
type Needs = Pick<Context, 'clock' | 'keys' | 'settings'> & { readonly store: Pick<Context['store'], StoreNeeds> }

/** What became of the keys. */
export interface KeptKeys {
  readonly made: KeyRecord | undefined
  readonly withdrawn: readonly KeyId[]
}

/**
 * Makes the next key when it is time, and withdraws those whose tokens have all expired. Every node does this again and
 * again; the store lets one of them make the key. A node whose clock is wrong does nothing.
 */
export async function keepKeys(context: Needs): Promise<KeptKeys> {
  const { store, clock, settings } = context
  if ((await clockDifferenceMs(context)) > CLOCK_TOLERANCE_MS) return { made: undefined, withdrawn: [] }
  const keys = await store.listKeys()
  const now = clock()
  const isDue = keys.length < KEY_LIMIT && isRotationDue(keys, settings.keyRotation * 1000, now)
  const made = isDue ? await addKey(context, keys, PUBLICATION_MS) : undefined
  const withdrawn: KeyId[] = []
  for (const { id, activeFrom } of keys) {
    const replacement = activeFrom > now ? undefined : findReplacement({ id, activeFrom }, keys, KEEPING_MS, now)
    if (replacement === undefined) continue
    if ((await store.removeKey({ id, replacement: replacement.id })) === 'removed') withdrawn.push(id)
  }
  return { made, withdrawn }
}

/** All keys that are published, oldest first, each with its part now. */
export async function listKeys({
  clock,
  store,
}: Needs): Promise<readonly (KeyRecord & { readonly state: KeyState })[]> {
  const keys = await store.listKeys()
  const now = clock()
  return keys.map((key) => ({ ...key, state: keyState(key, keys, now) }))
}

/**
 * Makes the next key. It signs when it was published for long enough, or, `now`, as soon as every node knows it.
 *
 * @throws AdminError when one waits already, or there are too many, or another one was made at the same moment
 */
export async function rotateKeys(context: Needs, when: 'published' | 'now'): Promise<KeyRecord> {
  await requireRightClock(context)
  const keys = await context.store.listKeys()
  const now = context.clock()
  const next = keys.find((key) => keyState(key, keys, now) === 'next')
  if (when === 'published' && next !== undefined) {
    throw new AdminError(`The key ${next.id} is published already, and signs from ${iso(next.activeFrom)} on.`)
  }
  if (keys.length >= KEY_LIMIT) {
    throw new AdminError(`There are ${KEY_LIMIT} keys, which is the most. Withdraw one: grantor keys retire <key>`)
  }
  const made = await addKey(context, keys, when === 'now' ? SPREAD_MS : PUBLICATION_MS)
  if (made === undefined) {
    throw new AdminError('Another key was made at the same moment. See "grantor keys list".')
  }
  return made
}

/**
 * Withdraws a key at once: what it signed is no token any more. For a key that somebody else may have.
 *
 * @throws AdminError when there is no such key, or it signs
 */
export async function retireKey(context: Needs, text: string): Promise<KeyId> {
  await requireRightClock(context)
  const { store, clock } = context
  const keys = await store.listKeys()
  const key = keys.find(({ id }) => id === text)
  if (key === undefined) throw unknownKey(text)
  const now = clock()
  const replacement = findReplacement(key, keys, SPREAD_MS, now)
  if (replacement === undefined) {
    throw new AdminError(
      keyState(key, keys, now) === 'signing'
        ? `The key ${key.id} signs. Let another one take over first: grantor keys rotate --now`
        : `Some node may still sign with the key ${key.id}. Try again in ${SPREAD_MS / 500} seconds at most.`,
    )
  }
  if ((await store.removeKey({ id: key.id, replacement: replacement.id })) === 'unknown') throw unknownKey(text)
  return key.id
}

/** A key as the operator sees it. */
export function describeKey({ id, algorithm, createdAt, activeFrom }: KeyRecord): Readonly<Record<string, unknown>> {
  return { kid: id, algorithm, created_at: iso(createdAt), active_from: iso(activeFrom) }
}

/** undefined: another node was faster. */
async function addKey(
  { clock, keys: maker, store }: Needs,
  keys: readonly KeyRecord[],
  waitMs: number,
): Promise<KeyRecord | undefined> {
  const newest = keys.at(-1)
  if (newest === undefined) return undefined
  const now = clock()
  const key = await maker.create({ createdAt: now, activeFrom: after(now, waitMs) })
  return (await store.addKey({ key, follows: newest.id })) === 'added' ? key : undefined
}

async function requireRightClock(context: Needs): Promise<void> {
  const differenceMs = await clockDifferenceMs(context)
  if (differenceMs <= CLOCK_TOLERANCE_MS) return
  throw new AdminError(
    `This clock and the database's differ by ${Math.round(differenceMs / 1000)} s, and keys change by the clock. Set both by NTP.`,
  )
}

/** At the most: what the question took is part of it. */
async function clockDifferenceMs({ clock, store }: Needs): Promise<number> {
  const there = await store.ping()
  return there === undefined ? 0 : Math.abs(there - clock())
}

function unknownKey(text: string): AdminError {
  return new AdminError(`There is no key ${text}. See "grantor keys list".`)
}

function iso(moment: EpochMs): string {
  return new Date(moment).toISOString()
}
