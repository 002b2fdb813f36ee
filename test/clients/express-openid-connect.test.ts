import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import express from 'express'
import openid from 'express-openid-connect'
import { createClient, updateClient } from '../../src/admin/client/metadata.ts'
import { DEFAULT_RULES } from '../../src/protocol/client/policy.ts'
import { NO_SCOPE } from '../../src/protocol/token/scope.ts'
import { EMAIL } from '../../tools/flow.ts'
import { createAda } from '../support/accounts.ts'
import { openCookieJar } from '../../tools/cookie-jar.ts'
import { openPerson } from '../../tools/person.ts'
import { openTestServer, type TestServer } from '../support/server.ts'

test('OpenID Connect Core 1.0: express-openid-connect signs a user in and reads userinfo', async (t) => {
  const server = await openTestServer(t, { listen: true })
  await createAda(server)
  const { baseURL, visit } = await openApplication(t, server)
  await signIn(server, { baseURL, visit })
  const user = (await (await visit(`${baseURL}/me`)).json()) as Record<string, unknown>
  assert.deepEqual([user['name'], user['email']], ['Ada', EMAIL])
})

test('OpenID Connect Back-Channel Logout 1.0: express-openid-connect verifies the logout token and signs the user out', async (t) => {
  const server = await openTestServer(t, { listen: true })
  await createAda(server)
  const { baseURL, client, visit, notified } = await openApplication(t, server)
  await updateClient(server.context, client, { backchannel_logout_uri: `${baseURL}/backchannel-logout` })
  const person = await signIn(server, { baseURL, visit })
  assert.equal((await visit(`${baseURL}/me`)).status, 200)
  await person.signOut()
  assert.equal(await notified, 204)
  assert.equal((await visit(`${baseURL}/me`)).status, 401)
})

interface Application {
  readonly baseURL: string
  /** Requests a page of the application in the browser of the user. */
  readonly visit: (url: string) => Promise<Response>
}

/** Opens an application that signs users in with the server. */
async function openApplication(t: TestContext, server: TestServer) {
  const metadata = { client_name: 'Board', redirect_uris: ['http://localhost/callback'] }
  const { client, secret = '' } = await createClient(server.context, {
    metadata,
    rules: DEFAULT_RULES,
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
  const notified = new Promise<number>((resolve) => {
    app.use('/backchannel-logout', (_request, response, next) => {
      response.on('finish', () => resolve(response.statusCode))
      next()
    })
  })
  app.use(
    openid.auth({
      issuerBaseURL: server.origin,
      baseURL,
      clientID: client.id,
      clientSecret: secret,
      secret: 'a secret of the application',
      authRequired: false,
      authorizationParams: { response_type: 'code', scope: 'openid profile email' },
      backchannelLogout: { store: openMemoryStore() },
    }),
  )
  app.get('/me', (request, response, next) => {
    if (!request.oidc.isAuthenticated()) response.status(401).end()
    else request.oidc.fetchUserInfo().then((user) => response.json(user), next)
  })
  const cookies = openCookieJar()
  const visit: Application['visit'] = async (url) => {
    const headers = { cookie: cookies.header() }
    return cookies.keep(await fetch(url.replace('localhost', '127.0.0.1'), { headers, redirect: 'manual' }))
  }
  return { baseURL, client: client.id, visit, notified }
}

/** Signs the user in to the application, and returns the browser at the server. */
async function signIn(server: TestServer, { baseURL, visit }: Application) {
  const person = openPerson(server.origin)
  const start = await visit(`${baseURL}/login`)
  const callback = await person.allow(start.headers.get('location') ?? '')
  const answer = await visit(callback.href)
  assert.equal(answer.status, 302, await answer.text())
  return person
}

type SignedOut = Pick<openid.SessionStorePayload, 'cookie'>

/** Where the application remembers who was signed out; as a store of express-session. */
function openMemoryStore(): openid.SessionStore<SignedOut> {
  const entries = new Map<string, openid.SessionStorePayload<SignedOut>>()
  return {
    get: (id, done) => done(null, entries.get(id)),
    set(id, entry, done) {
      entries.set(id, entry)
      done?.()
    },
    destroy(id, done) {
      entries.delete(id)
      done?.()
    },
  }
}
