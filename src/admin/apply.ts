import * as z from 'zod'
import type { EpochMs } from '../base/brand.ts'
import type { Context } from '../ports/context.ts'
import { mintOrderedId } from '../protocol/ids.ts'
import { conflict, unknown } from './admin-error.ts'
import { ISO_OR_NULL, iso } from '../base/iso.ts'
import { defineTask, type Task } from './task.ts'
import { MAXIMA } from '../base/maxima.ts'

/** Sets of a server, and records of a set. */
const SET_LIMIT = MAXIMA.appliedSets.most
export const APPLIED_RECORD_LIMIT = MAXIMA.appliedRecords.most
/** Records that one request adds to a set, or removes from it. */
export const CHANGE_LIMIT = MAXIMA.appliedChanges.most
/** Characters. */
const KEY_LIMIT = MAXIMA.resource.most
const CREATED_LIMIT = 30
/** A run that has not continued for so long was stopped. A task of a command ends after a minute. */
const RUN_LIMIT_MS = 120_000

const PATH = '/admin/v1/applied-sets'
/** The name of a set of records that files describe. */
export const SET_NAME = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,30}$/, {
    error: 'The name of a set has up to 31 lower-case letters, digits and hyphens, and begins with no hyphen.',
  })
  .meta({ examples: ['production'] })
  .describe('The name of the set.')
/** The kinds of records that a set can have. */
export const APPLIED_KINDS = ['organization', 'group', 'api', 'domain', 'provider', 'client', 'access-rule'] as const
const CREATED = z
  .string()
  .max(CREATED_LIMIT)
  .optional()
  .meta({ examples: ['2026-01-01T00:00:00.000Z'] })
  .describe(
    'When the record was created, as its document has it. A record with the same key and another time is another record.',
  )
const RECORD = z.strictObject({
  kind: z.enum(APPLIED_KINDS),
  key: z
    .string()
    .min(1)
    .max(KEY_LIMIT)
    .meta({ examples: ['board'] }),
  created: CREATED,
})
const RECORDS = z.array(RECORD).max(CHANGE_LIMIT).default([])
const COUNT = z.int().min(0).max(APPLIED_RECORD_LIMIT)

/** A set in an answer. */
const SET_DOCUMENT = z
  .object({
    set: z.string(),
    mark: z.string().describe('Changes whenever the set does.'),
    running_until: ISO_OR_NULL.describe(
      'A run that begins before this time is refused, because another one is active; null: none is.',
    ),
    records: z.array(z.object({ kind: z.enum(APPLIED_KINDS), key: z.string(), created: CREATED })),
  })
  .meta({ id: 'AppliedSet' })

export type AppliedSetDocument = z.output<typeof SET_DOCUMENT>
export type AppliedRecord = AppliedSetDocument['records'][number]

/** The value of a set in the store. */
interface AppliedSet {
  readonly mark: string
  /** When the run that is active last continued; null: none is active. */
  readonly activeAt: EpochMs | null
  readonly records: readonly AppliedRecord[]
}

interface StoredSet extends AppliedSet {
  readonly set: string
  /** The text in the store. */
  readonly value: string
}

