import type { TestContext } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import type { ProviderSettings } from '../../../../src/protocol/sign-in/provider.ts'
import {
  authorizeUrl,
  locationOf,
  PlainBrowser,
  registerClient,
  type RegisteredClient,
} from '../../../../tools/flow.ts'
import {
  openProviderHost,
  type Claims,
  type Deviation,
  type ProviderHost,
} from '../../../support/provider/provider-host.ts'
import { ADA_CLAIMS, addProvider, signInAt } from '../../../support/provider/providers.ts'
import { openTestServer, type TestServer, type TestServerOptions } from '../../../support/server.ts'
import { selectAll } from '../../../support/store/dump.ts'

/** A server with one provider, and a client that sends browsers to it. */
export interface ServerWithProvider {
  readonly server: TestServer
  readonly host: ProviderHost
  readonly client: RegisteredClient
  /** A new browser at the sign-in page. */
  readonly arrive: (
    parameters?: Readonly<Record<string, string>>,
  ) => Promise<{ readonly browser: PlainBrowser; readonly page: LightMyRequestResponse }>
  /** Signs a person in at the provider in a new browser. Returns the answer to the callback. */
  readonly signIn: (claims?: Claims, deviation?: Deviation) => Promise<LightMyRequestResponse>
  readonly rows: (
    table: 'users' | 'identities' | 'identity_proofs' | 'sessions' | 'memberships',
  ) => readonly Readonly<Record<string, unknown>>[]
}

export async function openServerWithProvider(
  t: Pick<TestContext, 'after'>,
  settings: Partial<ProviderSettings> = {},
  options: TestServerOptions = {},
): Promise<ServerWithProvider> {
  const host = await openProviderHost(t)
  const server = await openTestServer(t, options)
  await addProvider(server, host, settings)
  const client = await registerClient(server)
  return serverWithProvider(server, host, client)
}

function serverWithProvider(server: TestServer, host: ProviderHost, client: RegisteredClient): ServerWithProvider {
  async function arrive(parameters: Readonly<Record<string, string>> = {}) {
    const browser = new PlainBrowser(server)
    const start = await browser.get(authorizeUrl(client, parameters))
    return { browser, page: await browser.get(locationOf(start)) }
  }
  return {
    server,
    host,
    client,
    arrive,
    signIn: async (claims = ADA_CLAIMS, deviation = {}) => signInAt({ ...(await arrive()), host }, claims, deviation),
    rows: (table) => selectAll(server, `select * from ${table}`),
  }
}

/** Whether an answer to a callback signed the person in. */
export function isSignedIn(answer: LightMyRequestResponse): boolean {
  return answer.statusCode === 303 && answer.cookies.some(({ name }) => name.includes('session'))
}
