import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AuthorizationCode, ClientCredentials } from 'simple-oauth2'
import { CHALLENGE, REDIRECT_URI, registerClient, VERIFIER } from '../../tools/flow.ts'
import { createAda } from '../support/accounts.ts'
import { openTestServer } from '../support/server.ts'
import { openPerson } from '../../tools/person.ts'

/** The library supports neither discovery nor registration: developers configure the endpoints and the credentials. */

for (const authorizationMethod of ['header', 'body'] as const) {
  for (const credentialsEncodingMode of ['strict', 'loose'] as const) {
    const options = { authorizationMethod, credentialsEncodingMode }
    test(`simple-oauth2 5, ${authorizationMethod}, ${credentialsEncodingMode}: code, tokens and refresh`, async (t) => {
      const server = await openTestServer(t, { listen: true })
      await createAda(server)
      const { client_id: id, client_secret: secret = '' } = await registerClient(server, {
        token_endpoint_auth_method: authorizationMethod === 'header' ? 'client_secret_basic' : 'client_secret_post',
      })
      const flow = new AuthorizationCode({
        client: { id, secret },
        auth: {
          tokenHost: server.origin,
          tokenPath: '/v2/oauth/token',
          authorizePath: '/v2/oauth/authorize',
        },
        options,
      })
      const link = flow.authorizeURL({
        redirect_uri: REDIRECT_URI,
        scope: ['notes:read', 'notes:write'],
        state: 'the-state',
        code_challenge: CHALLENGE,
        code_challenge_method: 'S256',
      })
      const callback = await openPerson(server.origin).allow(link)
      const code = callback.searchParams.get('code') ?? ''
      const first = await flow.getToken({ code, redirect_uri: REDIRECT_URI, code_verifier: VERIFIER })
      assert.equal(first.expired(), false)
      assert.equal(first.token['scope'], 'notes:read notes:write')
      const second = await first.refresh({ scope: ['notes:read'] })
      assert.equal(second.token['scope'], 'notes:read')
      assert.notEqual(second.token['refresh_token'], first.token['refresh_token'])
    })

    test(`simple-oauth2 5, ${authorizationMethod}, ${credentialsEncodingMode}: a token without a user`, async (t) => {
      const server = await openTestServer(t, { listen: true })
      const { client_id: id, client_secret: secret = '' } = await registerClient(server)
      const flow = new ClientCredentials({
        client: { id, secret },
        auth: { tokenHost: server.origin, tokenPath: '/v2/oauth/token' },
        options,
      })
      const { token } = await flow.getToken({ scope: ['notes:read', 'notes:write'] })
      assert.equal(token['token_type'], 'Bearer')
      assert.equal(token['scope'], 'notes:read notes:write')
    })
  }
}
