import { AdminError } from '../../admin/admin-error.ts'
import { APPLIED_RECORD_LIMIT, type AppliedRecord, type AppliedSetDocument } from '../../admin/apply.ts'
import { PAGE_LIMIT } from '../../admin/page.ts'
import { UsageError } from '../lib/failure.ts'
import { requireTask, type Members, type PerformTask } from '../lib/perform-task.ts'
import { compare, creationOf, type Call, type Difference } from './compare.ts'
import type { AppliedFiles, FileRecord, SecretReading } from './document.ts'
import { missingReferences, REFERENCES } from './references.ts'
import { consequencesOf, KINDS, memberSchemas, SECRET, type Kind } from './kinds.ts'
import { forShell } from '../../base/shell.ts'

/** What a run does about one record. */
export interface Change {
  /** `own`: the record is as the file has it, and belongs to the set from now on. `forget`: it no longer exists, or another set has it. */
  readonly change: 'create' | 'update' | 'own' | 'delete' | 'forget'
  readonly kind: Kind
  readonly key: string
  /** The record when the plan was made; undefined: there was none. */
  readonly row: Members | undefined
  readonly differences: readonly Difference[]
  readonly notes: readonly string[]
  /** The calls of tasks, each with the key of the record. */
  readonly calls: readonly Call[]
}

/** A secret that the server compares. */
export interface SecretCall {
  readonly kind: Kind
  readonly key: string
  readonly call: Call
}

/** What a run does. */
export interface Plan {
  readonly set: string
  /** The mark of the set when it was read; null: there is no such set. */
  readonly mark: string | null
  /** The records of the set. */
  readonly owned: readonly AppliedRecord[]
  readonly changes: readonly Change[]
  readonly secrets: readonly SecretCall[]
  /** `named`: no call has its secret, and the plan cannot be run. */
  readonly reading: SecretReading
  /** Records of the set that the files no longer name, and that stay because the run does not prune. */
  readonly left: readonly AppliedRecord[]
  /** Why the run cannot begin. */
  readonly refusals: readonly string[]
}

/** Records that are read at the same time. */
const PARALLEL = 16

/** Compares files with what is in the store. It changes nothing. */
export async function makePlan(
  { set, records, secrets: reading }: AppliedFiles,
  perform: PerformTask,
  { prune }: { readonly prune: boolean },
): Promise<Plan> {
  const { sets } = await perform<{ readonly sets: readonly AppliedSetDocument[] }>('apply.list', {})
  const current = sets.find((one) => one.set === set)
  const owned = current?.records ?? []
  const others = sets.filter((one) => one.set !== set)
  const find = await openReader(perform)
  const planned = await inTurns(records, async (record) => {
    const { kind, key } = record
    const row = await find(kind, key)
    return planRecord(record, row, belongsTo(owned, recordOf(kind, key, row)))
  })
  const left = owned.filter(({ kind, key }) => !records.some((one) => one.kind.name === kind && one.key === key))
  const stays = (kind: Kind, row: Members): boolean =>
    !prune || !belongsTo(left, recordOf(kind, String(row[kind.key]), row))
  // A reference that stays as it is calls no task.
  const changing = records.filter((_, index) => isReferring(planned[index]?.change))
  const missing = await missingReferences(changing, {
    described: records,
    before: (record) => planned[records.indexOf(record)]?.change?.row,
    async has(kind, key) {
      const row = await find(kind, key)
      return row !== undefined && stays(kind, row)
    },
    list: async (kind) => (await listAll(kind, perform)).filter((row) => stays(kind, row)),
  })
  const deletions = prune ? await inTurns(inReverse(left), (record) => planDeletion(record, others, find)) : []
  return {
    set,
    mark: current?.mark ?? null,
    owned,
    changes: [...planned.flatMap(({ change }) => change ?? []), ...deletions],
    secrets: planned.flatMap(({ secret }) => secret ?? []),
    reading,
    left: prune ? [] : left,
    refusals: [
      ...refuseTooMany(set, owned, records.length + left.length),
      ...others.flatMap((other) => refuseOwned(other, records)),
      ...planned.flatMap(({ refusal }) => refusal ?? []),
      ...missing,
    ],
  }
}

