import type { Context } from '../../ports/context.ts'
import { isVerified } from '../../protocol/client-policy.ts'
import { tooManyRequests } from '../../protocol/errors.ts'
import type { AuthenticatedClient } from './authenticate-client.ts'

/**
 * Counts a row that a client causes without a user: an opaque token for the client itself (`stored-token`), or a revoked token
 * (`revoked-token`). Registration is open, so without a limit any caller could fill the store until these rows expire (threats.md
 * BND-04). A verified client has no limit.
 *
 * @throws OAuthError temporarily_unavailable
 */
export function takeStoredTokenBudget(
  { budgets, clock }: Pick<Context, 'budgets' | 'clock'>,
  client: AuthenticatedClient,
  caller: string,
  budget: 'stored-token' | 'revoked-token',
): void {
  if (isVerified(client)) return
  const outcome = budgets.take(budget, caller, clock())
  if (!outcome.isWithin) throw tooManyRequests(budget, outcome)
}
