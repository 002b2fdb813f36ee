import type { Context } from '../../../ports/context.ts'
import type { ProviderRecord } from '../../../ports/records/provider.ts'
import { after } from '../../../base/brand.ts'
import type { Parameters } from '../../../base/message.ts'
import { missing } from '../../../base/validation.ts'
import { findPolicyRefusal } from '../../../clients/evaluate-client.ts'
import { isConfidential } from '../../../protocol/client/authentication.ts'
import { identifierOf } from '../../../protocol/client/identifier.ts'
import { compared } from '../../../protocol/compared.ts'
import {
  invalidGrant,
  invalidRequest,
  invalidTarget,
  tooManyRequests,
  unauthorizedClient,
  unavailable,
  type OAuthError,
  type Reason,
} from '../../../protocol/errors.ts'
import { mintGrantId, type ClientId } from '../../../protocol/ids.ts'
import type { ProviderId } from '../../../protocol/sign-in/authentication.ts'
import { evaluateIdentity } from '../../../protocol/sign-in/provider-identity.ts'
import type { IssuedToken } from '../../../protocol/token/access-token.ts'
import {
  chooseAssertedResource,
  describeIdentityAssertionFault,
  findIdentityAssertionFault,
  findMalformedMember,
  parseIdentityAssertion,
  rememberAssertionUntil,
  type IdentityAssertion,
} from '../../../protocol/token/identity-assertion.ts'
import type { Resource } from '../../../protocol/token/resource.ts'
import {
  intersect,
  isIdentityScope,
  narrow,
  NO_SCOPE,
  scopeTokens,
  subtract,
  type Scope,
} from '../../../protocol/token/scope.ts'
import { findRuling, hasNoRules, NEVER_MET, recordRuling, type PersonalAccess } from '../../../tokens/access-rules.ts'
import { findApplicationSubject } from '../../../users/application-subject.ts'
import { isOfAnotherProvider, usableProviders } from '../../../users/provider-routing.ts'
import { countFailure, countUnverified } from '../authenticate-client.ts'
import { issueGrantToken } from '../issue-tokens.ts'
import { findApi, loadScopeCatalog, type ScopeCatalog } from '../../../requests/scope-catalog.ts'
import { decideScope } from '../../../requests/scope-decision.ts'
import { nothingRemains, scopeError } from '../../../requests/scope-refusal.ts'
import { chooseTokenProfile, type TokenProfile, type TokenRequester } from '../token-profile.ts'
import { settleSubject } from './asserted-subject.ts'
import { organizationMismatch, readResources, readScope } from './grant.ts'

/**
 * JWT bearer grant, with identity assertions alone. RFC 7523 §2.1, draft-ietf-oauth-identity-assertion-authz-grant §4.4. A provider at which
 * users sign in says that the client may act for one of them. No browser takes part (decision 0038).
 *
 *  1. The assertion is one (§4.4.1), and its issuer is that of one usable provider that accepts the client.
 *  2. A key of the provider signed it, and its claims fit this server, this client and this time.
 *  3. The API is one of the list, and the token can be bound as the assertion requires.
 *  4. The scope is what the assertion, the request and the API permit.
 *  5. It was not used before. It is used up now, also if the subject is refused.
 *  6. The subject has an account, or gets one by the rules of sign-in, and is a member of the organization of the provider.
 *  7. The token belongs to a grant of its own, which ends with the token. There is no refresh token and no ID token.
 *
 * @throws OAuthError invalid_grant, invalid_request, invalid_scope, invalid_target, temporarily_unavailable, unauthorized_client
 */
