import type { Brand, EpochMs } from '../base/brand.ts'

export type ClientId = Brand<string, 'ClientId'>
export type UserId = Brand<string, 'UserId'>
/** One authorization request and, once approved, its code. */
export type AuthorizationId = Brand<string, 'AuthorizationId'>
/** One pushed authorization request. */
export type PushedRequestId = Brand<string, 'PushedRequestId'>
/** A device that waits for a user. It is derived from the code that the user types. */
export type DeviceId = Brand<string, 'DeviceId'>
/** One grant: what a user authorized a client to do. Also names the grant's refresh token family. */
export type GrantId = Brand<string, 'GrantId'>
/** Names a mail that waits to be sent. */
export type MailId = Brand<string, 'MailId'>
export type SessionId = Brand<string, 'SessionId'>
/** Names the credentials with which an API introspects tokens. */
export type ApiCredentialId = Brand<string, 'ApiCredentialId'>
export type KeyId = Brand<string, 'KeyId'>
export type OrganizationId = Brand<string, 'OrganizationId'>
/** The key of an opaque access token in the store; also its `jti`. */
export type OpaqueTokenId = Brand<string, 'OpaqueTokenId'>
/** Names an initial access token. */
export type InitialTokenId = Brand<string, 'InitialTokenId'>
/** A sign-in that the operator's own application does. */
export type InteractionId = Brand<string, 'InteractionId'>
/** Names the credentials of an administrator. */
export type AdminCredentialId = Brand<string, 'AdminCredentialId'>

/** A source of unpredictable bytes. It is a parameter, so that tests can seed it. */
export type Random = (bytes: number) => Buffer

/** The hex digits of milliseconds with which a time-ordered id begins. */
const TIME_LENGTH = 12
/** The base64url characters of 128 random bits, with which it ends. */
const RANDOM_LENGTH = 22
/** The length of a time-ordered id. */
export const ID_LENGTH = TIME_LENGTH + RANDOM_LENGTH
export const ORDERED = `[0-9a-f]{${TIME_LENGTH}}[A-Za-z0-9_-]{${RANDOM_LENGTH}}`
/** The syntax of time-ordered ids; OpenAPI documents it too. */
export const ORDERED_ID_FORM = new RegExp(`^${ORDERED}$`)

/**
 * Makes a time-ordered id (decision 0003): 48 bits of milliseconds, then 128 random bits. New rows are appended at the end
 * of their index, so an insert does not become slower as the table grows.
 */
export function mintOrderedId(now: EpochMs, random: Random): string {
  return hexTime(now) + random(16).toString('base64url')
}

/** Where other ids have the time, these have 40 bits of the hash: SQLite computes a row number from the first twelve digits. */
const HASHED_DIGITS = 10
const HASHED_CHARACTERS = ID_LENGTH - 2 - HASHED_DIGITS

/** An id with the syntax of the others that is found by what it names. `digest`: 256 bits. */
export function hashedId(digest: Buffer): string {
  return `00${digest.toString('hex').slice(0, HASHED_DIGITS)}${digest.toString('base64url').slice(-HASHED_CHARACTERS)}`
}

/** When a time-ordered id was made. */
export function timeOfOrderedId(id: string): EpochMs {
  return Number.parseInt(id.slice(0, TIME_LENGTH), 16) as EpochMs
}

/** 48 bits as hex, in two halves: V8 converts an integer of at most 31 bits twice as fast. */
function hexTime(now: EpochMs): string {
  const high = Math.floor(now / 2 ** 24)
  const low = now % 2 ** 24
  return high.toString(16).padStart(6, '0') + low.toString(16).padStart(6, '0')
}

/** RFC 6749 §2.2: the client identifier is unique and not a secret. */
export function mintClientId(now: EpochMs, random: Random): ClientId {
  return `gci_${mintOrderedId(now, random)}` as ClientId
}

/** The prefix differs from that of client ids, so that the `sub` of a user never equals that of a client (RFC 9068 §5). */
export function mintUserId(now: EpochMs, random: Random): UserId {
  return `gus_${mintOrderedId(now, random)}` as UserId
}

/** An id before those of all users who are created from a time on. */
export function firstUserId(time: EpochMs): UserId {
  return `gus_${hexTime(time)}` as UserId
}

/** RFC 7517 §4.5: a key id that is unique for this issuer. */
export function mintKeyId(now: EpochMs, random: Random): KeyId {
  return mintOrderedId(now, random) as KeyId
}

/** Identifies an authorization request in the URLs of the sign-in pages. It is useless without the browser's cookie. */
export function mintAuthorizationId(now: EpochMs, random: Random): AuthorizationId {
  return mintOrderedId(now, random) as AuthorizationId
}

export function mintPushedRequestId(now: EpochMs, random: Random): PushedRequestId {
  return mintOrderedId(now, random) as PushedRequestId
}

/** The grant of a code has the id of its authorization, so that a code gives one grant. */
export function grantIdOf(id: AuthorizationId): GrantId {
  return id as string as GrantId
}

/** The id of a grant without a code. */
export function mintGrantId(now: EpochMs, random: Random): GrantId {
  return mintOrderedId(now, random) as GrantId
}

export function mintSessionId(now: EpochMs, random: Random): SessionId {
  return mintOrderedId(now, random) as SessionId
}

/** The prefix differs from that of client ids, because both are sent in the same place of a request. */
export function mintApiCredentialId(now: EpochMs, random: Random): ApiCredentialId {
  return `gap_${mintOrderedId(now, random)}` as ApiCredentialId
}

