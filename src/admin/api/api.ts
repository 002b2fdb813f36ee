import type { Context } from '../../ports/context.ts'
import type { ApiRecord, ApiScope, ApiTokens } from '../../ports/records/api.ts'
import type { EpochMs } from '../../base/brand.ts'
import { DISPLAY_TEXT_LIMIT, parseDisplayText } from '../../base/display-text.ts'
import { mintApiCredentialId, type ApiCredentialId } from '../../protocol/ids.ts'
import { documentClientId } from '../../protocol/client/identifier.ts'
import { parseResource, sameResource, type Resource } from '../../protocol/token/resource.ts'
import { isIdentityScope, parseScope } from '../../protocol/token/scope.ts'
import { AdminError, conflict, unknown } from '../admin-error.ts'
import { requireTokens } from '../api-tokens.ts'
import { introduceAlgorithm } from '../key.ts'
import { requireLimit, type Listed, type PageRequest } from '../page.ts'

/** An API has at most as many scopes as a request may name. */
export const SCOPE_LIMIT = 100
/** The maximum number of APIs, because every token request searches all of them. */
const API_LIMIT = 1000
type Needs<Name extends keyof Context['store']> = { readonly store: Pick<Context['store'], Name> }

/** An API as the operator declares it, before validation. */
export interface ApiDeclaration {
  readonly resource: string
  readonly name: string | undefined
  readonly scopes: readonly ApiScope[]
  readonly tokens: ApiTokens
}

/** The changes of an API. What is absent or undefined does not change. */
export interface ApiChange {
  /** '': no name. */
  readonly name?: string | undefined
  readonly scopes?: readonly ApiScope[] | undefined
  readonly tokens?: ApiTokens | undefined
}

type KeyNeeds = Pick<Context, 'clock' | 'keys' | 'settings'> & Needs<'addFirstKey' | 'listKeys'>

/** Declares an API, so that clients can request tokens for it (decision 0006). @throws AdminError when the declaration is invalid, the resource is declared already, or there are too many APIs */
export async function createApi(
  context: Needs<'declareApi' | 'findClient' | 'listApis'> & KeyNeeds & Pick<Context, 'issuer'>,
  declaration: ApiDeclaration,
): Promise<ApiRecord> {
  const { store, clock, issuer } = context
  const api: ApiRecord = {
    resource: requireResource(declaration.resource, issuer),
    name: declaration.name === undefined ? undefined : requireDisplayText('The name', declaration.name),
    scopes: requireScopes(declaration.scopes),
    tokens: requireTokens(declaration.tokens),
    scopesSince: new Map(),
    credentials: undefined,
    createdAt: clock(),
  }
  const declared = await store.listApis()
  if (declared.length >= API_LIMIT) throw conflict(`There are ${API_LIMIT} APIs, which is the most.`)
  const same = declared.find(({ resource }) => sameResource(resource, api.resource))
  await refuseClientIdentifier(store, api.resource)
  if (same !== undefined || (await store.declareApi(api)) === 'taken') {
    throw conflict(
      `The API ${same?.resource ?? api.resource} is declared already. To change it: grantor api update ${same?.resource ?? api.resource}`,
    )
  }
  await introduce(context, api)
  return api
}

/** The `client_id` of a client with a metadata document is a URL, which an API would read as its own in the audience of a token. */
async function refuseClientIdentifier(store: Pick<Context['store'], 'findClient'>, resource: Resource): Promise<void> {
  const client = await store.findClient(documentClientId(resource))
  if (client === undefined) return
  throw conflict(
    `The client ${client.id} has a metadata document at ${resource}. An API needs another identifier, or delete the client: grantor client delete ${client.id}`,
  )
}

/**
 * Changes an API, unless it was changed after the caller read it. Issued tokens do not change.
 *
 * @throws AdminError when the change is invalid, or the API was changed or deleted at the same time
 */
