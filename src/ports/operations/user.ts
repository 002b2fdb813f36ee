import type { CausesMail } from './mail.ts'
import type { Ordered } from './reach.ts'
import type { RoleRecord } from '../records/role.ts'
import type { GroupMemberRecord } from '../records/group.ts'
import type { MembershipRecord } from '../records/organization.ts'
import type { IdentityRecord } from '../records/provider.ts'
import type { SecondFactorRecord } from '../records/second-factor.ts'
import type { EmailCodeRecord, LinkRecord, UserRecord } from '../records/user.ts'
import type { ClientId, UserId } from '../../protocol/ids.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { UserProfile } from '../../protocol/openid/user-claims.ts'
import type { Origin } from '../../protocol/audit/origin.ts'
import type { SecretHash } from '../../protocol/secrets.ts'
import type { HashFormat } from '../../protocol/sign-in/password-formats.ts'
import type { EmailAddress } from '../../protocol/sign-in/email-address.ts'
import type { PasskeyId } from '../../protocol/sign-in/passkey.ts'
import type { ChangingSession } from './second-factor.ts'
import type { IdentityKey } from '../../protocol/sign-in/provider-identity.ts'

/** The operations on users and the links with which they set a password, each as `[input, outcome]`. The rules of index.ts apply. */
export interface UserOperations {
  /** Creates an account. `email-taken`: the email has an account, possibly created at the same time. */
  createUser: [user: UserRecord & Ordered, outcome: 'created' | 'email-taken']
  /**
   * Stores an account of another system, whole or not at all. `created`: it is new. `same`: the account with the id is as the import has it.
   * `updated`: it was not, and `replaces` allowed to change it. `differs`: it was not, and stays as it is. `email-taken`, `identity-taken`:
   * the address or an identity is another user's. `id-taken`: a client has the id. Of concurrent imports of one account one returns `created`.
   */
  importUser: [
    account: UserImport,
    outcome: 'created' | 'same' | 'differs' | 'updated' | 'email-taken' | 'identity-taken' | 'id-taken',
  ]
  /** Replaces the password, and evicts everyone: sessions, grants, codes, consents, links and known browsers from before now end. */
  setPassword: [
    change: { readonly id: UserId; readonly passwordHash: string; readonly now: EpochMs } & Ordered & CausesMail,
    outcome: 'changed' | 'unknown',
  ]
  /**
   * Replaces the hash of the password by one of the same password, if it is still `previousHash`. Ends nothing. `format`: of the previous
   * one. `unknown`: also if the password or its hash was replaced since it was read.
   */
  upgradePassword: [
    change: {
      readonly id: UserId
      readonly previousHash: string | undefined
      readonly passwordHash: string
      readonly format: HashFormat
    },
    outcome: 'changed' | 'unknown',
  ]
  /** Disables the user, and evicts everyone, as `setPassword` does. */
  disableUser: [change: { readonly id: UserId; readonly now: EpochMs } & Ordered, outcome: 'changed' | 'unknown']
  /**
   * Enables the user and sets the not-before time to now. A node that had not yet learned of the disabling may have issued
   * tokens meanwhile; they stay revoked.
   */
  enableUser: [change: { readonly id: UserId; readonly now: EpochMs } & Ordered, outcome: 'changed' | 'unknown']
  /** Deletes the user with all sessions, memberships and remembered consents, and revokes the grants. */
  deleteUser: [deletion: { readonly id: UserId } & Ordered, outcome: 'deleted' | 'unknown']
  /** Evicts everyone, as `setPassword` does. */
  revokeUserTokens: [change: { readonly id: UserId; readonly now: EpochMs } & Ordered, outcome: 'changed' | 'unknown']
  /** Ends what locks the account after wrong passwords and codes: the counts in the buckets, and the failures of the app. Ends no session. */
  unlockUser: [unlock: { readonly id: UserId } & EndsCounts & Ordered, outcome: 'unlocked' | 'unknown']
  /**
   * Replaces the e-mail address, and when it was verified; `updatedAt` becomes now. Ends the link that an operator handed over: it may
   * have been sent to the previous address. `email-taken`: another user has it. `conflict`: the user has not this `previous` address.
   */
  setEmail: [
    change: {
      readonly id: UserId
      readonly email: EmailAddress
      readonly emailVerifiedAt: EpochMs | undefined
      readonly now: EpochMs
      /** undefined: whichever the user has. */
      readonly previous?: Pick<UserRecord, 'email' | 'emailVerifiedAt'> | undefined
    } & Ordered &
      CausesMail,
    outcome: 'changed' | 'email-taken' | 'unknown' | 'conflict',
  ]
  /** Replaces the spelling of an address, if it is still the previous one. The address stays the same. `email-taken`: another user has it. */
  respellEmail: [
    change: { readonly id: UserId; readonly previous: string; readonly email: EmailAddress; readonly now: EpochMs },
    outcome: 'changed' | 'email-taken' | 'unknown',
  ]
  renameUser: [
    change: { readonly id: UserId; readonly name: string | undefined; readonly now: EpochMs },
    outcome: 'changed' | 'unknown',
  ]
  /** Replaces the name and the profile, if both are still as `previous` has them. */
  updateUser: [
    change: {
      readonly id: UserId
      readonly previous: Pick<UserRecord, 'name' | 'profile'>
      readonly name: string | undefined
      readonly profile: UserProfile
      readonly now: EpochMs
    } & Ordered,
    outcome: 'changed' | 'conflict',
  ]
  /**
   * Replaces the password for the user, who authenticated just now, and evicts all others: the other sessions, consents and the other
   * known browsers end, and what was begun. Grants stay, and the link that an operator handed over (threats.md LNK-04). `unknown`: also if
   * the session has ended or does not cover the second factors of the account, or the password was changed, since the request was checked.
   */
  changePassword: [
    change: {
      readonly id: UserId
      readonly passwordHash: string
      /** The password of the user when the request was checked; undefined: none. */
      readonly previousHash: string | undefined
      readonly session: ChangingSession
    } & CausesMail,
    outcome: 'changed' | 'unknown',
  ]
  /**
   * Stores a link for the user. A link of the operator replaces all earlier ones. A link that the user asked for replaces only another such one,
   * because a stranger can ask for it (threats.md LNK-04). `unknown`: also if the user is disabled, or has another address than the mail
   * with the link: the previous mailbox would get a link that is valid (LNK-06). So too a link of the operator if the user has another role than that of
   * `roleSince`, its beginning, which was examined (LNK-07). undefined: none. `sent-lately`: a link that was mailed since `unlessSentSince`, and
   * which this one would replace, is on its way. Of concurrent mails of one origin one is `created`.
   */
  createLink: [
    link: LinkRecord &
      Ordered &
      CausesMail & { readonly roleSince?: EpochMs | undefined; readonly unlessSentSince?: EpochMs | undefined },
    outcome: 'created' | 'sent-lately' | 'unknown',
  ]
  /**
   * Uses a link and ends the other one: sets the password, ends the counts of wrong ones, verifies the e-mail address if the link was mailed, removes the identities and passkeys
   * that the user did not keep, but no passkeys by a link that the user asked for if the account has an app or each sign-in two factors, and revokes the user's sessions and grants from
   * before now. `unknown`: the link was used,
   * replaced or has expired, its maker has no longer the role with which it was made (LNK-08), or since it was created the user was disabled,
   * got another password, or had all tokens revoked.
   * Of concurrent requests with one link one returns `used`.
   */
  useLink: [use: PasswordLinkUse, outcome: 'used' | 'unknown']
  /**
   * Gives the user this role in the place of an earlier one, and ends the link that an operator handed over: its reader would have the role.
   * A role for an organization that is deleted at the same time counts for nothing. `conflict`: the user has another role than `previous`;
   * null: a role. undefined: whichever there is. `prepared`: the role would be the first one that lasts, an administrator with a reach may be able to
   * sign in to the account, and that is not confirmed (threats.md CON-37).
   */
  setRole: [
    role: RoleRecord &
      Ordered & { readonly previous?: RoleRecord | null | undefined; readonly isConfirmed?: boolean | undefined },
    outcome: 'changed' | 'prepared' | 'unknown' | 'conflict',
  ]
  removeRole: [removal: { readonly userId: UserId } & Ordered, outcome: 'removed' | 'unknown']
  /** Stores a code for the user in the place of an earlier one. `unknown`: also if the session has ended, or does not cover the factors. */
  createEmailCode: [
    code: EmailCodeRecord & CausesMail & { readonly session: ChangingSession },
    outcome: 'created' | 'unknown',
  ]
  /**
   * Uses the code of an address: the address becomes the user's and is verified. The links of the user end if it is another address than
   * before. `email-taken`: the code was right, and another user has the address. `wrong`: the code can be tried again. `unknown`: it has
   * expired, was used or replaced, this was its last try, it ended by a change of the user, or the
   * session has ended or does not cover the second factors of the account.
   */
  confirmEmail: [
    confirmation: {
      readonly userId: UserId
      readonly email: EmailAddress
      readonly digest: string
      readonly session: ChangingSession
      readonly now: EpochMs
    } & CausesMail,
    outcome: 'changed' | 'email-taken' | 'wrong' | 'unknown',
  ]
}

