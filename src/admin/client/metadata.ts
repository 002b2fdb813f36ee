import * as z from 'zod'
import type { Context } from '../../ports/context.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import { newClient, settleIdTokenAlgorithm } from '../../clients/new-client.ts'
import { registrationPolicy } from '../../clients/registration-policy.ts'
import { hashGivenSecret, isConfidential } from '../../protocol/client/authentication.ts'
import { isSameIdentity } from '../../protocol/client/identity.ts'
import { CLIENT_MEMBERS, type ClientMetadata } from '../../protocol/client/members.ts'
import { readRegistration } from '../../protocol/client/metadata.ts'
import { changeShape, inputShape } from '../../protocol/members.ts'
import { followsFapi, isOperatorMade, type ClientRules } from '../../protocol/client/policy.ts'
import { needCode, type GrantType } from '../../protocol/token/grant-types.ts'
import { mintOrderedId, type ClientId } from '../../protocol/ids.ts'
import type { SecretHash } from '../../protocol/secrets.ts'
import { definedMembers, isSameJson } from '../../base/json.ts'
import { forShell } from '../../base/shell.ts'
import { listedIdOf } from '../../protocol/client/identifier.ts'
import { findDormant } from '../../protocol/uri/redirect-uri.ts'
import { NO_SCOPE, scopeTokens, type Scope } from '../../protocol/token/scope.ts'
import { conflict, conflictIn } from '../admin-error.ts'
import { SCOPE } from '../fields.ts'
import { rulesOf, strictRulesOf, type RulesInput } from './document.ts'
import { refuseTakenId, withChosenId } from './chosen-id.ts'
import { requireClient } from './client.ts'
import { requirePossible } from './possible-client.ts'

/** An administrator creates the client, or adopted it. */
const ORIGIN = { source: 'operator', verifiedAt: undefined, document: undefined } as const

const {
  client_name,
  redirect_uris,
  grant_types,
  dpop_bound_access_tokens,
  token_endpoint_auth_method,
  jwks,
  jwks_uri,
  token_endpoint_auth_signing_alg,
  ...others
} = inputShape(CLIENT_MEMBERS)

/** The public keys of a client. */
export const KEYS = { jwks, jwks_uri, token_endpoint_auth_signing_alg }

/** The metadata that an administrator gives a new client, in the order of the forms and options. */
export const NEW_METADATA = z.object({
  client_name: client_name.unwrap(),
  redirect_uris,
  grant_types,
  scope: SCOPE.describe('The registered scope, separated by spaces.').optional(),
  dpop_bound_access_tokens,
  ...others,
  token_endpoint_auth_method,
  ...KEYS,
})

export type MetadataInput = z.output<typeof NEW_METADATA>
/** What an administrator changes of a client. What is absent does not change. */
export const METADATA_CHANGE = z
  .object({ ...NEW_METADATA.shape, ...changeShape(CLIENT_MEMBERS) })
  .omit({ token_endpoint_auth_method: true, jwks: true, jwks_uri: true, token_endpoint_auth_signing_alg: true })
type MetadataChange = z.output<typeof METADATA_CHANGE>
type KeysInput = z.output<z.ZodObject<typeof KEYS>>

export interface ClientInput {
  /** The `client_id` that the operator chose. Absent: a new one. */
  readonly chosenId?: string | undefined
  /** The secret that the client has elsewhere. Absent: it gets a new one. */
  readonly givenSecret?: string | undefined
  /** The hash of the secret that another system has made (`slowSecretHash`), for an import only. */
  readonly slowSecret?: SecretHash | undefined
  readonly metadata: MetadataInput
  readonly rules: RulesInput
  readonly approvedScope: Scope
}

/** A client and its new secret, which is shown once; undefined for a client without one. */
export interface CreatedClient {
  readonly client: ClientRecord
  readonly secret: string | undefined
}

/**
 * Creates a client of the operator: it is verified, is never swept, and does not manage itself. What the server cannot give it is an
 * error, and is not dropped as in a registration.
 *
 * @throws AdminError when the metadata or the rules are not possible, or a domain is blocked
 */
export async function createClient(context: Context, input: ClientInput): Promise<CreatedClient> {
  const made = await prepareClient(context, input)
  await settleIdTokenAlgorithm(context, made.client, made.client.metadata)
  if ((await context.store.createClient(made.client)) === 'id-taken')
    throw conflictIn('client_id', `There is already a client ${input.chosenId}.`, made.client.id)
  return made
}

