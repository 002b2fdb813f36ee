import {
  EMAIL,
  obtainTokens,
  PASSWORD,
  postForm,
  refresh,
  registerClient,
  requestToken,
  type RegisteredClient,
  type RequestTarget,
  type Tokens,
} from '../../tools/flow.ts'

/** What a client has of a server, and may use after each step of an upgrade. */
export interface Held {
  readonly client: RegisteredClient
  readonly accessToken: string
  refreshToken: string
}

/** A client registers, and a user signs in and allows it. */
export async function obtainHeld(server: RequestTarget): Promise<Held> {
  const client = await registerClient(server)
  const tokens = await obtainTokens(server, client)
  return { client, accessToken: tokens.access_token, refreshToken: tokens.refresh_token ?? '' }
}

/** Uses everything that the client has. The refresh token rotates. Says what no longer works. */
export async function faultsOfHeld(server: RequestTarget, held: Held): Promise<readonly string[]> {
  const { client } = held
  const faults: string[] = []
  const introspected = await postForm(server, '/v2/oauth/introspect', {
    token: held.accessToken,
    client_id: client.client_id,
    client_secret: client.client_secret ?? '',
  })
  if (introspected.statusCode !== 200 || !introspected.json<{ readonly active: boolean }>().active)
    faults.push(`the access token: ${introspected.statusCode} ${introspected.body}`)
  const renewed = await refresh(server, client, held.refreshToken)
  if (renewed.statusCode === 200) held.refreshToken = renewed.json<Tokens>().refresh_token ?? ''
  else faults.push(`the refresh token: ${renewed.statusCode} ${renewed.body}`)
  const own = await requestToken(server, client, { grant_type: 'client_credentials' })
  if (own.statusCode !== 200) faults.push(`the secret: ${own.statusCode} ${own.body}`)
  const { pathname, search } = new URL(String(client['registration_client_uri']))
  const registration = await server.inject({
    url: `${pathname}${search}`,
    headers: { authorization: `Bearer ${String(client['registration_access_token'])}` },
  })
  if (registration.statusCode !== 200)
    faults.push(`the registration token: ${registration.statusCode} ${registration.body}`)
  return faults
}

/** The user of `obtainTokens`, for the command that creates a user. */
export const USER = ['user', 'create', '--email', EMAIL, '--password', PASSWORD] as const
