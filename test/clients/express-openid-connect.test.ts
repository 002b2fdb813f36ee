import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import express from 'express'
import openid from 'express-openid-connect'
import { createClient, updateClient } from '../../src/admin/operator-clients.ts'
import { USUAL_RULES } from '../../src/protocol/client-policy.ts'
import { NO_SCOPE } from '../../src/protocol/scope.ts'
import { EMAIL } from '../../tools/flow.ts'
import { createAda } from '../support/accounts.ts'
import { openCookieJar } from '../support/cookie-jar.ts'
import { openPerson } from '../support/person.ts'
import { openTestServer } from '../support/server.ts'

test('OpenID Connect Core 1.0: express-openid-connect signs a user in and reads userinfo', async (t) => {
  const server = await openTestServer(t, { listen: true })
  await createAda(server)
  const metadata = { client_name: 'Board', redirect_uris: ['http://localhost/callback'] }
  const { client, secret = '' } = await createClient(server.context, {
    metadata,
    rules: USUAL_RULES,
    approvedScope: NO_SCOPE,
  })
  const app = express()
  const site = createServer(app)
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    site.closeAllConnections()
    site.close()
  })
  const baseURL = `http://localhost:${(site.address() as AddressInfo).port}`
  await updateClient(server.context, client.id, { redirect_uris: [`${baseURL}/callback`] })
  app.use(
    openid.auth({
      issuerBaseURL: server.origin,
      baseURL,
      clientID: client.id,
      clientSecret: secret,
      secret: 'a secret of the application',
      authRequired: false,
      authorizationParams: { response_type: 'code', scope: 'openid profile email' },
    }),
  )
  app.get('/me', (request, response, next) => {
    request.oidc.fetchUserInfo().then((user) => response.json(user), next)
  })
  const cookies = openCookieJar()
  const visit = async (url: string): Promise<Response> => {
    const headers = { cookie: cookies.header() }
    return cookies.keep(await fetch(url.replace('localhost', '127.0.0.1'), { headers, redirect: 'manual' }))
  }
  const start = await visit(`${baseURL}/login`)
  const callback = await openPerson(server.origin).allow(start.headers.get('location') ?? '')
  const answer = await visit(callback.href)
  assert.equal(answer.status, 302, await answer.text())
  const user = (await (await visit(`${baseURL}/me`)).json()) as Record<string, unknown>
  assert.deepEqual([user['name'], user['email']], ['Ada', EMAIL])
})
