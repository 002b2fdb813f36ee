import type { Context } from '../../../ports/context.ts'
import type { ApiRecord, ExchangeRule } from '../../../ports/records/api.ts'
import type { ClientRecord } from '../../../ports/records/client.ts'
import { findStepUps, withheldScope } from '../../../requests/step-up.ts'
import type { EpochMs } from '../../../base/brand.ts'
import type { Parameters } from '../../../base/message.ts'
import { missing, unacceptable } from '../../../base/validation.ts'
import { loggable } from '../../../protocol/compared.ts'
import { invalidRequest, invalidTarget } from '../../../protocol/errors.ts'
import type { RequiredLevel } from '../../../protocol/access/rule.ts'
import type { UserId } from '../../../protocol/ids.ts'
import type { AuthenticationLevel } from '../../../protocol/sign-in/authentication.ts'
import { knownAcrValues, levelOfAcr } from '../../../protocol/sign-in/acr.ts'
import type { AccessTokenFacts, IssuedToken } from '../../../protocol/token/access-token.ts'
import type { JwkThumbprint } from '../../../protocol/token/dpop-proof.ts'
import { findNamed, isOfApi } from '../../../protocol/token/resource.ts'
import { narrow, NO_SCOPE, scopeTokens, type Scope } from '../../../protocol/token/scope.ts'
import { hasNoRules } from '../../../tokens/access-rules.ts'
import { checkToken, type End } from '../../../tokens/inactive-reason.ts'
import { findToken } from '../../../tokens/find-token.ts'
import { findApplicationSubject } from '../../../users/application-subject.ts'
import type { AuthenticatedApi } from '../authenticate-caller.ts'
import { issueExchangedToken } from '../issue-tokens.ts'
import { declarationsOf, loadScopeCatalog, type ScopeCatalog } from '../../../requests/scope-catalog.ts'
import { decideScope, declaringApis } from '../../../requests/scope-decision.ts'
import { ambiguousAudience, nothingRemains, scopeError, type ScopeReason } from '../../../requests/scope-refusal.ts'
import { chooseTokenProfile } from '../token-profile.ts'
import { checkOwner, readResources, readScope, ruleScope } from './grant.ts'
import { MAXIMA } from '../../../base/maxima.ts'

/** RFC 8693 §3. */
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
/** Spring Security says `jwt` of an access token that is one. */
const SUBJECT_TYPES: readonly string[] = [ACCESS_TOKEN, 'urn:ietf:params:oauth:token-type:jwt']

/** The API that requests an exchange, and the key whose proof came with the request. */
export interface ExchangeRequester {
  readonly api: AuthenticatedApi
  readonly key: JwkThumbprint | undefined
}

/**
 * Token Exchange: an API that received a user's token gets one for another API, for the same user. RFC 8693 §2, decision 0040.
 *
 *  §2.1    The subject token is an access token. There is no `actor_token`: the actor is the API that authenticated (§4.1).
 *  §2.2.2  The subject token is for the caller alone, active, and of a user.
 *  §2.1    The target is one API, by `resource` or `audience`; without both, the API that all requested scopes belong to. It lists the
 *          caller, with the most that the token can have.
 *  §2.2.1  The scope is the requested one, as far as the target's rule has it and the target gives it to the client of the subject token.
 *          Without `scope`, it is that of the rule without what is given on request only.
 *  §2.2.1  The token ends with the subject token at the latest, and there is no refresh token.
 *
 * User, client, organization and grant stay, so what ends the grant ends the token. A subject token that is bound to a key needs no proof,
 * because only the client has the key; the new token is bound to the key of the API, if it proves one.
 *
 * @throws OAuthError invalid_request, invalid_target, invalid_scope, temporarily_unavailable
 */
