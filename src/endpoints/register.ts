import type { Context } from '../ports/context.ts'
import type { Reply, Request } from '../ports/message.ts'
import type { ClientRecord } from '../ports/records.ts'
import { toSeconds } from '../protocol/brand.ts'
import { mintClientId, mintOrderedId } from '../protocol/ids.ts'
import type { CredentialKind } from '../protocol/secrets.ts'
import { describeRegistration } from './client-information.ts'
import { readRegistrationRequest, takeRegistrationBudget, type RegistrationNeeds } from './registration-request.ts'

type Needs = RegistrationNeeds &
  Pick<Context, 'budgets' | 'clock' | 'random' | 'secrets'> & {
    readonly store: Pick<Context['store'], 'registerClient'>
  }

/**
 * Dynamic client registration. RFC 7591 §3; the spec, "Register OAuth client".
 *
 *  §3.1    Anybody may register; every field is optional.
 *  §2      What is not offered is left out of the answer; what is dangerous refuses the whole request (decisions.md D2).
 *  §3.2.1  201 with everything that was registered, the secret included: it is never shown again. A client with a secret
 *          also gets what it manages its registration with (RFC 7592 §3).
 *  §3.2.2  400, or 422 where the shape is wrong, naming every fault at once.
 *
 * @throws OAuthError invalid_client_metadata, invalid_redirect_uri, temporarily_unavailable
 */
export async function register(context: Needs, request: Request): Promise<Reply> {
  const now = context.clock()
  takeRegistrationBudget(context, request.network)
  const { metadata, nulls } = await readRegistrationRequest(context, request.body, () => [])
  const id = mintClientId(now, context.random)
  const seal = (kind: CredentialKind) => context.secrets.seal(kind, mintOrderedId(now, context.random), context.random)
  const isPublic = metadata.authMethod === 'none'
  const secret = isPublic ? undefined : seal('client-secret')
  const management = isPublic ? undefined : seal('management-token')
  const client: ClientRecord = {
    id,
    issuedAt: toSeconds(now),
    secretHash: secret?.hash,
    managementHash: management?.hash,
    metadata,
    usedAt: undefined,
    verifiedAt: undefined,
    disabledAt: undefined,
    identityFrom: undefined,
  }
  await context.store.registerClient(client)
  const shown = { secret: secret?.token, managementToken: management?.token }
  const body = describeRegistration(context.issuer, client, shown, nulls)
  return { kind: 'json', status: 201, body, event: { event: 'client.registered', client: id } }
}
