import type { OperationResult } from '../ports/store.ts'
import type { Operation } from '../ports/operations.ts'

/** One operation of a batch was at fault and nothing was committed: each by itself, so that it spoils none of the others. */
export async function commitEachAlone(
  operations: readonly Operation[],
  commit: (operations: readonly Operation[]) => Promise<readonly OperationResult[]>,
): Promise<readonly OperationResult[]> {
  const results: OperationResult[] = []
  for (const [index, operation] of operations.entries()) {
    try {
      results.push(...(await commit([operation])))
    } catch (cause) {
      // What is committed is done; the others are told now, because each would wait as long again.
      return [...results, ...failAll(operations.slice(index), cause)]
    }
  }
  return results
}

export function failAll(operations: readonly Operation[], cause: unknown): readonly OperationResult[] {
  return operations.map(() => ({ kind: 'failed', cause }))
}
