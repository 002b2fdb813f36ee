import type { Operation, OperationName } from '../../ports/operations/index.ts'

/** An operation and its position in the batch. */
export interface Placed {
  readonly operation: Operation
  readonly index: number
  /** The keys of what the operation touches. */
  readonly keys: readonly string[]
}

/**
 * Operations without a common key, so that each kind can be one statement. They are sorted by kind and then by their first
 * key: in the same order on all nodes, so that two nodes never wait for each other's locks.
 */
export type Wave = readonly Placed[]

/**
 * Cuts a batch into as few waves as possible. Two operations on one row cannot be in one statement, which would give them
 * one result, so the later operation goes into a later wave. `isShared` says for which kinds several operations may have a
 * common key, and `sharedKeysOf` which further keys those of one kind may have in common. `isAlone` says which kinds have a wave of
 * their own, between the earlier and the later operations.
 */
export function cutIntoWaves(
  operations: readonly Operation[],
  keysOf: (operation: Operation) => readonly string[],
  isShared: (name: OperationName) => boolean,
  isAlone: (name: OperationName) => boolean,
  sharedKeysOf: (operation: Operation) => readonly string[],
): readonly Wave[] {
  const waves: Placed[][] = []
  let firstWave = 0
  const lastTouch = new Map<string, { readonly wave: number; readonly name: OperationName }>()
  const earliestWave = (key: string, name: OperationName, mayShare: boolean): number => {
    const last = lastTouch.get(key)
    if (last === undefined) return 0
    return last.name === name && mayShare ? last.wave : last.wave + 1
  }
  for (const [index, operation] of operations.entries()) {
    const { name } = operation
    const keys = keysOf(operation)
    if (isAlone(name)) {
      waves.push([{ operation, index, keys }])
      firstWave = waves.length
      continue
    }
    const sharedKeys = sharedKeysOf(operation)
    const wave = Math.max(
      firstWave,
      ...keys.map((key) => earliestWave(key, name, isShared(name))),
      ...sharedKeys.map((key) => earliestWave(key, name, true)),
    )
    for (const key of keys) lastTouch.set(key, { wave, name })
    for (const key of sharedKeys) lastTouch.set(key, { wave, name })
    ;(waves[wave] ??= []).push({ operation, index, keys })
  }
  return waves.map((wave) => wave.toSorted(byKindAndKey))
}

function byKindAndKey(one: Placed, other: Placed): number {
  return compare(one.operation.name, other.operation.name) || compare(one.keys[0] ?? '', other.keys[0] ?? '')
}

function compare(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}
