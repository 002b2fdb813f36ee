import {
  type FigureRecord,
  addFigure,
  type FigureCounts,
  type FigureGroup,
  type FigurePage,
  type FigureSpan,
} from '../../../ports/records/figures.ts'
import type { EpochMs } from '../../../base/brand.ts'
import type { NounOperations } from '../../noun.ts'
import { idBefore, type Row } from '../../rows.ts'
import { listOf, outcomeOf, rows, shared, type Steps } from '../../shared/statement.ts'
import { bigint, json, table, text } from '../../table.ts'

const FIGURES = table<FigureRecord>({
  beganAt: bigint('began_at'),
  id: text('figure_id'),
  node: text('node'),
  span: text('span'),
  endedAt: bigint('ended_at'),
  counts: json('counts'),
})

/** In place of the process: a sweep has merged the row, which remains without counts, so that its process does not write it again. */
export const MERGED = 'merged'

const WRITE = outcomeOf(
  `insert into figures (${FIGURES.names}) values (${FIGURES.parameters})
   on conflict (began_at, figure_id) do update set ended_at = excluded.ended_at, counts = excluded.counts
     where figures.ended_at <= excluded.ended_at and figures.node <> '${MERGED}'
   returning figure_id`,
  'written',
  'superseded',
)
const LIST = shared(
  `select * from figures where span = :span and figure_id < :before and figure_id >= :from and node <> '${MERGED}'
   order by figure_id desc limit :limit`,
)
const IS_TAKEN = `began_at = :beganAt and figure_id = any(string_to_array(:ids, ' ')) and node not in ('', '${MERGED}')`
/** Of concurrent attempts one gets a row, so it counts once. */
const TAKE = shared(`delete from figures where ${IS_TAKEN} returning *`)
/** The same for rows whose processes may still write them, for example after a week in which the machine slept. */
const TAKE_LEFT = shared(`update figures set node = '${MERGED}' where ${IS_TAKEN} returning *`)
const EMPTY = shared(
  `update figures set counts = '{}' where began_at = :beganAt and figure_id = any(string_to_array(:ids, ' '))`,
)
/** Returns what the row has, which no other operation changes until this one is committed. */
const HOLD_MERGED = shared(
  `insert into figures (${FIGURES.names}) values (${FIGURES.parameters})
   on conflict (began_at, figure_id) do update set ended_at = greatest(figures.ended_at, excluded.ended_at)
   returning counts`,
)
const WRITE_MERGED = shared('update figures set counts = :counts where began_at = :beganAt and figure_id = :id')

/** What the nodes counted, for the charts of the console. */
const operations = {
  writeFigures: {
    keys: ({ id }) => [`figures:${id}`],
    cache: 'kept',
    event: 'no-event',
    run: (record) => WRITE(FIGURES.values(record)),
  },
  mergeFigures: {
    // The first key is that of the row for which nodes wait.
    keys: ({ id, span, beganAt }) => [`figures:${mergedId(span, beganAt)}`, `figures:${id}`],
    cache: 'kept',
    event: 'no-event',
    *run({ id, span, beganAt }) {
      const taken = yield* rows(TAKE, { beganAt, ids: listOf([id]) })
      yield* merge(taken, span, beganAt)
      return taken.length === 1 ? 'merged' : 'unknown'
    },
  },
} satisfies NounOperations

const reads = {
  *listFigures({ span, since, until, before, limit }: FigurePage): Steps<readonly FigureRecord[]> {
    const page = { span, from: idBefore(since, ''), before: before ?? idBefore(until, ''), limit }
    return (yield* rows(LIST, page)).map(FIGURES.read)
  },
}

export const figures = { operations, reads }

/** Adds rows of a span that processes left to the one of all processes. They remain without counts, and are not written again. */
export function* mergeLeftFigures(ids: readonly string[], span: FigureSpan, beganAt: EpochMs): Steps<void> {
  const left = { beganAt, ids: listOf(ids) }
  const taken = yield* rows(TAKE_LEFT, left)
  yield* merge(taken, span, beganAt)
  if (taken.length > 0) yield* rows(EMPTY, { ...left, ids: listOf(taken.map((row) => row['figure_id'] as string)) })
}

/** Adds rows that no other operation has to the one of all processes. */
function* merge(found: readonly Row[], span: FigureSpan, beganAt: EpochMs): Steps<void> {
  if (found.length === 0) return
  const taken = found.map(FIGURES.read)
  const id = mergedId(span, beganAt)
  const endedAt = Math.max(...taken.map((row) => row.endedAt)) as EpochMs
  const none: FigureRecord = { id, node: '', span, beganAt, endedAt, counts: {} }
  const [held] = yield* rows(HOLD_MERGED, FIGURES.values(none))
  const all = [JSON.parse(held?.['counts'] as string) as FigureCounts, ...taken.map(({ counts }) => counts)]
  yield* rows(WRITE_MERGED, { beganAt, id, counts: JSON.stringify(sumOf(all)) })
}

/** Each span has one such row. */
function mergedId(span: FigureSpan, beganAt: EpochMs): string {
  return idBefore(beganAt, '') + span
}

/** Adds up counts, also those in groups that a newer release has. */
function sumOf(all: readonly FigureCounts[]): FigureCounts {
  const sums: Record<string, Record<string, number>> = {}
  for (const counts of all)
    for (const [group, numbers] of Object.entries(counts)) {
      const sum = (sums[group] ??= {})
      for (const [name, value] of Object.entries(numbers))
        sum[name] = addFigure(group as FigureGroup, sum[name] ?? 0, value)
    }
  return sums
}
