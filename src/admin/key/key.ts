import type { Context } from '../../ports/context.ts'
import type { KeyPurpose, KeyRecord, SigningAlgorithm } from '../../ports/records/key.ts'
import { after, type EpochMs } from '../../base/brand.ts'
import type { KeyId } from '../../protocol/ids.ts'
import {
  chooseServerKey,
  chooseStartedKey,
  findSuccessor,
  findReplacement,
  INTRODUCTION_MS,
  isRotationDue,
  keyState,
  lineOf,
  KEEPING_MS,
  PUBLICATION_MS,
  SPREAD_MS,
  type KeyState,
} from '../../protocol/key-rotation.ts'
import { DEFAULT_ID_TOKEN_ALGORITHM } from '../../protocol/openid/id-token.ts'
import { conflict, unknown, type AdminError } from '../admin-error.ts'
import { MAXIMA } from '../../base/maxima.ts'

/** The maximum number of published keys. Every verifier fetches and searches all of them. */
const KEY_LIMIT = MAXIMA.signingKeys.most

/** The algorithms that sign access tokens. */
interface Demand {
  readonly own: SigningAlgorithm
  readonly before: SigningAlgorithm | undefined
  readonly declared: ReadonlySet<SigningAlgorithm>
}

/** The changes that `keepKeys` made. */
export interface KeptKeys {
  readonly made: KeyRecord | undefined
  readonly withdrawn: readonly KeyId[]
}

/** Keys of one purpose and algorithm. */
type Line = Pick<KeyRecord, 'purpose' | 'algorithm'>

/**
 * Keeps the signing keys. It creates the first key of an algorithm that an API declares, and the next key of an algorithm when its
 * rotation is due, at most one key in a call. The first keys for ID tokens are created when the key set is published. It
 * withdraws keys whose tokens have all expired, and records the algorithm that signs for the server. Every node calls it
 * repeatedly, and the store lets one node create the key. A node whose clock differs changes nothing (threats.md STO-13).
 */
export async function keepKeys(node: Context): Promise<KeptKeys> {
  const { store, clockCheck } = node
  const [keys, demand] = await Promise.all([store.listKeys(), findDemand(node)])
  const deletionTime = clockCheck.deletionTime()
  if (deletionTime === undefined) return { made: undefined, withdrawn: [] }
  const context = { ...node, clock: clockCheck.now }
  const now = context.clock()
  const isServing = chooseStartedKey(keys, demand.own, now) !== undefined
  if (isServing && demand.before !== demand.own) await store.noteServerAlgorithm(demand.own)
  const made = keys.length < KEY_LIMIT ? await makeDueKey(context, keys, demand, now) : undefined
  const withdrawn: KeyId[] = []
  for (const key of keys) {
    const replacement =
      key.activeFrom > deletionTime ? undefined : findEndedBy(context, key, keys, demand, deletionTime)
    if (replacement === undefined) continue
    if ((await store.removeKey({ id: key.id, replacement: replacement.id })) === 'removed') withdrawn.push(key.id)
  }
  return { made, withdrawn }
}

/**
 * Creates the first key for access tokens of an algorithm, unless it exists. The key is published at once, and signs when all
 * verifiers that honour the cache time know it. Until then the key of the server's algorithm signs.
 */
export async function introduceAlgorithm(
  context: Context,
  algorithm: SigningAlgorithm,
): Promise<KeyRecord | undefined> {
  const keys = await context.store.listKeys()
  const line = { purpose: 'access', algorithm } as const
  const isNeeded = algorithm !== context.settings.signingAlgorithm && lineOf(keys, line).length === 0
  if (!isNeeded || keys.length >= KEY_LIMIT) return undefined
  return addFirstKey(context, line, INTRODUCTION_MS)
}

/** Lists all published keys, oldest first, each with its current state. */
export async function listKeys(context: Context): Promise<readonly (KeyRecord & { readonly state: KeyState })[]> {
  const [keys, demand] = await Promise.all([context.store.listKeys(), findDemand(context)])
  const now = context.clock()
  return keys.map((key) => ({ ...key, state: keyState(key, keys, demand, now) }))
}

/** The key that an administrator asks for. */
interface RotationOptions {
  readonly when: 'published' | 'now'
  readonly purpose: KeyPurpose
  /** undefined: the algorithm of the server for access tokens, and RS256 for ID tokens. */
  readonly algorithm: SigningAlgorithm | undefined
}

/**
 * Creates the next key of an algorithm. With `published` the key signs after all
 * verifiers have fetched it, with `now` as soon as every node knows it.
 *
 * @throws AdminError when the algorithm signs nothing, there is no first key for ID tokens, the next key exists already, there are too
 *   many keys, the clock is behind the time of the last key, or another key was created at the same time
 */
export async function rotateKeys(
  context: Context,
  { when, purpose, algorithm: asked }: RotationOptions,
): Promise<KeyRecord> {
  const [keys, demand] = await Promise.all([context.store.listKeys(), findDemand(context)])
  const algorithm = asked ?? (purpose === 'id' ? DEFAULT_ID_TOKEN_ALGORITHM : demand.own)
  if (purpose === 'access' && algorithm !== demand.own && !demand.declared.has(algorithm)) {
    throw conflict(
      `No tokens are signed with ${algorithm}: it is not the algorithm of the server, and no API asks for it.`,
    )
  }
  const now = context.clock()
  const line = { purpose, algorithm }
  if (purpose === 'id' && lineOf(keys, line).length === 0) {
    throw conflict(
      `No key signs ID tokens with ${algorithm} yet. A server creates the first one when its key set is requested, and that of EdDSA when a client that you created or verified chooses it.`,
    )
  }
  const next = lineOf(keys, line).find((key) => keyState(key, keys, demand, now) === 'next')
  if (when === 'published' && next !== undefined) {
    throw conflict(
      `The key ${next.id} is already published, and signs from ${new Date(next.activeFrom).toISOString()} on.`,
    )
  }
  if (keys.length >= KEY_LIMIT) {
    throw conflict(`There are ${KEY_LIMIT} keys, which is the maximum. Withdraw one: grantor key retire <key>`)
  }
  const last = lineOf(keys, line).at(-1)
  if (last !== undefined && last.createdAt > now) {
    throw conflict(
      `The key ${last.id} was created at ${new Date(last.createdAt).toISOString()}, and the clock of this machine is at ${new Date(now).toISOString()}. Correct the clock, or try again after that time.`,
    )
  }
  const made = await addKey(context, keys, line, when === 'now' ? SPREAD_MS : PUBLICATION_MS)
  if (made === undefined) {
    throw conflict('Another key was created at the same time. See "grantor key list".')
  }
  return made
}

