import { SHARD_KEYS } from './distribution.ts'
import type { Parameter, Query, Statement } from './query.ts'

const CHANGE =
  /^(update (?<updated>\w+) set [^]+?|delete from (?<emptied>\w+))\s+where (?<condition>[^]+?)(?<returning>\s+returning [^]+)?$/
/** With more rows one statement on all shards is less work. */
const ROWS_ALONE = 20

/** A change that finds its rows by another column than the one that distributes them. */
interface Scattered {
  /** Finds the keys of the rows, with the parameters of these numbers. */
  readonly find: Statement
  readonly numbers: readonly number[]
  /** Changes the row of one key, the last parameter, if it still meets the condition. */
  readonly change: Statement
}

/**
 * For Citus: a change that finds its rows by the user is a read of all shards, and then a change of each row that was found. Citus locks
 * all shards for a change of several, so that those of different users wait for each other, and commits it on all machines.
 */
export function byKey(query: Query): Query {
  return Object.assign(
    async (statement: Statement, parameters: readonly Parameter[] = []) => {
      const scattered = knownScattered(statement)
      if (scattered === undefined) return query(statement, parameters)
      const { find, numbers, change } = scattered
      const found = await query(
        find,
        numbers.map((number) => parameters[number - 1] ?? null),
      )
      if (found.length > ROWS_ALONE) return query(statement, parameters)
      // In the same order in all transactions, so that no two wait for each other's rows.
      const keys = found.map((row) => row['key'] as string).toSorted()
      const changed = []
      for (const key of keys) changed.push(...(await query(change, [...parameters, key])))
      return changed
    },
    { isDistributed: query.isDistributed },
  )
}

/** Returns how a statement is divided; undefined if it finds its rows by their key, or changes nothing. */
function scatteredOf({ name, text }: Statement): Scattered | undefined {
  const { updated, emptied, condition = '', returning = '' } = CHANGE.exec(text)?.groups ?? {}
  const key = SHARD_KEYS[updated ?? emptied ?? '']
  if (key === undefined || new RegExp(`\\b${key} = `).test(condition)) return undefined
  const numbers = [...new Set([...condition.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)))]
  const numbered = condition.replaceAll(/\$(\d+)/g, (_, number: string) => `$${numbers.indexOf(Number(number)) + 1}`)
  const last = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)))
  const head = text.slice(0, text.length - condition.length - returning.length)
  return {
    find: { name: `${name}-keys`, text: `select ${key} as key from ${updated ?? emptied} where ${numbered}` },
    numbers,
    change: { name: `${name}-by-key`, text: `${head}(${condition}) and ${key} = $${last + 1}${returning}` },
  }
}

const known = new Map<string, Scattered | undefined>()

/** The same, worked out once for each statement that is prepared. */
function knownScattered(statement: Statement): Scattered | undefined {
  if (!known.has(statement.name)) known.set(statement.name, scatteredOf(statement))
  return known.get(statement.name)
}
