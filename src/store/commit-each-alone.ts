import type { OperationResult } from '../ports/store.ts'
import type { Operation } from '../ports/operations/index.ts'

/**
 * Commits each operation of a failed batch in its own transaction, so that the one that caused the failure does not affect
 * the others.
 */
export async function commitEachAlone(
  operations: readonly Operation[],
  commit: (operations: readonly Operation[]) => Promise<readonly OperationResult[]>,
): Promise<readonly OperationResult[]> {
  const results: OperationResult[] = []
  for (const [index, operation] of operations.entries()) {
    try {
      results.push(...(await commit([operation])))
    } catch (cause) {
      // Earlier operations are committed. The remaining ones fail now, because each of them would wait for the same timeout.
      return [...results, ...failAll(operations.slice(index), cause)]
    }
  }
  return results
}

export function failAll(operations: readonly Operation[], cause: unknown): readonly OperationResult[] {
  return operations.map(() => ({ kind: 'failed', cause }))
}
