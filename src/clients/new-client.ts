import type { Context } from '../ports/context.ts'
import type { ClientRecord } from '../ports/records/client.ts'
import type { InitialTokenRecord } from '../ports/records/initial-token.ts'
import { toSeconds, type EpochMs } from '../base/brand.ts'
import type { ClientMetadata } from '../protocol/client/metadata.ts'
import { DEFAULT_RULES, type ClientOrigin, type ClientSource } from '../protocol/client/policy.ts'
import { mintClientId } from '../protocol/ids.ts'
import { NO_SCOPE } from '../protocol/token/scope.ts'

/** Returns a client that has a new id and nothing else but its metadata: no credentials, and no approved scopes. */
export function newClient(
  { random }: Pick<Context, 'random'>,
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
 * Publishes a key of the algorithm that a client registered for its ID tokens, so that verifiers know the key before it signs. Only what the
 * client asks for: a key that no client uses may still be one that a verifier of another client cannot read, and with it the whole set.
 */
export async function publishIdTokenKey(
  { keys }: Pick<Context, 'keys'>,
  { idTokenAlgorithm }: Pick<ClientMetadata, 'idTokenAlgorithm'>,
): Promise<void> {
  if (idTokenAlgorithm !== undefined) await keys.ensureIdTokenKey(idTokenAlgorithm)
}
