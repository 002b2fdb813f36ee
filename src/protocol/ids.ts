import type { Brand, EpochMs } from './brand.ts'

export type ClientId = Brand<string, 'ClientId'>
export type UserId = Brand<string, 'UserId'>
/** One authorization request and, once approved, its code. */
export type AuthorizationId = Brand<string, 'AuthorizationId'>
/** What a person allowed one client once; also the refresh token family of that. */
export type GrantId = Brand<string, 'GrantId'>
export type SessionId = Brand<string, 'SessionId'>
/** Names the credentials with which an API asks about tokens. */
export type ApiCredentialId = Brand<string, 'ApiCredentialId'>
export type KeyId = Brand<string, 'KeyId'>
export type OrganizationId = Brand<string, 'OrganizationId'>
/** An access token that stands in the store; its `jti` too. */
export type OpaqueTokenId = Brand<string, 'OpaqueTokenId'>
/** Names the credentials of an administrator. */
export type AdminCredentialId = Brand<string, 'AdminCredentialId'>

/** A source of unpredictable bytes. Passed in, so that tests can seed it. */
export type Random = (bytes: number) => Buffer

/** Characters of a time-ordered id: 12 of milliseconds in hex, 22 of 128 random bits in base64url. */
export const ID_LENGTH = 34

/**
 * A time-ordered id (decisions.md D2): 48 bits of milliseconds, then 128 random bits. New rows land at the end of their
 * index, which keeps inserts flat as a table grows.
 */
export function mintOrderedId(now: EpochMs, random: Random): string {
  return now.toString(16).padStart(12, '0') + random(16).toString('base64url')
}

/** RFC 6749 §2.2: the client identifier is unique and not a secret. */
export function mintClientId(now: EpochMs, random: Random): ClientId {
  return `gci_${mintOrderedId(now, random)}` as ClientId
}

/** Prefixed apart from client ids, so that a `sub` of one can never equal a `sub` of the other (RFC 9068 §5). */
export function mintUserId(now: EpochMs, random: Random): UserId {
  return `gus_${mintOrderedId(now, random)}` as UserId
}

/** RFC 7517 §4.5: a key id that no other key of this issuer ever has. */
export function mintKeyId(now: EpochMs, random: Random): KeyId {
  return mintOrderedId(now, random) as KeyId
}

/** Names one authorization request in the addresses of our own pages. It gives nothing without the browser's cookie. */
export function mintAuthorizationId(now: EpochMs, random: Random): AuthorizationId {
  return mintOrderedId(now, random) as AuthorizationId
}

export function mintGrantId(now: EpochMs, random: Random): GrantId {
  return mintOrderedId(now, random) as GrantId
}

export function mintSessionId(now: EpochMs, random: Random): SessionId {
  return mintOrderedId(now, random) as SessionId
}

/** Prefixed apart from client ids, because both may stand in the same place of a request. */
export function mintApiCredentialId(now: EpochMs, random: Random): ApiCredentialId {
  return `gap_${mintOrderedId(now, random)}` as ApiCredentialId
}

export function mintOrganizationId(now: EpochMs, random: Random): OrganizationId {
  return `gor_${mintOrderedId(now, random)}` as OrganizationId
}

/** The id of an access token in the store: the moment when it expires, so that sweeps take from the start, and what is its own. */
export function opaqueTokenId(expiresAt: EpochMs, own: string): OpaqueTokenId {
  return (expiresAt.toString(16).padStart(12, '0') + own.slice(0, 22)) as OpaqueTokenId
}

export function mintAdminCredentialId(now: EpochMs, random: Random): AdminCredentialId {
  return mintOrderedId(now, random) as AdminCredentialId
}

/** The forms of ids, as OpenAPI describes them too. */
export const ORDERED_ID = /^[0-9a-f]{12}[A-Za-z0-9_-]{22}$/

/** A text that has the form of an authorization's id. */
export function parseAuthorizationId(text: string): AuthorizationId | undefined {
  return ORDERED_ID.test(text) ? (text as AuthorizationId) : undefined
}

export const CLIENT_ID_FORM = /^gci_[0-9a-f]{12}[A-Za-z0-9_-]{22}$/

/** A text that has the form of a client id; whether it exists is for the store to say. */
export function parseClientId(text: string): ClientId | undefined {
  return CLIENT_ID_FORM.test(text) ? (text as ClientId) : undefined
}

export const USER_ID_FORM = /^gus_[0-9a-f]{12}[A-Za-z0-9_-]{22}$/

/** A text that has the form of a user id. */
export function parseUserId(text: string): UserId | undefined {
  return USER_ID_FORM.test(text) ? (text as UserId) : undefined
}

export const ORGANIZATION_ID_FORM = /^gor_[0-9a-f]{12}[A-Za-z0-9_-]{22}$/

/** A text that has the form of an organization's id. */
export function parseOrganizationId(text: string): OrganizationId | undefined {
  return ORGANIZATION_ID_FORM.test(text) ? (text as OrganizationId) : undefined
}

/** A text that has the form of a grant's id. */
export function parseGrantId(text: string): GrantId | undefined {
  return ORDERED_ID.test(text) ? (text as GrantId) : undefined
}

/** A text that has the form of the id of an administrator's credentials. */
export function parseAdminCredentialId(text: string): AdminCredentialId | undefined {
  return ORDERED_ID.test(text) ? (text as AdminCredentialId) : undefined
}
