import type { AuthorizationRecord, DeviceRecord, PushedRequestRecord } from '../records/authorization.ts'
import type { AuthorizationId, DeviceId, OrganizationId, PushedRequestId, UserId } from '../../protocol/ids.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { About } from '../records/audit.ts'
import type { SecretHash } from '../../protocol/secrets.ts'
import type { ConsentKey, GrantRecord } from '../records/grant.ts'
import type { Scope } from '../../protocol/token/scope.ts'
import type { ApprovingSession, NotifiedClient } from '../records/logout-notice.ts'

/** The operations on authorization requests and their codes, each as `[input, outcome]`. The rules of index.ts apply. */
export interface AuthorizationOperations {
  /** Stores the parameters that a client pushed. */
  pushRequest: [pushed: PushedRequestRecord, outcome: 'pushed']
  /**
   * Uses a pushed request up for one authorization, before that is approved. Of concurrent authorizations of one request one returns
   * `used`, also when it asks again, and the others `taken`. `unknown`: the request does not exist, or is no longer kept.
   */
  usePushedRequest: [use: PushedRequestUse, outcome: 'used' | 'taken' | 'unknown']
  /** Stores a device that waits for a user. `code-taken`: another one has its id, and so its code. */
  startDevice: [device: DeviceRecord, outcome: 'started' | 'code-taken']
  /**
   * Connects a device with the authorization in which a user answers, before that is approved or denied. Of concurrent authorizations of one
   * device one returns `connected`, also when it asks again, and the others `taken`. `unknown`: there is no such device, or it has expired.
   */
  connectDevice: [connection: DeviceConnection, outcome: 'connected' | 'taken' | 'unknown']
  /** Stores a checked authorization request, which waits for the user. */
  startAuthorization: [authorization: AuthorizationRecord, outcome: 'started']
  /**
   * Approves a pending request; stores the hash of its code and, if `remember` is set, the consent. Of concurrent answers to
   * one request one returns `approved`, the others `decided`. `unknown`: also if the session in which the user
   * approves has ended.
   */
  approveAuthorization: [approval: Approval, outcome: 'approved' | 'decided' | 'unknown']
  /** Denies a pending request. `decided`: the user had approved or denied it already. */
  denyAuthorization: [
    denial: { readonly id: AuthorizationId; readonly now: EpochMs } & About,
    outcome: 'denied' | 'decided' | 'unknown',
  ]
  /**
   * Redeems an authorization code and creates the grant. Of concurrent requests with one code exactly one returns
   * `redeemed`. Each later one returns `replayed` and revokes the grant, since the code was stolen (RFC 6749 §4.1.2).
   */
  redeemCode: [redemption: Redemption, outcome: RedeemOutcome]
  /**
   * Invalidates a code that its client presented with a wrong code_verifier: a verifier cannot be guessed by trying
   * (threats.md CODE-07). `spent`: the code was no longer redeemable.
   */
  burnCode: [
    burn: { readonly id: AuthorizationId; readonly codeHash: SecretHash; readonly now: EpochMs } & About,
    outcome: 'burned' | 'spent',
  ]
}

export interface PushedRequestUse {
  readonly id: PushedRequestId
  readonly authorizationId: AuthorizationId
  readonly now: EpochMs
}

export interface DeviceConnection {
  readonly id: DeviceId
  readonly authorizationId: AuthorizationId
  readonly now: EpochMs
}

export interface Approval extends About {
  readonly id: AuthorizationId
  readonly userId: UserId
  readonly organizationId: OrganizationId | undefined
  readonly codeHash: SecretHash
  readonly now: EpochMs
  readonly codeExpiresAt: EpochMs
  /** The request with the part of its scope that the user allowed (RFC 6749 §3.3), and with the session. undefined: the same. */
  readonly decided: AuthorizationRecord | undefined
  /** undefined: do not remember this consent. */
  readonly remember: (ConsentKey & { readonly scope: Scope }) | undefined
  /** The session in which the user approves, which must be active. undefined: the user approves without one. */
  readonly session: ApprovingSession | undefined
  /** The client is notified of the end of the session (`LogoutNoticeRecord`). undefined: it is not. */
  readonly notified: NotifiedClient | undefined
}

export interface Redemption {
  readonly codeHash: SecretHash
  readonly now: EpochMs
  /** Its id is that of the authorization (`grantIdOf`). */
  readonly grant: GrantRecord
}

/** The result of redeeming a code. It is a fact, not an error: the endpoint decides what it means. */
export type RedeemOutcome =
  | 'redeemed'
  /** The code was redeemed before. The store has revoked the grant that it created. */
  | 'replayed'
  /** The code was redeemed before, and its grant was revoked before. Nothing changes. */
  | 'spent'
  /** The code does not exist, has expired or was burned. */
  | 'unknown'