export async function exchangeToken(
  context: Context,
  { api, key }: ExchangeRequester,
  form: Parameters,
): Promise<IssuedToken> {
  // Taken before the first read, so that a revocation during this request also covers this token (threats.md INT-06).
  const now = context.clockCheck.now()
  const catalog = await loadScopeCatalog(context)
  const { subject, client } = await findSubject(context, catalog, api, readSubjectToken(form), now)
  checkOwner(form, subject)
  const requested = readScope(form)
  const target = findTarget(context, catalog, subject, requested, form)
  const rule = target && findNamed(target.exchange, api.resource)
  if (target === undefined || rule === undefined) throw notAllowed(form, api, target)
  const chosen = await chooseScope(context, catalog, { client, subject, target, rule, requested, now }, form)
  const resources = [target.resource]
  const { userId, organizationId } = subject
  const ruling = hasNoRules(context, organizationId)
    ? undefined
    : await ruleScope(
        context,
        { client, userId, organizationId, scope: chosen, resources },
        (required) => isStated(required, statedOf(subject), now),
        form,
      )
  const scope = ruling?.scope ?? chosen
  const profile = chooseTokenProfile(context, catalog, resources, { client: undefined, key })
  const applicationSubject = profile.applicationSubject
    ? await findApplicationSubject(context, subject.userId)
    : undefined
  const issued = await issueExchangedToken(
    context,
    { api, client, subject },
    { scope, resources, applicationSubject },
    { profile, now },
  )
  const response = { ...issued.response, issued_token_type: ACCESS_TOKEN }
  return ruling === undefined ? { ...issued, response } : { ...issued, response, leftOut: ruling.leftOut }
}

/** Returns `subject_token`. RFC 8693 §2.1. @throws OAuthError invalid_request */
function readSubjectToken(form: Parameters): string {
  const token = readRequired(form, 'subject_token')
  const types = [readRequired(form, 'subject_token_type'), form.get('requested_token_type') ?? ACCESS_TOKEN] as const
  if (!SUBJECT_TYPES.includes(types[0]) || types[1] !== ACCESS_TOKEN) throw invalidRequest('token_type_unsupported')
  const actor = form.get('actor_token') ?? form.get('actor_token_type')
  if (actor !== undefined) throw invalidRequest('actor_unsupported')
  return token
}

function readRequired(form: Parameters, name: string): string {
  const value = form.get(name)
  if (value === undefined) throw invalidRequest('parameter_missing', { problems: [missing('body', name)] })
  return value
}

/** The content of a subject token, which is that of a user. */
type Subject = AccessTokenFacts & { readonly userId: UserId }

/** Finds an active token of a user for this API alone, and its client. @throws OAuthError invalid_request */
async function findSubject(
  context: Context,
  { apis }: ScopeCatalog,
  api: AuthenticatedApi,
  token: string,
  now: EpochMs,
): Promise<{ readonly subject: Subject; readonly client: ClientRecord }> {
  const found = await findToken(context, token)
  if (found?.kind !== 'access') throw invalidRequest('subject_inactive')
  const { facts } = found
  const { userId, clientId, organizationId, grantId } = facts
  const report = (reason: End | 'for-another'): void =>
    context.report({
      event: 'exchange.refused',
      clientId,
      userId,
      organizationId,
      details: { resource: api.resource, reason },
    })
  // Before the state of the token is read: an API learns nothing of tokens for others.
  const [audience, ...others] = facts.resources
  if (audience === undefined || others.length > 0 || !isOfApi(audience, api.resource, apis)) {
    report('for-another')
    throw invalidRequest('subject_for_another')
  }
  const checked = await checkToken(context, found, now)
  if (typeof checked === 'string') {
    if (checked !== 'expired') report(checked)
    throw invalidRequest('subject_inactive', { user: userId })
  }
  if (userId === undefined) throw invalidRequest('subject_without_user')
  const actors = facts.actors.length + (grantId === undefined ? 1 : 0)
  if (actors >= MAXIMA.actors.most) throw invalidRequest('actors_too_many', { user: userId })
  const client = await context.store.findClient(clientId)
  // Deleted since.
  if (client === undefined) throw invalidRequest('subject_inactive', { user: userId })
  return { subject: { ...facts, userId }, client }
}

/** Returns the API that the new token is for; undefined if it is not declared. @throws OAuthError invalid_request, invalid_scope, invalid_target */
function findTarget(
  context: Context,
  catalog: ScopeCatalog,
  subject: Subject,
  requested: Scope | undefined,
  form: Parameters,
): ApiRecord | undefined {
  const audience = form.get('audience')
  const named: readonly string[] = [...readResources(form), ...(audience === undefined ? [] : [audience])]
  if (named.length > 0) {
    const [api, ...others] = new Set(named.map((one) => findNamed(catalog.apis, one)))
    return others.length === 0 ? api : undefined
  }
  if (requested === undefined) throw invalidRequest('parameter_missing', { problems: [missing('body', 'resource')] })
  const [declaring, ...others] = declaringApis(catalog, requested)
  if (others.length === 0) return declaring
  const names = [declaring, ...others].flatMap((api) => api?.resource ?? [])
  throw scopeError(context, subject, ambiguousAudience(names), form.get('scope'))
}

