import { randomBytes } from 'node:crypto'
import { after, type EpochMs } from '../src/base/brand.ts'
import { FIGURE_SPANS, type FigureCounts, type FigureSpan } from '../src/ports/records/figures.ts'
import type { Store } from '../src/ports/store.ts'
import { mintOrderedId } from '../src/protocol/ids.ts'

export interface FilledFigures {
  readonly span: FigureSpan
  /** How many rows of each process end up to now. */
  readonly rows: number
  readonly nodes?: number
  /** Whether a row is left out, counted from the newest: no process ran then. */
  readonly isGap?: (row: number) => boolean
}

/** Rows that are added at once. */
const SLICE = 100

/** Adds the figures that processes of a busy server would have written, with days and nights. */
export async function fillFigures(
  store: Pick<Store, 'writeFigures'>,
  now: EpochMs,
  { span, rows, nodes = 1, isGap = () => false }: FilledFigures,
): Promise<void> {
  const spanMs = FIGURE_SPANS[span].ms
  const last = (now - (now % spanMs)) as EpochMs
  const all = Array.from({ length: rows * nodes }, (_, index) => ({
    row: index % rows,
    node: Math.floor(index / rows),
  }))
  const kept = all.filter(({ row }) => !isGap(row))
  for (let start = 0; start < kept.length; start += SLICE)
    await Promise.all(kept.slice(start, start + SLICE).map(({ row, node }) => add(row, node)))

  async function add(row: number, node: number): Promise<void> {
    const endedAt = after(last, -row * spanMs)
    const counts = countsAt(row, endedAt)
    const beganAt = after(endedAt, -spanMs)
    const id = mintOrderedId(beganAt, randomBytes)
    await store.writeFigures({ id, node: `node-${node}`, span, beganAt, endedAt, counts })
  }
}

function countsAt(row: number, endedAt: EpochMs): FigureCounts {
  const hour = (endedAt / FIGURE_SPANS['1h'].ms) % 24
  const busy = 1 + Math.sin(((hour - 9) / 24) * 2 * Math.PI)
  const many = (most: number, shift: number): number => Math.round(most * busy * (1 + 0.3 * Math.sin(row * shift)))
  return {
    tokens: { refresh_token: many(900, 1.7), authorization_code: many(120, 2.3), client_credentials: many(300, 0.7) },
    registrations: { registration: many(9, 3.1), document: many(3, 1.1) },
    sign_ins: { password: many(40, 1.9), passkey: many(25, 2.9), provider: many(60, 0.3) },
    refusals: {
      scope_not_allowed: many(6, 1.3),
      grant_unknown: many(9, 2.2),
      client_unknown: many(14, 0.9),
      redirect_uri_not_registered: many(3, 3.7),
      login_required: many(5, 1.9),
      other: many(2, 2.6),
    },
    events: {
      scope_refused: many(6, 1.3),
      sign_in_failed: many(5, 2.1),
      token_reused: row % 96 === 40 ? 1 : 0,
      token_parted: row % 96 === 70 ? 1 : 0,
      too_many: many(4, 0.8),
      failed: row % 50 === 7 ? 3 : 0,
    },
    p99_ms: { token: 4 + many(3, 1.1), authorize: 9 + many(6, 0.6) },
  }
}