/** Returns the client that `createClient` creates. @throws AdminError as it does */
export async function prepareClient(
  context: Context,
  { chosenId, givenSecret, slowSecret, metadata: input, rules: given, approvedScope }: ClientInput,
): Promise<CreatedClient> {
  const { clock, random, secrets } = context
  const metadata = await requireMetadata(context, input)
  const now = clock()
  const plain = { ...newClient(context, now, metadata, 'operator'), rules: rulesOf(given, metadata), approvedScope }
  const made = chosenId === undefined ? plain : withChosenId(plain, chosenId, now)
  if (chosenId !== undefined) await refuseTakenId(context, chosenId)
  await requirePossible(context, made)
  const known = givenSecret === undefined ? slowSecret : hashGivenSecret(secrets, made.id, givenSecret)
  if (known !== undefined) return { client: { ...made, secretHash: known }, secret: undefined }
  const secret = isConfidential(made) ? secrets.mint('client-secret', mintOrderedId(now, random), random) : undefined
  const client = { ...made, secretHash: secret?.hash }
  // A client with keys has a secret that is never shown. A client that changes from keys to a secret rotates it.
  return { client, secret: metadata.token_endpoint_auth_method === 'private_key_jwt' ? undefined : secret?.token }
}

/**
 * Changes the metadata of a client of the operator. Its secret, approved scopes and tokens stay. Users are asked for consent again
 * if its name or a redirect host changes.
 *
 * @throws AdminError when the client registered, the metadata is not possible, a domain is blocked, or the client was changed at the same time
 */
export async function updateClient(context: Context, id: ClientId, changes: MetadataChange): Promise<ClientRecord> {
  const client = await requireOperatorClient(context, id)
  const members = Object.entries({ ...inputOf(client), ...definedMembers(changes) })
  return change(context, client, Object.fromEntries(members.filter(([, value]) => value !== null)) as MetadataInput)
}

/**
 * Replaces the public keys of a client of the operator, which authenticates with them from now on (RFC 7523 §2.2). A secret that it had
 * stops working.
 *
 * @throws AdminError when the client registered or is public, or the keys cannot be used
 */
export async function setKeys(context: Context, id: ClientId, keys: KeysInput): Promise<ClientRecord> {
  const client = await requireOperatorClient(context, id)
  if (!isConfidential(client))
    throw conflict(`The client ${listedIdOf(client)} is public. Create another client with keys.`)
  const { jwks: _, jwks_uri: __, token_endpoint_auth_signing_alg: ___, ...rest } = inputOf(client)
  return change(context, client, { ...rest, ...keys, token_endpoint_auth_method: 'private_key_jwt' })
}

function inputOf({ metadata }: ClientRecord): MetadataInput {
  return metadata as unknown as MetadataInput
}

async function change(context: Context, client: ClientRecord, input: MetadataInput): Promise<ClientRecord> {
  const { metadata: previous, rules } = client
  const metadata = await requireMetadata(context, input, previous)
  await requirePossible(context, { ...client, metadata }, client)
  const identityFrom = isSameIdentity(previous, metadata) ? undefined : context.clock()
  await settleIdTokenAlgorithm(context, client, metadata)
  const outcome = await context.store.changeClient({ id: client.id, previous, rules, metadata, identityFrom })
  if (outcome === 'conflict') throw changedMeanwhile(client)
  return requireClient(context, client.id)
}

/**
 * Replaces the rules of a client, and returns those from before too. One that the operator did not create can have the rule that its copies
 * are strict, and no other.
 *
 * @throws AdminError when the client cannot have the rule, a rule has no effect, or the client was changed at the same time
 */
export async function setRules(
  context: Context,
  id: ClientId,
  given: RulesInput,
): Promise<{ readonly client: ClientRecord; readonly previous: ClientRules }> {
  const client = await requireClient(context, id)
  if (followsFapi(client) && given.profile === undefined) throw conflict(PROFILE_UNSAID)
  const rules = isOperatorMade(client) ? rulesOf(given, client.metadata) : strictRulesOf(given, client.rules)
  if (rules === undefined) throw notOperatorMade(client, ' It can have the rules --consent asked --copies strict only.')
  await requirePossible(context, { ...client, rules }, client)
  const outcome = await context.store.setClientRules({ id: client.id, previous: client, rules })
  if (outcome === 'conflict') throw changedMeanwhile(client)
  return { client: await requireClient(context, id), previous: client.rules }
}

const PROFILE_UNSAID =
  'The client has the profile fapi2. Name the profile with the other rules: fapi2 keeps it, and standard removes it.'

/**
 * Takes over a registered client: from then on the operator manages it. Its id, secret and grants stay. It no longer manages itself, and no registration
 * returns it.
 *
 * @throws AdminError when the client did not register, or was changed at the same time
 */
export async function adoptClient(context: Context, id: ClientId): Promise<ClientRecord> {
  const client = await requireClient(context, id)
  if (client.document !== undefined) {
    throw conflict(`The client ${client.id} is its metadata document, which its host changes. Verify it instead.`)
  }
  if (isOperatorMade(client)) throw conflict(`The client ${listedIdOf(client)} already belongs to the operator.`)
  const { id: clientId, metadata: previous } = client
  const outcome = await context.store.adoptClient({ id: clientId, previous, now: context.clock() })
  if (outcome === 'conflict') throw changedMeanwhile(client)
  return requireClient(context, id)
}

async function requireOperatorClient(context: Context, id: ClientId): Promise<ClientRecord> {
  const client = await requireClient(context, id)
  if (!isOperatorMade(client)) throw notOperatorMade(client, '')
  return client
}