/**
 * Withdraws a key at once, for example a key that leaked. Every token that it signed becomes invalid.
 *
 * @throws AdminError when there is no such key, or the key signs
 */
export async function retireKey(context: Context, text: string): Promise<KeyId> {
  const { store, clock } = context
  const [keys, demand] = await Promise.all([store.listKeys(), findDemand(context)])
  const key = keys.find(({ id }) => id === text)
  if (key === undefined) throw unknownKey(text)
  const now = clock()
  const replacement =
    findReplacement(key, lineOf(keys, key), SPREAD_MS, now) ?? findSuccessor(key, keys, demand, SPREAD_MS, now)
  if (replacement === undefined) {
    throw conflict(
      keyState(key, keys, demand, now) === 'signing'
        ? `The key ${key.id} is the signing key. Replace it first: ${rotateNow(key, demand)}`
        : `Some node may still sign with the key ${key.id}. Try again in ${SPREAD_MS / 500} seconds at most.`,
    )
  }
  if ((await store.removeKey({ id: key.id, replacement: replacement.id })) === 'unknown') throw unknownKey(text)
  return key.id
}

async function findDemand({ settings, store }: Context): Promise<Demand> {
  const [apis, before] = await Promise.all([store.listApis(), store.findServerAlgorithm()])
  const declared = apis.flatMap(({ tokens }) => tokens.algorithm ?? [])
  return { own: settings.signingAlgorithm, before, declared: new Set(declared) }
}

async function makeDueKey(
  context: Context,
  keys: readonly KeyRecord[],
  demand: Demand,
  now: EpochMs,
): Promise<KeyRecord | undefined> {
  const { own, declared } = demand
  for (const algorithm of declared) {
    const made = await introduceAlgorithm(context, algorithm)
    if (made !== undefined) return made
  }
  const rotationMs = context.settings.keyRotation * 1000
  const forAccess = [own, ...declared].map((algorithm): Line => ({ purpose: 'access', algorithm }))
  const forIdTokens = keys.filter(({ purpose }) => purpose === 'id')
  const due = [...forAccess, ...forIdTokens].find((one) => {
    const line = lineOf(keys, one)
    const isOwn = one.purpose === 'access' && one.algorithm === own
    const serving = line.length === 0 && isOwn ? chooseServerKey(keys, demand, now) : undefined
    return isRotationDue(serving === undefined ? line : [serving], rotationMs, now)
  })
  return due === undefined ? undefined : addKey(context, keys, due, PUBLICATION_MS)
}

/** Returns the key that replaced this one so long ago that all tokens of this key have expired, or undefined. */
function findEndedBy(
  { settings: { keyRotation } }: Context,
  key: KeyRecord,
  keys: readonly KeyRecord[],
  demand: Demand,
  now: EpochMs,
): KeyRecord | undefined {
  const replacement = findReplacement(key, lineOf(keys, key), KEEPING_MS, now)
  if (replacement !== undefined || keyRotation === 0) return replacement
  // The time at which an API last used the algorithm is not recorded. When the rotation of this key was due, no API used it:
  // otherwise the key would have a successor.
  const isOver = now >= after(key.activeFrom, keyRotation * 1000 + KEEPING_MS)
  return isOver ? findSuccessor(key, keys, demand, KEEPING_MS, now) : undefined
}

/** Returns undefined when another node added a key first. */
async function addKey(
  context: Context,
  keys: readonly KeyRecord[],
  { purpose, algorithm }: Line,
  waitMs: number,
): Promise<KeyRecord | undefined> {
  const newest = lineOf(keys, { purpose, algorithm }).at(-1)
  if (newest === undefined) return addFirstKey(context, { purpose, algorithm }, waitMs)
  const now = context.clock()
  const key = await context.keys.create({ purpose, algorithm, createdAt: now, activeFrom: after(now, waitMs) })
  return (await context.store.addKey({ key, follows: newest.id })) === 'added' ? key : undefined
}

/** Returns undefined when another node added the first key. */
async function addFirstKey(
  { clock, keys, store }: Context,
  { purpose, algorithm }: Line,
  waitMs: number,
): Promise<KeyRecord | undefined> {
  const now = clock()
  const key = await keys.create({ purpose, algorithm, createdAt: now, activeFrom: after(now, waitMs) })
  return (await store.addFirstKey(key)).id === key.id ? key : undefined
}

function rotateNow({ purpose, algorithm }: Line, { own, declared }: Demand): string {
  if (purpose === 'id') return `grantor key rotate --now --purpose id --algorithm ${algorithm}`
  return `grantor key rotate --now${algorithm !== own && declared.has(algorithm) ? ` --algorithm ${algorithm}` : ''}`
}

function unknownKey(text: string): AdminError {
  return unknown(`There is no key ${text}. See "grantor key list".`)
}