export function mintOrganizationId(now: EpochMs, random: Random): OrganizationId {
  return `gor_${mintOrderedId(now, random)}` as OrganizationId
}

/** The key of an opaque access token: its expiry time, so that sweeps delete from the start of the index, and its own part. */
export function opaqueTokenId(expiresAt: EpochMs, own: string): OpaqueTokenId {
  return (expiresAt.toString(16).padStart(TIME_LENGTH, '0') + own.slice(0, RANDOM_LENGTH)) as OpaqueTokenId
}

export function mintAdminCredentialId(now: EpochMs, random: Random): AdminCredentialId {
  return mintOrderedId(now, random) as AdminCredentialId
}

export function mintInteractionId(now: EpochMs, random: Random): InteractionId {
  return mintOrderedId(now, random) as InteractionId
}

/** 128 random bits, from which the secret of the mail is derived, too. */
export function mintMailId(random: Random): MailId {
  return random(16).toString('base64url') as MailId
}

/** The session that follows from the answer to an interaction has its id. */
export function sessionOfInteraction(id: InteractionId): SessionId {
  return id as string as SessionId
}

/** The interaction from whose answer a session followed. Of any other session the result names none. */
export function interactionOfSession(id: SessionId): InteractionId {
  return id as string as InteractionId
}

export function mintInitialTokenId(now: EpochMs, random: Random): InitialTokenId {
  return mintOrderedId(now, random) as InitialTokenId
}

/** Returns undefined if the text does not have the syntax of an authorization id. */
export function parseAuthorizationId(text: string): AuthorizationId | undefined {
  return ORDERED_ID_FORM.test(text) ? (text as AuthorizationId) : undefined
}

/** The ids of the records of clients: registered ones, and those whose `client_id` is another text (client/identifier.ts). */
export const CLIENT_ID_FORM = new RegExp(`^(gci|gcd|gcc)_${ORDERED}$`)

/** Returns undefined if the text does not have the syntax of a client id. Only the store knows whether the client exists. */
export function parseClientId(text: string): ClientId | undefined {
  return CLIENT_ID_FORM.test(text) ? (text as ClientId) : undefined
}

/**
 * The form of ids that the operator chooses, of letters, digits, `_` and `others`. It begins with a letter or a digit, so that
 * it is no option of a command, no part of a path such as `..`, and sorts below `~`. It does not begin as ids of this server do, in either case:
 * `g`, two letters and `_`. Without a look-ahead, which not all readers of OpenAPI documents know.
 */
export function chosenForm(others: string, most: number): string {
  const upTo = (count: number) => `[A-Za-z0-9_${others}]{0,${count}}`
  const [noLetter, noBar] = [`[0-9_${others}]`, `[A-Za-z0-9${others}]`]
  const third = `(?:${noLetter}${upTo(most - 3)}|[A-Za-z](?:${noBar}${upTo(most - 4)})?)?`
  const second = `(?:${noLetter}${upTo(most - 2)}|[A-Za-z]${third})?`
  return `(?:[A-FH-Za-fh-z0-9]${upTo(most - 1)}|[Gg]${second})`
}

/** 64 characters, because a passkey stores the id of its user in 64 bytes (WebAuthn Level 3 §5.4.3). */
export const CHOSEN_FORM = chosenForm('.~|:=-', 64)
/**
 * The audit names the actor by the id of a user, so an id of a user must not be that of another actor. `none` is what the consent page sends
 * for "without an organization".
 */
const RESERVED = new RegExp(`^(?:command-line|library|server|none|${ORDERED})$`)

/** What an id that the operator chooses for a user or an organization looks like. */
export const CHOSEN_ID_FORM = new RegExp(`^${CHOSEN_FORM}$`)

/** Whether the operator may choose the id for a user or an organization. */
export function isChosenId(text: string): boolean {
  return CHOSEN_ID_FORM.test(text) && !RESERVED.test(text)
}

export const USER_ID_FORM = new RegExp(`^(?:gus_${ORDERED}|${CHOSEN_FORM})$`)

/** Returns undefined if the text does not have the syntax of a user id. */
export function parseUserId(text: string): UserId | undefined {
  return USER_ID_FORM.test(text) && !RESERVED.test(text) ? (text as UserId) : undefined
}

export const ORGANIZATION_ID_FORM = new RegExp(`^(?:gor_${ORDERED}|${CHOSEN_FORM})$`)

/** Returns undefined if the text does not have the syntax of an organization id. */
export function parseOrganizationId(text: string): OrganizationId | undefined {
  return ORGANIZATION_ID_FORM.test(text) && !RESERVED.test(text) ? (text as OrganizationId) : undefined
}

/** Returns undefined if the text does not have the syntax of a grant id. */
export function parseGrantId(text: string): GrantId | undefined {
  return ORDERED_ID_FORM.test(text) ? (text as GrantId) : undefined
}

/** Returns undefined if the text does not have the syntax of a session id. */
export function parseSessionId(text: string): SessionId | undefined {
  return ORDERED_ID_FORM.test(text) ? (text as SessionId) : undefined
}

/** Returns undefined if the text does not have the syntax of an id of administrator credentials. */
export function parseAdminCredentialId(text: string): AdminCredentialId | undefined {
  return ORDERED_ID_FORM.test(text) ? (text as AdminCredentialId) : undefined
}

/** Returns undefined if the text does not have the syntax of an id of an initial access token. */
export function parseInitialTokenId(text: string): InitialTokenId | undefined {
  return ORDERED_ID_FORM.test(text) ? (text as InitialTokenId) : undefined
}