function notOperatorMade(client: Pick<ClientRecord, 'chosenId' | 'id' | 'document'>, more: string) {
  const id = listedIdOf(client)
  const adopt =
    client.document === undefined ? ` To take it over, and so trust it: grantor client adopt ${forShell(id)}` : ''
  return conflict(`The client ${id} was not created by an operator.${more}${adopt}`)
}

function changedMeanwhile(client: Pick<ClientRecord, 'chosenId' | 'id'>) {
  const id = listedIdOf(client)
  return conflict(
    `The client ${id} was changed or deleted at the same time. Check it: grantor client show ${forShell(id)}`,
  )
}

type ImpliedInput = Pick<
  MetadataInput,
  'redirect_uris' | 'grant_types' | 'jwks' | 'jwks_uri' | 'token_endpoint_auth_method'
>

/** The grant types and the authentication of a client, given or those that its other metadata imply. */
export function impliedMetadata({ redirect_uris: redirectUris = [], ...input }: ImpliedInput) {
  const hasKeys = input.jwks !== undefined || input.jwks_uri !== undefined
  return {
    grant_types:
      input.grant_types ??
      (redirectUris.length === 0
        ? ['client_credentials' as const]
        : ['authorization_code' as const, 'refresh_token' as const]),
    token_endpoint_auth_method:
      input.token_endpoint_auth_method ?? (hasKeys ? ('private_key_jwt' as const) : ('client_secret_basic' as const)),
  }
}

/**
 * Reads the metadata that an administrator gives a client. Values of `previous` are neither refused nor dropped, even if the server no longer
 * offers them: leaked keys can still be replaced.
 */
async function requireMetadata(
  context: Context,
  input: MetadataInput,
  previous?: ClientMetadata,
): Promise<ClientMetadata> {
  const policy = registrationPolicy(context, await context.store.listApis(), ORIGIN)
  const implied = impliedMetadata(input)
  const grantTypes = implied.grant_types as readonly GrantType[]
  const isSame = previous !== undefined && isSameJson(grantTypes, previous.grant_types)
  const isNew = (name: GrantType): boolean => previous?.grant_types.includes(name) !== true
  const missing = grantTypes.filter((name) => isNew(name) && !context.settings.grantTypes.includes(name))
  if (missing.length > 0) {
    throw conflict(`This server does not offer ${missing.join(', ')}. See GRANTOR_DEVICE_GRANT.`)
  }
  const { token_endpoint_auth_method: method } = implied
  const hasKeys = input.jwks !== undefined || input.jwks_uri !== undefined
  if (hasKeys && method !== 'private_key_jwt')
    throw conflict(`With keys, token_endpoint_auth_method is private_key_jwt, not ${method}.`)
  if (!hasKeys && method === 'private_key_jwt') throw conflict('private_key_jwt needs jwks or jwks_uri.')
  const reading = readRegistration(
    {
      ...input,
      token_endpoint_auth_method: method,
      grant_types: grantTypes,
      response_types: isSame ? previous.response_types : needCode(grantTypes) ? ['code'] : [],
    },
    { ...policy, ...(previous === undefined ? {} : { previous }) },
    undefined,
  )
  if (reading.kind !== 'accepted') {
    const { problems } = reading
    throw conflict(problems.map(({ loc, msg }) => `${loc.slice(1).join(' ')}: ${msg}`).join('\n'), problems)
  }
  const { metadata } = reading
  if ((input.backchannel_logout_uri ?? '') !== (metadata.backchannel_logout_uri ?? '')) {
    throw conflict('The server sends no requests, so it cannot notify the client. See GRANTOR_OUTBOUND.')
  }
  const dormant = findDormant(metadata.redirect_uris, policy).find(
    (uri) => previous?.redirect_uris.includes(uri) !== true,
  )
  if (dormant !== undefined) {
    throw conflict(`The server does not allow the app of the redirect URI ${dormant}. See GRANTOR_REDIRECT_SCHEMES.`)
  }
  const dropped = grantTypes.filter((name) => !metadata.grant_types.includes(name))
  if (dropped.length > 0) {
    throw conflict(`The client cannot use ${dropped.join(', ')} with its authentication method and other grant types.`)
  }
  if (!isSame || !isSameJson(metadata.redirect_uris, previous.redirect_uris)) {
    const hasUris = metadata.redirect_uris.length > 0
    if (needCode(grantTypes) && !hasUris)
      throw conflict('authorization_code (or the default grant types) needs redirect_uris.')
    if (!needCode(grantTypes) && hasUris) throw conflict('redirect_uris need the grant type authorization_code.')
  }
  const kept = scopeTokens(metadata.scope ?? NO_SCOPE)
  const undeclared = scopeTokens(input.scope ?? NO_SCOPE).filter((token) => !kept.includes(token))
  if (undeclared.length > 0) throw conflict(`No API declares ${undeclared.join(', ')}. See "grantor api list".`)
  return metadata
}
