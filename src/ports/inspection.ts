import type { EpochMs } from '../protocol/brand.ts'
import type { KeyId } from '../protocol/ids.ts'
import type { SigningAlgorithm } from './operator-records.ts'

/** What a look at the database found, without changing it. */
export type DatabaseInspection =
  | { readonly kind: 'missing' }
  /** It cannot be opened, or is not safe to use; the reason says what to do. */
  | { readonly kind: 'unusable'; readonly reason: string }
  | ({ readonly kind: 'opened' } & DatabaseFacts)

export interface DatabaseFacts {
  /** What the database's own check complains about; empty when it is sound. */
  readonly damage: readonly string[]
  readonly appliedMigrations: readonly number[]
  /** `0002-name`; this release would apply them. */
  readonly missingMigrations: readonly string[]
  /** Applied by a newer release. */
  readonly unknownMigrations: readonly number[]
  readonly home: FileFacts | ServerFacts
  /** The youngest row of all; undefined in an empty database. */
  readonly newestRowAt: EpochMs | undefined
  readonly apis: number
  /** What the root secret made of a fixed text when the database was new; undefined before the first start. */
  readonly secretCheck: string | undefined
}

/** What only a database in a file has. */
export interface FileFacts {
  readonly kind: 'file'
  readonly freeBytes: number
}

/** What only a database on a server has. */
export interface ServerFacts {
  readonly kind: 'server'
  readonly version: string
  /** Who this node is there. */
  readonly role: string
  /** What is sent goes over a network, and is not encrypted. */
  readonly isExposed: boolean
  /** How far its clock is ahead of this node's, at the least; negative when it is behind. */
  readonly clockAheadMs: number
  readonly connections: { readonly used: number; readonly limit: number }
  /** Settings of the connection that are not as they were asked for. */
  readonly changedSettings: readonly { readonly name: string; readonly value: string; readonly wanted: string }[]
  /** Settings of the server that are off and without which a crash loses what was committed. */
  readonly unsafeSettings: readonly string[]
}

/** Whether the root secret is the one that the database was made under. */
export type SecretInspection =
  | { readonly kind: 'matches' | 'differs' | 'missing' | 'unused' }
  | { readonly kind: 'unusable'; readonly reason: string }

/** A signing key: whether its private part decrypts and belongs to the public part that is published. */
export interface KeyInspection {
  readonly id: KeyId
  readonly algorithm: SigningAlgorithm
  readonly activeFrom: EpochMs
  readonly state: 'sound' | 'undecryptable' | 'mismatched'
}

export interface StoreInspection {
  readonly location: string
  readonly secretLocation: string
  readonly database: DatabaseInspection
  readonly secret: SecretInspection
  readonly keys: readonly KeyInspection[]
}

/** What answered at the issuer's address of metadata (RFC 8414 §3). */
export type IssuerProbe =
  | { readonly kind: 'unreachable' | 'no-metadata'; readonly address: string; readonly reason: string }
  | {
      readonly kind: 'answered'
      readonly address: string
      /** The metadata's `issuer`, byte for byte. */
      readonly issuer: string
      /** Of the keys that are served; undefined when they could not be had. */
      readonly keyIds: readonly string[] | undefined
      /** What the server, or the proxy before it, thinks the time is. */
      readonly time: EpochMs | undefined
    }
