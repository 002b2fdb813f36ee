import type { About } from '../records/audit.ts'
import type { ClientRecord, MetadataDocument } from '../records/client.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { ClientId, InitialTokenId } from '../../protocol/ids.ts'
import type { Scope } from '../../protocol/token/scope.ts'
import type { ClientMetadata } from '../../protocol/client/members.ts'
import type { ClientRules, ClientSource } from '../../protocol/client/policy.ts'
import type { SecretHash } from '../../protocol/secrets.ts'
import type { HashFormat } from '../../protocol/sign-in/password-formats.ts'
import type { DomainRuleRecord } from '../records/domain-rule.ts'
import type { InitialTokenRecord } from '../records/initial-token.ts'

/** The operations on clients: those that register, those of the operator, and those with a metadata document, each as `[input, outcome]`. The rules of index.ts apply. */
export interface ClientOperations {
  /** Registers a client, which has no rules and no document. RFC 7591 §3.2.1. */
  registerClient: [client: ClientRecord, outcome: 'registered']
  /**
   * Returns the client with this `dedupeKey`, registered now if there was none. Concurrent registrations return one client.
   * It is not swept before `retainUntil`.
   */
  registerPublicClient: [share: { readonly client: SharedClient; readonly retainUntil: EpochMs }, outcome: ClientRecord]
  /**
   * Registers a client with an initial access token, and counts the use of the token. `token-inactive`: the token is unknown,
   * expired, revoked, or was used as often as it may be. Of concurrent registrations, as many succeed as the token has uses.
   */
  registerWithToken: [registration: RegistrationWithToken, outcome: 'registered' | 'token-inactive']
  /**
   * Adds a client whose metadata document was fetched for the first time. It is not swept before `retainUntil`. Of concurrent
   * callers one returns `added`.
   */
  addDocumentClient: [
    addition: { readonly client: DocumentClient; readonly retainUntil: EpochMs },
    outcome: 'added' | 'known',
  ]
  /** Replaces the metadata of a client with its document as it was fetched again, if no other caller did so since. */
  renewDocument: [renewal: DocumentRenewal, outcome: 'renewed' | 'conflict']
  /** Records that the client got its first token. From then on it is not swept. */
  useClient: [use: { readonly id: ClientId; readonly now: EpochMs }, outcome: 'used' | 'unknown']
  /** Keeps a client that never got a token from being swept until `until`, because a user is about to authorize it. */
  extendRetention: [hold: { readonly id: ClientId; readonly until: EpochMs }, outcome: 'held' | 'unknown']
  /** Replaces the client's metadata if it still equals `previous`. RFC 7592 §2.2. */
  updateClient: [update: ClientUpdate, outcome: 'updated' | 'conflict']
  /** Deletes the client and its installations. Its grants become invalid; sweeps remove the consents to it. */
  deleteClient: [id: ClientId, outcome: 'deleted' | 'unknown']
  /** Marks the client as verified by the operator (decision 0022). */
  verifyClient: [change: { readonly id: ClientId; readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  /** Removes the operator's mark. */
  unverifyClient: [id: ClientId, outcome: 'changed' | 'unknown']
  /** Disables the client: its credentials and tokens stop working, and no registration returns it. */
  disableClient: [change: { readonly id: ClientId; readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  /** Enables the client. Its tokens from before work again unless they were revoked or have expired. */
  enableClient: [id: ClientId, outcome: 'changed' | 'unknown']
  /** Replaces the client's secret if it still equals `previous`. The secret in `kept` remains valid until `keptUntil`. */
  rotateClientSecret: [rotation: SecretRotation, outcome: 'rotated' | 'conflict']
  /**
   * Replaces the hash of a secret that another system has made by one of the same secret, if the secret is still valid: as the present one, or
   * as the one that a rotation has replaced. `format`: of the previous hash. Of concurrent callers one returns `changed`.
   */
  upgradeClientSecret: [
    change: {
      readonly id: ClientId
      readonly previous: SecretHash
      readonly secretHash: SecretHash
      readonly format: HashFormat
    },
    outcome: 'changed' | 'unknown',
  ]
  /**
   * Replaces the scopes that the operator approved the client for. `conflict`: it is approved for others than `previous`, or its name or a
   * redirect host was changed since; undefined: for whichever it is.
   */
  approveClientScope: [
    change: {
      readonly id: ClientId
      readonly scope: Scope
      readonly previous?: Pick<ClientRecord, 'approvedScope' | 'identityFrom'> | undefined
    },
    outcome: 'changed' | 'unknown' | 'conflict',
  ]
  /** Revokes all tokens that the client got before now, by setting its not-before time. */
  revokeClientTokens: [change: { readonly id: ClientId; readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  /** Records when clients last got a token. A later time replaces an earlier one; unknown clients are ignored. */
  noteUses: [uses: readonly ClientUse[], outcome: 'noted']
  /**
   * Stores a client that an administrator creates, with all of its members. It is never swept. `id-taken`: another client has the id. Of
   * concurrent callers with one chosen id, one creates the client.
   */
  createClient: [client: ClientRecord & About, outcome: 'created' | 'id-taken']
  /**
   * Takes over a registered client, if its metadata still equals `previous`: it is verified and never swept, its
   * registration access token ends, and no registration returns it. Its secret and its grants stay.
   */
  adoptClient: [
    adoption: { readonly id: ClientId; readonly previous: ClientMetadata; readonly now: EpochMs },
    outcome: 'adopted' | 'conflict',
  ]
  /**
   * Replaces the metadata of an operator's client if it still equals `previous`, and the rules, against which it was checked, still equal
   * `rules`. The client keeps its verification and its approved scopes.
   */
  changeClient: [change: ClientUpdate & { readonly rules: ClientRules }, outcome: 'changed' | 'conflict']
  /** Replaces the rules of a client if they, its source and the metadata, against which they were checked, still equal `previous`. */
  setClientRules: [
    change: {
      readonly id: ClientId
      readonly previous: Pick<ClientRecord, 'metadata' | 'rules' | 'source'>
      readonly rules: ClientRules
    },
    outcome: 'changed' | 'conflict',
  ]
  /** Replaces the registration access token of a registered client that has a secret or such a token. `unknown`: there is no such client. */
  setManagementToken: [
    change: { readonly id: ClientId; readonly managementHash: SecretHash },
    outcome: 'changed' | 'unknown',
  ]
  /** Deletes a client as `deleteClient` does, if it still matches the filter; with `idleAt` only if it is installed nowhere. */
  purgeClient: [purge: { readonly id: ClientId; readonly filter: ClientFilter }, outcome: 'deleted' | 'kept']
  /** Stores a rule for a domain, or replaces the rule with its pattern. `conflict`: there is another rule than `previous`; null: a rule. */
  setDomainRule: [
    rule: DomainRuleRecord & { readonly previous?: DomainRuleRecord | null | undefined },
    outcome: 'stored' | 'conflict',
  ]
  /** `conflict`: there is another rule than `previous`, or none. */
  removeDomainRule: [
    removal: { readonly pattern: string; readonly previous?: DomainRuleRecord | undefined },
    outcome: 'removed' | 'unknown' | 'conflict',
  ]
  createInitialToken: [token: InitialTokenRecord, outcome: 'created']
  /** Revokes an initial access token. The clients that registered with it are not affected. */
  revokeInitialToken: [change: { readonly id: InitialTokenId; readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  /**
   * Counts `by` new clients in the current window of 15 minutes, so that the sweep knows when there are too many without counting
   * clients.
   */
  countRegistrations: [
    count: { readonly by: number; readonly now: EpochMs },
    outcome: { readonly count: number; readonly windowEndsAt: EpochMs },
  ]
}

export type SharedClient = ClientRecord & { readonly dedupeKey: string }

export interface RegistrationWithToken {
  readonly client: ClientRecord
  readonly tokenId: InitialTokenId
  readonly now: EpochMs
  /** Whether the client is never swept, although it never gets a token. */
  readonly isKept: boolean
}

/** A client whose id is the URL of its metadata document. */
export type DocumentClient = ClientRecord & { readonly document: MetadataDocument }

export interface DocumentRenewal {
  readonly id: ClientId
  /** The metadata, and when the document was fetched, as the caller read them. */
  readonly previous: { readonly metadata: ClientMetadata; readonly fetchedAt: EpochMs }
  readonly metadata: ClientMetadata
  readonly document: Omit<MetadataDocument, 'url'>
  /** As in `ClientUpdate`. */
  readonly identityFrom: EpochMs | undefined
  /** Set when the client stopped authenticating: tokens from before this time are revoked. */
  readonly notBefore: EpochMs | undefined
}

export interface SecretRotation {
  readonly id: ClientId
  /** The hash of the present secret, as the caller read it. */
  readonly previous: SecretHash
  readonly secretHash: SecretHash
  /** The other secret that remains valid until `keptUntil`: `previous`, or the one that `previous` replaced. */
  readonly kept: SecretHash
  readonly keptUntil: EpochMs
}

export interface ClientUpdate {
  readonly id: ClientId
  readonly previous: ClientMetadata
  readonly metadata: ClientMetadata
  /**
   * Set when the name or a redirect host changed. Invalidates earlier consents and, unless an operator made the change, clears the
   * verification and the approved scopes.
   */
  readonly identityFrom: EpochMs | undefined
}

export interface ClientUse {
  readonly id: ClientId
  readonly at: EpochMs
  /** Until when a refresh token that the client got then may be used. Absent: the client is not held longer. */
  readonly heldUntil?: EpochMs
}

/** A filter that is absent or undefined matches every client. */
export interface ClientFilter {
  readonly source?: ClientSource | undefined
  readonly isUsed?: boolean | undefined
  readonly isVerified?: boolean | undefined
  readonly isDisabled?: boolean | undefined
  /** The client was not used since this time, or never. */
  readonly unusedSince?: EpochMs | undefined
  /** Nothing but its own registration speaks for the client at this time: no decision of an operator, no refresh token, no user on the way. */
  readonly idleAt?: EpochMs | undefined
}