function isReferring(change: Change | undefined): boolean {
  return change?.change === 'create' || (change?.differences ?? []).some(({ member }) => REFERENCES.includes(member))
}

type Find = (kind: Kind, key: string) => Promise<Members | undefined>

/** Reads records one by one, except for a kind that has only a list. */
async function openReader(perform: PerformTask): Promise<Find> {
  const lists = new Map<Kind, Promise<readonly Members[]>>()
  return async (kind, key) => {
    const { showTask } = kind
    if (showTask === undefined) {
      const listed = lists.get(kind) ?? listAll(kind, perform)
      lists.set(kind, listed)
      return (await listed).find((row) => row[kind.key] === key)
    }
    try {
      return await perform<Members>(showTask, { [kind.key]: key })
    } catch (cause) {
      if (cause instanceof AdminError && cause.kind === 'unknown') return undefined
      throw cause
    }
  }
}

/** Reads all records of a kind. */
export async function listAll(kind: Kind, perform: PerformTask): Promise<readonly Members[]> {
  const rows: Members[] = []
  for (let before: unknown; ;) {
    const page = await perform<Members>(kind.listTask, { ...kind.listFilter, limit: PAGE_LIMIT.most, before })
    rows.push(...(page[kind.list] as readonly Members[]))
    before = page['next'] ?? undefined
    if (before === undefined) return rows.filter((row) => kind.isListed?.(row) !== false)
  }
}

interface Planned {
  readonly change?: Change
  readonly secret?: SecretCall
  readonly refusal?: string
}

function planRecord(record: FileRecord, row: Members | undefined, isOwned: boolean): Planned {
  const { kind, key, members, hasSecret, secret } = record
  if (row === undefined) return planCreation(record)
  const name = `The ${kind.name} ${key}`
  if (row[kind.key] !== key) return { refusal: `${name} is named ${String(row[kind.key])} in the store. Name it so.` }
  const why = kind.refusal?.(row)
  if (why !== undefined) return { refusal: `${name} cannot be described by a file: ${why}.` }
  const before = kind.restored?.(row) ?? row
  const after = kind.complete(members, key)
  const { differences, calls, fixed } = compare(kind, before, after, comparedNames(kind, after))
  if (fixed.length > 0) {
    return {
      refusal: `${name}: ${fixed.join(', ')} cannot be changed. To delete it, and create another one: grantor ${deletionOf(kind)} ${key}`,
    }
  }
  const changed = differences.map(({ member }) => member)
  const notes = changed.length === 0 ? [] : (kind.consequences?.(before, after, changed) ?? [])
  const plain = { kind, key, row, differences, notes, calls }
  const call = kind.secret === undefined || !hasSecret ? undefined : secretCall(kind.secret, secret)
  return {
    ...(changed.length > 0 && { change: { change: 'update', ...plain } }),
    ...(changed.length === 0 && !isOwned && { change: { change: 'own', ...plain } }),
    ...(call !== undefined && { secret: { kind, key, call } }),
  }
}

function planCreation({ kind, key, members, hasSecret, secret: value }: FileRecord): Planned {
  const { secret } = kind
  const creation = creationOf(kind, members)
  // The id of a record that exists may be one that this server made; that of a new one is chosen.
  const fault = requireTask(creation.task).input.shape[kind.key]?.safeParse(key).error?.issues[0]?.message
  if (fault !== undefined)
    return { refusal: `There is no ${kind.name} ${key}, and none can be created with this id. ${fault}` }
  const isGiven = secret !== undefined && hasSecret
  const isConfidential = kind.complete(members, key)['token_endpoint_auth_method'] !== 'none'
  const calls = [
    { ...creation, input: { ...creation.input, ...(isGiven && secret.isForNew && { [SECRET]: value }) } },
    // No one knows the secret that the task made, so that it need not stay valid.
    ...(isGiven && !secret.isForNew ? [{ task: secret.task, input: { [SECRET]: value, overlap_seconds: 0 } }] : []),
  ]
  const notes = [
    ...(kind.name === 'client' && !isGiven && isConfidential && !hasKeys(members)
      ? [`The file has no ${SECRET}. To get one: grantor client rotate-secret ${forShell(key)}`]
      : []),
    ...(kind.name === 'domain' ? (kind.consequences?.({}, members, []) ?? []) : []),
  ]
  return { change: { change: 'create', kind, key, row: undefined, differences: [], notes, calls } }
}

