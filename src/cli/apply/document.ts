import { closeSync, openSync, readSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Document, Node, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml'
import * as z from 'zod'
import { issuesMeant, sentenceFor } from '../../admin/run-task.ts'
import { APPLIED_RECORD_LIMIT, SET_NAME } from '../../admin/apply.ts'
import { readSecretFile } from '../../config/secret-files.ts'
import { visible } from '../lib/columns.ts'
import { UsageError } from '../lib/failure.ts'
import { requireTask, type Members } from '../lib/perform-task.ts'
import type { Terminal } from '../lib/terminal.ts'
import { KINDS, keyOf, keySchema, memberSchemas, SECRET, type Kind } from './kinds.ts'
import { MAXIMA } from '../../base/maxima.ts'

/** A record of a file. */
export interface FileRecord {
  readonly kind: Kind
  readonly key: string
  /** As the file has them, without the key and the secret. */
  readonly members: Members
  readonly hasSecret: boolean
  /** undefined: it has none, or secrets were not read. */
  readonly secret: string | undefined
}

/** `named`: only the places of secrets were read. */
export type SecretReading = 'read' | 'named'

/** What files describe together. */
export interface AppliedFiles {
  readonly set: string
  readonly secrets: SecretReading
  /** In the order in which they are applied. */
  readonly records: readonly FileRecord[]
}

interface ReadFile {
  readonly content: unknown
  /** The line of a member. */
  readonly lineOf: (place: readonly PropertyKey[]) => number
}

const BYTES_LIMIT = MAXIMA.appliedFile.most
/** Levels of a file; `step_up` of a scope is on the sixth. */
const DEPTH_LIMIT = 12

const VARIABLE = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'This is not the name of a variable.' })
const SECRET_REFERENCE = z
  .union([z.strictObject({ env: VARIABLE }), z.strictObject({ file: z.string().min(1) })], {
    error: 'A secret is not in the file: give { env: NAME } or { file: PATH }.',
  })
  .describe('Where the secret is: a variable of the environment, or a file, relative to this one.')
type SecretReference = z.output<typeof SECRET_REFERENCE>

const DOMAINS = z.array(
  z.union([
    keySchema(kindOf('domain')),
    z.strictObject({ pattern: keySchema(kindOf('domain')), ...memberSchemas(kindOf('domain')) }),
  ]),
)

/** The schema of a file, made from the schemas of the tasks. */
export const FILE = z.strictObject({
  version: z.literal(1),
  set: SET_NAME.describe('The name under which the records of the file belong together.'),
  ...Object.fromEntries(KINDS.map((kind) => [kind.list, listSchema(kind).optional()])),
})

function kindOf(name: Kind['name']): Kind {
  const kind = KINDS.find((one) => one.name === name)
  if (kind === undefined) throw new Error(`There is no kind ${name}.`)
  return kind
}

function listSchema(kind: Kind): z.ZodType {
  if (kind.name === 'domain') return z.strictObject({ trusted: DOMAINS.optional(), blocked: DOMAINS.optional() })
  const { secret, key } = kind
  const reference = secret?.isForNew === true ? SECRET_REFERENCE : SECRET_REFERENCE.optional()
  return z.array(
    z.strictObject({
      [key]: keySchema(kind),
      ...memberSchemas(kind),
      ...(secret !== undefined && { [SECRET]: reference }),
    }),
  )
}

