import type { FigurePage, FigureRecord } from '../../../ports/records/figures.ts'
import { FIGURES } from '../../tables/server.ts'
import { idBefore } from '../../rows.ts'
import { outcome, rows, shared, type SharedHandlers, type Steps } from '../statement.ts'

const WRITE = outcome(
  `insert into figures (${FIGURES.names}) values (${FIGURES.parameters})
   on conflict (figure_id) do update set ended_at = excluded.ended_at, counts = excluded.counts
     where figures.ended_at <= excluded.ended_at
   returning figure_id`,
  'written',
  'superseded',
)
const LIST = shared(
  `select * from figures where span = :span and figure_id < :before and figure_id >= :from order by figure_id desc limit :limit`,
)

/** What the nodes counted, for the charts of the console. */
export const figureHandlers = {
  writeFigures: { keys: ({ id }) => [`figures:${id}`], run: (record) => WRITE(FIGURES.values(record)) },
} satisfies SharedHandlers

export const figureReads = {
  *listFigures({ span, since, until, before, limit }: FigurePage): Steps<readonly FigureRecord[]> {
    const page = { span, from: idBefore(since, ''), before: before ?? idBefore(until, ''), limit }
    return (yield* rows(LIST, page)).map(FIGURES.read)
  },
}
