import type { Context } from '../ports/context.ts'
import type { ApiRecord, ApiScope } from '../ports/records.ts'
import { parseResource, sameResource, type Resource } from '../protocol/resource.ts'
import { parseScope } from '../protocol/scope.ts'
import { AdminError } from './admin-error.ts'
import { requireLimit, type Listed } from './page.ts'

/** Characters of a sentence or a name on the consent page; more is not read. */
const SENTENCE_LIMIT = 200
/** As many as one request may ask for. */
const SCOPE_LIMIT = 100
/** Every request for a token looks through all of them. */
const API_LIMIT = 1000

type Needs<Name extends keyof Context['store']> = { readonly store: Pick<Context['store'], Name> }

/** An API as its operator declares it, not checked yet. */
export interface ApiDeclaration {
  readonly resource: string
  readonly name: string | undefined
  readonly scopes: readonly ApiScope[]
}

/** Declares an API, so that tokens can be asked for it (decisions.md D6). @throws AdminError naming what is wrong */
export async function createApi(
  { store, clock }: Needs<'declareApi' | 'listApis'> & Pick<Context, 'clock'>,
  declaration: ApiDeclaration,
): Promise<ApiRecord> {
  const api: ApiRecord = {
    resource: requireResource(declaration.resource),
    name: declaration.name === undefined ? undefined : requireWords('The name', declaration.name),
    scopes: requireScopes(declaration.scopes),
    credentials: undefined,
    createdAt: clock(),
  }
  const declared = await store.listApis()
  if (declared.length >= API_LIMIT) throw new AdminError(`There are ${API_LIMIT} APIs, which is the most.`)
  const twin = declared.find(({ resource }) => sameResource(resource, api.resource))
  if (twin !== undefined || (await store.declareApi(api)) === 'taken') {
    throw new AdminError(
      `The API ${twin?.resource ?? api.resource} is declared already. To change it, delete it first: grantor api delete ${twin?.resource ?? api.resource}`,
    )
  }
  return api
}

/** In the order of their resources; `before` is the last one of the slice before. */
export async function listApis(
  { store }: Needs<'listApis'>,
  page: { readonly before: string | undefined; readonly limit: number },
): Promise<Listed<ApiRecord, Resource>> {
  const apis = await store.listApis()
  const found = apis.filter(({ resource }) => page.before === undefined || resource > page.before)
  const rows = found.slice(0, requireLimit(page.limit))
  return { rows, next: found.length > rows.length ? rows.at(-1)?.resource : undefined }
}

/** No token is issued for it from now on. @throws AdminError when there is no such API */
export async function deleteApi({ store }: Needs<'deleteApi' | 'listApis'>, text: string): Promise<Resource> {
  const { resource } = await findApi({ store }, text)
  if ((await store.deleteApi(resource)) === 'unknown') throw unknownApi(text)
  return resource
}

/** The API of a resource, as its operator writes it. @throws AdminError when there is no such API */
export async function findApi({ store }: Needs<'listApis'>, text: string): Promise<ApiRecord> {
  const api = (await store.listApis()).find(({ resource }) => sameResource(resource, text))
  if (api === undefined) throw unknownApi(text)
  return api
}

function unknownApi(text: string): AdminError {
  return new AdminError(`There is no API ${text}. See "grantor api list".`)
}

/** An API as the operator sees it. */
export function describeApi({
  resource,
  name,
  scopes,
  credentials,
  createdAt,
}: ApiRecord): Readonly<Record<string, unknown>> {
  return {
    resource,
    name: name ?? null,
    scopes: scopes.map((scope) => ({ name: scope.name, sentence: scope.sentence, granted_to: scope.grantedTo })),
    introspection_id: credentials?.id ?? null,
    created_at: new Date(createdAt).toISOString(),
  }
}

function requireResource(text: string): Resource {
  const resource = parseResource(text)
  if (resource === undefined) {
    throw new AdminError(`"${text}" is not a resource: it must be an absolute URI without a fragment (RFC 8707 §2).`)
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
    if (names.has(name)) throw new AdminError(`The scope ${name} is named twice.`)
    names.add(name)
    return { name, sentence: requireWords(`The sentence of the scope ${name}`, sentence), grantedTo }
  })
}

/** People read it on the consent page, so it must be there and must not reorder or hide anything. */
function requireWords(what: string, text: string): string {
  const words = text.trim()
  if (words === '') throw new AdminError(`${what} is empty.`)
  if ([...words].length > SENTENCE_LIMIT) throw new AdminError(`${what} has more than ${SENTENCE_LIMIT} characters.`)
  if (/\p{Cc}/u.test(words)) throw new AdminError(`${what} has control characters in it.`)
  return words
}
