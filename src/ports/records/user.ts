import type { Agent } from '../../base/agent.ts'
import type { Authentication } from '../../protocol/sign-in/authentication.ts'
import type { EmailAddress } from '../../protocol/sign-in/email-address.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { AdminCredentialId, AuthorizationId, ClientId, SessionId, UserId } from '../../protocol/ids.ts'
import type { SecretHash } from '../../protocol/secrets.ts'
import type { UserProfile } from '../../protocol/openid/user-claims.ts'

/** A user account of this server. */
export interface UserRecord {
  readonly id: UserId
  /** Unique. undefined: the user signs in without one, at a provider. */
  readonly email: EmailAddress | undefined
  /** When the user or a provider proved that the e-mail address is the user's. undefined: it was never proved. */
  readonly emailVerifiedAt: EpochMs | undefined
  readonly name: string | undefined
  /** What clients with the scopes `profile`, `phone` and `address` see of the user. */
  readonly profile: UserProfile
  /** When the name, the profile or the e-mail address last changed, or the address was verified. */
  readonly updatedAt: EpochMs
  /** A PHC string, or the text of bcrypt. undefined: the user has no password. */
  readonly passwordHash: string | undefined
  /** undefined: the user never signed in. IMPORTED: never here, and the account was imported (sign-in/account.ts). */
  readonly firstSignedInAt: EpochMs | undefined
  /** undefined: the user never signed in here. */
  readonly lastSignedInAt: EpochMs | undefined
  readonly createdAt: EpochMs
  readonly disabledAt: EpochMs | undefined
  /** Sessions and grants from before this time are revoked: the password changed, or the user was disabled. */
  readonly notBefore: EpochMs
}

/** A browser in which a user is signed in. */
export interface SessionRecord {
  readonly id: SessionId
  readonly hash: SecretHash
  readonly userId: UserId
  /**
   * The first of the sessions that follow each other because the same user signs in again in the same browser. Clients know the
   * user's session by it (OpenID Connect Front-Channel Logout 1.0 §3, `sid`).
   */
  readonly rootId: SessionId
  readonly authentication: Authentication
  /** undefined: an unknown browser. */
  readonly agent: Agent | undefined
  /** The network from which the user signed in, as rate limits count it. */
  readonly network: string | undefined
  /** When the browser last showed a page of this server to the user, to five minutes. */
  readonly seenAt: EpochMs
  readonly createdAt: EpochMs
  readonly expiresAt: EpochMs
}

/** What a link is for. `invitation`: the first password of a user who never signed in. `reset`: a new one. */
export type LinkPurpose = 'invitation' | 'reset'

/** Who asked for a link. */
export type LinkOrigin = 'operator' | 'user'

/** A link with which the user sets a password or adds a provider, once. A user has at most one of each origin. */
export interface LinkRecord {
  readonly userId: UserId
  readonly origin: LinkOrigin
  readonly hash: SecretHash
  readonly purpose: LinkPurpose
  /** Only the mailbox of the user's e-mail address has it: using it verifies the address. */
  readonly isMailed: boolean
  /**
   * The user with a role who made the link. It works while that role goes on, the one that was set at `roleSince`, and the account: what
   * ends the sessions of its user moves `notBefore`. Also if it was mailed: the maker may have chosen the mailbox. undefined: another actor.
   */
  readonly madeBy: { readonly userId: UserId; readonly roleSince: EpochMs; readonly notBefore: EpochMs } | undefined
  /** The credentials of the administrator who made the link. It ends when they are revoked, and not when they expire. */
  readonly madeWith: AdminCredentialId | undefined
  /** The client to which the user is led afterwards, as `findProductUri` of its policy says then. undefined: to no client. */
  readonly clientId: ClientId | undefined
  /** The request of that client in which the user asked for the link. undefined: the user asked in no request, or an operator made the link. */
  readonly authorizationId: AuthorizationId | undefined
  readonly createdAt: EpochMs
  readonly expiresAt: EpochMs
}

/** A code that was mailed to an address, which becomes the user's when the user types the code. A user has at most one. */
export interface EmailCodeRecord {
  readonly userId: UserId
  /** The address: a new one, or the user's own that was never verified. */
  readonly email: EmailAddress
  /** `digestEmailCode`. */
  readonly digest: string
  /** Wrong codes so far. */
  readonly failures: number
  readonly createdAt: EpochMs
  readonly expiresAt: EpochMs
}
