import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import type { ClientKey } from '../../../tools/client-assertion.ts'
import { registerClient, requestToken, type RegisteredClient, type Tokens } from '../../../tools/flow.ts'
import {
  ASSERTION_GRANT_TYPES,
  identityAssertionForm,
  makeIdentityAssertion,
  makeProviderKey,
  type DifferingAssertion,
} from '../../../tools/identity-assertion.ts'
import type { ProviderSettings } from '../../../src/protocol/sign-in/provider.ts'
import { declareApi, JWT_API, knowApis } from '../apis.ts'
import { openStillClock } from '../clocks.ts'
import { assertError } from '../error-answer.ts'
import { sendJson } from '../hosts/web-host.ts'
import { openTestServer, type TestServer, type TestServerOptions } from '../server.ts'
import { assertStoreUnchanged } from '../store/dump.ts'
import { perform } from '../tasks.ts'
import { openProviderHost, type ProviderHost } from './provider-host.ts'
import { addProvider } from './providers.ts'

/** A server with an API, a client, and a provider that lists both for its assertions. */
export interface AssertingServer {
  readonly server: TestServer
  readonly host: ProviderHost
  readonly key: ClientKey
  readonly client: RegisteredClient
  /** The credentials of the API. */
  readonly api: RegisteredClient
  /** An assertion for Ada and the client. */
  readonly assertion: (differing?: DifferingAssertion, key?: ClientKey) => string
  /** Presents an assertion for Ada. `form`: more parameters. */
  readonly present: (
    differing?: DifferingAssertion,
    form?: Readonly<Record<string, string>>,
  ) => Promise<LightMyRequestResponse>
  /** Checks that a request is refused for this reason, and changes nothing in the store. `what` names the case. */
  readonly assertRefused: (
    request: () => Promise<LightMyRequestResponse>,
    reason: string,
    what: string,
    error?: string,
  ) => Promise<void>
  /** The clients and APIs that the provider lists from now on. */
  readonly list: (lists: {
    readonly assertion_clients?: readonly string[]
    readonly assertion_apis?: readonly string[]
  }) => Promise<void>
}

/** The tokens of an answer that has some. */
export function tokensOf(answer: LightMyRequestResponse): Tokens & { readonly token_type: string } {
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}

/** The reason in the newest line of the log. */
export function reasonOf({ log }: Pick<TestServer, 'log'>): unknown {
  const [line = '{}'] = log().trim().split('\n').slice(-1)
  return (JSON.parse(line) as { readonly reason?: unknown }).reason
}

/** Persons get accounts at their first assertion, unless the settings say otherwise. */
export async function openAssertingServer(
  t: Pick<TestContext, 'after'>,
  settings: Partial<ProviderSettings> = {},
  options: TestServerOptions = {},
): Promise<AssertingServer> {
  const host = await openProviderHost(t)
  const key = makeProviderKey('assertions')
  host.answer('/jwks', sendJson({ keys: [key.jwk] }))
  const server = await openTestServer(t, {
    clock: openStillClock(),
    grantTypes: ASSERTION_GRANT_TYPES,
    ...options,
    env: { GRANTOR_CLIENT_FAILURE_RATE: '1000000', ...options.env },
  })
  const api = await declareApi(server, JWT_API)
  const client = await registerClient(server, { grant_types: ASSERTION_GRANT_TYPES })
  await addProvider(server, host, {
    domains: ['acme.test'],
    signUp: 'domains',
    assertionClients: [client.client_id],
    assertionApis: [JWT_API],
    ...settings,
  })
  knowApis(server)
  const assertion = (differing: DifferingAssertion = {}, signer = key) => {
    const about = { issuer: host.issuer, audience: server.origin, clientId: client.client_id }
    return makeIdentityAssertion(signer, { ...about, nowMs: server.clock.now() }, differing)
  }
  const present: AssertingServer['present'] = (differing = {}, form = {}) =>
    requestToken(server, client, { ...identityAssertionForm(assertion(differing)), ...form })
  return {
    server,
    host,
    key,
    client,
    api,
    assertion,
    present,
    async assertRefused(request, reason, what, error = 'invalid_grant') {
      const answer = await assertStoreUnchanged(server, request, what)
      assertError(answer, 400, error)
      assert.equal(reasonOf(server), reason, what)
    },
    async list(lists) {
      await perform(server.context, 'provider.update', { provider_id: 'idp', ...lists })
      knowApis(server)
    },
  }
}
