import { COPIED_TABLES, SHARD_KEYS } from '../../src/store/postgres/distribution.ts'

/**
 * The rules "SQL that scales out" (docs/architecture.md) as functions over statements and schemas, so that tests can plant
 * faults.
 */

/** Tables that are not distributed: each machine has a copy, or only the coordinator has them. */
export const WHOLE_TABLES: readonly string[] = [...COPIED_TABLES, 'migration_progress', 'migration_lease']

const CHANGED_COPY = COPIED_TABLES.filter((table) => table !== 'migrations').join('|')

interface Rule {
  readonly fault: string
  readonly pattern: RegExp
}

const RULES: readonly Rule[] = [
  {
    fault: 'a sequence',
    pattern:
      /\b((big|small)?serial|nextval|currval|setval|identity|autoincrement)\b|\b(create|alter|drop)\s+(\w+\s+)?sequence\b/,
  },
  { fault: 'a trigger', pattern: /\btrigger\b/ },
  { fault: 'a procedure or function', pattern: /\b(procedure|function|language)\b|^\s*(do|call)\b/ },
  { fault: 'a foreign key', pattern: /\b(references|foreign\s+key)\b/ },
  { fault: 'an advisory lock', pattern: /\badvisory|\bpg_(try_)?advisory/ },
  { fault: 'LISTEN or NOTIFY', pattern: /^\s*(un)?(listen|notify)\b|\bpg_notify\b/ },
  { fault: 'a row or table lock', pattern: /\bfor\s+(no\s+key\s+)?update\b|\bfor\s+(key\s+)?share\b|^\s*lock\b/ },
  { fault: 'SKIP LOCKED', pattern: /\bskip\s+locked\b/ },
  { fault: 'a savepoint', pattern: /\bsavepoint\b|\brollback\s+to\b/ },
  { fault: 'OFFSET', pattern: /\boffset\b/ },
  { fault: 'a subquery in ON CONFLICT', pattern: /\bon\s+conflict\b[^;]*\(\s*select\b/ },
  { fault: 'a lateral join', pattern: /\blateral\b/ },
  {
    fault: 'a change of a copied table that reads a table',
    pattern: new RegExp(
      `\\b(insert\\s+into|update|delete\\s+from)\\s+(${CHANGED_COPY})\\b[^;]*\\bselect\\b[^;]*\\bfrom\\s+\\w`,
    ),
  },
  {
    fault: 'rows that are found by arrays, without their shards',
    pattern: /^\s*(select|delete)\b(?=[^;]*\bunnest\()(?![^;]*\/\*citus [^*]*= any\(\$)(?![^;]*[.]\w+ = any\(\$)/,
  },
  // As JSON, SQLite reads lists of ids (src/store/shared/statement.ts). Of arrays, the operator is that of an index.
  {
    fault: 'JSON in the database',
    pattern: /->|#>|@>(?! string_to_array\()|\bjsonb?\b|\bjsonb?_(?!each\([^)]*replace\()/,
  },
  { fault: 'an id made by the database', pattern: /\b(gen_random_\w+|uuid\w*|random|randomblob)\b/ },
  {
    fault: "the database's clock",
    pattern:
      /\b(current_(time|date|timestamp)|local(time|timestamp)|(clock|statement|transaction)_timestamp|unixepoch|julianday|strftime)\b|\b(now|date|time|datetime|timeofday)\s*\(/,
  },
]

/** Returns the rules that a statement breaks. */
export function statementFaults(sql: string): readonly string[] {
  const text = withoutLiterals(sql)
  const broken = RULES.filter(({ pattern }) => pattern.test(text)).map(({ fault }) => fault)
  return countsHotRows(text) ? [...broken, 'a count over a hot table'] : broken
}

function countsHotRows(text: string): boolean {
  const counted = [...text.matchAll(/\bcount\s*\([^)]*\)[^()]*?\bfrom\s+(\w+)/g)].map(([, table]) => table ?? '')
  return counted.some((table) => table in SHARD_KEYS)
}

/** Returns the statement in lower case, without quoted text and comments. */
function withoutLiterals(sql: string): string {
  return sql
    .replaceAll(/--.*$/gm, ' ')
    .replaceAll(/'(?:[^']|'')*'/g, "''")
    .toLowerCase()
}

export function normalized(sql: string): string {
  return sql.replaceAll(/\s+/g, ' ').replace(/;$/, '').trim()
}

/** How one statement finds the rows of a table. */
export interface Access {
  readonly table: string
  /** The columns that an index compares with equality: `column = …`. */
  readonly keys: readonly string[]
  /** Reads the whole table, however large it is. Reading only the first rows of an index does not count. */
  readonly isWhole: boolean
}

/** Returns the tables that a statement does not access by equality on their shard key. */
export function keyFaults(accesses: readonly Access[]): readonly string[] {
  return accesses
    .filter(({ table, keys }) => table in SHARD_KEYS && !keys.includes(SHARD_KEYS[table] ?? ''))
    .map(({ table }) => `${table} is not reached by ${SHARD_KEYS[table] ?? ''}`)
}

export interface Schema {
  readonly columns: readonly {
    readonly table: string
    readonly name: string
    readonly type: string
    readonly made: boolean
  }[]
  /** Unique indexes, with their columns in order. */
  readonly uniques: readonly {
    readonly table: string
    readonly name: string
    readonly columns: readonly string[]
    readonly isPrimary: boolean
  }[]
  /** All other objects: `trigger notify_all`. */
  readonly objects: readonly string[]
}

/** Returns the rules that a schema breaks. */
export function schemaFaults({ columns, uniques, objects }: Schema): readonly string[] {
  const tables = [...new Set(columns.map(({ table }) => table))]
  const expected = [...Object.keys(SHARD_KEYS), ...WHOLE_TABLES]
  return [
    ...tables.filter((table) => !expected.includes(table)).map((table) => `${table} has no shard key in this test`),
    ...columns
      .filter(({ type }) => type !== 'text' && type !== 'bigint')
      .map(({ table, name, type }) => `${table}.${name} is ${type}`),
    ...columns.filter(({ made }) => made).map(({ table, name }) => `${table}.${name} is made by the database`),
    ...tables
      .filter((table) => !uniques.some((unique) => unique.table === table && unique.isPrimary))
      .map((table) => `${table} has no primary key`),
    ...uniques.flatMap(({ table, name, columns: [first], isPrimary }) => {
      const key = SHARD_KEYS[table]
      if (key === undefined || first === key) return []
      return [`${isPrimary ? 'the primary key of' : name + ' on'} ${table} does not start with ${key}`]
    }),
    ...objects.map((object) => `there is ${object}`),
  ]
}
