import type { ClientFilter, ClientUpdate, MasterKeyReplacement, StoredSetting } from './operation-inputs.ts'
import type { EpochMs } from '../base/brand.ts'
import type { ClockNote } from '../base/clock.ts'
import type { ClientMetadata } from '../protocol/client/metadata.ts'
import type { ClientRules } from '../protocol/client/policy.ts'
import type { AdminCredentialId, ClientId, InitialTokenId, KeyId } from '../protocol/ids.ts'
import type { SecretHash } from '../protocol/secrets.ts'
import type { ApiCredentials, ApiDefinition, ApiRecord } from './records/api.ts'
import type { AdminCredentialRecord } from './records/admin.ts'
import type { ClientRecord } from './records/client.ts'
import type { DomainRuleRecord } from './records/domain-rule.ts'
import type { InitialTokenRecord } from './records/initial-token.ts'
import type { KeyRecord, SigningAlgorithm } from './records/key.ts'

/**
 * The operations on what the operator configures, and on what the server keeps for itself, each as `[input, outcome]`. The rules of
 * src/ports/operations.ts apply.
 */
export interface OperatorOperations {
  /** Stores a client that an administrator creates, with all of its members. It is never swept. */
  createClient: [client: ClientRecord, outcome: 'created']
  /**
   * Takes over a registered client, if its metadata still equals `previous`: it is verified and never swept, its
   * registration access token ends, and no registration returns it. Its secret and its grants stay.
   */
  adoptClient: [
    adoption: { readonly id: ClientId; readonly previous: ClientMetadata; readonly now: EpochMs },
    outcome: 'adopted' | 'conflict',
  ]
  /** Replaces the metadata of an operator's client if it still equals `previous`. The client keeps its verification and its approved scopes. */
  changeClient: [change: ClientUpdate, outcome: 'changed' | 'conflict']
  /** Replaces the rules of an operator's client. `unknown`: there is no such client, or it registered. */
  setClientRules: [change: { readonly id: ClientId; readonly rules: ClientRules }, outcome: 'changed' | 'unknown']
  /** Replaces the registration access token of a registered client that has a secret or such a token. `unknown`: there is no such client. */
  setManagementToken: [
    change: { readonly id: ClientId; readonly managementHash: SecretHash },
    outcome: 'changed' | 'unknown',
  ]
  /** Deletes a client as `deleteClient` does, if it still matches the filter. */
  purgeClient: [purge: { readonly id: ClientId; readonly filter: ClientFilter }, outcome: 'deleted' | 'kept']
  /** Declares an API, without credentials. `taken`: the resource is declared, or its `slashVariant` is. */
  declareApi: [api: Omit<ApiRecord, 'credentials' | 'scopesSince'>, outcome: 'declared' | 'taken']
  /** Replaces the operator's definition of an API if it still equals `previous`. */
  updateApi: [
    update: { readonly previous: ApiDefinition; readonly api: Omit<ApiRecord, 'credentials' | 'createdAt'> },
    outcome: 'changed' | 'conflict',
  ]
  /** Replaces the credentials that the API authenticates with. */
  setApiCredentials: [
    change: { readonly resource: string; readonly credentials: ApiCredentials },
    outcome: 'changed' | 'unknown',
  ]
  deleteApi: [resource: string, outcome: 'deleted' | 'unknown']
  /** Stores a rule for a domain, or replaces the rule with its pattern. */
  setDomainRule: [rule: DomainRuleRecord, outcome: 'stored']
  removeDomainRule: [pattern: string, outcome: 'removed' | 'unknown']
  /**
   * Stores a key if its purpose and algorithm have none yet. Returns the first key of them: nodes that start at the same time
   * all sign with one key.
   */
  addFirstKey: [key: KeyRecord, outcome: KeyRecord]
  /**
   * Stores the next key of a purpose and algorithm, with a greater id, if `follows` is still their newest. Of nodes that rotate at
   * the same time one adds a key.
   */
  addKey: [next: { readonly key: KeyRecord; readonly follows: KeyId }, outcome: 'added' | 'conflict']
  /** Removes a key if `replacement` still exists, so that two concurrent removals cannot remove both. */
  removeKey: [removal: { readonly id: KeyId; readonly replacement: KeyId }, outcome: 'removed' | 'unknown']
  /**
   * Records which algorithm the server signs with. Nodes with another one configured use it until their first key is active.
   */
  noteServerAlgorithm: [algorithm: SigningAlgorithm, outcome: 'noted']
  /** Replaces this node's record of the time (`findClockNotes`). */
  noteClock: [note: ClockNote, outcome: 'noted']
  /** Records that the operator confirmed the clock, which shows `now`. A later confirmation replaces an earlier one. */
  confirmClock: [confirmation: { readonly now: EpochMs }, outcome: 'confirmed']
  /**
   * Stores a setting of the store unless it has a value. Returns the stored value, which is the same for all nodes that
   * start at the same time.
   */
  insertSettingOnce: [setting: { readonly name: string; readonly value: string }, outcome: string]
  /** Replaces a setting of the store that the operator decides or causes, or that a node noticed. */
  replaceSetting: [setting: StoredSetting, outcome: 'replaced']
  /** Stores the master key under another root secret, if it still equals `previous`. */
  rewrapMasterKey: [change: { readonly previous: string; readonly wrapped: string }, outcome: 'rewrapped' | 'conflict']
  /**
   * Replaces the master key if it still equals `previous`, and all signing keys. Revokes the credentials of all administrators,
   * all initial access tokens, and all sessions and tokens from before now.
   */
  replaceMasterKey: [replacement: MasterKeyReplacement, outcome: 'replaced' | 'conflict']
  /** Takes a lease, or keeps it, if its mark is still `previous`; undefined: it has none. `mark` has never been one before. */
  takeLease: [
    taking: { readonly name: string; readonly previous: string | undefined; readonly mark: string },
    outcome: 'taken' | 'missed',
  ]
  /** Gives a lease up, if its mark is still this one. */
  releaseLease: [release: { readonly name: string; readonly mark: string }, outcome: 'released' | 'missed']
  /** Begins a new era of the store, and ends everything that a store that went back could revive, if it is to. */
  beginEra: [beginning: EraBeginning, outcome: 'begun']
  createInitialToken: [token: InitialTokenRecord, outcome: 'created']
  /** Revokes an initial access token. The clients that registered with it are not affected. */
  revokeInitialToken: [change: { readonly id: InitialTokenId; readonly now: EpochMs }, outcome: 'changed' | 'unknown']
  createAdminCredential: [credential: AdminCredentialRecord, outcome: 'created']
  /** Revokes an administrator's credentials. */
  revokeAdminCredential: [
    change: { readonly id: AdminCredentialId; readonly now: EpochMs },
    outcome: 'changed' | 'unknown',
  ]
}

/** A new era of the store (protocol/store-place.ts). */
export interface EraBeginning {
  /** Its id, which no other era has. */
  readonly era: string
  readonly now: EpochMs
  /** Why: a backup was restored, or the operator answered for a store that came back by other means. */
  readonly reason: 'restored' | 'ended' | 'nothing-lost'
  /**
   * With the reason `ended`: everything that the store could revive ends, as with a restore, and these keys replace all signing keys.
   * undefined: nothing ends.
   */
  readonly ending: { readonly keys: readonly KeyRecord[] } | undefined
}
