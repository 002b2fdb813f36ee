import type * as z from 'zod'

/** A member of a record in answers: its schema, and where the record has its value. Without a place the caller gives the value. */
interface Row<Source> {
  readonly schema: z.ZodType
  readonly value?: (source: Source) => unknown
}
type Rows<Source> = Readonly<Record<string, Row<Source>>>
type ValueOf<One extends Pick<Row<never>, 'schema'>> = z.output<One['schema']>
/** The members whose values the caller gives. */
type Given<Table extends Rows<never>> = {
  readonly [Name in keyof Table as Table[Name] extends Required<Row<never>> ? never : Name]: ValueOf<Table[Name]>
}
/** Lists of records are readonly. */
type Kept<Value> = Value extends readonly (infer Item)[] ? readonly Item[] : Readonly<Value>

/** The members of a record that answers show, in their order. */
export interface AnswerTable<Source, Table extends Rows<Source>> {
  readonly shape: { readonly [Name in keyof Table]: Table[Name]['schema'] }
  readonly show: (
    source: Source,
    ...given: keyof Given<Table> extends never ? [] : [Given<Table>]
  ) => { [Name in keyof Table]: ValueOf<Table[Name]> }
  /** The table of these members alone. */
  readonly pick: <Name extends keyof Table & string>(
    ...names: readonly Name[]
  ) => AnswerTable<Source, Pick<Table, Name>>
}

interface TableMaker<Source> {
  readonly row: <Schema extends z.ZodType>(
    schema: Schema,
    value: (source: Source) => Kept<z.output<Schema>>,
  ) => { readonly schema: Schema; readonly value: (source: Source) => unknown }
  readonly given: <Schema extends z.ZodType>(schema: Schema) => { readonly schema: Schema }
  readonly table: <Table extends Rows<Source>>(rows: Table) => AnswerTable<Source, Table>
}

/**
 * What makes the table of a kind of record: a member is one row, from which answers, their schema and the export of an account follow.
 * `row`: a member that the record has. `given`: one that the caller computes.
 */
export function tableOf<Source>(): TableMaker<Source> {
  return { row: (schema, value) => ({ schema, value }), given: (schema) => ({ schema }), table }
}

function table<Source, Table extends Rows<Source>>(rows: Table): AnswerTable<Source, Table> {
  const all = Object.entries(rows)
  const made = {
    shape: Object.fromEntries(all.map(([name, { schema }]) => [name, schema])),
    show: (source: Source, given?: Readonly<Record<string, unknown>>) =>
      Object.fromEntries(all.map(([name, { value }]) => [name, value === undefined ? given?.[name] : value(source)])),
    pick: (...names: readonly string[]) =>
      table<Source, Rows<Source>>(Object.fromEntries(all.filter(([name]) => names.includes(name)))),
  }
  return made as unknown as AnswerTable<Source, Table>
}
