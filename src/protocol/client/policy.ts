import type { EpochMs } from '../../base/brand.ts'
import type { GroupClaim } from '../access/group-claim.ts'
import { identifierOf, type Identified } from './identifier.ts'
import { destinationsOf, type ClientAddresses, type ClientDestination } from './identity.ts'
import type { ClientMetadata } from './members.ts'
import { isWithinHosts, type RegistrationLimits } from './registration-template.ts'
import type { DomainRules } from './domain-rule.ts'
import type { InitialTokenId } from '../ids.ts'
import { isLoopback, webHost } from '../uri/redirect-uri.ts'

/** How a client came to the server: an administrator created it, it registered (RFC 7591), or its id is the URL of its metadata document. */
export const CLIENT_SOURCES = ['operator', 'registration', 'document'] as const
export type ClientSource = (typeof CLIENT_SOURCES)[number]

/** A client in an access rule: by its `client_id`, by where it comes from, or by the host of its metadata document. */
export type ClientTerm = `client:${string}` | `source:${ClientSource}` | 'unverified' | `document:${string}`

/** What the operator knows about a client. The rights of a client follow from it, except those that its rules give. */
export type TrustLevel = 'verified' | 'known-domain' | 'unverified'

/** Who may register: every caller, callers with an initial access token, or none. */
export const REGISTRATION_MODES = ['open', 'token', 'closed'] as const
export type RegistrationMode = (typeof REGISTRATION_MODES)[number]

/** Which client metadata documents are accepted: all, those of trusted domains, or none. */
export const DOCUMENT_MODES = ['open', 'trusted', 'off'] as const
export type DocumentMode = (typeof DOCUMENT_MODES)[number]

/** A client is removed by no sweep while its user may still be on the way to the first token. */
export const YOUNG_CLIENT_MS = 15 * 60_000

/** What an earlier refresh token of a family gets: the newest one in the network that has it, or nothing (decision 0054). */
export const COPIES_RULES = ['network', 'strict'] as const
export type CopiesRule = (typeof COPIES_RULES)[number]

/** What the operator decided about one client. It has an effect only for a client that an operator created. */
export interface ClientRules {
  /** `implied`: the users of a first-party client are not asked for consent to the scope that the operator registered for it. */
  readonly consent: 'asked' | 'implied'
  /**
   * `nonce`: the client may omit PKCE in a request with a `nonce`, which it gets back in the ID token and compares (RFC 9700 §2.1.1,
   * OAuth 2.1). `optional`: in every request, because its library has neither. A code without PKCE is bound to the client and the
   * redirect URI.
   */
  readonly pkce: 'required' | 'nonce' | 'optional'
  /** Where the client finds the claims that its scope requests: always at the userinfo endpoint, and with `id-token` there too. */
  readonly claims: 'userinfo' | 'id-token'
  /** `fapi2`: the requirements of the FAPI 2.0 Security Profile for clients hold (docs/tokens.md#fapi-20). */
  readonly profile: 'standard' | 'fapi2'
  /** What its earlier refresh tokens get. Absent: `ownCopiesOf` says. */
  readonly copies?: CopiesRule
  /** The claim in which it reads the groups of users. Absent: it reads none. */
  readonly groupClaim?: GroupClaim
}

export const DEFAULT_RULES: ClientRules = {
  consent: 'asked',
  pkce: 'required',
  claims: 'userinfo',
  profile: 'standard',
}

/** The part of the policy that is the same for all clients. */
export interface ClientPolicy {
  readonly registration: RegistrationMode
  readonly documents: DocumentMode
  /** Whether the issuer is a loopback address: the server, its users and their programs are on one computer. */
  readonly isLoopbackIssuer: boolean
  readonly domains: DomainRules
}

/** What the policy reads of a client. */
export interface PolicyClient {
  readonly source: ClientSource
  readonly verifiedAt: EpochMs | undefined
  readonly rules: ClientRules
  readonly document: { readonly url: string } | undefined
  readonly metadata: ClientAddresses &
    Pick<ClientMetadata, 'jwks_uri' | 'token_endpoint_auth_method' | 'require_pushed_authorization_requests'>
  /** The initial access token that the client registered with. */
  readonly initialToken: { readonly id: InitialTokenId } | undefined
}

/** What is known of a client without its metadata. */
export type ClientOrigin = Pick<PolicyClient, 'source' | 'verifiedAt' | 'document'>

