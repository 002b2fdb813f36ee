import type { EpochMs, EpochSeconds } from '../../base/brand.ts'
import type { ClientMetadata } from '../../protocol/client/members.ts'
import type { ClientRules, ClientSource } from '../../protocol/client/policy.ts'
import type { ClientId, InitialTokenId } from '../../protocol/ids.ts'
import type { RegistrationLimits } from '../../protocol/client/registration-template.ts'
import type { Scope } from '../../protocol/token/scope.ts'
import type { SecretHash } from '../../protocol/secrets.ts'

/** A client metadata document as it was fetched last. */
export interface MetadataDocument {
  readonly url: string
  readonly fetchedAt: EpochMs
  /** The document is not fetched again before this time. */
  readonly freshUntil: EpochMs
}

/** A client. RFC 7591 §3.2.1. */
export interface ClientRecord {
  readonly id: ClientId
  /** The `client_id` that the operator chose; undefined for others. `id` is made of it. */
  readonly chosenId: string | undefined
  readonly issuedAt: EpochSeconds
  /** How the client came to the server. Only the policy reads it (client/policy.ts). */
  readonly source: ClientSource
  readonly rules: ClientRules
  /** The metadata document of a client whose `client_id` is its URL; undefined for others. */
  readonly document: MetadataDocument | undefined
  /** The initial access token that the client registered with, and the limits that hold for its metadata from then on. */
  readonly initialToken: ({ readonly id: InitialTokenId } & RegistrationLimits) | undefined
  /** undefined for a public client. */
  readonly secretHash: SecretHash | undefined
  /** The secret that was replaced last. It is accepted beside the current secret until `until`. */
  readonly previousSecret: { readonly hash: SecretHash; readonly until: EpochMs } | undefined
  /** Hash of the registration access token (RFC 7592 §3). undefined: only an administrator can manage the client. */
  readonly managementHash: SecretHash | undefined
  /** A digest of a public client's metadata. A second registration with the same metadata returns this client (decision 0021). */
  readonly dedupeKey: string | undefined
  readonly metadata: ClientMetadata
  /** When the client first got a token. A client that never got one may be swept (decision 0021). */
  readonly usedAt: EpochMs | undefined
  readonly verifiedAt: EpochMs | undefined
  readonly disabledAt: EpochMs | undefined
  /** When the client's name or a redirect host last changed. Consents up to this time are ignored: the user saw another client. */
  readonly identityFrom: EpochMs | undefined
  /** Scopes that the operator approved the client for (decision 0006). */
  readonly approvedScope: Scope
  /** Tokens of the client that were issued before this time are revoked. */
  readonly notBefore: EpochMs | undefined
  /** When the client last got a token, to the minute. undefined: never, or before this was recorded. */
  readonly lastUsedAt: EpochMs | undefined
}