function hasKeys({ jwks, jwks_uri: uri }: Members): boolean {
  return jwks !== undefined || uri !== undefined
}

function secretCall(secret: NonNullable<Kind['secret']>, value: string | undefined): Call {
  return { task: secret.task, input: { [SECRET]: value } }
}

async function planDeletion(record: AppliedRecord, others: readonly AppliedSetDocument[], find: Find): Promise<Change> {
  const { key } = record
  const kind = KINDS.find(({ name }) => name === record.kind) as Kind
  const row = await find(kind, key)
  const isGone = row === undefined || !belongsTo([record], recordOf(kind, key, row))
  const isKept = isGone || ownedBy(others, kind, key) !== undefined
  const plain = { kind, key, row, differences: [] }
  if (isKept) return { change: 'forget', ...plain, notes: [], calls: [] }
  return {
    change: 'delete',
    ...plain,
    notes: consequencesOf(kind.deleteTask),
    calls: [{ task: kind.deleteTask, input: {} }],
  }
}

/** The members that are compared: those of the file, and those that only its template or its defaults have. */
function comparedNames(kind: Kind, after: Members): readonly string[] {
  const { unstored = [] } = kind
  const names = new Set([...Object.keys(memberSchemas(kind)), ...Object.keys(after)])
  return [...names].filter((name) => !unstored.includes(name))
}

function deletionOf({ deleteTask }: Kind): string {
  return deleteTask.replace('organization.', 'org.').replace('.', ' ')
}

function ownedBy(others: readonly AppliedSetDocument[], kind: Kind, key: string): string | undefined {
  return others.find(({ records }) => isIn(records, kind, key))?.set
}

/** A record joins the set when it was created, and leaves it when it was deleted, which comes last. */
function refuseTooMany(set: string, owned: readonly AppliedRecord[], count: number): readonly string[] {
  if (count <= APPLIED_RECORD_LIMIT) return []
  return [
    `The set ${set} has ${owned.length} records, and would get ${count - owned.length} more. A set has at most ${APPLIED_RECORD_LIMIT.toLocaleString('en')}: delete some with --prune before.`,
  ]
}

function refuseOwned(other: AppliedSetDocument, records: readonly FileRecord[]): readonly string[] {
  const owned = records.filter(({ kind, key }) => isIn(other.records, kind, key))
  if (owned.length === 0) return []
  const names = owned.map(({ kind, key }) => `${kind.name} ${key}`).join(', ')
  return [
    `These records belong to the set ${other.set}: ${names}. To end that set: grantor apply --release ${forShell(other.set)}`,
  ]
}

/** What a set keeps of a record. */
export function recordOf(kind: Kind, key: string, row: Members | undefined): AppliedRecord {
  const created = kind.created === undefined ? undefined : row?.[kind.created]
  return { kind: kind.name, key, ...(created !== undefined && { created: `${created as string | number}` }) }
}

/** Whether a record is one of these, and not another one that got the key of one that was deleted (threats.md APL-03). */
export function belongsTo(records: readonly AppliedRecord[], { kind, key, created }: AppliedRecord): boolean {
  return records.some((one) => one.kind === kind && one.key === key && (one.created ?? created) === created)
}

function isIn(records: readonly AppliedRecord[], { name }: Kind, key: string): boolean {
  return records.some((one) => one.kind === name && one.key === key)
}

/** What was created last is deleted first. */
function inReverse(records: readonly AppliedRecord[]): readonly AppliedRecord[] {
  const place = ({ kind }: AppliedRecord): number => KINDS.findIndex(({ name }) => name === kind)
  return records.toSorted((one, other) => place(other) - place(one))
}

async function inTurns<One, Done>(
  all: readonly One[],
  work: (one: One) => Promise<Done> | Done,
): Promise<readonly Done[]> {
  const done: Done[] = []
  for (let start = 0; start < all.length; start += PARALLEL) {
    done.push(...(await Promise.all(all.slice(start, start + PARALLEL).map(work))))
  }
  return done
}

/** @throws UsageError when the files ask for what cannot be */
export function requirePossible({ refusals }: Plan): void {
  if (refusals.length > 0) throw new UsageError(`Nothing was changed.\n${refusals.join('\n')}`)
}
