import { SERVER_TOKENS } from '../../src/admin/api/api.ts'
import type { Resource } from '../../src/protocol/token/resource.ts'
import { createApi, createApiCredentials } from '../../src/admin/api/api.ts'
import type { JwtType } from '../../src/ports/records/api.ts'
import type { Context } from '../../src/ports/context.ts'

/** What the scopes of a recipe begin with. Each page has names of its own. */
export type ScopePrefix = 'orders' | 'tasks'

/** A node reads the APIs again after a second. */
const REFRESH_MS = 1100

/** Declares an API that clients may also use without a user, and waits until the node knows it. Resolves to the API's credentials. */
export async function declareApi(
  { context }: { readonly context: Context },
  resource: string,
  prefix: ScopePrefix,
  jwtType: JwtType,
): Promise<{ readonly id: string; readonly secret: string }> {
  const scopes = (
    [
      ['read', 'users-and-machines'],
      ['write', 'users-and-machines'],
      ['share', 'users'],
      ['export', 'approved-clients'],
    ] as const
  ).map(([action, grantedTo]) => ({ name: `${prefix}:${action}`, sentence: `Use ${prefix}:${action}`, grantedTo }))
  await createApi(context, {
    resource: resource as Resource,
    name: undefined,
    exchange: [],
    scopes,
    tokens: { ...SERVER_TOKENS, jwtType },
  })
  const credentials = await createApiCredentials(context, resource)
  await new Promise((resolve) => void setTimeout(resolve, REFRESH_MS))
  return credentials
}
