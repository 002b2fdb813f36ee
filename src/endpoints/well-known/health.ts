import type { Context } from '../../ports/context.ts'
import type { Reply } from '../../ports/message.ts'
import { StoreUnavailable, type DiskFault } from '../../ports/store.ts'
import { OAuthError, unavailable } from '../../protocol/errors.ts'
import { problem } from '../../protocol/validation.ts'

/** The process responds. The database is not checked, so that a slow one does not cause a restart. */
export async function alive(): Promise<Reply> {
  return { kind: 'json', status: 200, body: { status: 'alive' } }
}

/**
 * The process can serve requests: it is not shutting down, the store responds and its disk accepts writes (threats.md STO-07), and
 * its clock agrees (STO-13).
 *
 * @throws OAuthError temporarily_unavailable
 */
export async function ready({ isStopping, clockCheck }: Pick<Context, 'isStopping' | 'clockCheck'>): Promise<Reply> {
  if (isStopping()) throw unavailable('shutting_down', 1)
  await clockCheck.compare().then(undefined, (cause: unknown) => {
    throw cause instanceof StoreUnavailable && cause.fault !== undefined ? diskFault(cause.fault, cause) : cause
  })
  const aheadMs = clockCheck.differenceMs()
  if (aheadMs !== 0) throw clockDiffers(aheadMs)
  return { kind: 'json', status: 200, body: { status: 'ready' } }
}

export async function version(context: Pick<Context, 'version'>): Promise<Reply> {
  return { kind: 'json', status: 200, body: { name: 'grantor', version: context.version } }
}

const DISK_TEXTS: Readonly<Record<DiskFault, string>> = {
  disk_full: 'The disk of the database is full.',
  disk_read_only: 'The disk of the database is read-only.',
  disk_failed: 'The disk of the database fails. See the log of the system.',
}

function diskFault(fault: DiskFault, cause: unknown): OAuthError {
  const problems = [problem(['store'], 'value_error', DISK_TEXTS[fault], null, { reason: fault })]
  return new OAuthError('temporarily_unavailable', 'store_unavailable', { retryAfterSeconds: 1, problems, cause })
}

function clockDiffers(aheadMs: number): OAuthError {
  const msg = 'The clock of this node differs. See clock.differs in its log.'
  const ctx = { reason: 'clock_differs', ahead_ms: Math.round(aheadMs) }
  const problems = [problem(['clock'], 'value_error', msg, null, ctx)]
  return new OAuthError('temporarily_unavailable', 'clock_differs', { retryAfterSeconds: 1, problems })
}
