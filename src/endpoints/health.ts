import type { Context } from '../ports/context.ts'
import type { Reply } from '../ports/message.ts'
import type { EpochMs } from '../protocol/brand.ts'
import { OAuthError, unavailable } from '../protocol/errors.ts'
import { problem } from '../protocol/validation.ts'

/** Times come from the nodes, and what one of them writes another one judges: their clocks must agree this well. */
const CLOCK_TOLERANCE_MS = 2000

/** The process answers. Says nothing about what it depends on, so that a slow database gets nobody restarted. */
export async function alive(): Promise<Reply> {
  return { kind: 'json', status: 200, body: { status: 'alive' } }
}

/**
 * The process can do its work: it is not about to stop, the store answers, and its clock is that of the store.
 *
 * @throws OAuthError temporarily_unavailable
 */
export async function ready({
  isStopping,
  store,
  clock,
}: Pick<Context, 'isStopping' | 'store' | 'clock'>): Promise<Reply> {
  if (isStopping()) throw unavailable('shutting_down', 1)
  const before = clock()
  const there = await store.ping()
  const differenceMs = there === undefined ? 0 : clockDifference(there, before, clock())
  if (Math.abs(differenceMs) > CLOCK_TOLERANCE_MS) throw clockDiffers(differenceMs)
  return { kind: 'json', status: 200, body: { status: 'ready' } }
}

export async function version(context: Pick<Context, 'version'>): Promise<Reply> {
  return { kind: 'json', status: 200, body: { name: 'grantor', version: context.version } }
}

/**
 * How far this machine's clock is ahead of the store's, in milliseconds, at the least: the store read its clock at some
 * moment between the question and the answer.
 */
function clockDifference(there: EpochMs, before: EpochMs, after: EpochMs): number {
  if (there < before) return before - there
  return there > after ? after - there : 0
}

function clockDiffers(differenceMs: number): OAuthError {
  const msg = 'The clocks of this machine and of the database differ. Set both from the same source.'
  const ctx = { reason: 'clock_differs', ahead_ms: Math.round(differenceMs) }
  const problems = [problem(['clock'], 'value_error', msg, null, ctx)]
  return new OAuthError('temporarily_unavailable', 'clock_differs', { retryAfterSeconds: 1, problems })
}
