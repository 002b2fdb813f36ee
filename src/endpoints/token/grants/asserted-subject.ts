import type { Context } from '../../../ports/context.ts'
import type { ProviderRecord } from '../../../ports/records/provider.ts'
import type { UserRecord } from '../../../ports/records/user.ts'
import type { EpochMs } from '../../../base/brand.ts'
import type { Reason } from '../../../protocol/errors.ts'
import type { UserId } from '../../../protocol/ids.ts'
import { identityKey, type IdentityKey, type ProviderIdentity } from '../../../protocol/sign-in/provider-identity.ts'
import { findInvalidPrincipal } from '../../../tokens/invalid-principal.ts'
import { joinOrganization } from '../../../users/provider-membership.ts'
import { findRequiredProvider } from '../../../users/provider-routing.ts'
import { carryOut, planResolution, type Arrival, type Plan, type Resolution } from '../../sign-in/provider/resolve.ts'
import type { AuthenticatedClient } from '../authenticate-client.ts'
import { userMismatch } from './grant.ts'

/** The subject of an identity assertion whose signature and claims are right. */
export interface AssertedSubject {
  readonly provider: ProviderRecord
  readonly identity: ProviderIdentity
  readonly client: AuthenticatedClient
  /** `user_id` of the request. undefined: it names nobody. */
  readonly named: string | undefined
  /** Uses the assertion up. false: it was used before. */
  readonly use: () => Promise<boolean>
}

export type SettledSubject =
  /** `key`: the identity that the user has. `openedAt`: no principal was disabled or revoked then. */
  | { readonly kind: 'settled'; readonly userId: UserId; readonly key: IdentityKey; readonly openedAt: EpochMs }
  /** `detail`: for the log alone. */
  | { readonly kind: 'refused'; readonly reason: Reason<'invalid_grant'>; readonly detail?: string | undefined }

/**
 * Finds, links or creates the account of the subject by the rules of sign-in (`planResolution`), and makes it a member of the organization of
 * the provider. There is no browser, so the rule that asks the person refuses.
 *
 * - A person outside of the domains of the provider does not become a member, also where the operator declared that every person of the
 *   provider belongs: only a membership that exists counts (threats.md JAG-08).
 * - All refusals have one reason, and nothing but the use of the assertion is stored then. That commit takes longer than the reads
 *   beside it, so that the time of the answer does not show whether there is an account (JAG-13).
 *
 * @throws OAuthError invalid_request, if the request names another user
 */
export async function settleSubject(context: Context, subject: AssertedSubject): Promise<SettledSubject> {
  const { provider, identity, client, named } = subject
  const key = identityKey({ id: provider.id, ...provider.settings }, identity.subject)
  const nobody = { browserHash: undefined, request: undefined, signedIn: undefined }
  const arrival = { provider, identity, key, purpose: { kind: 'sign-in' }, ...nobody } as const
  const [isFresh, plan] = await Promise.all([subject.use(), planSubject(context, arrival)])
  if (!isFresh) return { kind: 'refused', reason: 'assertion_replayed' }
  requireNamed(plan, named)
  const first = await carryOut(context, arrival, plan)
  // Another assertion for the same new person came first.
  const isTaken = first.kind === 'refused' && first.reason === 'identity-taken'
  const settled = isTaken ? await settleAgain(context, arrival, named) : first
  if (settled.kind === 'refused' && settled.reason === 'provider-off')
    return { kind: 'refused', reason: 'assertion_issuer' }
  if (settled.kind !== 'user')
    return refused(settled.kind === 'refused' ? settled.reason : 'the person would be asked to sign in')
  const { id: userId } = settled.user
  if (identity.isWithinDomains) await joinOrganization(context, provider, userId)
  const { organizationId } = provider.settings
  const openedAt = context.clockCheck.now()
  const current = await context.store.findClient(client.id)
  if (current === undefined) return { kind: 'refused', reason: 'client_not_live' }
  const principals = { client: current, userId, organizationId, isUnattended: false }
  const invalid = await findInvalidPrincipal(context, principals, openedAt)
  if (invalid === undefined) return { kind: 'settled', userId, key, openedAt }
  return invalid === 'client' ? { kind: 'refused', reason: 'client_not_live' } : refused(invalid)
}

/** All refusals of subjects are one for the caller. */
function refused(detail: string): SettledSubject {
  return { kind: 'refused', reason: 'subject_refused', detail }
}

async function settleAgain(context: Context, arrival: Arrival, named: string | undefined): Promise<Resolution> {
  const plan = await planSubject(context, arrival)
  requireNamed(plan, named)
  return carryOut(context, arrival, plan)
}

/** Checks `user_id` before anything is stored. The id of an account that is not yet created is unknown. @throws OAuthError invalid_request */
function requireNamed(plan: Plan, named: string | undefined): void {
  if (named === undefined || plan.kind === 'refused' || userOf(plan)?.id === named) return
  throw userMismatch(named)
}

function userOf(plan: Plan): UserRecord | undefined {
  return plan.kind === 'use' ? plan.user : plan.kind === 'link' ? plan.account : undefined
}

/**
 * The plan for the subject. Another assertion may have created the account between the reads of a plan, which then refuses: an app often asks
 * for tokens of several APIs together.
 */
async function planSubject(context: Context, arrival: Arrival): Promise<Plan> {
  const plan = await planOnce(context, arrival)
  if (plan.kind !== 'refused') return plan
  return (await context.store.findIdentity(arrival.key)) === undefined ? plan : planOnce(context, arrival)
}

/** The plan of a sign-in, unless the account may not be used at this provider or for its organization. */
async function planOnce(context: Context, arrival: Arrival): Promise<Plan> {
  const plan = await planResolution(context, arrival)
  const isUsable = plan.kind === 'refused' || (await isUsableFor(context, arrival, plan))
  return isUsable ? plan : { kind: 'refused', reason: 'account-refused' }
}

async function isUsableFor(
  { providers, store }: Context,
  { provider, identity }: Arrival,
  plan: Exclude<Plan, { readonly kind: 'refused' }>,
): Promise<boolean> {
  const user = userOf(plan)
  const required = findRequiredProvider(await providers(), user?.email)
  if (required !== undefined && required.id !== provider.id) return false
  const { organizationId } = provider.settings
  if (organizationId === undefined) return true
  const [organization, membership] = await Promise.all([
    store.findOrganization(organizationId),
    user === undefined ? undefined : store.findMembership({ userId: user.id, organizationId }),
  ])
  if (organization === undefined || organization.disabledAt !== undefined) return false
  return membership === undefined ? identity.isWithinDomains : membership.disabledAt === undefined
}
