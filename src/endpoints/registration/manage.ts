import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import { reportDormant } from '../../clients/registration-policy.ts'
import { isSameIdentity } from '../../protocol/client/identity.ts'
import { matchesClientSecret } from '../../protocol/client/authentication.ts'
import { CLIENT_AUTH_METHODS } from '../../protocol/client/registration-rules.ts'
import { invalidToken, unavailable } from '../../protocol/errors.ts'
import { parseClientId } from '../../protocol/ids.ts'
import { matchesCredential } from '../../protocol/secrets.ts'
import { missing, problem, type Problem } from '../../base/validation.ts'
import { countFailure } from '../token/authenticate-client.ts'
import { describeRegistration } from './response.ts'
import { readRegistrationRequest, requireAllowed, takeRegistrationBudget, type RegistrationEcho } from './request.ts'

/** RFC 7592 §2.2: members that only the server sets. */
const SERVER_MEMBERS = [
  'registration_access_token',
  'registration_client_uri',
  'client_secret_expires_at',
  'client_id_issued_at',
] as const
/** The time until every node has read the changed client. */
export const CONFLICT_RETRY_SECONDS = 1

/**
 * Client read request. RFC 7592 §2.1.
 *
 * @throws OAuthError invalid_token, temporarily_unavailable
 */
export async function readClient(context: Context, request: Request): Promise<Reply> {
  const { client, token } = await authenticateRegistrationOwner(context, request)
  return information(context, client, token, {})
}

/**
 * Client update request. RFC 7592 §2.2: the metadata is replaced completely, and checked as in a registration.
 *
 * To users, a client with another name or redirect host is a different client. Such a change therefore removes the verified
 * mark and the approved scopes, and users must consent again (threats.md, "Metadata rewrite").
 *
 * @throws OAuthError invalid_token, invalid_client_metadata, invalid_redirect_uri, temporarily_unavailable
 */
export async function updateClient(context: Context, request: Request): Promise<Reply> {
  const { client, token } = await authenticateRegistrationOwner(context, request)
  takeRegistrationBudget(context, request.network)
  const { metadata, echo } = await readRegistrationRequest(
    context,
    request.body,
    (members) => checkMembers(members, client, context),
    client.initialToken,
    client,
  )
  await requireAllowed(context, { ...client, metadata }, 'use')
  const outcome = await context.store.updateClient({
    id: client.id,
    previous: client.metadata,
    metadata,
    identityFrom: isSameIdentity(client.metadata, metadata) ? undefined : context.clockCheck.now(),
  })
  if (outcome === 'conflict') throw unavailable('client_changed_meanwhile', CONFLICT_RETRY_SECONDS)
  reportDormant(context, { ...client, metadata })
  const answer = information(context, { ...client, metadata }, token, echo)
  return { ...answer, event: { event: 'client.updated', client: client.id } }
}

/**
 * Client delete request. RFC 7592 §2.3: the client's secret, codes and grants become invalid.
 *
 * @throws OAuthError invalid_token, temporarily_unavailable
 */
export async function deleteClient(context: Context, request: Request): Promise<Reply> {
  const { client } = await authenticateRegistrationOwner(context, request)
  await context.store.deleteClient(client.id)
  return { kind: 'empty', status: 204, event: { event: 'client.deleted', client: client.id } }
}

interface RegistrationOwner {
  readonly client: ClientRecord
  /** The registration access token, as presented. */
  readonly token: string
}

/**
 * Authenticates a request with a registration access token. RFC 7592 §2, RFC 6750 §2.1 and §3.1. An unknown client,
 * a disabled client and a client without such a token get the same error as a wrong token.
 *
 * @throws OAuthError invalid_token, temporarily_unavailable
 */
export async function authenticateRegistrationOwner(context: Context, request: Request): Promise<RegistrationOwner> {
  const token = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(request.authorization ?? '')?.[1]
  const id = parseClientId(request.query.get('client_id') ?? '')
  const client = id === undefined ? undefined : await context.store.findClient(id)
  const isRight = matchesCredential(context.secrets, 'management-token', token, client?.managementHash)
  if (token !== undefined && client !== undefined && isRight && client.disabledAt === undefined)
    return { client, token }
  countFailure(context, request.network)
  throw invalidToken(token === undefined ? 'management_token_missing' : 'management_token_wrong')
}

function checkMembers(
  members: Readonly<Record<string, unknown>>,
  client: ClientRecord,
  context: Context,
): readonly Problem[] {
  const { client_id: id, client_secret: secret, token_endpoint_auth_method: method } = members
  const problems: Problem[] = SERVER_MEMBERS.filter((name) => name in members).map((name) =>
    problem(['body', name], 'value_error', 'The server sets this member. Omit it.', members[name], {}),
  )
  if (id === undefined) problems.push(missing('body', 'client_id'))
  else if (id !== client.id)
    problems.push(
      problem(['body', 'client_id'], 'value_error', 'This is not the client_id in the request URI.', id, {}),
    )
  if (secret !== undefined && !isSecretOf(client, secret, context))
    problems.push(
      problem(
        ['body', 'client_secret'],
        'value_error',
        'This is not a currently valid secret of this client.',
        null,
        {},
      ),
    )
  if ((method === 'none') !== (client.metadata.token_endpoint_auth_method === 'none'))
    problems.push(otherKind(client, method))
  return problems
}

/** RFC 7592 §2.2 does not let an update issue or withdraw a secret, so the client stays public or confidential. */
function otherKind({ metadata }: ClientRecord, method: unknown): Problem {
  const [kind, other, expected] =
    metadata.token_endpoint_auth_method === 'none'
      ? ['public', 'confidential', ['none']]
      : ['confidential', 'public', CLIENT_AUTH_METHODS.filter((known) => known !== 'none')]
  const msg = `A ${kind} client cannot become ${other}. Register a new ${other} client.`
  return problem(['body', 'token_endpoint_auth_method'], 'literal_error', msg, method, { expected })
}

/** RFC 7592 §2.2: the secret must be the client's. The previous secret is accepted while it is valid. */
function isSecretOf(client: ClientRecord, secret: unknown, { clock, secrets }: Context) {
  return typeof secret === 'string' && matchesClientSecret(secrets, { secret, secretAsSent: secret }, client, clock())
}

function information({ issuer }: Context, client: ClientRecord, managementToken: string, echo: RegistrationEcho) {
  const body = describeRegistration(issuer, client, { secret: undefined, managementToken }, echo)
  return { kind: 'json', status: 200, body } as const
}
