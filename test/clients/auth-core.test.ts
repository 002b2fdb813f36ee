import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Auth, type AuthConfig } from '@auth/core'
import { createClient } from '../../src/admin/client/metadata.ts'
import { DEFAULT_RULES } from '../../src/protocol/client/policy.ts'
import { NO_SCOPE } from '../../src/protocol/token/scope.ts'
import { EMAIL } from '../../tools/flow.ts'
import { createAda } from '../support/accounts.ts'
import { openCookieJar } from '../../tools/cookie-jar.ts'
import { openPerson } from '../../tools/person.ts'
import { openTestServer } from '../support/server.ts'

const APP = 'https://board.example'
const CALLBACK = `${APP}/auth/callback/grantor`

test('OpenID Connect Core 1.0: @auth/core signs a user in, with PKCE, state and nonce', async (t) => {
  const server = await openTestServer(t, { listen: true })
  await createAda(server)
  const metadata = { client_name: 'Board', redirect_uris: [CALLBACK] }
  const rules = { ...DEFAULT_RULES, claims: 'id-token' } as const
  const { client, secret = '' } = await createClient(server.context, { metadata, rules, approvedScope: NO_SCOPE })
  const config: AuthConfig = {
    basePath: '/auth',
    secret: 'a secret of the application',
    trustHost: true,
    providers: [
      {
        id: 'grantor',
        name: 'Grantor',
        type: 'oidc',
        issuer: server.origin,
        clientId: client.id,
        clientSecret: secret,
        checks: ['pkce', 'state', 'nonce'],
      },
    ],
  }
  const cookies = openCookieJar()
  const visit = async (path: string, form?: Readonly<Record<string, string>>): Promise<Response> => {
    const headers = { cookie: cookies.header() }
    const body = form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }
    return cookies.keep(await Auth(new Request(new URL(path, APP), { headers, ...body }), config))
  }
  const { csrfToken } = (await (await visit('/auth/csrf')).json()) as { csrfToken: string }
  const start = await visit('/auth/signin/grantor', { csrfToken })
  const callback = await openPerson(server.origin).allow(start.headers.get('location') ?? '')
  const answer = await visit(callback.href)
  assert.equal(answer.headers.get('location'), APP)
  const { user } = (await (await visit('/auth/session')).json()) as { user: Record<string, unknown> }
  assert.deepEqual([user['name'], user['email']], ['Ada', EMAIL])
})
