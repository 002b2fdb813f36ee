import { parseClientReference } from '../client/identifier.ts'
import { organizationOfGroup } from '../access/group.ts'
import { groupsIn } from '../access/provider-groups.ts'
import type { ClientId, OrganizationId } from '../ids.ts'
import { APPLICATION, type ProviderId } from './authentication.ts'
import { isLoopbackHost } from '../uri/loopback.ts'
import { addressOf } from '../uri/server-address.ts'
import { MAXIMA } from '../../base/maxima.ts'

/** What a provider speaks: OpenID Connect, or the OAuth 2.0 and API of GitHub. */
export const PROVIDER_KINDS = ['oidc', 'github'] as const
/** How the server authenticates at the token endpoint of a provider. RFC 6749 §2.3.1. */
export const PROVIDER_AUTH_METHODS = ['client_secret_basic', 'client_secret_post'] as const
/** When an e-mail address of a provider counts as proved; see `evaluateIdentity` in provider-identity.ts. */
export const EMAIL_TRUSTS = ['none', 'claim', 'domains'] as const
/** Whether a person without an account gets one: never, with a proved address of the provider's domains, or always. */
export const SIGN_UPS = ['off', 'domains', 'anybody'] as const
/** What connects a provider to an account with the same proved address: the person who signs in to it, or the address alone. */
export const LINK_RULES = ['ask', 'verified-email'] as const
/** Whether accounts with an address of the provider's domains may sign in at the provider, or there only. */
export const ROUTINGS = ['offered', 'required'] as const
/** Whether each visitor of the sign-in page sees a button of the provider. `auto`: only if it has neither domains nor an organization. */
export const LISTINGS = ['auto', 'shown', 'hidden'] as const
/** Which persons become members of the organization: with a proved address of the provider's domains, or every person of the provider. */
export const MEMBERSHIP_RULES = ['domains', 'anybody'] as const
/** Which claims name a person. `tenant-object`: `tid` and `oid` of Microsoft Entra, which stay when the application is registered again. */
export const SUBJECT_CLAIMS = ['sub', 'tenant-object'] as const

/** What an operator declares about a provider at which users sign in. */
export interface ProviderSettings {
  readonly kind: (typeof PROVIDER_KINDS)[number]
  /** As the sign-in page shows it. */
  readonly name: string
  /** OpenID Connect Discovery §3, byte for byte. For GitHub, the origin of its pages. */
  readonly issuer: string
  readonly clientId: string
  readonly authMethod: (typeof PROVIDER_AUTH_METHODS)[number]
  readonly scope: string
  readonly subjectClaim: (typeof SUBJECT_CLAIMS)[number]
  readonly emailTrust: (typeof EMAIL_TRUSTS)[number]
  /** A claim that names the domain of the person's organization, such as `hd` of Google. undefined: the provider has none. */
  readonly domainClaim: string | undefined
  /** The domains that the operator says belong to this provider. A domain belongs to one provider. */
  readonly domains: readonly string[]
  readonly routing: (typeof ROUTINGS)[number]
  readonly listing: (typeof LISTINGS)[number]
  readonly signUp: (typeof SIGN_UPS)[number]
  readonly link: (typeof LINK_RULES)[number]
  /** The operator says that the provider asks every person for a second factor. Its own word about that, such as `amr`, does not count. */
  readonly multiFactor: boolean
  /** The organization of which `membership` makes users members. */
  readonly organizationId: OrganizationId | undefined
  /** `anybody`: the operator declares that every person of the provider belongs to the organization. */
  readonly membership: (typeof MEMBERSHIP_RULES)[number]
  /** The claim that has the groups of a person, or `teams` of GitHub. undefined: none is read. */
  readonly groupClaim: string | undefined
  /** The values of the claim that count, each with the group that it means, as `parseProviderGroup` reads them. None without a claim. */
  readonly groups: readonly string[]
  /** For how many days after a sign-in the word of the provider about groups counts. */
  readonly groupDays: number
  /** The host of Microsoft Graph, which is asked if Entra leaves the groups out of a token. undefined: none is asked. */
  readonly graphHost: string | undefined
  /** Hosts of the provider that may have private addresses and any port, besides that of the issuer. */
  readonly privateHosts: readonly string[]
  /** The `client_id`s that may act for persons of the provider by its identity assertions, and the APIs for which. Both or neither are empty. */
  readonly assertionClients: readonly string[]
  readonly assertionApis: readonly string[]
}

