import type { Operation, OperationName } from '../../ports/store.ts'

/** An operation and its place in the batch. */
export interface Placed {
  readonly operation: Operation
  readonly index: number
  /** What it touches. */
  readonly keys: readonly string[]
}

/** Operations that touch nothing in common, by kind: each kind is one statement, and their order does not matter. */
export type Wave = ReadonlyMap<OperationName, readonly Placed[]>

/**
 * Cuts a batch into waves, as few as possible: two operations on one row in one statement would give one result, so the
 * later one comes in a later wave. `isShared` says of which kinds several may touch the same.
 */
export function cutIntoWaves(
  operations: readonly Operation[],
  keysOf: (operation: Operation) => readonly string[],
  isShared: (name: OperationName) => boolean,
): readonly Wave[] {
  const waves: Map<OperationName, Placed[]>[] = []
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
    const kinds = (waves[wave] ??= new Map())
    const placed = kinds.get(name)
    if (placed === undefined) kinds.set(name, [{ operation, index, keys }])
    else placed.push({ operation, index, keys })
  }
  // One order for all nodes, so that none waits for another that waits for it.
  for (const placed of waves.flatMap((kinds) => [...kinds.values()])) placed.sort(byFirstKey)
  return waves
}

function byFirstKey({ keys: [one = ''] }: Placed, { keys: [other = ''] }: Placed): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}
