import { bigint, json, table, text } from '../table.ts'
import type { FigureRecord } from '../../ports/records/figures.ts'

export const FIGURES = table<FigureRecord>({
  beganAt: bigint('began_at'),
  id: text('figure_id'),
  node: text('node'),
  span: text('span'),
  endedAt: bigint('ended_at'),
  counts: json('counts'),
})