/** The most providers of a server. */
export const PROVIDER_LIMIT = MAXIMA.providers.most
/** The most domains, and the most private hosts, of a provider. */
export const PROVIDER_LIST_LIMIT = MAXIMA.providerList.most
/** The most clients, and the most APIs, of the identity assertions of a provider. */
export const ASSERTION_LIST_LIMIT = MAXIMA.assertionList.most
export const PROVIDER_ID_FORM = /^[a-z][a-z0-9-]{0,30}$/
/** A DNS name in ASCII with at least one dot. An internationalized name is in its A-label form (RFC 5890 §2.3.2.1). */
export const DOMAIN_FORM = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/

/** Issuers of Microsoft Entra for accounts of many tenants. Each of them can put any address into a token. */
const MANY_TENANTS = /^https:\/\/login\.microsoftonline\.com\/(common|organizations|consumers)(\/|$)/
/** Issuers at which anybody has an account or can open one, also with a password alone: Google, GitHub, and the tenant of personal Microsoft accounts. */
const OPEN_TO_ANYBODY =
  /^https:\/\/(accounts\.google\.com|github\.com|login\.microsoftonline\.com\/9188040d-6c67-4c5b-b112-36a304b66dad)(\/|$)/

/**
 * Returns undefined if the text cannot be the id of a provider. Users whom the operator's own application signs in have the id
 * `APPLICATION` in the place of a provider's.
 */
export function parseProviderId(text: string): ProviderId | undefined {
  return PROVIDER_ID_FORM.test(text) && text !== APPLICATION ? (text as ProviderId) : undefined
}

/** The settings that a template fills in for a kind of provider. The operator may replace each of them. */
export const PROVIDER_TEMPLATES = {
  google: template({ issuer: 'https://accounts.google.com', domainClaim: 'hd' }),
  entra: template({
    subjectClaim: 'tenant-object',
    emailTrust: 'domains',
    authMethod: 'client_secret_post',
    graphHost: 'graph.microsoft.com',
  }),
  okta: template({}),
  keycloak: template({}),
  dex: template({}),
  oidc: template({}),
  github: template({
    kind: 'github',
    issuer: 'https://github.com',
    scope: 'read:user user:email',
    authMethod: 'client_secret_post',
  }),
} as const satisfies Readonly<Record<string, ProviderTemplate>>

export type ProviderTemplateName = keyof typeof PROVIDER_TEMPLATES

/** `issuer`: undefined where each operator has another one. */
export type ProviderTemplate = Omit<ProviderSettings, 'name' | 'issuer' | 'clientId'> & {
  readonly issuer: string | undefined
}

function template(differing: Partial<ProviderTemplate>): ProviderTemplate {
  return {
    kind: 'oidc',
    issuer: undefined,
    authMethod: 'client_secret_basic',
    scope: 'openid email profile',
    subjectClaim: 'sub',
    emailTrust: 'claim',
    domainClaim: undefined,
    domains: [],
    routing: 'offered',
    listing: 'auto',
    signUp: 'off',
    link: 'ask',
    multiFactor: false,
    organizationId: undefined,
    membership: 'domains',
    groupClaim: undefined,
    groups: [],
    groupDays: 30,
    graphHost: undefined,
    privateHosts: [],
    assertionClients: [],
    assertionApis: [],
    ...differing,
  }
}

/**
 * Whether each visitor of the sign-in page sees a button of the provider. The users of a customer have its domains or belong to its
 * organization, so by default no one else learns of the customer.
 */
export function isListed({ listing, domains, organizationId }: Listing): boolean {
  return listing === 'auto' ? domains.length === 0 && organizationId === undefined : listing === 'shown'
}

type Listing = Pick<ProviderSettings, 'listing' | 'domains' | 'organizationId'>

/** The path of the redirect URIs of this server at providers, without the id of the provider. */
export const PROVIDER_CALLBACK_PATH = '/v2/oauth/callback/'

/** The redirect URI of this server at a provider. Each provider has one of its own (RFC 9700 §4.4.2.1). */
export function providerRedirectUri(issuer: string, id: ProviderId): string {
  return addressOf(issuer, `${PROVIDER_CALLBACK_PATH}${id}`)
}

