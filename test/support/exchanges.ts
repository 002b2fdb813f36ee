import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { decodeJwt } from 'jose'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { requireApi, updateApi } from '../../src/admin/api/api.ts'
import type { ApiScope, ExchangeRule } from '../../src/ports/records/api.ts'
import { verifyToken } from '../../src/library/verify.ts'
import { TOKEN_EXCHANGE } from '../../src/protocol/token/grant-types.ts'
import type { Resource } from '../../src/protocol/token/resource.ts'
import type { Scope } from '../../src/protocol/token/scope.ts'
import {
  authorizeUrl,
  PlainBrowser,
  postForm,
  redeem,
  registerClient,
  type RegisteredClient,
  type Tokens,
} from '../../tools/flow.ts'
import { declareApi, knowApis } from './apis.ts'
import { openStillClocks } from './clocks.ts'
import { credentialsOf } from './hosts/http-agent.ts'
import { addMember, codeIn, createOrganization, createPerson, openConsent } from './organizations.ts'
import { openTestServer } from './server.ts'
import { assertRefused } from './token-answers.ts'
import { introspect } from './token-questions.ts'

/** The APIs of the tests: a calls b, and b calls c and a. */
export const A = 'https://a.example/mcp'
export const B = 'https://b.example'
export const C = 'https://c.example'
export const DPOP = 'https://dpop.example'
export const BEARER = 'https://bearer.example'
export const CLOSED = 'https://closed.example'
export const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'

function scopesOf(letter: string): readonly ApiScope[] {
  const sentence = 'A sentence'
  return [
    { name: `${letter}:read`, sentence, grantedTo: 'users' },
    { name: `${letter}:status`, sentence, grantedTo: 'users-and-machines' },
    { name: `${letter}:delete`, sentence, grantedTo: 'users-on-request' },
    { name: `${letter}:export`, sentence, grantedTo: 'approved-clients' },
    { name: `${letter}:pay`, sentence, grantedTo: 'users', stepUp: { level: 2, maxAge: 300 } },
    { name: `${letter}:never`, sentence, grantedTo: 'users' },
  ]
}

/** The rule with which an API whose scopes begin with a letter takes tokens of another one: all scopes but `never`. */
export function rule(resource: string, letter: string): ExchangeRule {
  const names = ['read', 'status', 'delete', 'export', 'pay'].map((name) => `${letter}:${name}`)
  return { resource: resource as Resource, scope: names.join(' ') as Scope }
}

interface ExchangedToken extends Tokens {
  readonly token_type: string
  readonly issued_token_type: string
}

/** A server with the APIs, and Ada, a member of an organization. */
export async function openExchanges(
  t: Pick<TestContext, 'after'>,
  { env = {} }: { readonly env?: Readonly<Record<string, string>> } = {},
) {
  const [clock] = openStillClocks([0])
  const server = await openTestServer(t, { clock, env })
  const a = await declareApi(server, A, {}, scopesOf('a'))
  const b = await declareApi(server, B, { format: 'opaque', lifetime: 300 }, scopesOf('b'), [rule(A, 'b')])
  const c = await declareApi(server, C, { lifetime: 86_400 }, scopesOf('c'), [rule(B, 'c')])
  await declareApi(server, DPOP, { binding: 'dpop' }, scopesOf('d'), [rule(A, 'd')])
  await declareApi(server, BEARER, { binding: 'bearer' }, scopesOf('e'), [rule(A, 'e')])
  await declareApi(server, CLOSED, {}, scopesOf('f'))
  await updateApi(server.context, await requireApi(server.context, A), { exchange: [rule(B, 'a')] })
  knowApis(server)

  const ada = await createPerson(server)
  const acme = await createOrganization(server, 'Acme')
  await addMember(server, ada, acme)
  const browser = new PlainBrowser(server)
  const client = await registerClient(server)

  /** Tokens of Ada for a client. */
  async function tokensFor(
    parameters: Readonly<Record<string, string>> = {},
    { app = client, organization = 'none', more = '', proof = undefined as string | undefined } = {},
  ): Promise<Tokens> {
    const url = authorizeUrl(app, { scope: 'a:read', resource: A, prompt: 'consent', ...parameters }) + more
    const page = await openConsent(browser, url)
    const code = codeIn(await browser.submit(page, { decision: 'allow', organization }))
    assert.ok(code, page.body)
    const answer = await redeem(server, app, code, {}, proof === undefined ? {} : { dpop: proof })
    assert.equal(answer.statusCode, 200, answer.body)
    return answer.json<Tokens>()
  }

  /** Requests an exchange for b, as an API. */
  function exchange(
    api: RegisteredClient,
    subject: string,
    form: Readonly<Record<string, string>> = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<LightMyRequestResponse> {
    const subject_token = { subject_token: subject, subject_token_type: ACCESS_TOKEN }
    const target = 'resource' in form || 'audience' in form ? {} : { resource: B }
    const all = { grant_type: TOKEN_EXCHANGE, ...credentialsOf(api), ...subject_token, ...target, ...form }
    const present = Object.entries(all).filter(([, value]) => value !== '')
    return postForm(server, '/v2/oauth/token', Object.fromEntries(present), headers)
  }

  async function exchanged(...request: Parameters<typeof exchange>): Promise<ExchangedToken> {
    const answer = await exchange(...request)
    assert.equal(answer.statusCode, 200, answer.body)
    return answer.json<ExchangedToken>()
  }

  const refuses = (
    code: string,
    reason: string,
    request: () => Promise<LightMyRequestResponse>,
    what: string = reason,
  ) => assertRefused(server, [code, reason], request, what)

  /** What an API learns about a token, by introspection, from the JWT and in the process of the server. */
  async function claimsFor(api: RegisteredClient, token: string): Promise<Readonly<Record<string, unknown>>> {
    const claims = (await introspect(server, api, token)).json<Readonly<Record<string, unknown>>>()
    assert.equal(claims['active'], true)
    if (!token.startsWith('gat_')) {
      const { grant_id: _, first_jti: _first, ...own } = decodeJwt(token)
      const { active: __, token_type: ___, ...introspected } = claims
      assert.deepEqual(own, introspected)
    }
    assert.deepEqual(await verifyToken(server.context, token, { resource: String(claims['aud']) }), claims)
    return claims
  }

  return { server, clock, a, b, c, ada, acme, client, tokensFor, exchange, exchanged, refuses, claimsFor }
}
