import type { Context } from '../../ports/context.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import { isConfidential } from '../../protocol/client/authentication.ts'
import { isVerified } from '../../protocol/client/policy.ts'
import { tooManyRequests } from '../../protocol/errors.ts'

type StoredBudget = 'stored-token' | 'revoked-token' | 'client-assertion' | 'pushed'

/**
 * Counts a row that a client causes without a user: an opaque token for the client itself (`stored-token`), a revoked token
 * (`revoked-token`), the id of an assertion (`client-assertion`), or a pushed request (`pushed`). Registration is open, so without a limit any caller could
 * fill the store until these rows expire (threats.md BND-04). A verified client has no limit.
 *
 * The limit of a confidential client is its own. Clients are free of charge, so the rate of the server is divided by network all the same.
 *
 * @throws OAuthError temporarily_unavailable
 */
export function takeStoredTokenBudget(
  { budgets, clock }: Context,
  client: ClientRecord,
  network: string,
  budget: StoredBudget,
): void {
  takeRowBudget({ budgets, clock }, client, { budget, payer: callerOf(client, network), network })
}

/** The same for a row that another party than the client or its network pays for. @throws OAuthError temporarily_unavailable */
export function takeRowBudget(
  { budgets, clock }: Pick<Context, 'budgets' | 'clock'>,
  client: ClientRecord,
  { budget, payer, network }: { readonly budget: StoredBudget; readonly payer: string; readonly network: string },
): void {
  if (isVerified(client)) return
  const outcome = budgets.take(budget, payer, clock(), network)
  if (!outcome.isWithin) throw tooManyRequests(budget, outcome)
}

/** The id of a public client is not secret. A budget by client id would let one caller spend the budget of all users. */
export function callerOf(client: ClientRecord, network: string): string {
  return isConfidential(client) ? client.id : network
}