export async function jwtBearer(context: Context, requester: TokenRequester, form: Parameters): Promise<IssuedToken> {
  const { client } = requester
  // A node whose clock differs refuses before the assertion is used up (threats.md STO-13).
  context.clockCheck.now()
  const jwt = form.get('assertion')
  if (jwt === undefined) throw invalidRequest('parameter_missing', { problems: [missing('body', 'assertion')] })
  const assertion = parseIdentityAssertion(jwt)
  if (assertion === undefined)
    throw refusal(context, requester, 'assertion_malformed', undefined, findMalformedMember(jwt))
  await requireSigned(context, requester, assertion)
  // Read again: an operator may have changed the provider while it was asked for its keys (threats.md JAG-11).
  const provider = await requireProvider(context, requester, assertion)
  const providers = await context.providers()
  const identity = evaluateIdentity(provider.settings, assertion.claims, isOfAnotherProvider(providers, provider))
  if (identity === undefined) {
    const detail = `no person by the claim ${provider.settings.subjectClaim}`
    throw refusal(context, requester, 'assertion_malformed', provider, detail)
  }
  const { organizationId } = provider.settings
  const organization = form.get('org_id')
  if (organization !== undefined && organization !== organizationId) throw organizationMismatch(organization)
  const catalog = await loadScopeCatalog(context)
  const resource = requireResource(context, requester, { assertion, provider, catalog, form })
  const scope = chooseScope(context, requester, { assertion, catalog, resource, form })
  const profile = requireProfile(context, requester, { assertion, provider, catalog, resource })

  const use = () => consume(context, assertion, provider)
  const subject = await settleSubject(context, { provider, identity, client, named: form.get('user_id'), use })
  if (subject.kind === 'refused') throw refusal(context, requester, subject.reason, provider, subject.detail)
  const { userId, key, openedAt } = subject
  const resources = [resource]
  const left = await ruleSubject(context, requester, { userId, organizationId, scope, resources }, provider)

  const grant = {
    id: mintGrantId(openedAt, context.random),
    clientId: client.id,
    userId,
    organizationId,
    scope,
    ungrantedScope: NO_SCOPE,
    resources,
    createdAt: openedAt,
    expiresAt: after(openedAt, profile.lifetime * 1000),
    revokedAt: undefined,
    family: undefined,
    openid: undefined,
    stated: undefined,
    redirectHost: undefined,
    boundKey: undefined,
    providerId: provider.id,
  }
  const applicationSubject = profile.applicationSubject ? await findApplicationSubject(context, userId) : undefined
  const target = { scope: left, resources, applicationSubject }
  const at = { profile, generation: 0, at: openedAt, now: openedAt, refresh: undefined, nonce: undefined }
  const [issued, outcome] = await Promise.all([
    issueGrantToken(context, client, grant, target, at),
    context.store.openGrant({ grant, identity: key }),
    client.usedAt === undefined ? context.store.useClient({ id: client.id, now: openedAt }) : undefined,
  ])
  // The person removed the provider from the account meanwhile (threats.md JAG-15).
  if (outcome === 'unlinked') throw refusal(context, requester, 'subject_refused', provider, 'identity-removed')
  return left === scope ? issued : { ...issued, leftOut: subtract(scope, left) }
}

/**
 * The scope that access rules leave of what the subject would get, for whom a level that one demands is not met. Nothing is a refusal as every
 * other of a subject.
 */
async function ruleSubject(
  context: Context,
  requester: TokenRequester,
  asked: Omit<PersonalAccess, 'client'>,
  provider: ProviderRecord,
): Promise<Scope> {
  if (hasNoRules(context, asked.organizationId)) return asked.scope
  const access = { ...asked, client: requester.client }
  const ruling = await findRuling(context, access, NEVER_MET)
  if (ruling === undefined) return asked.scope
  recordRuling(context, access, ruling)
  if (ruling.isNothing) throw refusal(context, requester, 'subject_refused', provider, 'access-rule')
  return ruling.scope
}

/** Verifies the signature and the claims. The claims first, so that an assertion for another server causes no request. */
async function requireSigned(context: Context, requester: TokenRequester, assertion: IdentityAssertion): Promise<void> {
  const provider = await requireProvider(context, requester, assertion)
  const expected = {
    audience: context.issuer,
    clientId: identifierOf(requester.client),
    now: context.clock(),
    notBefore: await context.notBefore(),
  }
  const fault = findIdentityAssertionFault(assertion, expected)
  if (fault !== undefined)
    throw refusal(context, requester, fault, provider, describeIdentityAssertionFault(fault, assertion, expected))
  const { network } = requester
  const payer = assertionPayer(provider.id, requester.client.id)
  const verified = await countUnverified(context, JSON.stringify([network, payer]), network, () =>
    context.providerSignIn.verify(provider, { ...assertion, network }),
  )
  if (verified.kind === 'wrong') throw refusal(context, requester, 'assertion_wrong', provider)
  if (verified.kind === 'failed') {
    context.report({ event: 'provider.failed', details: { provider: provider.id, reason: verified.reason } })
    throw unavailable('provider_unavailable', RETRY_SECONDS)
  }
  // An assertion that is refused from here on counts too, and so each client has a budget of its own.
  const outcome = context.budgets.take('assertion', payer, context.clock())
  if (!outcome.isWithin) throw tooManyRequests('assertion', outcome)
}

/** The name of the budget of a client's assertions of one provider. */
export function assertionPayer(provider: ProviderId, client: ClientId): string {
  return `${provider} ${client}`
}

/** The `Retry-After` of a response when the keys of the provider cannot be fetched. */
const RETRY_SECONDS = 5

/**
 * Returns the provider of the assertion, which must list the client. A client that no provider lists does not learn whom the server trusts. A
 * public client is accepted only with a metadata document: anybody can name any other public client.
 *
 * @throws OAuthError invalid_grant, unauthorized_client
 */