export interface PolicyQuestion {
  readonly client: PolicyClient
  /** `enter`: the client is not stored yet. `use`: it is. */
  readonly phase: 'enter' | 'use'
  /** The redirect URI of an authorization request; undefined where there is none. */
  readonly redirectUri: string | undefined
  /** The tokens go to the device that shows a code (RFC 8628). Absent: they do not. */
  readonly isDevice?: true
}

/** The trust level, as the pages show it. */
export type ClientTrust =
  | { readonly level: 'verified' | 'unverified' }
  /** The host of the client's metadata document, or the one that receives the authorization response. */
  | { readonly level: 'known-domain'; readonly host: string }

/** A trust level, or that the domain of the client is blocked. */
export const SHOWN_LEVELS = ['verified', 'known-domain', 'unverified', 'blocked'] as const
export type ShownLevel = (typeof SHOWN_LEVELS)[number]

/** What a client may do. */
export interface ClientRights {
  readonly trust: ClientTrust
  /** Errors of its authorization requests are redirected to it, also if the user has never consented to the client. */
  readonly mayReceiveErrors: boolean
  /** A consent is remembered, so that the user is not asked again for the same access. */
  readonly mayRememberConsent: boolean
  /** The user is not asked for consent to the registered scope, unless the request has `prompt=consent`. */
  readonly mayImplyConsent: boolean
  /** When the client may omit PKCE, as in its rules. `always`: PKCE is required, and no rule of the operator can change that. */
  readonly pkce: ClientRules['pkce'] | 'always'
  /** Where the client is notified of the end of a session; undefined: it is not. */
  readonly noticeUri: string | undefined
}

export type ClientVerdict = { readonly kind: 'allowed'; readonly rights: ClientRights } | PolicyRefusal

export type PolicyRefusal =
  /** The domain of the URI is blocked. `path`: where the metadata has it; empty for the URL of the metadata document. */
  | (ClientDestination & { readonly kind: 'refused'; readonly reason: 'domain-blocked' })
  | {
      readonly kind: 'refused'
      readonly reason: 'registration-closed' | 'registration-needs-token' | 'documents-off' | 'document-untrusted'
    }

/**
 * Decides whether a client may enter the server or be used, and what it may do. Nothing else reads where a client comes from,
 * whether it is verified, the rules for domains or the modes; test/repository/layout.ts checks it.
 *
 *  1. A client of a blocked domain is refused, wherever it comes from.
 *  2. A mode that is closed refuses new clients. Clients that are stored stay usable.
 *  3. The trust level is `verified` for a client that an operator created or verified. It is `known-domain` if every URI to which the
 *     server sends a browser or a notice, and the metadata document, have a trusted domain.
 *     A public client at a device is `unverified`, because nothing proves which program gets the tokens (decision 0039).
 *  4. The rights follow from the level and from where the redirect URI leads.
 */
export function evaluateClientPolicy(
  policy: ClientPolicy,
  { client, phase, redirectUri, isDevice }: PolicyQuestion,
): ClientVerdict {
  const blocked = findBlocked(policy, client)
  if (blocked !== undefined) return { kind: 'refused', reason: 'domain-blocked', ...blocked }
  const closed = phase === 'enter' ? findClosed(policy, client) : undefined
  if (closed !== undefined) return { kind: 'refused', reason: closed }
  const trust = isDevice === true && !provesItself(client) ? UNVERIFIED : trustOf(policy, client, redirectUri)
  const isChecked = isVerified(client)
  // RFC 8252 §8.6: any program can listen on loopback or claim a scheme, so a consent to one program must not serve another.
  const isWeb = redirectUri !== undefined && hasDomain(redirectUri)
  // There a developer tries an application that will have https, and the program that could listen is one of the developer's own.
  const isTried = policy.isLoopbackIssuer && redirectUri !== undefined && isLoopback(redirectUri)
  return {
    kind: 'allowed',
    rights: {
      trust,
      mayReceiveErrors: trust.level !== 'unverified',
      mayRememberConsent: redirectUri !== undefined && (isWeb || isChecked),
      mayImplyConsent: isOperatorMade(client) && client.rules.consent === 'implied' && (isWeb || isTried),
      pkce: pkceOf(client, isWeb),
      noticeUri: noticeUriOf(client),
    },
  }
}

/**
 * RFC 9700 §2.1.1 requires PKCE of public clients, and recommends it to others. The exception for a `nonce` is for a redirect URI with
 * https that leads to another computer: any program can listen on loopback.
 */
