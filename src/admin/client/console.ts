import type { Context } from '../../ports/context.ts'
import { newClient } from '../../clients/new-client.ts'
import { CONSOLE_CLIENT_ID, CONSOLE_SCOPE, consoleCallback } from '../../protocol/client/console.ts'
import type { ClientMetadata } from '../../protocol/client/members.ts'

/**
 * Creates the client of the console, or gives it the address that the console has now. It gets refresh tokens, which no program receives:
 * otherwise its grants, which are the sessions of the console, would end with the first access token.
 */
export async function ensureConsoleClient(context: Context, origin: string): Promise<void> {
  const { store, clock } = context
  const metadata: ClientMetadata = {
    redirect_uris: [consoleCallback(origin)],
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    scope: CONSOLE_SCOPE,
    client_name: 'Administration console',
  }
  const client = await store.findClient(CONSOLE_CLIENT_ID)
  if (client === undefined) {
    await store.createClient({ ...newClient(context, clock(), metadata, 'operator'), id: CONSOLE_CLIENT_ID })
  } else if (client.metadata.redirect_uris[0] !== metadata.redirect_uris[0]) {
    await store.changeClient({
      id: client.id,
      previous: client.metadata,
      rules: client.rules,
      metadata,
      identityFrom: undefined,
    })
  }
}
