import type { TestContext } from 'node:test'
import { SERVER_TOKENS } from '../../src/admin/api/api.ts'
import { createApi, createApiCredentials } from '../../src/admin/api/api.ts'
import type { ApiScope, ApiTokens, ExchangeRule } from '../../src/ports/records/api.ts'
import { authorizeUrl, PlainBrowser, signInAndAllow, type RegisteredClient } from '../../tools/flow.ts'
import { createAda } from './accounts.ts'
import { openTestServer, type TestServer, type TestServerOptions } from './server.ts'
import { anApiDeclaration } from './records.ts'

export const JWT_API = 'https://jwt.example'
export const OPAQUE_API = 'https://opaque.example'
export const OTHER_OPAQUE_API = 'https://other-opaque.example'

/** The default declaration of an API. */
const SCOPES: readonly ApiScope[] = [
  { name: 'read', sentence: 'Read', grantedTo: 'users-and-machines' },
  { name: 'write', sentence: 'Write', grantedTo: 'users-and-machines' },
]

/** Declares an API. Returns its introspection credentials, in the form of a client's. */
export async function declareApi(
  { context }: Pick<TestServer, 'context'>,
  resource: string,
  tokens: Partial<ApiTokens> = {},
  scopes: readonly ApiScope[] = SCOPES,
  exchange: readonly ExchangeRule[] = [],
): Promise<RegisteredClient> {
  await createApi(context, anApiDeclaration(resource, { scopes, tokens: { ...SERVER_TOKENS, ...tokens }, exchange }))
  const { id, secret } = await createApiCredentials(context, resource)
  return { client_id: id, client_secret: secret }
}

/** A server with Ada, an API that takes JWTs for ten minutes, and two that take opaque tokens, for five and two minutes. */
export async function openWithOpaqueApis(
  test: Pick<TestContext, 'after'>,
  options: TestServerOptions = {},
): Promise<{ server: TestServer; jwtApi: RegisteredClient; api: RegisteredClient; otherApi: RegisteredClient }> {
  const server = await openTestServer(test, options)
  await createAda(server)
  const jwtApi = await declareApi(server, JWT_API, { lifetime: 600 })
  const api = await declareApi(server, OPAQUE_API, { format: 'opaque', lifetime: 300 })
  const otherApi = await declareApi(server, OTHER_OPAQUE_API, { format: 'opaque', lifetime: 120 })
  knowApis(server)
  return { server, jwtApi, api, otherApi }
}

/** Advances the clock until a node reads the APIs again. */
export function knowApis({ clock }: Pick<TestServer, 'clock'>): void {
  clock.advance(2000)
}

/** A code of a grant for several APIs. */
export async function obtainCodeFor(
  server: TestServer,
  client: RegisteredClient,
  resources: readonly string[],
): Promise<string> {
  const tail = resources.map((resource) => `&resource=${encodeURIComponent(resource)}`).join('')
  const answer = await signInAndAllow(
    new PlainBrowser(server),
    authorizeUrl(client, { scope: 'read write', prompt: 'consent' }) + tail,
  )
  return answer.searchParams.get('code') ?? ''
}
