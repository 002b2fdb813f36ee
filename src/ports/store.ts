import type { EpochMs } from '../protocol/brand.ts'
import type { ClientMetadata } from '../protocol/client-metadata.ts'
import type { AuthorizationId, ClientId, GrantId, KeyId, SessionId, UserId } from '../protocol/ids.ts'
import type { Scope } from '../protocol/scope.ts'
import type { SecretHash } from '../protocol/secrets.ts'
import type {
  ApiCredentials,
  ApiRecord,
  AuthorizationRecord,
  ClientRecord,
  ConsentKey,
  GrantRecord,
  KeyRecord,
  SessionRecord,
  UserRecord,
} from './records.ts'

/**
 * Everything that changes the store, each named after the event that it makes true. One operation is one transaction and
 * answers what happened; `[input, outcome]`. Operations queued in one turn of the event loop are committed together.
 */
export interface Operations {
  registerClient: [client: ClientRecord, outcome: 'registered']
  /** Registers a client unless there is one with its `sharedKey`; answers the one that counts, which is held. */
  shareClient: [share: { readonly client: SharedClient; readonly heldUntil: EpochMs }, outcome: ClientRecord]
  /** The client got its first token: from now on it is never swept. */
  useClient: [use: { readonly id: ClientId; readonly now: EpochMs }, outcome: 'used' | 'unknown']
  /** Somebody is about to authorize a client that never got a token: not swept until then. */
  holdClient: [hold: { readonly id: ClientId; readonly until: EpochMs }, outcome: 'held' | 'unknown']
  /** Replaces its metadata if that is still `previous`. RFC 7592 §2.2. */
  updateClient: [update: ClientUpdate, outcome: 'updated' | 'outrun']
  deleteClient: [id: ClientId, outcome: 'deleted' | 'unknown']
  /** The operator vouches for the client (decisions.md D8). The first time counts. */
  verifyClient: [change: { readonly id: ClientId; readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  unverifyClient: [id: ClientId, outcome: 'changed' | 'unknown']
  /** Nothing of the client works from now on, and nobody gets it by registering. The first time counts. */
  disableClient: [change: { readonly id: ClientId; readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  enableClient: [id: ClientId, outcome: 'changed' | 'unknown']

  startAuthorization: [authorization: AuthorizationRecord, outcome: 'started']
  /** Of many callers one is answered `approved`; the rest learn that it was decided before. Remembers the consent. */
  approveAuthorization: [approval: Approval, outcome: 'approved' | 'decided' | 'unknown']
  denyAuthorization: [
    denial: { readonly id: AuthorizationId; readonly now: EpochMs },
    outcome: 'denied' | 'decided' | 'unknown',
  ]
  /** Spends the code and saves what it issued. A replay revokes that. */
  redeemCode: [redemption: Redemption, outcome: RedeemOutcome]
  /** A wrong verifier came with the right client: the code must never be guessed again. */
  burnCode: [
    burn: { readonly id: AuthorizationId; readonly codeHash: SecretHash; readonly now: EpochMs },
    outcome: 'burned' | 'spent',
  ]
  /** decisions.md D5, steps 2 to 4. */
  rotateRefreshToken: [rotation: Rotation, outcome: RotateOutcome]

  /** The grant and everything issued on it is dead from now on. RFC 7009 §2.1. */
  revokeGrant: [revocation: { readonly id: GrantId; readonly now: EpochMs }, outcome: 'revoked' | 'unknown']
  /** One access token is dead from now on; remembered until it would have expired anyway. */
  revokeToken: [revocation: { readonly tokenId: string; readonly expiresAt: EpochMs }, outcome: 'revoked']

  createUser: [user: UserRecord, outcome: 'created' | 'email-taken']
  setPassword: [
    change: { readonly id: UserId; readonly passwordHash: string; readonly now: EpochMs },
    outcome: 'changed' | 'unknown',
  ]
  disableUser: [change: { readonly id: UserId; readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  enableUser: [change: { readonly id: UserId; readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  /** Also remembers that this browser once signed in as this user. */
  startSession: [start: { readonly session: SessionRecord; readonly browserHash: SecretHash }, outcome: 'started']
  endSession: [id: SessionId, outcome: 'ended' | 'unknown']
  /** Counts attempts in a fixed window and answers the count with them. Exact under concurrency. */
  countHit: [hit: Hit, outcome: { readonly count: number; readonly windowEndsAt: EpochMs }]
  /** Takes attempts back, because they were none. */
  forgiveHit: [hit: Hit, outcome: 'forgiven']

  /** A new API has no credentials. */
  declareApi: [api: Omit<ApiRecord, 'credentials'>, outcome: 'declared' | 'taken']
  /** Replaces what the API authenticates with. */
  setApiCredentials: [
    change: { readonly resource: string; readonly credentials: ApiCredentials },
    outcome: 'changed' | 'unknown',
  ]
  deleteApi: [resource: string, outcome: 'deleted' | 'unknown']
  /** Keeps a key unless there is one already; answers the one that counts. */
  addFirstKey: [key: KeyRecord, outcome: KeyRecord]
  /** Keeps a key if `follows` is the newest: of many who make the next one, one does. Its id must be newer. */
  addKey: [next: { readonly key: KeyRecord; readonly follows: KeyId }, outcome: 'added' | 'outrun']
  /** Withdraws a key, if the one because of which it may go is there. */
  removeKey: [removal: { readonly id: KeyId; readonly replacement: KeyId }, outcome: 'removed' | 'unknown']
  /** Keeps a value of the store itself unless there is one already; answers the one that counts. */
  settle: [setting: { readonly name: string; readonly value: string }, outcome: string]
  /** Removes what expired, at most `limit` rows of each kind; answers how many. */
  sweepExpired: [sweep: Sweep, outcome: Swept]
}

export type SharedClient = ClientRecord & { readonly sharedKey: string }

export interface ClientUpdate {
  readonly id: ClientId
  readonly previous: ClientMetadata
  readonly metadata: ClientMetadata
  /** Set when people would not know it again: it is unverified then, and consents from before count for nothing. */
  readonly identityFrom: EpochMs | undefined
}

export interface Approval {
  readonly id: AuthorizationId
  readonly userId: UserId
  readonly codeHash: SecretHash
  readonly now: EpochMs
  readonly codeExpiresAt: EpochMs
  /** undefined: this consent is not to be remembered. */
  readonly remember: (ConsentKey & { readonly scope: Scope }) | undefined
}

export interface Redemption {
  readonly id: AuthorizationId
  readonly codeHash: SecretHash
  readonly now: EpochMs
  readonly grant: GrantRecord
}

/** What became of a code. Facts, not errors: the endpoint decides what they mean. */
export type RedeemOutcome =
  | 'redeemed'
  /** It was spent before; the store has revoked what it issued. */
  | 'replayed'
  /** No such code, or expired, or burned. */
  | 'unknown'

export interface Rotation {
  readonly grantId: GrantId
  /** Of the presented token. */
  readonly generation: number
  readonly presentedHash: SecretHash
  readonly successorHash: SecretHash
  readonly now: EpochMs
  readonly idleExpiresAt: EpochMs
  /** How long after a rotation the token before may still ask for the same answer. */
  readonly retryMs: number
}

/** What became of a refresh token that carries our tag. */
export type RotateOutcome =
  /** `rotatedAt` fixes the access token: a retry within the window gets the moment of the first answer. */
  | { readonly kind: 'rotated' | 'repeated'; readonly rotatedAt: EpochMs }
  /** Somebody holds a copy; the store has revoked the family. */
  | { readonly kind: 'reused' }
  /** Revoked, expired or never there. */
  | { readonly kind: 'dead' }

export interface Hit {
  readonly bucket: string
  readonly now: EpochMs
  readonly windowMs: number
  /** How many. */
  readonly by: number
}

export interface Sweep {
  readonly now: EpochMs
  readonly limit: number
  /** Clients registered before this, without a token ever, are removed (decisions.md D7). */
  readonly unusedSince: EpochMs
  /** Authorizations are kept until they are older than this, as evidence of spent codes. */
  readonly authorizationsBefore: EpochMs
  /** Grants are examined in slices, in the order of their ids; this is where the last slice ended, '' at first. */
  readonly grantsAfter: GrantId | ''
}

export interface Swept {
  /** Where the next slice of grants starts; '' when the last one reached the end. */
  readonly grantsAfter: GrantId | ''
  readonly authorizations: number
  readonly grants: number
  readonly sessions: number
  readonly clients: number
  readonly hits: number
  readonly revokedTokens: number
}

export type OperationName = keyof Operations
export type Input<Name extends OperationName> = Operations[Name][0]
export type Outcome<Name extends OperationName> = Operations[Name][1]
export type Operation = {
  readonly [Name in OperationName]: { readonly name: Name; readonly input: Input<Name> }
}[OperationName]

/** One result of a batch: an operation that failed never spoils its neighbours. */
export type Settled =
  | { readonly kind: 'done'; readonly outcome: unknown }
  | { readonly kind: 'failed'; readonly cause: unknown }

/** What an adapter must do. Reads see what is committed; writes come in batches. */
export interface StoreDriver extends Reads {
  /** How many batches may be under way at a time: one where there is one writer. */
  readonly batchesInFlight: number
  /** All in one transaction, in order; results in the same order. Throws StoreUnavailable when nothing was committed. */
  readonly commit: (operations: readonly Operation[]) => Promise<readonly Settled[]>
  readonly close: () => Promise<void>
}

export interface Reads {
  readonly findClient: (id: ClientId) => Promise<ClientRecord | undefined>
  /** Newest first, `before` exclusive. */
  readonly listClients: (page: Page<ClientId>) => Promise<readonly ClientRecord[]>
  readonly findAuthorization: (id: AuthorizationId) => Promise<AuthorizationRecord | undefined>
  readonly findGrant: (id: GrantId) => Promise<GrantRecord | undefined>
  /** Whether this one access token was revoked. Never answered from a copy. */
  readonly isTokenRevoked: (tokenId: string) => Promise<boolean>
  readonly findUser: (id: UserId) => Promise<UserRecord | undefined>
  readonly findUserByEmail: (email: string) => Promise<UserRecord | undefined>
  readonly listUsers: (page: Page<UserId>) => Promise<readonly UserRecord[]>
  readonly findSession: (id: SessionId) => Promise<SessionRecord | undefined>
  /** Whether this browser signed in as this user before. */
  readonly knowsBrowser: (userId: UserId, browserHash: SecretHash) => Promise<boolean>
  /** The scope that was consented to under this key; undefined when there is none. */
  readonly findConsent: (key: ConsentKey) => Promise<Scope | undefined>
  /** Whether the user consented to this client since, under any key. */
  readonly hasConsented: (userId: UserId, clientId: ClientId, since: EpochMs) => Promise<boolean>
  readonly listApis: () => Promise<readonly ApiRecord[]>
  readonly listKeys: () => Promise<readonly KeyRecord[]>
  /** A round trip to the database. Answers what time it is there; undefined where that is this machine's clock. */
  readonly ping: () => Promise<EpochMs | undefined>
}

export interface Page<Id> {
  readonly before: Id | undefined
  readonly limit: number
}

/** The store as the use-cases see it: one method an operation, and none of them knows of batches. */
export type Store = Reads & { readonly [Name in OperationName]: (input: Input<Name>) => Promise<Outcome<Name>> }

/** The store is busy, full or gone, or nobody knows whether it committed. Becomes 503 (decisions.md D1). */
export class StoreUnavailable extends Error {
  constructor(reason: string, cause?: unknown) {
    super(`The store is unavailable: ${reason}`, { cause })
    this.name = 'StoreUnavailable'
  }
}
