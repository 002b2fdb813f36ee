import type { Context } from '../ports/context.ts'
import type { ClientRecord } from '../ports/records/client.ts'
import type { InitialTokenRecord } from '../ports/records/initial-token.ts'
import { toSeconds, type EpochMs } from '../base/brand.ts'
import type { ClientMetadata } from '../protocol/client/members.ts'
import { DEFAULT_RULES, isOperatorMade, type ClientOrigin, type ClientSource } from '../protocol/client/policy.ts'
import { mintClientId } from '../protocol/ids.ts'
import { DEFAULT_ID_TOKEN_ALGORITHM } from '../protocol/openid/id-token.ts'
import { NO_SCOPE } from '../protocol/token/scope.ts'

/** Returns a client that has a new id and nothing else but its metadata: no credentials, and no approved scopes. */
export function newClient(
  { random }: Context,
  now: EpochMs,
  metadata: ClientMetadata,
  source: ClientSource,
): ClientRecord {
  return {
    id: mintClientId(now, random),
    chosenId: undefined,
    issuedAt: toSeconds(now),
    source,
    rules: DEFAULT_RULES,
    document: undefined,
    initialToken: undefined,
    secretHash: undefined,
    managementHash: undefined,
    dedupeKey: undefined,
    metadata,
    usedAt: undefined,
    verifiedAt: source === 'operator' ? now : undefined,
    disabledAt: undefined,
    identityFrom: undefined,
    previousSecret: undefined,
    approvedScope: NO_SCOPE,
    notBefore: undefined,
    lastUsedAt: undefined,
  }
}

/** What is known of a client that registers, with an initial access token or without one, before its metadata is read. */
export function registrationOrigin(
  token: Pick<InitialTokenRecord, 'template'> | undefined,
  now: EpochMs,
): ClientOrigin {
  const verifiedAt = token?.template.trustLevel === 'verified' ? now : undefined
  return { source: 'registration', verifiedAt, document: undefined }
}

/** Returns the client as the template of an initial access token makes it. */
export function withTemplate(
  client: ClientRecord,
  { id, template }: Pick<InitialTokenRecord, 'id' | 'template'>,
  now: EpochMs,
): ClientRecord {
  const { scope, redirectHosts } = template
  const { verifiedAt } = registrationOrigin({ template }, now)
  return { ...client, verifiedAt, initialToken: { id, scope, redirectHosts } }
}

/**
 * Publishes a key of the algorithm that a client chose for its ID tokens, so that verifiers know the key before it signs, and returns the
 * metadata. Only for a client that the operator made or verified: a verifier of another client may not be able to read the key, and with it
 * the whole set. For others an algorithm without a key is replaced by the usual one, as one that is not supported (RFC 7591 §2).
 */
export async function settleIdTokenAlgorithm<Metadata extends Pick<ClientMetadata, 'id_token_signed_response_alg'>>(
  { keys }: Context,
  client: Pick<ClientOrigin, 'source' | 'verifiedAt'>,
  metadata: Metadata,
): Promise<Metadata> {
  const { id_token_signed_response_alg: algorithm } = metadata
  if (algorithm === undefined) return metadata
  if (isOperatorMade(client) || client.verifiedAt !== undefined) {
    await keys.ensureIdTokenKey(algorithm)
    return metadata
  }
  const offered = await keys.idTokenAlgorithms()
  return offered.includes(algorithm)
    ? metadata
    : { ...metadata, id_token_signed_response_alg: DEFAULT_ID_TOKEN_ALGORITHM }
}
