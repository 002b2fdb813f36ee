import type { LocalizedText } from '../../base/localized-text.ts'
import type { Context, StoreNeeds } from '../../ports/context.ts'
import type { ApiRecord, ApiScope, ApiTokens, ExchangeRule } from '../../ports/records/api.ts'
import type { GroupClaim } from '../../protocol/access/group-claim.ts'
import type { EpochMs } from '../../base/brand.ts'
import { mintApiCredentialId, type ApiCredentialId } from '../../protocol/ids.ts'
import { apisWithScope } from '../../clients/declared-scopes.ts'
import { chooseStartedKey } from '../../protocol/key-rotation.ts'
import { chosenClientId, documentClientId } from '../../protocol/client/identifier.ts'
import {
  canonicalResource,
  findNamed,
  namesIssuer,
  sameResource,
  slashVariant,
  type Resource,
} from '../../protocol/token/resource.ts'
import { isIdentityScope, lengthOf, NO_SCOPE, scopeTokens } from '../../protocol/token/scope.ts'
import { AdminError, conflict, conflictIn, unknown } from '../admin-error.ts'
import { requireClaimGroups } from '../group/group-claim.ts'
import { introduceAlgorithm } from '../key/key.ts'
import { forShell } from '../../base/shell.ts'
import { MAXIMA } from '../../base/maxima.ts'

export const SCOPE_LIMIT = MAXIMA.scopesOfApi.most
/** The maximum number of APIs, because every token request searches all of them. */
const API_LIMIT = MAXIMA.apis.most
/** From how many APIs an API takes tokens in exchange. */
export const EXCHANGE_LIMIT = MAXIMA.exchangeRules.most
/** Seconds, as for GRANTOR_ACCESS_TOKEN_LIFETIME: keys stay published for that long after they signed. */
export const LIFETIME_LIMIT = 86_400

/** The default settings of the tokens of an API. */
export const SERVER_TOKENS: ApiTokens = {
  format: 'jwt',
  lifetime: undefined,
  algorithm: undefined,
  jwtType: 'at+jwt',
  applicationSubject: false,
  binding: 'any',
}

/** An API as the operator declares it. */
export interface ApiDeclaration {
  readonly resource: Resource
  readonly name: LocalizedText | undefined
  readonly scopes: readonly ApiScope[]
  readonly tokens: ApiTokens
  /** The claim in which the API reads the groups of users; undefined: it reads none. */
  readonly groups?: GroupClaim | undefined
  readonly exchange: readonly ExchangeRule[]
}

/** The changes of an API. What is absent or undefined does not change. */
export interface ApiChange {
  /** '': no name. */
  readonly name?: LocalizedText | undefined
  readonly scopes?: readonly ApiScope[] | undefined
  readonly tokens?: ApiTokens | undefined
  readonly groups?: { readonly claim: GroupClaim | undefined } | undefined
  /** A rule replaces the one of the same API, and one without scopes removes it. */
  readonly exchange?: readonly ExchangeRule[] | undefined
}

/** Declares an API, so that clients can request tokens for it (decision 0006). @throws AdminError when the declaration is invalid, the resource is declared already, or there are too many APIs */
export async function createApi(context: Context, declaration: ApiDeclaration): Promise<ApiRecord> {
  const { store, clock } = context
  refuseIssuer(declaration.resource, context)
  checkScopes(declaration)
  checkTokens(declaration.tokens)
  if (declaration.groups !== undefined) await requireClaimGroups(context, declaration.groups, undefined)
  const exchange = changeExchange({ ...declaration, exchange: [] }, declaration.exchange)
  const made = { scopesSince: new Map(), credentials: undefined, createdAt: clock() }
  const api: ApiRecord = { ...declaration, groups: declaration.groups, exchange, ...made }
  const declared = await store.listApis()
  if (declared.length >= API_LIMIT) throw conflict(`There are ${API_LIMIT} APIs, which is the maximum.`)
  const same = findNamed(declared, api.resource)
  await refuseClientIdentifier(store, api.resource)
  if (same !== undefined || (await store.declareApi(api)) === 'taken') {
    throw conflictIn(
      'resource',
      `The API ${same?.resource ?? api.resource} is already declared. To change it: grantor api update ${forShell(same?.resource ?? api.resource)}`,
      api.resource,
    )
  }
  await introduce(context, api)
  return api
}

/** The `client_id` of a client may be a URI, which an API would read as its own in the audience of a token. */
async function refuseClientIdentifier(store: Pick<Context['store'], 'findClient'>, resource: Resource): Promise<void> {
  const texts = [resource, canonicalResource(resource)].flatMap((text) => [text, slashVariant(text)])
  for (const text of new Set(texts)) {
    const id = text === undefined ? undefined : chosenClientId(text)
    if (id !== undefined && (await store.findClient(id)) !== undefined)
      throw conflict(`There is a client ${text}. An API needs another identifier.`)
  }
  for (const text of [resource, canonicalResource(resource)]) {
    const client = await store.findClient(documentClientId(text))
    if (client === undefined) continue
    throw conflict(
      `The client ${client.id} has a metadata document at ${text}. An API needs another identifier, or delete the client: grantor client delete ${forShell(client.id)}`,
    )
  }
}