async function requireProvider(
  context: Context,
  requester: TokenRequester,
  { issuer }: IdentityAssertion,
): Promise<ProviderRecord> {
  const { client } = requester
  if (!isConfidential(client) && client.document === undefined) throw unauthorizedClient('client_public')
  const providers = usableProviders(context.settings, await context.providers())
  const listing = providers.filter(({ settings }) => settings.assertionClients.includes(identifierOf(client)))
  if (listing.length === 0 || (await findPolicyRefusal(context, client, 'use')) !== undefined) {
    const reason = 'client_not_listed'
    context.report({ event: 'assertion.refused', clientId: client.id, details: { reason } })
    throw unauthorizedClient(reason)
  }
  const [provider, ...others] = providers.filter(
    ({ settings }) => settings.assertionClients.length > 0 && settings.issuer === issuer,
  )
  if (provider !== undefined && others.length === 0 && listing.includes(provider)) return provider
  const issuers = listing.map(({ settings }) => settings.issuer)
  throw refusal(context, requester, 'assertion_issuer', undefined, compared(issuers, issuer))
}

interface Asserted {
  readonly assertion: IdentityAssertion
  readonly provider: ProviderRecord
  readonly catalog: ScopeCatalog
  readonly resource: Resource
  readonly form: Parameters
}

/** The API of the token. It must be declared, also where a server for development accepts any other resource. */
function requireResource(
  context: Context,
  requester: TokenRequester,
  { assertion, provider, catalog, form }: Omit<Asserted, 'resource'>,
): Resource {
  const offered = provider.settings.assertionApis
  const chosen = chooseAssertedResource(assertion, readResources(form), offered)
  const api = chosen === undefined ? undefined : findApi(catalog, chosen)
  if (api !== undefined) return api.resource
  const received = { assertion: assertion.claims['resource'], request: form.get('resource') }
  throw refusal(context, requester, 'assertion_resource', provider, compared(offered, received))
}

/**
 * The scope that is in the request and in the assertion, as far as the API gives it to this client for a user. An identity scope is in
 * neither: the token is for an API.
 *
 * @throws OAuthError invalid_scope
 */
function chooseScope(
  context: Context,
  { client }: TokenRequester,
  { assertion, catalog, resource, form }: Omit<Asserted, 'provider'>,
): Scope {
  const requested = readScope(form)
  const asserted = assertion.scope
  const wanted = requested ?? asserted
  const both = requested === undefined || asserted === undefined ? wanted : intersect(requested, asserted)
  const scope = both === undefined ? undefined : withoutIdentity(both)
  const about = { clientId: client.id, userId: undefined, organizationId: undefined }
  if (scope === NO_SCOPE) {
    const withheld = scopeTokens(subtract(wanted ?? NO_SCOPE, both ?? NO_SCOPE))
    const refused = nothingRemains(new Map(withheld.map((token) => [token, 'not_asserted'])), [])
    throw scopeError(context, about, refused, form.get('scope'))
  }
  const recipient = { kind: 'asserted-user', client, installed: undefined } as const
  const decision = decideScope(catalog, recipient, { scope, resources: [resource] })
  if (decision.kind === 'refused') throw scopeError(context, about, decision.refusal, form.get('scope'))
  return withoutIdentity(decision.scope)
}

function withoutIdentity(scope: Scope): Scope {
  return narrow(scope, (token) => !isIdentityScope(token))
}

/** An assertion for the holder of a key needs a proof of it, and gives a token that is bound to it. */
function requireProfile(
  context: Context,
  requester: TokenRequester,
  { assertion, provider, catalog, resource }: Omit<Asserted, 'form'>,
): TokenProfile {
  const { keyThumbprint } = assertion
  if (keyThumbprint !== undefined && keyThumbprint !== requester.key)
    throw refusal(context, requester, 'key_differs', provider)
  const profile = chooseTokenProfile(context, catalog, [resource], requester)
  if (keyThumbprint !== undefined && profile.key === undefined) throw invalidTarget('binding_differs', [])
  return profile
}

/** Accepts the assertion once, on all nodes. RFC 7519 §4.1.7. */
async function consume(
  { secrets, store }: Context,
  assertion: IdentityAssertion,
  { id }: ProviderRecord,
): Promise<boolean> {
  const digest = secrets.digest('assertion-grant', [id, assertion.subject, assertion.id])
  return (await store.consumeOnce([{ digest, expiresAt: rememberAssertionUntil(assertion) }])) === 'fresh'
}

/** The error for an assertion that is not accepted. The caller learns only that; the failure counts for its network. `detail`: for the log. */
function refusal(
  context: Context,
  { client, network }: TokenRequester,
  reason: Reason<'invalid_grant'>,
  provider?: ProviderRecord,
  detail?: string,
): OAuthError {
  const about = provider === undefined ? {} : { provider: provider.id }
  context.report({ event: 'assertion.refused', clientId: client.id, details: { reason, ...about } })
  countFailure(context, network)
  return invalidGrant(reason, undefined, detail)
}
