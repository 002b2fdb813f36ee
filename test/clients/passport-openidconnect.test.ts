import assert from 'node:assert/strict'
import { test } from 'node:test'
import passport, { type Profile } from 'passport-openidconnect'
import { createClient } from '../../src/admin/client/metadata.ts'
import { NO_SCOPE } from '../../src/protocol/token/scope.ts'
import { EMAIL } from '../../tools/flow.ts'
import { createAda } from '../support/accounts.ts'
import { openPerson } from '../../tools/person.ts'
import { openTestServer } from '../support/server.ts'

const CALLBACK = 'https://board.example/callback'

for (const claims of ['userinfo', 'id-token'] as const)
  test(`OpenID Connect Core 1.0: passport-openidconnect, which has no PKCE, signs a user in by its nonce, with claims by ${claims}`, async (t) => {
    const server = await openTestServer(t, { listen: true })
    await createAda(server)
    const metadata = {
      client_name: 'Board',
      redirect_uris: [CALLBACK],
      token_endpoint_auth_method: 'client_secret_post' as const,
    }
    const rules = { consent: 'asked', claims } as const
    const { client, secret = '' } = await createClient(server.context, { metadata, rules, approvedScope: NO_SCOPE })
    const at = (path: string): string => `${server.origin}/v2/oauth/${path}`
    const strategy = new passport.Strategy(
      {
        issuer: server.origin,
        authorizationURL: at('authorize'),
        tokenURL: at('token'),
        userInfoURL: at('userinfo'),
        clientID: client.id,
        clientSecret: secret,
        callbackURL: CALLBACK,
        scope: ['profile', 'email'],
        nonce: true,
        skipUserProfile: claims === 'id-token',
      },
      (_issuer, profile, done) => done(null, profile),
    )
    const session = {}
    const run = (query: Readonly<Record<string, string>>): Promise<string | Profile> =>
      new Promise((resolve, reject) => {
        const answers = { redirect: resolve, success: resolve, fail: reject, error: reject }
        Object.assign(strategy, answers).authenticate({ query, session, headers: {} }, {})
      })
    const link = await run({})
    assert.ok(typeof link === 'string' && !link.includes('code_challenge'))
    const callback = await openPerson(server.origin).allow(link)
    const user = await run(Object.fromEntries(callback.searchParams))
    assert.ok(typeof user === 'object')
    assert.match(user.id, /^gus_/)
    assert.deepEqual([user.displayName, user.emails?.[0]?.value], ['Ada', EMAIL])
  })
