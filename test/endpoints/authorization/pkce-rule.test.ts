import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { createClient } from '../../../src/admin/client/metadata.ts'
import { newClient } from '../../../src/clients/new-client.ts'
import { DEFAULT_RULES, type ClientRules } from '../../../src/protocol/client/policy.ts'
import { NO_SCOPE, type Scope } from '../../../src/protocol/token/scope.ts'
import {
  authorizeUrl,
  locationOf,
  PlainBrowser,
  REDIRECT_URI,
  registerClient,
  requestToken,
  VERIFIER,
  type RegisteredClient,
} from '../../../tools/flow.ts'
import { consentedBrowser, isCodeAnswer, withParameters, WHOLE_FILE } from '../../support/authorize-answers.ts'
import { createAda } from '../../support/accounts.ts'
import { clientId, openConsent } from '../../support/organizations.ts'
import { openTestServer } from '../../support/server.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'
import { idTokenOf, makeClient, tokensOf } from '../openid/login.ts'
import { perform } from '../../support/tasks.ts'

const server = await openTestServer(WHOLE_FILE)
await createAda(server)

const REDIRECTS = {
  https: REDIRECT_URI,
  loopback: 'http://127.0.0.1/cb',
  'loopback with TLS': 'https://localhost:4000/cb',
  app: 'com.example.app:/cb',
} as const
type Redirect = keyof typeof REDIRECTS

/** How a client came to its rule, and which one that must be. `always`: PKCE is required, whatever its rules say. */
const CLIENTS = {
  'created, without a rule': { rule: 'nonce', make: () => create({}) },
  'created with keys, without a rule': {
    rule: 'nonce',
    make: () => create({}, { token_endpoint_auth_method: undefined, jwks_uri: 'https://app.example/jwks' }),
  },
  'created, nonce': { rule: 'nonce', make: () => create({ pkce: 'nonce' }) },
  'created, nonce, registered with openid, which the request has to name': {
    rule: 'nonce',
    make: () => create({ pkce: 'nonce' }, { scope: 'openid read' as Scope }),
  },
  'created, required': { rule: 'required', make: () => create({ pkce: 'required' }) },
  'created, optional': { rule: 'optional', make: () => create({ pkce: 'optional' }) },
  'created public, without a rule': { rule: 'always', make: () => create({}, { token_endpoint_auth_method: 'none' }) },
  'created, then required': { rule: 'required', make: () => changed('required') },
  'created, then without a rule': { rule: 'nonce', make: () => changed(undefined) },
  registered: { rule: 'always', make: () => register() },
  'registered public': { rule: 'always', make: () => register({ token_endpoint_auth_method: 'none' }) },
  'registered and verified': { rule: 'always', make: verified },
  'registered and adopted': { rule: 'required', make: adopted },
  'registered, with the rule in the store': { rule: 'always', make: () => stored('registration') },
  'of a document, with the rule in the store': { rule: 'always', make: () => stored('document') },
} as const satisfies Readonly<Record<string, { readonly rule: string; readonly make: () => Promise<RegisteredClient> }>>
type Kind = keyof typeof CLIENTS

const clients = new Map<Kind, RegisteredClient>()
before(async () => {
  for (const kind of Object.keys(CLIENTS) as Kind[]) clients.set(kind, await CLIENTS[kind].make())
})

interface Sent {
  readonly challenge: 'both' | 'method' | 'none'
  readonly scope: 'openid' | 'read' | 'none'
  readonly nonce: 'a nonce' | 'empty' | 'none'
}

const SENT: readonly Sent[] = [
  { challenge: 'both', scope: 'none', nonce: 'none' },
  { challenge: 'both', scope: 'openid', nonce: 'a nonce' },
  { challenge: 'method', scope: 'openid', nonce: 'a nonce' },
  ...(['openid', 'read', 'none'] as const).flatMap((scope) =>
    (['a nonce', 'empty', 'none'] as const).map((nonce) => ({ challenge: 'none', scope, nonce }) as const),
  ),
]

function urlOf(client: RegisteredClient, redirect: Redirect, { challenge, scope, nonce }: Sent): string {
  return withParameters(authorizeUrl(client, { redirect_uri: REDIRECTS[redirect] }), (query) => {
    if (challenge !== 'both') query.delete('code_challenge')
    if (challenge === 'none') query.delete('code_challenge_method')
    if (scope !== 'none') query.set('scope', scope === 'openid' ? 'openid read' : 'read')
    if (nonce !== 'none') query.set('nonce', nonce === 'empty' ? '' : nonce)
  })
}

for (const kind of Object.keys(CLIENTS) as Kind[]) {
  test(`AUTH-06: PKCE may be left out as the rule says, in each kind of request: a client that is ${kind}`, async () => {
    const { rule } = CLIENTS[kind]
    const client = clients.get(kind) ?? assert.fail()
    for (const redirect of Object.keys(REDIRECTS) as Redirect[]) {
      for (const sent of SENT) {
        const isWithNonce = redirect === 'https' && sent.scope === 'openid' && sent.nonce === 'a nonce'
        const isExempt = rule === 'optional' || (rule === 'nonce' && isWithNonce)
        const isAccepted = sent.challenge === 'both' || (sent.challenge === 'none' && isExempt)
        const answer = await new PlainBrowser(server).get(urlOf(client, redirect, sent))
        const about = JSON.stringify({ redirect, ...sent })
        if (isAccepted) {
          assert.match(locationOf(answer), /\/sign-in\?/, about)
          continue
        }
        const { location } = answer.headers
        const text = location === undefined ? answer.body : decodeURIComponent(location.replaceAll('+', ' '))
        assert.match(text, /invalid_request[^]*code challenge required/, about)
        assert.equal(text.includes('grantor client set-rules'), rule !== 'always', about)
      }
    }
  })
}

