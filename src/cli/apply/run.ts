import assert from 'node:assert/strict'
import { AdminError } from '../../admin/admin-error.ts'
import { CHANGE_LIMIT, type AppliedRecord, type AppliedSetDocument } from '../../admin/apply.ts'
import { visible } from '../lib/columns.ts'
import type { Members, PerformTask } from '../lib/perform-task.ts'
import type { Call } from './compare.ts'
import type { Kind } from './kinds.ts'
import { belongsTo, recordOf, type Change, type Plan, type SecretCall } from './plan.ts'

/** What a run did. */
interface RunReport {
  /** In the order in which they were made. */
  readonly done: readonly Change[]
  /** The secrets that the server replaced. */
  readonly replaced: readonly Pick<SecretCall, 'kind' | 'key'>[]
  /** Why the run ended before its end; undefined: it is complete. A message of a task names the record. */
  readonly failure: unknown
}

/** Characters of the records of one request, which is far from the most that its body may have. */
const REQUEST_LIMIT = 8000
/** Those of a record besides its key. */
const RECORD_ROOM = 85

/**
 * Makes the changes of a plan, one task after the other. The mark of the set changes before each record, so that a run that another one followed
 * stops. A record joins the set after its first task succeeded: if another administrator created it meanwhile, the task fails. The first task
 * that fails ends the run. What it did stays, and the next run continues. If a run is killed before a record that it created joins, the next
 * one finds the record as one that existed.
 */
export async function runPlan(plan: Plan, perform: PerformTask): Promise<RunReport> {
  const { set, mark, owned, changes, secrets } = plan
  assert(plan.reading === 'read', 'The secrets of the files were not read.')
  const done: Change[] = []
  const replaced: SecretCall[] = []
  let current = mark
  let hasBegun = false
  // What the next request adds to the set, and removes from it.
  let joined: readonly AppliedRecord[] = []
  let gone: readonly AppliedRecord[] = []
  const counts = { created: 0, updated: 0, deleted: 0 }
  const record = async (step: 'continue' | 'finish', more: Members): Promise<void> => {
    const change = { set, step: hasBegun ? step : 'begin', mark: current, add: joined, remove: gone }
    // What is refused is not in the request that ends the run.
    joined = []
    gone = []
    const answer = await perform<AppliedSetDocument>('apply.record', { ...change, ...more })
    current = answer.mark
    hasBegun = true
  }
  const performAbout = async ({ kind, key }: Pick<Change, 'kind' | 'key'>, { task, input }: Call): Promise<Members> => {
    try {
      return await perform<Members>(task, { [kind.key]: key, ...input })
    } catch (cause) {
      if (!(cause instanceof AdminError)) throw cause
      throw new AdminError(`The ${kind.name} ${visible(key)}: ${cause.message}`, cause.kind)
    }
  }
  // The tasks of a rule for a domain would replace or remove what another administrator has set after the plan was made.
  const ofPlan = ({ kind, row }: Change, { task, input }: Call): Call =>
    kind.name === 'domain'
      ? { task, input: { ...input, previous_changed_at: row?.['changed_at'] ?? null } }
      : { task, input }
  const finish = async (complete: boolean): Promise<void> => {
    if (!hasBegun) await record('continue', {})
    await record('finish', { counts: { ...counts, complete } })
  }
  const compareSecret = async ({ kind, key, call }: SecretCall): Promise<void> => {
    const answer = await performAbout({ kind, key }, call)
    if (answer['outcome'] === 'unchanged') return
    replaced.push({ kind, key, call })
    if (!done.some((change) => isAbout(change, { kind, key }))) counts.updated += 1
  }
  try {
    const [plain, others] = [
      changes.filter(({ calls }) => calls.length === 0),
      changes.filter(({ calls }) => calls.length > 0),
    ]
    for (const chunk of chunksOf(plain)) {
      const records = (change: Change['change']) =>
        chunk.filter((one) => one.change === change).map(({ kind, key, row }) => recordOf(kind, key, row))
      joined = records('own')
      gone = records('forget')
      await record('continue', {})
      done.push(...chunk)
    }
    for (const change of others) {
      const { kind, key, calls } = change
      let { row } = change
      const isDeletion = change.change === 'delete'
      const isNew = !isDeletion && !belongsTo(owned, recordOf(kind, key, row))
      await record('continue', {})
      for (const call of calls) {
        const answer = await performAbout(change, ofPlan(change, call))
        row ??= answer
        if (isNew) joined = [recordOf(kind, key, row)]
      }
      if (isDeletion) gone = [recordOf(kind, key, row)]
      counts[isDeletion ? 'deleted' : change.change === 'create' ? 'created' : 'updated'] += 1
      done.push(change)
    }
    if (hasBegun && secrets.length > 0) await record('continue', {})
    for (const secret of secrets) await compareSecret(secret)
    if (hasBegun || replaced.length > 0) await finish(true)
    return { done, replaced, failure: undefined }
  } catch (failure) {
    // The run that follows need not wait. If this fails too, it waits for two minutes.
    if (hasBegun) await finish(false).catch(() => undefined)
    return { done, replaced, failure }
  }
}

function isAbout(change: Change, { kind, key }: { readonly kind: Kind; readonly key: string }): boolean {
  return change.kind === kind && change.key === key
}

function chunksOf(changes: readonly Change[]): readonly (readonly Change[])[] {
  const chunks: Change[][] = []
  let size = REQUEST_LIMIT
  for (const change of changes) {
    const last = chunks.at(-1)
    size += change.key.length + RECORD_ROOM
    if (last === undefined || last.length >= CHANGE_LIMIT || size > REQUEST_LIMIT) {
      chunks.push([change])
      size = change.key.length + RECORD_ROOM
    } else last.push(change)
  }
  return chunks
}
