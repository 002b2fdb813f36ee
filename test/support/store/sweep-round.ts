import { EXAMINED_TABLES } from '../../../src/ports/records/sweep-rounds.ts'
import { examineSlice } from '../../../src/server/background/sweep-rounds.ts'

/** Sweeps one round of each table that has rounds. Returns how many rows were removed. */
export async function sweepRound(context: Parameters<typeof examineSlice>[0]): Promise<number> {
  let removed = 0
  for (const table of EXAMINED_TABLES) {
    let after: string | undefined = ''
    do {
      const swept = await examineSlice(context, table, after)
      removed += swept?.removed ?? 0
      after = swept?.next
    } while (after !== undefined && after !== '')
  }
  return removed
}