/**
 * Changes an API, unless it was changed after the caller read it. Issued tokens do not change.
 *
 * @throws AdminError when the change is invalid, or the API was changed or deleted at the same time
 */
export async function updateApi(
  context: Context,
  before: ApiRecord,
  { name, scopes, tokens = before.tokens, groups, exchange = [] }: ApiChange,
): Promise<ApiRecord> {
  checkScopes({ resource: before.resource, scopes })
  checkTokens(tokens)
  const claim = groups === undefined ? before.groups : groups.claim
  if (claim !== undefined) await requireClaimGroups(context, claim, before.groups)
  const changed: ApiRecord = {
    ...before,
    name: name === undefined ? before.name : name === '' ? undefined : name,
    ...(scopes === undefined ? {} : changeScopes(before, scopes, context.clock())),
    tokens,
    groups: claim,
  }
  const api = { ...changed, exchange: changeExchange(changed, exchange) }
  if ((await context.store.updateApi({ previous: before, api })) === 'conflict') {
    throw conflict(
      `The API ${before.resource} was changed or deleted at the same time. Check it: grantor api show ${forShell(before.resource)}`,
    )
  }
  await introduce(context, api)
  return api
}

/** The scopes of an API with the times of their declaration. A scope that was declared before keeps its time. */
function changeScopes(
  before: ApiRecord,
  scopes: readonly ApiScope[],
  now: EpochMs,
): Pick<ApiRecord, 'scopes' | 'scopesSince'> {
  const declared = new Set(before.scopes.map(({ name }) => name))
  const since = scopes.map(({ name }) => [name, declared.has(name) ? before.scopesSince.get(name) : now] as const)
  return { scopes, scopesSince: new Map(since.filter((entry): entry is [string, EpochMs] => entry[1] !== undefined)) }
}

/**
 * The rules of an API after a change of some of them. A rule may name an API that is not declared yet.
 *
 * @throws AdminError when a rule is for the API itself, has scopes that the API does not declare, or there are too many
 */
function changeExchange(
  { resource: target, scopes, exchange }: Pick<ApiRecord, 'resource' | 'scopes' | 'exchange'>,
  given: readonly ExchangeRule[],
): readonly ExchangeRule[] {
  for (const [index, { resource, scope }] of given.entries()) {
    if (given.slice(0, index).some((other) => sameResource(other.resource, resource)))
      throw conflict(`The API ${resource} is named twice by exchange.`)
    if (sameResource(resource, target)) throw conflict('An API does not exchange its tokens for its own.')
    const undeclared = scopeTokens(scope).filter((token) => !scopes.some(({ name }) => name === token))
    if (undeclared.length > 0) throw conflict(`The API has no scope ${undeclared.join(', ')}, which exchange names.`)
  }
  const kept = exchange.filter(({ resource }) => !given.some((rule) => sameResource(rule.resource, resource)))
  const changed = [...kept, ...given.filter(({ scope }) => scope !== NO_SCOPE)]
  if (changed.length > EXCHANGE_LIMIT)
    throw conflict(`An API takes tokens of at most ${EXCHANGE_LIMIT} APIs in exchange.`)
  return changed
}

/** The notice about APIs that cannot request the exchange that a rule permits; undefined: none. */
export function exchangeNotice(
  { exchange }: Pick<ApiRecord, 'exchange'>,
  declared: readonly ApiRecord[],
): string | undefined {
  const bare = exchange.flatMap(({ resource }) => {
    const caller = findNamed(declared, resource)
    if (caller === undefined) return [`${resource} (not declared)`]
    return caller.credentials === undefined
      ? [`${resource} (grantor api create-credentials ${forShell(resource)})`]
      : []
  })
  if (bare.length === 0) return undefined
  return `An exchange needs the credentials of the API that requests it. Without credentials: ${bare.join(', ')}.`
}

/** The notice about an API whose tokens are not signed with its algorithm yet; undefined: none. */
export async function algorithmNotice(
  { store, clock, settings: { signingAlgorithm } }: Context,
  { tokens: { algorithm } }: Pick<ApiRecord, 'tokens'>,
): Promise<string | undefined> {
  if (algorithm === undefined || algorithm === signingAlgorithm) return undefined
  if (chooseStartedKey(await store.listKeys(), algorithm, clock()) !== undefined) return undefined
  return `The first ${algorithm} key is published for ten minutes before it signs; until then ${signingAlgorithm} signs this API's tokens.`
}

