import type { Context } from '../../ports/context.ts'
import type { Reply } from '../../ports/message.ts'
import { StoreClosed, StoreRefusesWrites, StoreUnavailable } from '../../ports/store.ts'
import { OAuthError, unavailable } from '../../protocol/errors.ts'
import { problem } from '../../base/validation.ts'

/** The process responds. The database is not checked, so that a slow one does not cause a restart. */
export async function alive(): Promise<Reply> {
  return { kind: 'json', status: 200, body: { status: 'alive' } }
}

/**
 * The process can serve requests: it is not shutting down, the store has what this node remembers of it (threats.md BAK-07), responds
 * and accepts writes (STO-07), and its clock agrees (STO-13).
 *
 * @throws OAuthError temporarily_unavailable
 */
export async function ready({ isStopping, clockCheck, hasStoreGoneBack, store }: Context): Promise<Reply> {
  if (isStopping()) throw unavailable('shutting_down', 1)
  if (hasStoreGoneBack()) throw storeWentBack()
  const checking = clockCheck.compare().then(() => store.checkWrites())
  await checking.then(undefined, (cause: unknown) => {
    throw cause instanceof StoreUnavailable ? storeUnavailable(cause) : cause
  })
  const aheadMs = clockCheck.differenceMs()
  if (aheadMs !== 0) throw clockDiffers(aheadMs)
  return { kind: 'json', status: 200, body: { status: 'ready' } }
}

export async function version(context: Context): Promise<Reply> {
  return { kind: 'json', status: 200, body: { name: 'grantor', version: context.version } }
}

function storeUnavailable(cause: StoreUnavailable): OAuthError {
  const problems = [problem(['store'], 'value_error', ...explain(cause))]
  return new OAuthError('temporarily_unavailable', 'store_unavailable', { retryAfterSeconds: 1, problems, cause })
}

/** The text of another cause may name an address, so only the log has it. */
function explain(cause: StoreUnavailable): [msg: string, input: null, ctx: { readonly reason: string }] {
  if (cause instanceof StoreRefusesWrites) return [cause.message, null, { reason: cause.fault }]
  if (cause instanceof StoreClosed) return [cause.message, null, { reason: 'store_closed' }]
  return ['The database cannot be reached or used.', null, { reason: 'store_unavailable' }]
}

function storeWentBack(): OAuthError {
  const msg =
    'The store lacks what this node remembers of it. If it was restored, run: grantor restore --in-place. If nothing was lost, run: grantor restore --nothing-lost'
  const problems = [problem(['store'], 'value_error', msg, null, { reason: 'store_went_back' })]
  return new OAuthError('temporarily_unavailable', 'store_went_back', { retryAfterSeconds: 10, problems })
}

function clockDiffers(aheadMs: number): OAuthError {
  const msg =
    'The clock of this node differs. Synchronize it (NTP). With SQLite, if it is right now, run: grantor clock confirm'
  const ctx = { reason: 'clock_differs', ahead_ms: Math.round(aheadMs) }
  const problems = [problem(['clock'], 'value_error', msg, null, ctx)]
  return new OAuthError('temporarily_unavailable', 'clock_differs', { retryAfterSeconds: 1, problems })
}
