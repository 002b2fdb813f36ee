import { definedMembers, isObject } from '../../base/json.ts'
import { visible } from '../lib/columns.ts'
import type { Members, PerformTask } from '../lib/perform-task.ts'
import type { Paint } from '../lib/terminal.ts'
import type { AppliedSetDocument } from '../../admin/apply.ts'
import { means } from './compare.ts'
import { KINDS, memberSchemas, SECRET, type Kind } from './kinds.ts'
import { listAll, type Change, type Plan } from './plan.ts'

const SIGNS = { create: '+', update: '~', own: '=', delete: '-', forget: '=' } as const
const COLOURS = { create: 'green', update: 'yellow', own: 'dim', delete: 'red', forget: 'dim' } as const

/** Records that are named in a line. */
const LEFT_SHOWN = 10

/** The plan as text. No line has a secret. */
export function planLines(plan: Plan, paint: Paint): readonly string[] {
  const { set, changes, secrets, left, refusals } = plan
  const when = plan.reading === 'read' ? 'compared when applied' : 'not compared by a plan'
  const lines = [
    ...changes.flatMap((change) => changeLines(change, paint)),
    ...secrets.map(({ kind, key }) => `? ${kind.name} ${visible(key)}\n    ${SECRET}: ${when}`),
    ...leftLines(set, left),
  ]
  return changes.length + refusals.length > 0 ? lines : [...lines, `Nothing differs from the set ${set}.`]
}

/** Records that stay are named, up to some. */
function leftLines(set: string, left: Plan['left']): readonly string[] {
  if (left.length === 0) return []
  const named = left.slice(0, LEFT_SHOWN).map(({ kind, key }) => `${kind} ${visible(key)}`)
  const more = left.length > LEFT_SHOWN ? ` and ${left.length - LEFT_SHOWN} more` : ''
  const [what, stay] = left.length === 1 ? ['A record', 'stays'] : [`${left.length} records`, 'stay']
  return [`${what} of the set ${set} that no file names ${stay}: ${named.join(', ')}${more}. To delete: --prune`]
}

function changeLines({ change, kind, key, differences, notes }: Change, paint: Paint): readonly string[] {
  const why = { own: ' (belongs to the set from now on)', forget: ' (no longer belongs to the set)' } as const
  const reason = change === 'own' || change === 'forget' ? why[change] : ''
  return [
    `${paint(COLOURS[change], SIGNS[change])} ${kind.name} ${visible(key)}${reason}`,
    ...differences.map(({ member, before, after }) => `    ${member}: ${textOf(before)} → ${textOf(after)}`),
    ...notes.map((note) => `    ${visible(note)}`),
  ]
}

function textOf(value: unknown): string {
  return value === null ? '–' : visible(JSON.stringify(value))
}

/** The plan for programs. */
export function planDocument({ set, changes, secrets, reading, left, refusals }: Plan): object {
  const named = secrets.map(({ kind, key }) => ({ kind: kind.name, key }))
  const isRead = reading === 'read'
  return {
    set,
    changes: changes.map(changeDocument),
    compared_secrets: isRead ? named : [],
    uncompared_secrets: isRead ? [] : named,
    left,
    refusals,
  }
}

/** A change for programs. */
export function changeDocument({ change, kind, key, differences, notes }: Change): object {
  return { change, kind: kind.name, key, differences, notes }
}

/**
 * What is in the store, in the form of a file. Members that have their default are left out.
 *
 * `set`: only its records.
 */
export async function printStore(perform: PerformTask, set: string | undefined): Promise<Members> {
  const { sets } = await perform<{ readonly sets: readonly AppliedSetDocument[] }>('apply.list', {})
  const own = sets.find((one) => one.set === set)?.records ?? []
  const stored = await Promise.all(KINDS.map(async (kind) => ({ kind, rows: await listAll(kind, perform) })))
  const variables = new Set<string>()
  const lists = stored.map(({ kind, rows }): readonly [string, unknown] => {
    const kept = rows.filter(
      (row) => set === undefined || own.some((one) => one.kind === kind.name && one.key === row[kind.key]),
    )
    return [kind.list, kept.length === 0 ? undefined : listOf(kind, kept.toReversed(), variables)]
  })
  return definedMembers({ version: 1, set: set ?? 'default', ...Object.fromEntries(lists) })
}

/** `variables`: the names that secrets have, to which those of these rows are added. */
function listOf(kind: Kind, rows: readonly Members[], variables: Set<string>): unknown {
  if (kind.name !== 'domain') return rows.map((row) => recordOf(kind, row, variables))
  const of = (verdict: string): readonly unknown[] =>
    rows
      .filter((row) => row['verdict'] === verdict)
      .map(({ pattern, note }) => (note === null ? pattern : { pattern, note }))
  return { trusted: of('trusted'), blocked: of('blocked') }
}

function recordOf(kind: Kind, row: Members, variables: Set<string>): Members {
  const stored = kind.restored?.(row) ?? row
  const schemas = Object.entries(memberSchemas(kind))
  const given = schemas.filter(([name]) => stored[name] !== undefined && stored[name] !== null)
  const members = Object.fromEntries(given.map(([name]) => [name, stored[name]]))
  const kept = schemas.filter(([name, schema]) => {
    const { [name]: own, ...others } = members
    const usual = schema.safeParse(undefined)
    if (own === undefined || !usual.success) return own !== undefined
    return !means(
      own,
      kind.complete({ ...others, ...definedMembers({ [name]: usual.data }) }, String(stored[kind.key]))[name],
    )
  })
  const hasSecret = kind.secret !== undefined && stored['has_secret'] === true
  return {
    [kind.key]: stored[kind.key],
    ...Object.fromEntries(kept.map(([name]) => [name, withoutNull(members[name])])),
    ...(hasSecret && { [SECRET]: { env: variableOf(String(stored[kind.key]), variables) } }),
  }
}

/** The variable that has the secret: `BOARD_SECRET`. With one for two records, a record would get the secret of the other one. */
function variableOf(key: string, taken: Set<string>): string {
  const start = `_${key.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`.replace(/^_(?=[A-Z])/, '')
  let name = `${start}_SECRET`
  for (let count = 2; taken.has(name); count += 1) name = `${start}_${count}_SECRET`
  taken.add(name)
  return name
}

/** A member that is null is the same as one that is absent. */
function withoutNull(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNull)
  if (!isObject(value)) return value
  const members = Object.entries(value).filter(([, part]) => part !== null)
  return Object.fromEntries(members.map(([name, part]) => [name, withoutNull(part)]))
}