/** The notice about groups that clients can read; undefined: none. */
export function groupsNotice({ groups, tokens: { format } }: Pick<ApiRecord, 'groups' | 'tokens'>): string | undefined {
  if (groups === undefined || format === 'opaque') return undefined
  return 'A client can read the groups of its user in a JWT. Opaque tokens hide them (format opaque).'
}

/** The notice about scopes that another API declares too; undefined: none. */
export function sharedNotice(
  api: Pick<ApiRecord, 'resource' | 'scopes'>,
  declared: readonly ApiRecord[],
): string | undefined {
  const shared = api.scopes.flatMap(({ name }) => {
    const other = apisWithScope(declared, name).find(({ resource }) => resource !== api.resource)
    return other === undefined ? [] : [`${name} (${other.resource})`]
  })
  if (shared.length === 0) return undefined
  return `Another API has the same scope: ${shared.join(', ')}. Clients have to name the API (resource), and a consent for both APIs allows the scope at both. Give each API scope names of its own.`
}

async function introduce(context: Context, { tokens: { algorithm } }: ApiRecord): Promise<void> {
  if (algorithm !== undefined) await introduceAlgorithm(context, algorithm)
}

/** The credentials with which an API introspects tokens. The secret is shown once. */
export interface NewApiCredentials {
  readonly resource: Resource
  readonly id: ApiCredentialId
  readonly secret: string
}

/** Creates the credentials of an API for introspection. Its previous credentials stop working. @throws AdminError when there is no such API */
export async function createApiCredentials(
  { store, clock, random, secrets }: Context,
  text: string,
): Promise<NewApiCredentials> {
  const { resource } = await requireApi({ store }, text)
  const id = mintApiCredentialId(clock(), random)
  const { token: secret, hash: secretHash } = secrets.mint('api-secret', id.slice('gap_'.length), random)
  if ((await store.setApiCredentials({ resource, credentials: { id, secretHash } })) === 'unknown') {
    throw conflict(`The API ${resource} was deleted at the same time.`)
  }
  return { resource, id, secret }
}

/** Finds the API of a resource. @throws AdminError when there is no such API */
export async function requireApi({ store }: StoreNeeds<'listApis'>, text: string): Promise<ApiRecord> {
  const api = findNamed(await store.listApis(), text)
  if (api === undefined) throw unknownApi(text)
  return api
}

export function unknownApi(text: string): AdminError {
  return unknown(`There is no API ${text}. See "grantor api list".`)
}

/**
 * An API with the issuer as its identifier would accept all tokens that were requested without a resource, because their audience is
 * the issuer.
 */
function refuseIssuer(resource: Resource, { issuer }: Context): void {
  if (!namesIssuer(resource, issuer)) return
  const why = 'the audience of tokens without a resource: an API needs another identifier.'
  throw conflictIn('resource', `"${resource}" is this server, ${why}`, resource)
}

/** Checks that no API has the address that the server is to have. @throws AdminError that names the API and says what to do */
export async function refuseIssuerOfApi({ store }: StoreNeeds<'listApis'>, issuer: string): Promise<void> {
  const api = (await store.listApis()).find(({ resource }) => namesIssuer(resource, issuer))
  if (api === undefined) return
  throw conflict(
    `There is an API ${api.resource}, which would have the address of the server. Declare it with another identifier, and delete this one: grantor api delete ${forShell(api.resource)}`,
  )
}

/** @throws AdminError when a scope is one of the server, is named twice, or requires a user and is for clients without one, or all are too long for a token */
function checkScopes({
  resource,
  scopes = [],
}: Pick<ApiDeclaration, 'resource'> & { readonly scopes: readonly ApiScope[] | undefined }): void {
  const length = lengthOf([resource, ...scopes.map(({ name }) => name)])
  if (scopes.length > 0 && length > MAXIMA.apiTexts.most)
    throw conflict(
      `The identifier of the API and the names of its scopes have ${length} characters together, with a space for each. A token has room for ${MAXIMA.apiTexts.most}: choose shorter names.`,
    )
  const names = new Set<string>()
  for (const { name, grantedTo, stepUp } of scopes) {
    if (stepUp !== undefined && grantedTo === 'users-and-machines')
      throw conflict(
        `The scope ${name} requires a step-up of a user, and clients could have it without one: grant it otherwise.`,
      )
    if (isIdentityScope(name)) throw conflict(`The scope ${name} belongs to the server itself.`)
    if (names.has(name)) throw new AdminError(`The scope ${name} is declared twice.`)
    names.add(name)
  }
}

/** @throws AdminError when the settings contradict each other, as they can after a change of some of them */
function checkTokens({ format, algorithm, jwtType }: ApiTokens): void {
  if (format !== 'opaque') return
  if (algorithm !== undefined) throw conflict('Opaque tokens are not signed: leave the algorithm out.')
  if (jwtType !== SERVER_TOKENS.jwtType) throw conflict('Opaque tokens are not JWTs: leave the type out.')
}