/** The names of the buckets in which attempts were counted that no longer count. */
export interface EndsCounts {
  readonly buckets: readonly string[]
}

/** An account of another system, with all that belongs to it. */
export interface UserImport {
  readonly user: UserRecord
  readonly identities: readonly IdentityRecord[]
  readonly memberships: readonly MembershipRecord[]
  readonly groups: readonly GroupMemberRecord[]
  readonly secondFactor: SecondFactorRecord | undefined
  /** The record of the client that would have the id of the user as its own (RFC 9068 §5). undefined: none can. */
  readonly clientId: ClientId | undefined
  /** The system, for the audit. */
  readonly source: string
  /**
   * Allows to change an account that exists, if its password is still this one, and it was neither used nor disabled here. It then has what the import
   * has, and keeps other identities, memberships and groups. undefined: an account that exists stays as it is.
   */
  readonly replaces: { readonly passwordHash: string | undefined } | undefined
}

export interface LinkUse extends CausesMail {
  readonly userId: UserId
  readonly hash: SecretHash
  /** What the user confirmed. */
  readonly keep: readonly KeptMethod[]
  /** Whether every sign-in needs two factors: passkeys are second factors then, and a link that the user asked for leaves them. */
  readonly isSecondStepRequired: boolean
  readonly now: EpochMs
}

/** The same with a new password, in a browser that is then known: wrong passwords of others do not lock it out. */
export interface PasswordLinkUse extends LinkUse, Partial<EndsCounts> {
  readonly passwordHash: string
  readonly browserHash: SecretHash
  /** Where the user used the link, for the audit. */
  readonly origin?: Origin
}

/** A sign-in method that the user of a link keeps. The two kinds differ in their length. */
export type KeptMethod = IdentityKey | PasskeyId
