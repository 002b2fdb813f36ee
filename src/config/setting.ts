import type * as z from 'zod'

/** A row of the table of settings. */
export interface Row<Place extends string | undefined = string | undefined, Schema extends z.ZodType = z.ZodType> {
  /** Where the value is in the Config: `port`, or `branding.name`. undefined: the Config is computed from it. */
  readonly place: Place
  readonly schema: Schema
  /** Whether the value is a secret. Such a setting can also be read from a file, which `<NAME>_FILE` names. */
  readonly isSecret: boolean
}

type Rows = Readonly<Record<string, Row>>

/** A setting whose value is a member of the Config. `place`: the path of the member. */
export function setting<const Place extends string, Schema extends z.ZodType>(
  place: Place,
  schema: Schema,
  description: string,
): Row<Place, Schema> {
  return { place, schema: schema.describe(description), isSecret: false }
}

/** A setting from which the Config is computed, because other settings or the terminal matter too. */
export function computed<Schema extends z.ZodType>(schema: Schema, description: string): Row<undefined, Schema> {
  return { place: undefined, schema: schema.describe(description), isSecret: false }
}

/** A setting whose value is a secret. */
export function secret<Place extends string | undefined, Schema extends z.ZodType>(
  row: Row<Place, Schema>,
): Row<Place, Schema> {
  return { ...row, isSecret: true }
}

type Schemas<Table extends Rows> = { readonly [Name in keyof Table]: Table[Name]['schema'] }

export function schemasOf<Table extends Rows>(table: Table): Schemas<Table> {
  return Object.fromEntries(Object.entries(table).map(([name, { schema }]) => [name, schema])) as Schemas<Table>
}

/** `Nested<'branding.name', string>` is `{ branding: { name: string } }`. */
type Nested<Path extends string, Value> = Path extends `${infer Head}.${infer Rest}`
  ? { readonly [Name in Head]: Nested<Rest, Value> }
  : { readonly [Name in Path]: Value }

type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (one: infer All) => void
  ? All
  : never

/** The object that has the value of each row at its place. */
export type Placed<Table extends Rows> = Intersection<
  {
    [Name in keyof Table]: Table[Name] extends Row<infer Path extends string, infer Schema>
      ? Nested<Path, z.output<Schema>>
      : never
  }[keyof Table]
>

/** Copies each value to the place that its row names. */
export function placeValues<Table extends Rows>(
  table: Table,
  values: Readonly<Record<string, unknown>>,
): Placed<Table> {
  const placed: Record<string, unknown> = {}
  for (const [name, { place: path }] of Object.entries(table)) if (path !== undefined) put(placed, path, values[name])
  return placed as Placed<Table>
}

function put(target: Record<string, unknown>, path: string, value: unknown): void {
  const [head = '', ...rest] = path.split('.')
  if (rest.length === 0) target[head] = value
  else put((target[head] ??= {}) as Record<string, unknown>, rest.join('.'), value)
}
