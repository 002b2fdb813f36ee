import type { EpochMs } from '../protocol/brand.ts'
import type { KnownTime } from '../protocol/clock.ts'
import type { KeyId } from '../protocol/ids.ts'
import type { SigningAlgorithm } from './records/key.ts'

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
  /** The youngest row of all, or, in a file, what a server noted of time; undefined in an empty database. */
  readonly time: KnownTime | undefined
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

/** What an API answered when it was asked as a client asks that has no token yet. RFC 9728 §5. */
export interface ResourceProbe {
  /** Where clients connect, as the operator wrote it. */
  readonly url: string
  /** Without a token. */
  readonly withoutToken: ProbedAnswer
  /** With a token that no server issued. */
  readonly withFalseToken: ProbedAnswer
  readonly document: ProbedDocument
  /** The API that the issuer declares for this address or for the document's `resource`. `no-issuer`: no server answers as the issuer. */
  readonly declared: DeclaredResource | 'undeclared' | 'unknown' | 'no-issuer'
}

/** The answer to one request, or why there was none. */
export type ProbedAnswer =
  | { readonly kind: 'unreachable'; readonly reason: string }
  | {
      readonly kind: 'answered'
      readonly status: number
      /** The `WWW-Authenticate` header. */
      readonly challenge: string | undefined
    }

/** The protected resource metadata that an API serves. RFC 9728 §2. */
export type ProbedDocument =
  | { readonly kind: 'none'; readonly address: string; readonly reason: string }
  | {
      readonly kind: 'found'
      readonly address: string
      /** The members that matter, byte for byte; undefined where one is absent or of another type. */
      readonly resource: string | undefined
      readonly authorizationServers: readonly string[] | undefined
      readonly scopes: readonly string[] | undefined
    }

/** An API as its issuer describes it to clients. */
export interface DeclaredResource {
  readonly resource: string
  /** Those that any client may request. */
  readonly scopes: readonly string[]
}