function pkceOf(client: PolicyClient, isWeb: boolean): ClientRights['pkce'] {
  if (!isOperatorMade(client) || client.metadata.token_endpoint_auth_method === 'none' || followsFapi(client))
    return 'always'
  return client.rules.pkce === 'nonce' && !isWeb ? 'required' : client.rules.pkce
}

/**
 * Whether an operator created or verified the client. This does not depend on the domains, so a token request can ask it
 * without reading them.
 */
export function isVerified({ source, verifiedAt }: Pick<PolicyClient, 'source' | 'verifiedAt'>): boolean {
  return isOperatorMade({ source }) || verifiedAt !== undefined
}

/** Whether only administrators change the client: one of them created or adopted it. */
export function isOperatorMade({ source }: Pick<PolicyClient, 'source'>): boolean {
  return source === 'operator'
}

/** Whether the FAPI 2.0 Security Profile holds for the client. */
export function followsFapi({ source, rules }: Pick<PolicyClient, 'source' | 'rules'>): boolean {
  return isOperatorMade({ source }) && rules.profile === 'fapi2'
}

/**
 * What the earlier refresh tokens of a client get (decision 0054); undefined: what the setting of the server says. A confidential client of the
 * operator has one store, and its secret protects a copy, so without a rule it stays strict. A client of the profile FAPI 2.0 keeps its token. For
 * every other client an operator can only say that they are strict: that trusts it with nothing.
 */
export function ownCopiesOf(client: Pick<PolicyClient, 'source' | 'rules' | 'metadata'>): CopiesRule | undefined {
  if (!isOperatorMade(client)) return client.rules.copies === 'strict' ? 'strict' : undefined
  if (followsFapi(client)) return 'strict'
  return client.rules.copies ?? (client.metadata.token_endpoint_auth_method === 'none' ? undefined : 'strict')
}

/** Whether the client must push its authorization requests. RFC 9126 §6, FAPI 2.0 Security Profile §5.3.2.2. */
export function mustPush(client: Pick<PolicyClient, 'source' | 'rules' | 'metadata'>): boolean {
  return client.metadata.require_pushed_authorization_requests === true || followsFapi(client)
}

/** Whether ID tokens have the claims that the scope of the client requests. OpenID Connect Core 1.0 §5.4. */
export function hasClaimsInIdToken({ source, rules }: Pick<PolicyClient, 'source' | 'rules'>): boolean {
  return isOperatorMade({ source }) && rules.claims === 'id-token'
}

/**
 * The claim in which a client reads the groups of users; undefined: it reads none, as every client that registered itself, because the names of
 * groups say what an organization does (threats.md GRP-02).
 */
export function groupClaimOf({ source, rules }: Pick<PolicyClient, 'source' | 'rules'>): GroupClaim | undefined {
  return isOperatorMade({ source }) ? rules.groupClaim : undefined
}

/** What access rules call a client. The trust in its domain is not among it, which no token request reads. */
export function ruledClient(client: ClientOrigin & Identified): readonly ClientTerm[] {
  const labels = client.document === undefined ? [] : new URL(client.document.url).hostname.split('.')
  return [
    `client:${identifierOf(client)}`,
    `source:${client.source}`,
    ...(isVerified(client) ? [] : ['unverified' as const]),
    ...labels.map((_, index): ClientTerm => `document:${index === 0 ? '' : '*.'}${labels.slice(index).join('.')}`),
  ]
}

/**
 * Whether the server sends requests to the client at this URL to notify it (OpenID Connect Back-Channel Logout 1.0 §2.5). Anyone can
 * register any URL, so the operator must have checked the client, or its metadata document proves that it has this host.
 */
export function mayBeNotifiedAt(client: ClientOrigin, url: string): boolean {
  if (isVerified(client)) return true
  return client.document !== undefined && new URL(client.document.url).host === URL.parse(url)?.host
}

/** What is read of a client to which pages lead. */
type LedClient = PolicyClient & {
  readonly metadata: Pick<ClientMetadata, 'client_uri' | 'initiate_login_uri'>
  readonly initialToken: RegistrationLimits | undefined
}

/**
 * Where pages lead the users of a client, after an invitation for example; undefined: nowhere. Anyone can register any address, so the
 * operator must have created or verified the client; of one that a token verified, the token must allow the host. An address on the computer of the user counts only where the server is there too.
 */