test('AUTH-06: a request that waits for its user is refused if the rule has since become one that it does not meet', async () => {
  const client = await create({ pkce: 'optional' })
  const [bare, withNonce, withPkce] = [
    { challenge: 'none', scope: 'openid', nonce: 'none' },
    { challenge: 'none', scope: 'openid', nonce: 'a nonce' },
    { challenge: 'both', scope: 'openid', nonce: 'none' },
  ] as const satisfies readonly Sent[]
  const browser = new PlainBrowser(server)
  for (const [pkce, accepted] of [
    ['nonce', [withNonce, withPkce]],
    ['required', [withPkce]],
  ] as const) {
    await setPkce(client, 'optional')
    const waiting = []
    for (const sent of [bare, withNonce, withPkce]) {
      const page = await openConsent(browser, `${urlOf(client, 'https', sent)}&prompt=consent`)
      waiting.push({ sent, page })
    }
    await setPkce(client, pkce)
    for (const { sent, page } of waiting) {
      const answer = await browser.submit(page, { decision: 'allow' })
      const isAccepted = accepted.some((one) => one === sent)
      assert.equal(isCodeAnswer(answer), isAccepted, JSON.stringify({ pkce, ...sent }))
    }
  }
})

test('CODE-05, CODE-06: a code is redeemed only by what its request bound it to: the verifier, or else the redirect URI', async () => {
  const verifiers = { none: undefined, right: VERIFIER, wrong: 'b'.repeat(43) } as const
  const uris = { none: undefined, right: REDIRECT_URI, wrong: REDIRECTS['loopback with TLS'] } as const
  for (const pkce of ['nonce', 'optional', 'required'] as const) {
    const client = await makeClient(server, { pkce })
    const browser = await consentedBrowser(server, client, { scope: 'openid' })
    for (const challenge of pkce === 'required' ? (['both'] as const) : (['both', 'none'] as const)) {
      for (const [verifier, codeVerifier] of Object.entries(verifiers)) {
        for (const [uri, redirectUri] of Object.entries(uris)) {
          const url = withParameters(authorizeUrl(client, { scope: 'openid', nonce: 'n' }), (query) => {
            if (challenge === 'none') for (const name of ['code_challenge', 'code_challenge_method']) query.delete(name)
          })
          const code = new URL(locationOf(await browser.get(url))).searchParams.get('code') ?? assert.fail()
          const answer = await requestToken(server, client, {
            grant_type: 'authorization_code',
            code,
            ...(redirectUri === undefined ? {} : { redirect_uri: redirectUri }),
            ...(codeVerifier === undefined ? {} : { code_verifier: codeVerifier }),
          })
          const isRight =
            challenge === 'both' ? verifier === 'right' && uri !== 'wrong' : verifier === 'none' && uri === 'right'
          const about = JSON.stringify({ pkce, challenge, verifier, uri })
          if (isRight) assert.equal(idTokenOf(tokensOf(answer))['nonce'], 'n', about)
          else assert.equal(answer.json<{ error: string }>().error, 'invalid_grant', about)
        }
      }
    }
  }
})

test('AUTH-06: a public client cannot have a rule by which it omits PKCE', async () => {
  const { context } = server
  for (const pkce of ['nonce', 'optional'] as const) {
    const refused = (): Promise<unknown> => create({ pkce }, { token_endpoint_auth_method: 'none' })
    await assert.rejects(() => assertStoreUnchanged(server, refused as never), /A public client needs it/)
    const client = await create({}, { token_endpoint_auth_method: 'none' })
    await assert.rejects(
      perform(context, 'client.set-rules', { ...client, ...DEFAULT_RULES, pkce }),
      /A public client needs it/,
    )
  }
})

async function create(
  rules: { readonly pkce?: ClientRules['pkce'] },
  metadata: object = {},
): Promise<RegisteredClient> {
  const usual = {
    client_name: 'Board',
    redirect_uris: Object.values(REDIRECTS),
    token_endpoint_auth_method: 'client_secret_post' as const,
  }
  const { client } = await createClient(server.context, {
    metadata: { ...usual, ...metadata },
    rules: { consent: 'asked', claims: 'userinfo', ...rules },
    approvedScope: NO_SCOPE,
  })
  return { client_id: client.id }
}

async function changed(pkce: ClientRules['pkce'] | undefined): Promise<RegisteredClient> {
  const client = await create({ pkce: 'optional' })
  await setPkce(client, pkce)
  return client
}

async function setPkce(client: RegisteredClient, pkce: ClientRules['pkce'] | undefined): Promise<void> {
  await perform(server.context, 'client.set-rules', { ...client, consent: 'asked', claims: 'userinfo', pkce })
}

function register(metadata: object = {}): Promise<RegisteredClient> {
  return registerClient(server, { redirect_uris: Object.values(REDIRECTS), ...metadata })
}

async function verified(): Promise<RegisteredClient> {
  const client = await register()
  await perform(server.context, 'client.verify', { client_id: client.client_id })
  return client
}

async function adopted(): Promise<RegisteredClient> {
  const client = await register()
  await perform(server.context, 'client.adopt', { client_id: client.client_id })
  return client
}

/** A client with a rule that no way gives it. */
async function stored(source: 'registration' | 'document'): Promise<RegisteredClient> {
  const { context } = server
  const record = await context.store.findClient(clientId(await create({ pkce: 'optional' })))
  assert.ok(record)
  const { id } = newClient(context, context.clock(), record.metadata, source)
  await context.store.createClient({ ...record, id, source })
  return { client_id: id }
}