/** The tasks with which `grantor apply` keeps which records are those of its files. */
export const APPLY_TASKS: readonly Task[] = [
  defineTask({
    name: 'apply.list',
    method: 'GET',
    path: PATH,
    access: 'read',
    summary: 'List the sets of "grantor apply" and their records.',
    input: z.object({}),
    output: z.object({ sets: z.array(SET_DOCUMENT) }),
    run: async (context) => ({ sets: (await readSets(context)).map(describeSet) }),
  }),
  defineTask({
    name: 'apply.record',
    method: 'PUT',
    path: `${PATH}/{set}`,
    access: 'write',
    summary: 'Begin, continue or finish a run of "grantor apply", and change which records are those of its set.',
    input: z.object({
      set: SET_NAME,
      step: z
        .enum(['begin', 'continue', 'finish'])
        .describe(
          'begin: refused while another run of the set is active. continue, finish: refused after another run began.',
        ),
      mark: z
        .string()
        .max(100)
        .nullable()
        .meta({ examples: [null] })
        .describe('The mark of the set, as the previous answer has it; null: there is no such set.'),
      add: RECORDS.describe('Records that belong to the set from now on.'),
      remove: RECORDS.describe('Records that no longer belong to it.'),
      counts: z
        .strictObject({ created: COUNT, updated: COUNT, deleted: COUNT, complete: z.boolean() })
        .optional()
        .describe('What the run did, for the audit.'),
    }),
    output: SET_DOCUMENT,
    async run(context, { set, step, mark, add, remove, counts }) {
      const sets = await readSets(context)
      const before = sets.find((one) => one.set === set)
      requireTurn(context.clock(), set, before, { step, mark })
      if (before === undefined && sets.length >= SET_LIMIT) throw conflict(`A server has at most ${SET_LIMIT} sets.`)
      for (const record of add) refuseOthers(sets, set, record)
      const kept = (before?.records ?? []).filter((record) => ![...add, ...remove].some((one) => isSame(one, record)))
      const records = [...kept, ...add]
      if (records.length > APPLIED_RECORD_LIMIT)
        throw conflict(`A set has at most ${APPLIED_RECORD_LIMIT.toLocaleString('en')} records.`)
      const now = context.clock()
      const after: AppliedSet = {
        mark: mintOrderedId(now, context.random),
        activeAt: step === 'finish' ? null : now,
        records,
      }
      const value = JSON.stringify(after)
      // A line of a backup has the text as JSON again.
      if (Buffer.byteLength(JSON.stringify(value)) > MAXIMA.appliedSet.most)
        throw conflict(
          `The records of a set have at most ${MAXIMA.appliedSet.most.toLocaleString('en')} bytes together. Divide the files into several sets.`,
        )
      const change = { set, previous: before?.value, value, finished: counts }
      if ((await context.store.recordApplied(change)) === 'conflict') throw overtaken(set)
      return describeSet({ set, ...after })
    },
  }),
  defineTask({
    name: 'apply.release',
    method: 'DELETE',
    path: `${PATH}/{set}`,
    access: 'write',
    summary: 'Remove a set of "grantor apply". Its records stay, and another set can take them over.',
    input: z.object({ set: SET_NAME }),
    output: z.object({ set: z.string(), released: z.int().describe('How many records it had.') }),
    async run(context, { set }) {
      const before = (await readSets(context)).find((one) => one.set === set)
      if (before === undefined) throw unknown(`There is no set ${set}.`)
      const { value: previous, records } = before
      const change = { set, previous, value: undefined, finished: undefined }
      if ((await context.store.recordApplied(change)) === 'conflict') throw overtaken(set)
      return { set, released: records.length }
    },
  }),
]

async function readSets({ store }: Context): Promise<readonly StoredSet[]> {
  return (await store.listAppliedSets()).map(({ set, value }) => ({ ...(JSON.parse(value) as AppliedSet), set, value }))
}

function describeSet({ set, mark, activeAt, records }: AppliedSet & Pick<StoredSet, 'set'>): AppliedSetDocument {
  return { set, mark, running_until: activeAt === null ? null : iso(endOf(activeAt)), records: [...records] }
}

/**
 * Only one run of a set is active. A later one may begin when the earlier one ended or no longer continues, and then the earlier one is
 * refused.
 */
function requireTurn(
  now: EpochMs,
  set: string,
  before: AppliedSet | undefined,
  { step, mark }: { readonly step: 'begin' | 'continue' | 'finish'; readonly mark: string | null },
): void {
  const activeAt = before?.activeAt ?? null
  // The time of a store without a clock of its own may have gone back.
  const waitMs = activeAt === null ? 0 : endOf(activeAt) - now
  if (step === 'begin' && waitMs > 0 && waitMs <= RUN_LIMIT_MS) {
    throw conflict(
      `Another run applies the set ${set}. Nothing was changed. If it was stopped, try again in ${Math.ceil(waitMs / 1000)} seconds.`,
    )
  }
  if ((before?.mark ?? null) !== mark) throw overtaken(set)
}

function refuseOthers(sets: readonly StoredSet[], set: string, record: AppliedRecord): void {
  const other = sets.find((one) => one.set !== set && one.records.some((owned) => isSame(owned, record)))
  if (other !== undefined) throw conflict(`The ${record.kind} ${record.key} belongs to the set ${other.set}.`)
}

function isSame(one: AppliedRecord, other: AppliedRecord): boolean {
  return one.kind === other.kind && one.key === other.key
}

function endOf(activeAt: EpochMs): EpochMs {
  return (activeAt + RUN_LIMIT_MS) as EpochMs
}

function overtaken(set: string) {
  return conflict(`Another run applied the set ${set} at the same time. Run the command again.`)
}