/** The same for an API that does not exist as for one that does not list the caller. */
function notAllowed(form: Parameters, caller: AuthenticatedApi, target: ApiRecord | undefined) {
  const msg = 'This API may not exchange its tokens for those of the resource.'
  const named = form.get('resource') ?? form.get('audience')
  const detail =
    target === undefined
      ? `no such API: ${loggable(named ?? readScope(form))}`
      : `${loggable(target.resource)} has no rule for ${loggable(caller.resource)}`
  return invalidTarget('exchange_not_allowed', [unacceptable('body', 'resource', msg, named)], { detail })
}

interface ScopeQuestion {
  readonly client: ClientRecord
  readonly subject: Subject
  readonly target: ApiRecord
  readonly rule: ExchangeRule
  readonly requested: Scope | undefined
  readonly now: EpochMs
}

/** Returns the scope of the new token, which is never empty. @throws OAuthError invalid_scope */
async function chooseScope(
  context: Context,
  catalog: ScopeCatalog,
  question: ScopeQuestion,
  form: Parameters,
): Promise<Scope> {
  const { client, subject, target, rule, requested } = question
  const withheld = new Map<string, ScopeReason>()
  const ceiling = scopeTokens(rule.scope)
  const beyond = scopeTokens(beyondAuthentication(catalog, question))
  const whyNot = (token: string): ScopeReason | undefined => {
    if (!ceiling.includes(token)) return 'not_exchanged'
    if (beyond.includes(token)) return 'not_authenticated'
    const isOnRequest = declarationsOf([target], token).some(({ grantedTo }) => grantedTo === 'users-on-request')
    return requested === undefined && isOnRequest ? 'not_requested' : undefined
  }
  const scope = narrow(requested ?? rule.scope, (token) => {
    const reason = whyNot(token)
    if (reason !== undefined) withheld.set(token, reason)
    return reason === undefined
  })
  const request = { scope, resources: [target.resource] }
  const decision =
    scope === NO_SCOPE
      ? ({ kind: 'refused', refusal: nothingRemains(withheld, request.resources) } as const)
      : decideScope(catalog, { client, ...(await recipientOf(context, subject)) }, request)
  if (decision.kind === 'refused') throw scopeError(context, subject, decision.refusal, form.get('scope'))
  return decision.scope
}

/** Without a grant no user signed in: the client gets what machines get, and what its installation has (decision 0005). */
async function recipientOf(
  { store }: Context,
  { clientId, organizationId, grantId }: Subject,
): Promise<{ readonly kind: 'user' | 'machine'; readonly installed: Scope | undefined }> {
  if (grantId !== undefined) return { kind: 'user', installed: undefined }
  const installation =
    organizationId === undefined ? undefined : await store.findInstallation({ clientId, organizationId })
  return { kind: 'machine', installed: installation?.scope ?? NO_SCOPE }
}

/**
 * The part of a rule that requires another authentication of the user than the subject token states (RFC 9470). The age counts at the
 * exchange: no authorization request was for the target.
 */
function beyondAuthentication({ apis }: ScopeCatalog, { subject, target, rule, now }: ScopeQuestion): Scope {
  const stepUps = findStepUps(apis, { scope: rule.scope, resources: [target.resource] })
  return withheldScope(stepUps, { scope: rule.scope, createdAt: now }, statedOf(subject))
}

/** The authentication that a token states. */
function statedOf({ authentication }: Subject): Stated {
  const { acr, time } = authentication ?? {}
  const [known] = knownAcrValues([acr])
  return {
    level: known === undefined ? 1 : levelOfAcr(known),
    at: time === undefined ? undefined : ((time * 1000) as EpochMs),
  }
}

interface Stated {
  readonly level: AuthenticationLevel
  readonly at: EpochMs | undefined
}

/** Whether a stated authentication has a level, and is not older than an access rule demands. */
function isStated({ level, maxAge }: RequiredLevel, stated: Stated, now: EpochMs): boolean {
  return stated.level >= level && (maxAge === undefined || (stated.at ?? 0) >= now - maxAge * 1000)
}