export async function updateApi(
  context: Needs<'updateApi'> & KeyNeeds,
  before: ApiRecord,
  { name, scopes, tokens }: ApiChange,
): Promise<ApiRecord> {
  const api: ApiRecord = {
    ...before,
    name: name === undefined ? before.name : name === '' ? undefined : requireDisplayText('The name', name),
    ...(scopes === undefined ? {} : changeScopes(before, requireScopes(scopes), context.clock())),
    tokens: tokens === undefined ? before.tokens : requireTokens(tokens),
  }
  if ((await context.store.updateApi({ previous: before, api })) === 'conflict') {
    throw conflict(
      `The API ${before.resource} was changed or deleted at the same time. Check it: grantor api show ${before.resource}`,
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

/** The notice about an API whose tokens are not signed with the algorithm of the server; undefined: none. */
export function algorithmNotice(
  { tokens: { algorithm } }: Pick<ApiRecord, 'tokens'>,
  { signingAlgorithm }: Pick<Context['settings'], 'signingAlgorithm'>,
): string | undefined {
  if (algorithm === undefined || algorithm === signingAlgorithm) return undefined
  return `The first ${algorithm} key is published for ten minutes before it signs; until then ${signingAlgorithm} signs this API's tokens.`
}

/** The notice about scopes that another API declares too; undefined: none. */
export function sharedNotice(
  api: Pick<ApiRecord, 'resource' | 'scopes'>,
  declared: readonly ApiRecord[],
): string | undefined {
  const others = declared.filter(({ resource }) => resource !== api.resource)
  const shared = api.scopes.flatMap(({ name }) => {
    const other = others.find(({ scopes }) => scopes.some((scope) => scope.name === name))
    return other === undefined ? [] : [`${name} (${other.resource})`]
  })
  if (shared.length === 0) return undefined
  return `Another API has the same scope: ${shared.join(', ')}. Clients have to name the API (resource), and a consent for both APIs allows the scope at both. Give each API scope names of its own.`
}

async function introduce(context: KeyNeeds, { tokens: { algorithm } }: ApiRecord): Promise<void> {
  if (algorithm !== undefined) await introduceAlgorithm(context, algorithm)
}

/** Lists APIs in the order of their resources. `before` is the last row of the previous page. */
export async function listApis(
  { store }: Needs<'listApis'>,
  page: PageRequest<string>,
): Promise<Listed<ApiRecord, Resource>> {
  const apis = await store.listApis()
  const found = apis.filter(({ resource }) => page.before === undefined || resource > page.before)
  const rows = found.slice(0, requireLimit(page.limit))
  return { rows, next: found.length > rows.length ? rows.at(-1)?.resource : undefined }
}

/** Deletes an API. No more tokens are issued for it. @throws AdminError when there is no such API */
export async function deleteApi({ store }: Needs<'deleteApi' | 'listApis'>, text: string): Promise<Resource> {
  const { resource } = await requireApi({ store }, text)
  if ((await store.deleteApi(resource)) === 'unknown') throw unknownApi(text)
  return resource
}

/** The credentials with which an API introspects tokens. The secret is shown once. */
export interface NewApiCredentials {
  readonly resource: Resource
  readonly id: ApiCredentialId
  readonly secret: string
}

/** Creates the credentials of an API for introspection. Its previous credentials stop working. @throws AdminError when there is no such API */
export async function createApiCredentials(
  {
    store,
    clock,
    random,
    secrets,
  }: Pick<Context, 'clock' | 'random' | 'secrets'> & {
    readonly store: Pick<Context['store'], 'listApis' | 'setApiCredentials'>
  },
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
export async function requireApi({ store }: Needs<'listApis'>, text: string): Promise<ApiRecord> {
  const api = (await store.listApis()).find(({ resource }) => sameResource(resource, text))
  if (api === undefined) throw unknownApi(text)
  return api
}

function unknownApi(text: string): AdminError {
  return unknown(`There is no API ${text}. See "grantor api list".`)
}

function requireResource(text: string, issuer: string): Resource {
  const resource = parseResource(text)
  if (resource === undefined) {
    throw new AdminError(
      `"${text}" is not a resource: it must be an absolute URI without a fragment or user information (RFC 8707 §2).`,
    )
  }
  // An API with the issuer as its identifier would accept all tokens that were requested without a resource, because their
  // audience is the issuer.
  if (text === issuer) {
    const why = 'the audience of tokens without a resource: an API needs another identifier.'
    throw conflict(`"${text}" is this server, ${why}`)
  }
  return resource
}

function requireScopes(scopes: readonly ApiScope[]): readonly ApiScope[] {
  if (scopes.length > SCOPE_LIMIT) throw new AdminError(`An API has at most ${SCOPE_LIMIT} scopes.`)
  const names = new Set<string>()
  return scopes.map(({ name, sentence, grantedTo }) => {
    if (name === '' || parseScope(name) !== name || name.includes(' ')) {
      throw new AdminError(`"${name}" is not the name of a scope: it has no spaces, quotes or backslashes.`)
    }
    if (isIdentityScope(name)) throw new AdminError(`The scope ${name} is one of the server itself.`)
    if (names.has(name)) throw new AdminError(`The scope ${name} is named twice.`)
    names.add(name)
    return { name, sentence: requireDisplayText(`The sentence of the scope ${name}`, sentence), grantedTo }
  })
}

/** A text of the consent page: `what` names it in the error, such as `The name`. */
function requireDisplayText(what: string, text: string): string {
  const shown = parseDisplayText(text)
  if (shown !== undefined) return shown
  if (text.trim() === '') throw new AdminError(`${what} is empty.`)
  const isLong = [...text.trim()].length > DISPLAY_TEXT_LIMIT
  throw new AdminError(
    isLong ? `${what} has more than ${DISPLAY_TEXT_LIMIT} characters.` : `${what} has control characters.`,
  )
}
