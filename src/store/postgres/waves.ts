import type { Operation, OperationName } from '../../ports/operations.ts'

/** An operation and its place in the batch. */
export interface Placed {
  readonly operation: Operation
  readonly index: number
  /** What it touches. */
  readonly keys: readonly string[]
}

/**
 * Operations that touch nothing in common, so that each kind can be one statement. They stand by kind, and then by what they
 * touch first: in one order on all nodes, so that none waits for another that waits for it.
 */
export type Wave = readonly Placed[]

/**
 * Cuts a batch into waves, as few as possible: two operations on one row in one statement would give one result, so the
 * later one comes in a later wave. `isShared` says of which kinds several may touch the same.
 */
export function cutIntoWaves(
  operations: readonly Operation[],
  keysOf: (operation: Operation) => readonly string[],
  isShared: (name: OperationName) => boolean,
): readonly Wave[] {
  const waves: Placed[][] = []
  const lastTouch = new Map<string, { readonly wave: number; readonly name: OperationName }>()
  for (const [index, operation] of operations.entries()) {
    const { name } = operation
    const keys = keysOf(operation)
    const wave = Math.max(
      ...keys.map((key) => {
        const last = lastTouch.get(key)
        if (last === undefined) return 0
        return last.name === name && isShared(name) ? last.wave : last.wave + 1
      }),
    )
    for (const key of keys) lastTouch.set(key, { wave, name })
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
