import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createApi, SERVER_TOKENS } from '../src/admin/api/api.ts'
import { createProvider } from '../src/admin/provider/provider.ts'
import type { ProviderId } from '../src/protocol/sign-in/authentication.ts'
import type { ProviderSettings } from '../src/protocol/sign-in/provider.ts'
import type { Resource } from '../src/protocol/token/resource.ts'
import type { RegisteredClient } from './flow.ts'
import {
  answerAsProvider,
  makeIdentityAssertion,
  makeProviderKey,
  type DifferingAssertion,
} from './identity-assertion.ts'
import { openStoreOf } from './runtime.ts'

/** A provider on this machine that speaks for persons of a server. */
export interface AssertingProvider {
  /** A new assertion for Ada, or for the person of other claims. */
  readonly assertion: (differing?: DifferingAssertion) => string
  readonly close: () => void
}

const RESOURCE = 'https://asserted.example' as Resource

/**
 * Opens a provider, and adds it to the store of a server with these settings, with an API. The client is the only one of its list. A node
 * knows them after a second.
 */
export async function openAssertingProvider(
  settings: Readonly<Record<string, string>>,
  { client_id: clientId }: RegisteredClient,
  rules: Partial<ProviderSettings>,
): Promise<AssertingProvider> {
  const key = makeProviderKey('asserting')
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  server.on('request', answerAsProvider(issuer, [key]))
  const { context, close } = await openStoreOf(settings)
  const scopes = [{ name: 'read', sentence: 'Read', grantedTo: 'users' }] as const
  await createApi(context, { resource: RESOURCE, name: undefined, scopes, tokens: SERVER_TOKENS, exchange: [] })
  const own = { id: 'asserting' as ProviderId, template: 'oidc', name: 'Asserting', clientId: 'grantor' } as const
  const lists = { assertionClients: [clientId], assertionApis: [RESOURCE] }
  await createProvider(context, { ...own, clientSecret: 'a secret', settings: { issuer, ...lists, ...rules } })
  await close()
  const about = { issuer, audience: context.issuer, clientId }
  return {
    assertion: (differing) => makeIdentityAssertion(key, { ...about, nowMs: Date.now() }, differing),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