/** Reads files that describe one set. @throws UsageError with every mistake, none of which repeats a secret */
export async function readFiles(
  paths: readonly string[],
  terminal: Pick<Terminal, 'variable'>,
  secrets: SecretReading,
): Promise<AppliedFiles> {
  const files = await Promise.all(paths.map(async (path) => ({ path, ...(await readFile(path)) })))
  const mistakes: string[] = []
  const records: FileRecord[] = []
  const places = new Map<string, string>()
  const sets = new Set<string>()
  for (const { path, content, lineOf } of files) {
    const at = (place: readonly PropertyKey[]): string =>
      `${path}:${lineOf(place)}: ${place.map(String).join('.') || 'the file'}`
    const parsed = FILE.safeParse(content, { reportInput: true })
    if (!parsed.success) {
      mistakes.push(...firstOfEach(parsed.error.issues).flatMap((issue) => mistakesOf(issue, at)))
      continue
    }
    sets.add(parsed.data.set)
    for (const { kind, record, place } of entriesOf(parsed.data, content as Members)) {
      const { [kind.key]: text, [SECRET]: reference, ...members } = record
      const key = keyOf(kind, String(text))
      const refused = kind.faultOf?.(key, members)
      if (refused !== undefined) mistakes.push(`${at(place)}: "${key}" ${refused}.`)
      const id = `${kind.name} ${key}`
      const other = places.get(id)
      if (other !== undefined) mistakes.push(`${at(place)}: the ${id} is described already, in ${other}.`)
      places.set(id, `${path}:${lineOf(place)}`)
      const hasSecret = reference !== undefined
      const secret =
        hasSecret && secrets === 'read' ? readSecret(path, reference as SecretReference, terminal) : undefined
      const fault = secret === undefined ? undefined : (secret.fault ?? checkSecret(kind, secret.value))
      if (fault !== undefined) mistakes.push(`${at([...place, SECRET])}: ${fault}`)
      records.push({ kind, key, members, hasSecret, secret: secret?.value })
    }
  }
  const [set = ''] = sets
  if (sets.size > 1)
    mistakes.push(`The files name the sets ${[...sets].join(', ')}. Files that are applied together have one set.`)
  if (records.length > APPLIED_RECORD_LIMIT)
    mistakes.push(
      `There are ${records.length} records. A set has at most ${APPLIED_RECORD_LIMIT.toLocaleString('en')}.`,
    )
  if (mistakes.length > 0) throw new UsageError(mistakes.map(visible).join('\n'))
  const order = (record: FileRecord): number => KINDS.indexOf(record.kind)
  return { set, secrets, records: records.toSorted((one, other) => order(one) - order(other)) }
}

/** The records of a file. A schema turns the id of a client into that of its record, so a key is taken as it is written. */
function entriesOf(
  file: Members,
  written: Members,
): readonly { readonly kind: Kind; readonly record: Members; readonly place: readonly PropertyKey[] }[] {
  return KINDS.flatMap((kind) => {
    if (kind.name === 'domain') {
      return (['trusted', 'blocked'] as const).flatMap((verdict) => {
        const patterns = (file[kind.list] as Readonly<Record<string, readonly unknown[]>> | undefined)?.[verdict] ?? []
        return patterns.map((one, index) => {
          const record = typeof one === 'string' ? { pattern: one } : (one as Members)
          return { kind, record: { ...record, verdict }, place: [kind.list, verdict, index] }
        })
      })
    }
    const rows = (file[kind.list] ?? []) as readonly Members[]
    const texts = (written[kind.list] ?? []) as readonly Members[]
    return rows.map((row, index) => {
      const record = { ...row, [kind.key]: texts[index]?.[kind.key] }
      return { kind, record, place: [kind.list, index] }
    })
  })
}

async function readFile(path: string): Promise<ReadFile> {
  const text = readText(path)
  // The package is loaded here, because no other command reads YAML.
  const { isAlias, isNode, LineCounter, parseAllDocuments, visit } = await import('yaml')
  try {
    const lineCounter = new LineCounter()
    const rules = { version: '1.2', schema: 'core', uniqueKeys: true, strict: true, lineCounter } as const
    const documents = parseAllDocuments(text, rules)
    const [document] = documents as readonly Document.Parsed[]
    if (document === undefined || documents.length !== 1) throw new UsageError(`${path}: the file is not one document.`)
    const [fault] = [...document.errors, ...document.warnings]
    if (fault?.message.startsWith('Maximum call stack') === true) throw tooDeep(path)
    if (fault !== undefined) throw new UsageError(`${path}: ${faultOf(fault)}`)
    if (document.directives.yaml.explicit === true) throw new UsageError(`${path}: directives are not allowed.`)
    visit(document, {
      Node(_, node, above) {
        if (isAlias(node) || (isNode(node) && 'anchor' in node && node.anchor !== undefined))
          throw new UsageError(`${path}: aliases are not allowed.`)
        if (isNode(node) && node.tag !== undefined) throw new UsageError(`${path}: tags are not allowed.`)
        if (above.length > DEPTH_LIMIT * 2) throw tooDeep(path)
      },
    })
    const { contents } = document
    return {
      content: document.toJS({ maxAliasCount: 0 }),
      lineOf: (place) => lineCounter.linePos(offsetOf(contents, place)).line,
    }
  } catch (cause) {
    if (cause instanceof RangeError) throw tooDeep(path)
    throw cause
  }
}