export function findProductUri(policy: ClientPolicy, client: LedClient): string | undefined {
  if (!isVerified(client) || findBlocked(policy, client) !== undefined) return undefined
  const { initiate_login_uri: login, client_uri: website } = client.metadata
  const limits = isOperatorMade(client) ? undefined : client.initialToken
  return [login, website].find((uri) => uri !== undefined && mayLeadTo(policy, uri) && isWithinHosts(uri, limits))
}

function mayLeadTo({ domains, isLoopbackIssuer }: ClientPolicy, uri: string): boolean {
  if (!/^https?:\/\//.test(uri) || !URL.canParse(uri)) return false
  if (isLoopback(uri)) return isLoopbackIssuer
  return uri.startsWith('https:') && !isBlocked(domains, uri)
}

function noticeUriOf(client: PolicyClient): string | undefined {
  const { backchannel_logout_uri: uri } = client.metadata
  return uri !== undefined && mayBeNotifiedAt(client, uri) ? uri : undefined
}

/** Whether the server has a registration endpoint for new clients. RFC 7591 §3. */
export function offersRegistration({ registration }: Pick<ClientPolicy, 'registration'>): boolean {
  return registration !== 'closed'
}

/** Whether only a caller with an initial access token may register. RFC 7591 §3. */
export function requiresInitialToken({ registration }: Pick<ClientPolicy, 'registration'>): boolean {
  return registration === 'token'
}

/** Whether the server accepts clients that it does not know by their metadata documents. */
export function offersDocuments(mode: DocumentMode): boolean {
  return mode !== 'off'
}

function findBlocked({ domains }: ClientPolicy, { document, metadata }: PolicyClient): ClientDestination | undefined {
  if (domains.isEmpty) return undefined
  if (document !== undefined && domains.ofDocument(document.url) === 'blocked') return { uri: document.url, path: [] }
  const keys = metadata.jwks_uri === undefined ? [] : [{ uri: metadata.jwks_uri, path: ['jwks_uri'] }]
  return [...destinationsOf(metadata), ...keys].find(({ uri }) => isBlocked(domains, uri))
}

/** Whether the operator blocked the host of a URI. */
export function isBlocked(domains: DomainRules, uri: string): boolean {
  return !domains.isEmpty && hasDomain(uri) && domains.ofHost(new URL(uri).hostname) === 'blocked'
}

function findClosed(policy: ClientPolicy, { source, document, initialToken }: PolicyClient) {
  switch (source) {
    case 'operator':
      return undefined
    case 'registration':
      if (!offersRegistration(policy)) return 'registration-closed'
      return requiresInitialToken(policy) && initialToken === undefined ? 'registration-needs-token' : undefined
    case 'document':
      if (policy.documents === 'off' || document === undefined) return 'documents-off'
      if (policy.documents === 'open' || policy.domains.ofDocument(document.url) === 'trusted') return undefined
      return 'document-untrusted'
  }
}

const UNVERIFIED: ClientTrust = { level: 'unverified' }

/** Whether only the client itself can request tokens. Any program can name a public client, and no redirect URI shows which one does. */
function provesItself({ metadata }: PolicyClient): boolean {
  return metadata.token_endpoint_auth_method !== 'none'
}

function trustOf(policy: ClientPolicy, client: PolicyClient, redirectUri: string | undefined): ClientTrust {
  if (isVerified(client)) return { level: 'verified' }
  const host = knownHost(policy, client, redirectUri)
  return host === undefined ? UNVERIFIED : { level: 'known-domain', host }
}

/**
 * Returns the host that a client of a known domain is shown with. A redirect URI to the user's own computer is known where
 * the metadata document of a known domain names it, and otherwise any program may have registered it.
 */
function knownHost(
  { domains }: ClientPolicy,
  { document, metadata }: PolicyClient,
  redirectUri: string | undefined,
): string | undefined {
  if (domains.isEmpty || (document !== undefined && domains.ofDocument(document.url) !== 'trusted')) return undefined
  const isKnown = (uri: string): boolean =>
    hasDomain(uri) ? domains.ofHost(new URL(uri).hostname) === 'trusted' : document !== undefined
  const [first] = metadata.redirect_uris
  if (first === undefined || !destinationsOf(metadata).every(({ uri }) => isKnown(uri))) return undefined
  return new URL(document?.url ?? redirectUri ?? first).host
}

/** Whether a redirect URI leads to a host on the network, and not to a program on the user's computer. */
function hasDomain(uri: string): boolean {
  return webHost(uri) !== undefined
}
