import type { Response as LightMyRequestResponse } from 'light-my-request'
import { postForm, type RegisteredClient } from '../../tools/flow.ts'
import type { TestServer } from './server.ts'
import { credentialsOf } from './hosts/http-agent.ts'

/** Asks about a token, as its client or as an API. */
export function introspect(
  server: TestServer,
  asker: Pick<RegisteredClient, 'client_id' | 'client_secret'>,
  token: string,
  form: Readonly<Record<string, string>> = {},
): Promise<LightMyRequestResponse> {
  return postForm(server, '/v2/oauth/introspect', { token, ...credentialsOf(asker), ...form })
}

export async function isActive(server: TestServer, client: RegisteredClient, token: string): Promise<unknown> {
  return (await introspect(server, client, token)).json().active
}

export function revoke(
  server: TestServer,
  client: RegisteredClient,
  token: string,
  form: Readonly<Record<string, string>> = {},
): Promise<LightMyRequestResponse> {
  return postForm(server, '/v2/oauth/revoke', { token, ...credentialsOf(client), ...form })
}