/** What the parser says, without what is written there: a secret that begins with `!` or `|` is a tag or a header to it. */
function faultOf({ code, message }: Document.Parsed['errors'][number]): string {
  const [, said = '', place = ''] = /^(.*?)( at line \d+, column \d+:?)?$/m.exec(message) ?? []
  if (code === 'TAG_RESOLVE_FAILED') return `tags are not allowed${place}`
  if (code === 'BAD_DIRECTIVE') return `directives are not allowed${place}`
  return visible(`${code === 'UNEXPECTED_TOKEN' ? said.replace(/: .*$/, '') : said}${place}`)
}

function tooDeep(path: string): UsageError {
  return new UsageError(`${path}: the file is nested too deep.`)
}

function readText(path: string): string {
  const bytes = readAtMost(path, BYTES_LIMIT + 1)
  if (bytes.length > BYTES_LIMIT) throw new UsageError(`${path} has more than 1 MiB.`)
  return bytes.toString()
}

/** A pipe has no size before it ends, and may never end. */
function readAtMost(path: string, most: number): Buffer {
  let file: number | undefined
  try {
    file = openSync(path, 'r')
    const bytes = Buffer.allocUnsafe(most)
    let length = 0
    for (let count = -1; count !== 0 && length < most; length += count)
      count = readSync(file, bytes, { offset: length })
    return bytes.subarray(0, length)
  } catch (cause) {
    throw new UsageError(`${path} cannot be read: ${(cause as NodeJS.ErrnoException).code}`)
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** Where a member is in a file; what is absent is where it would be. */
function offsetOf(contents: unknown, place: readonly PropertyKey[]): number {
  let node = contents
  let offset = 0
  for (const step of place) {
    const items = (node as Partial<YAMLMap | YAMLSeq> | null)?.items ?? []
    const pair = (items as readonly Partial<Pair<Scalar>>[]).find(({ key }) => key?.value === step)
    const found = pair?.key ?? (items as readonly unknown[])[Number(step)]
    if (found === undefined) return offset
    offset = (found as Node).range?.[0] ?? offset
    node = pair === undefined ? found : pair.value
  }
  return offset
}

/** A value of another type also breaks the other rules of its place. */
function firstOfEach(issues: readonly z.core.$ZodIssue[]): readonly z.core.$ZodIssue[] {
  const places = new Set<string>()
  return issues.filter(({ code, path }) => {
    const place = JSON.stringify(path)
    const isFirst = code === 'unrecognized_keys' || !places.has(place)
    places.add(place)
    return isFirst
  })
}

/** A mistake names the place, and no value: what is written in the place of a reference may be a secret. */
function mistakesOf(issue: z.core.$ZodIssue, at: (place: readonly PropertyKey[]) => string): readonly string[] {
  const { path: place } = issue
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => `${at([...place, key])}: ${sentenceFor(issue) ?? 'There is no such field here.'}`)
  const meant = issue.code === 'invalid_union' ? issuesMeant(issue) : undefined
  if (meant !== undefined) return firstOfEach(meant).flatMap((one) => mistakesOf(one, at))
  if (issue.input === undefined) return [`${at(place)}: This field is required.`]
  return [`${at(place)}: ${issue.message}`]
}

function readSecret(
  path: string,
  reference: SecretReference,
  { variable }: Pick<Terminal, 'variable'>,
): { readonly value: string | undefined; readonly fault: string | undefined } {
  if ('env' in reference) {
    const value = variable(reference.env)
    const isMissing = value === undefined || value === ''
    return { value, fault: isMissing ? `the variable ${reference.env} is missing or empty.` : undefined }
  }
  const found = readSecretFile(resolve(dirname(path), reference.file))
  return 'mistake' in found
    ? { value: undefined, fault: `it names ${found.mistake}.` }
    : { value: found.secret, fault: undefined }
}

/** What the task says about the secret. */
function checkSecret({ secret }: Kind, value: string | undefined): string | undefined {
  if (secret === undefined || value === undefined) return undefined
  const schema = requireTask(secret.task).input.shape[SECRET] as z.ZodType
  return schema.safeParse(value).error?.issues[0]?.message
}
