import { SERVER_TOKENS } from '../../src/admin/api-tokens.ts'
import { createApi, createApiCredentials } from '../../src/admin/apis.ts'
import type { JwtType } from '../../src/ports/records/api.ts'
import type { Context } from '../../src/ports/context.ts'

/** A node reads the APIs again after a second. */
const REFRESH_MS = 1100

/** Declares an API that clients may also use without a user, and waits until the node knows it. Resolves to the API's credentials. */
export async function declareNotes(
  { context }: { readonly context: Context },
  resource: string,
  jwtType: JwtType,
): Promise<{ readonly id: string; readonly secret: string }> {
  const scopes = (
    [
      ['notes:read', 'users-and-machines'],
      ['notes:write', 'users-and-machines'],
      ['notes:share', 'users'],
      ['notes:export', 'approved-clients'],
    ] as const
  ).map(([name, grantedTo]) => ({ name, sentence: `Use ${name}`, grantedTo }))
  await createApi(context, { resource, name: undefined, scopes, tokens: { ...SERVER_TOKENS, jwtType } })
  const credentials = await createApiCredentials(context, resource)
  await new Promise((resolve) => void setTimeout(resolve, REFRESH_MS))
  return credentials
}
