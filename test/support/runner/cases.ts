/** The environment variable with which a test runs all cases of its tables: `npm run prove long-tests` sets it. */
export const ALL_CASES = 'TEST_ALL_CASES'

type Lists = readonly (readonly unknown[])[]
/** One value of each list. */
type Case<Of extends Lists> = { readonly [Index in keyof Of]: Of[Index][number] }

/**
 * Combines the values of lists. In `npm run prove long-tests` these are all combinations. In `npm test` any values of two lists meet in one of
 * them, or any of `together` lists: a fault depends on the values of a few lists, and all combinations of many lists take long.
 */
export function combine<const Of extends Lists>(lists: Of, together: 2 | 3 = 2): readonly Case<Of>[] {
  const all = combinations(lists)
  const chosen = process.env[ALL_CASES] === undefined ? cover(all, together) : all
  return chosen.map((indexes) => indexes.map((index, list) => lists[list]?.[index])) as never
}

/**
 * Whether a case of a table is run, by the indexes of its values: in `npm test` a third of the cases, spread so that each value meets a third of
 * the others. For rules of one place, which a fault breaks for many values at once.
 */
export function isChosen(...indexes: readonly number[]): boolean {
  return process.env[ALL_CASES] !== undefined || indexes.reduce((sum, index) => sum + index, 0) % 3 === 0
}

/** The indexes of the values of each combination. */
function combinations(lists: Lists): readonly (readonly number[])[] {
  return lists.reduce<readonly (readonly number[])[]>(
    (shorter, list) => shorter.flatMap((indexes) => list.map((_, index) => [...indexes, index])),
    [[]],
  )
}

/** As few as it finds: each time one in which most values meet that have not met yet. */
function cover(all: readonly (readonly number[])[], together: number): readonly (readonly number[])[] {
  const meetings = new Map(all.map((one) => [one, meetingsOf(one, together)]))
  const missing = new Set([...meetings.values()].flat())
  const chosen: (readonly number[])[] = []
  while (missing.size > 0) {
    let [best, most]: [readonly number[], number] = [[], 0]
    for (const [one, of] of meetings) {
      const count = of.filter((meeting) => missing.has(meeting)).length
      if (count > most) [best, most] = [one, count]
    }
    for (const meeting of meetings.get(best) ?? []) missing.delete(meeting)
    chosen.push(best)
  }
  return chosen
}

/** Names for the values of each `together` lists. */
function meetingsOf(indexes: readonly number[], together: number): readonly string[] {
  const names = (from: number, left: number): readonly string[] =>
    left === 0
      ? ['']
      : indexes.slice(from).flatMap((value, offset) => {
          const list = from + offset
          return names(list + 1, left - 1).map((rest) => `${list}=${value} ${rest}`)
        })
  return names(0, Math.min(together, indexes.length))
}
