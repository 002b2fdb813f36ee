import type { Context } from '../../ports/context.ts'
import type { AuthorizationRecord } from '../../ports/records/authorization.ts'
import {
  findLevelNeed,
  findStepUps,
  needsNewSignIn,
  withDemands,
  withheldScope,
  type StepUps,
} from '../../requests/step-up.ts'
import { acrOf, meetsAcr, type StatedAuthentication } from '../../protocol/sign-in/acr.ts'
import { levelOf, type Authentication, type AuthenticationLevel } from '../../protocol/sign-in/authentication.ts'
import { interactionOfSession, type UserId } from '../../protocol/ids.ts'
import { NO_SCOPE, type Scope } from '../../protocol/token/scope.ts'
import { demandsLevel, findDemands, hasNoRules, type PersonalAccess } from '../../tokens/access-rules.ts'
import { findFactors, findReachableLevel, hasFactor, mayAddPasskey } from '../../users/factors.ts'
import { loadScopeCatalog } from '../../requests/scope-catalog.ts'
import type { Fault } from './authorization-error.ts'
import type { Interaction } from './interaction.ts'
import { chooseScope } from './scope-choice.ts'
import type { SignedIn } from './session.ts'

/** What the authentication of a session means for an authorization. */
export type LevelDecision =
  /** `allowed`: the request without the scope that requires more than the account can show. `withheld`: that scope. */
  | { readonly kind: 'enough'; readonly allowed: AuthorizationRecord; readonly withheld: Scope }
  /** The user is asked for this level. */
  | { readonly kind: 'step-up'; readonly level: AuthenticationLevel }
  /** Nothing is left of the request without this level, which the user reaches by a first second factor. */
  | { readonly kind: 'set-up'; readonly level: AuthenticationLevel }
  /** A scope requires a newer authentication, and a level that the user can reach. */
  | { readonly kind: 'sign-in' }
  /** The user cannot meet an essential `acr`, or nothing that the request asks for is left. */
  | { readonly kind: 'unmet' }

/** OpenID Connect Unmet Authentication Requirements 1.0 §2, RFC 9470 §5. */
export const UNMET: Fault = { error: 'unmet_authentication_requirements', reason: 'authentication_unmet' }

/**
 * Decides whether the authentication of a session is enough for a request (RFC 9470 §5). A user whose account has a factor
 * is asked for that factor.
 */
export async function decideLevel(
  context: Context,
  authorization: AuthorizationRecord,
  signedIn: SignedIn,
): Promise<LevelDecision> {
  const stepUps = await findRequirements(context, authorization, signedIn.user.id)
  const { authentication: request } = authorization
  const { authentication } = signedIn.session
  const level = levelOf(authentication.methods)
  const isEnough = request === undefined || meetsAcr(request, level)
  if (isEnough && withheldScope(stepUps, authorization, { level, at: authentication.at }) === NO_SCOPE)
    return { kind: 'enough', allowed: authorization, withheld: NO_SCOPE }
  const reach = await findReach(context, authorization, signedIn)
  const need = findLevelNeed(stepUps, authorization, level, reach)
  if (!need.isUnmet && needsNewSignIn(stepUps, authorization, authentication, reach)) return { kind: 'sign-in' }
  if (!need.isUnmet && need.level !== undefined) return { kind: 'step-up', level: need.level }
  const decided = await decideWithout(context, authorization, authentication, signedIn.user.id)
  const addable = decided.kind === 'unmet' ? await findAddableLevel(context, authorization, signedIn) : undefined
  return addable === undefined ? decided : { kind: 'set-up', level: addable }
}

/** What the scopes of a request require of the user: by their declarations, and by access rules. */
export async function findRequirements(
  context: Context,
  authorization: AuthorizationRecord,
  userId: UserId,
): Promise<StepUps> {
  const declared = findStepUps(await context.apis(), authorization)
  const { clientId, organizationId, scope, resources } = authorization
  const client = hasNoRules(context, organizationId) ? undefined : await context.store.findClient(clientId)
  if (client === undefined) return declared
  return withDemands(declared, await findDemands(context, { client, userId, organizationId, scope, resources }))
}

/**
 * The level that a request needs and the user reaches by setting up a second factor. undefined: there is none, or the account has a factor
 * in principle, also one that does not work now: a person who knows the password alone would otherwise pass with a factor of their own
 * (threats.md ACR-04).
 */
export async function findAddableLevel(
  context: Context,
  authorization: AuthorizationRecord,
  { session, user }: SignedIn,
): Promise<AuthenticationLevel | undefined> {
  const level = levelOf(session.authentication.methods)
  if (context.settings.delegate !== undefined || level > 1) return undefined
  if (hasFactor((await findFactors(context, user)).counting)) return undefined
  const most = (await mayAddPasskey(context, user)) ? 3 : 2
  const stepUps = await findRequirements(context, authorization, user.id)
  const need = findLevelNeed(stepUps, authorization, level, most)
  return need.isUnmet ? undefined : need.level
}

/** Decides the same for a user who is asked for no more, as for one whose account has no factor. */
export async function decideWithout(
  context: Context,
  authorization: AuthorizationRecord,
  authentication: Pick<Authentication, 'methods' | 'at'>,
  userId: UserId,
): Promise<Exclude<LevelDecision, { readonly kind: 'step-up' | 'set-up' | 'sign-in' }>> {
  const { authentication: request } = authorization
  const level = levelOf(authentication.methods)
  if (request?.isEssential === true && !meetsAcr(request, level)) return { kind: 'unmet' }
  const stated = { level, at: authentication.at }
  const withheld = withheldScope(await findRequirements(context, authorization, userId), authorization, stated)
  const tokens = new Set(withheld.split(' '))
  const allowed = chooseScope(await loadScopeCatalog(context), authorization, (token) => !tokens.has(token))
  return allowed === 'scope-missing' ? { kind: 'unmet' } : { kind: 'enough', allowed, withheld }
}

/**
 * What the form of the consent page says of a user who does not confirm with a factor: of this session and request, so that another one is
 * asked.
 */
export function declineParts({ authorization, browserHash }: Interaction, { session }: SignedIn): readonly string[] {
  return ['without-step-up', authorization.id, browserHash, session.id]
}

/** The highest level that the user can reach: by a factor of the account, or once for each request at the operator's application. */
async function findReach(
  context: Context,
  { id }: AuthorizationRecord,
  { session, user }: SignedIn,
): Promise<AuthenticationLevel> {
  const level = levelOf(session.authentication.methods)
  if (level === 3) return level
  if (context.settings.delegate !== undefined) {
    const interaction = await context.store.findInteraction(interactionOfSession(session.id))
    return interaction?.target === id ? level : 2
  }
  return findReachableLevel(context, user.id, level)
}

/**
 * The authentication that the tokens of an approval state. undefined: neither the client nor a scope nor an access rule asks for it, so that
 * other grants cost nothing.
 */
export async function stateAuthentication(
  context: Context,
  {
    allowed,
    ...approved
  }: Pick<PersonalAccess, 'client' | 'organizationId'> & { readonly allowed: AuthorizationRecord },
  { methods, at }: Authentication,
): Promise<StatedAuthentication | undefined> {
  const { authentication, scope, resources } = allowed
  const isAsked = authentication !== undefined || findStepUps(await context.apis(), allowed).size > 0
  const isDemanded = async () =>
    !hasNoRules(context, approved.organizationId) && demandsLevel(context, { ...approved, scope, resources })
  if (!isAsked && !(await isDemanded())) return undefined
  return { acr: acrOf(methods, authentication?.acrValues ?? []), level: levelOf(methods), at }
}
