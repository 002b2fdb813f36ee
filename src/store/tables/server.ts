import { bigint, json, table, text } from '../table.ts'
import type { AuditLinkRecord } from '../../ports/records/audit.ts'
import type { FigureRecord } from '../../ports/records/figures.ts'

export const AUDIT_LINKS = table<AuditLinkRecord>({
  id: text('link_id'),
  chainId: text('chain_id'),
  sequence: bigint('sequence'),
  recordedAt: bigint('recorded_at'),
  previousHash: text('previous_hash'),
  events: text('events'),
  hash: text('link_hash'),
})

export const FIGURES = table<FigureRecord>({
  beganAt: bigint('began_at'),
  id: text('figure_id'),
  node: text('node'),
  span: text('span'),
  endedAt: bigint('ended_at'),
  counts: json('counts'),
})