/** Returns why settings, of which each member is well-formed, cannot be used together; undefined: they can. */
export function findProviderFault(
  settings: ProviderSettings,
  { isLoopbackIssuer }: { readonly isLoopbackIssuer: boolean },
): string | undefined {
  const { issuer, signUp, domains, routing, link, scope, kind } = settings
  const issuerFault = findIssuerFault(issuer, isLoopbackIssuer)
  if (issuerFault !== undefined) return issuerFault
  if (kind === 'oidc' && !scope.split(' ').includes('openid')) return 'The scope of an OpenID provider contains openid.'
  const membershipFault = findMembershipFault(settings)
  if (membershipFault !== undefined) return membershipFault
  if (settings.multiFactor && OPEN_TO_ANYBODY.test(issuer)) {
    return 'Anybody can have an account at this provider, also without a second factor, so the sign-ins there have one factor.'
  }
  const groupFault = findGroupFault(settings)
  if (groupFault !== undefined) return groupFault
  const assertionFault = findAssertionFault(settings)
  if (assertionFault !== undefined) return assertionFault
  if (domains.length > 0) return undefined
  const needs = 'needs at least one domain of the provider (--domain).'
  if (routing === 'required') return `Required routing ${needs}`
  if (signUp === 'domains') return `Sign-up by domains ${needs}`
  if (link === 'verified-email') return `Linking by the e-mail address ${needs}`
  return undefined
}

/** Only what the operator says about a provider tells its persons apart from the members of an organization (threats.md UP-22). */
function findMembershipFault({
  issuer,
  domains,
  organizationId,
  membership,
}: Pick<ProviderSettings, 'issuer' | 'domains' | 'organizationId' | 'membership'>): string | undefined {
  if (membership === 'anybody') {
    if (organizationId === undefined) return 'Membership for anybody needs an organization (--organization).'
    return OPEN_TO_ANYBODY.test(issuer)
      ? 'Anybody can have an account at this provider, so membership is by domains.'
      : undefined
  }
  if (organizationId === undefined || domains.length > 0) return undefined
  return 'An organization needs at least one domain of the provider (--domain), or --membership anybody if every person of the provider belongs to it.'
}

/**
 * A provider says only what its list names, and one of an organization only groups of the organization: who administers its persons would
 * otherwise fill those of the server (threats.md GRP-04).
 */
function findGroupFault({
  kind,
  scope,
  organizationId,
  groupClaim,
  groups,
  graphHost,
}: Pick<ProviderSettings, 'kind' | 'scope' | 'organizationId' | 'groupClaim' | 'groups' | 'graphHost'>):
  | string
  | undefined {
  if (kind === 'github' && graphHost !== undefined) return 'Only Microsoft Entra has Microsoft Graph (--graph-host).'
  if (groupClaim === undefined)
    return groups.length === 0 ? undefined : 'Groups need the claim that has them (--group-claim).'
  if (kind === 'github' && groupClaim !== 'teams') return 'GitHub has teams as groups: --group-claim teams.'
  if (kind === 'github' && !scope.split(' ').includes('read:org'))
    return 'Teams of GitHub need the scope read:org: --scope "read:user user:email read:org".'
  const foreign = groupsIn(groups).find((id) => organizationOfGroup(id) !== organizationId)
  return organizationId === undefined || foreign === undefined
    ? undefined
    : `A provider of an organization says only groups of the organization, so ${foreign} cannot be one of ${organizationId}.`
}

/** Without a list the provider could let any client act for its persons at any API. */
function findAssertionFault({
  kind,
  assertionClients,
  assertionApis,
}: Pick<ProviderSettings, 'kind' | 'assertionClients' | 'assertionApis'>): string | undefined {
  if (assertionClients.length === 0 && assertionApis.length === 0) return undefined
  if (kind !== 'oidc') return 'Only an OpenID provider issues identity assertions.'
  return assertionClients.length > 0 && assertionApis.length > 0
    ? undefined
    : 'Identity assertions need a client (--assertion-client) and an API (--assertion-api).'
}

function findIssuerFault(issuer: string, isLoopbackIssuer: boolean): string | undefined {
  if (!URL.canParse(issuer)) return 'The issuer is not a URL.'
  const url = new URL(issuer)
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    return 'The issuer has no query, no fragment and no credentials.'
  }
  if (MANY_TENANTS.test(issuer)) {
    return 'The issuer is that of many tenants. Give the issuer of one: https://login.microsoftonline.com/<tenant id>/v2.0, and create a provider for each tenant.'
  }
  if (url.protocol === 'https:') return undefined
  const isLocal = url.protocol === 'http:' && isLoopbackHost(url.hostname)
  return isLocal && isLoopbackIssuer ? undefined : 'The issuer uses https.'
}

/** The ids of the clients that providers list for their assertions, each once. */
export function listedClients(
  providers: readonly { readonly settings: Pick<ProviderSettings, 'assertionClients'> }[],
): readonly ClientId[] {
  const listed = providers.flatMap(({ settings }) => settings.assertionClients.map(parseClientReference))
  return [...new Set(listed)].filter((id) => id !== undefined)
}
