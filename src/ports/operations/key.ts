import type { KeyRecord, SigningAlgorithm } from '../records/key.ts'
import type { KeyId } from '../../protocol/ids.ts'
import type { EpochMs } from '../../base/brand.ts'

/** The operations on signing keys and the master key, each as `[input, outcome]`. The rules of index.ts apply. */
export interface KeyOperations {
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
  /** Stores the master key under another root secret, if it still equals `previous`. */
  rewrapMasterKey: [change: { readonly previous: string; readonly wrapped: string }, outcome: 'rewrapped' | 'conflict']
  /**
   * Replaces the master key if it still equals `previous`, and all signing keys. Revokes the credentials of all administrators,
   * all initial access tokens, and all sessions and tokens from before now.
   */
  replaceMasterKey: [replacement: MasterKeyReplacement, outcome: 'replaced' | 'conflict']
}

export interface MasterKeyReplacement {
  readonly previous: string
  readonly wrapped: string
  /** The check of the new master key. */
  readonly check: string
  /** One signing key for each purpose and algorithm, encrypted under the new master key. */
  readonly keys: readonly KeyRecord[]
  readonly now: EpochMs
}
