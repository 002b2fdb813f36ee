/**
 * How far a store has got, as a node remembers it outside of the store. A store that was restored by other means than `grantor restore`
 * is behind the memory: it lacks the newest link of the audit that the node has seen, or the newest era
 *.
 */
export interface StoreMemory {
  /** The ids of the eras of the store, oldest first. A new one begins when a restore is complete, or the operator answers for one. */
  readonly eras: readonly string[]
  /** The newest link of the audit that the node has seen in the store. undefined: there was none. */
  readonly link: SeenLink | undefined
  /** The node remembered nothing when it made this: the store may have gone back before. */
  readonly isUnconfirmed: boolean
  /**
   * The issuer as which the node began the first era of the store, which it has known since. undefined: the store may be a copy of another
   * one, because it was restored or imported, or was in use before.
   */
  readonly begunAs: string | undefined
}

export interface SeenLink {
  readonly id: string
  readonly hash: string
}

/** What a store has of what a node remembers. */
export interface StorePlace {
  /** As in `StoreMemory`; empty: no server of this release has used the store. */
  readonly eras: readonly string[]
  /** Whether a node noticed in the newest era that the store went back. An answer begins the next era. */
  readonly isMarked: boolean
  /** The hash of the link with the remembered id. undefined: the store has no such link, or none was asked for. */
  readonly hash: string | undefined
  /** Whether the store has an older link, or another one of the same millisecond. Sweeps remove the oldest first, so the remembered one was then not swept. */
  readonly hasOlder: boolean
}

/** Of a database without tables. */
export const NO_PLACE: StorePlace = { eras: [], isMarked: false, hash: undefined, hasOlder: false }

/** `unknown`: the memory says nothing about this store, because it is another one, or because the operator has answered since. */
export type Comparison = 'known' | 'unknown' | 'back'

/** Compares a store that is in use with what a node remembers. */
export function compareWithMemory({ eras, link }: StoreMemory, place: StorePlace): Comparison {
  if (place.isMarked) return 'back'
  const [first] = place.eras
  const newest = place.eras.at(-1)
  // A copy from before the release that began the first era.
  if (first === undefined || newest === undefined) return 'back'
  if (first !== eras[0] || !eras.includes(newest)) return 'unknown'
  if (newest !== eras.at(-1)) return 'back'
  if (link === undefined || place.hash === link.hash) return 'known'
  return place.hash !== undefined || place.hasOlder ? 'back' : 'unknown'
}

/** What a node remembers, and whether the store lacks some of it. */
export interface StoreKnowledge {
  readonly memory: StoreMemory
  readonly isBack: boolean
}

/** A store as a node sees it. */
export interface StoreSeen {
  readonly place: StorePlace
  /** The newest link that this process committed, read before the place. */
  readonly head: SeenLink | undefined
  /** The newest link of the store; needed only where `needsNewest`. */
  readonly newest: SeenLink | undefined
}

/**
 * What a node does after a comparison, in this order. `went-back`, `answered`: the store went back, or its operator has answered. `mark`: every
 * other process serves nothing either. `save`: the memory is written now; `save-later`: it is written at the usual interval.
 */
export type StoreStep = 'went-back' | 'answered' | 'save' | 'mark' | 'save-later'

/** Whether what is remembered next includes the newest link of the store. */
export function needsNewest({ memory }: StoreKnowledge, { place, head }: Omit<StoreSeen, 'newest'>): boolean {
  const comparison = compareWithMemory(memory, place)
  return comparison === 'unknown' || (comparison === 'known' && head === undefined && memory.link === undefined)
}

/**
 * What a node knows after it has compared, and what it does. The memory is never ahead of what the store has on disk: a link is remembered
 * after its commit, and replaces the one before only when the store still had that one.
 */
export function compareStore(
  { memory, isBack }: StoreKnowledge,
  { place, head, newest }: StoreSeen,
): { readonly known: StoreKnowledge; readonly steps: readonly StoreStep[] } {
  const comparison = compareWithMemory(memory, place)
  // Saved at once, because until the operator has answered it holds after a restart too.
  if (comparison === 'back')
    return { known: { memory, isBack: true }, steps: isBack ? ['mark'] : ['went-back', 'save', 'mark'] }
  const { eras } = place
  const isAnswered = isBack || (eras[0] === memory.eras[0] && eras.at(-1) !== memory.eras.at(-1))
  const next: StoreMemory =
    comparison === 'unknown'
      ? { eras, link: newest, isUnconfirmed: !isAnswered, begunAs: undefined }
      : { ...memory, eras, link: head ?? memory.link ?? newest }
  return { known: { memory: next, isBack: false }, steps: isBack ? ['answered', 'save-later'] : ['save-later'] }
}
