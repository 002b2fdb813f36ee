import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  authorizeUrl,
  EMAIL,
  obtainTokens,
  PlainBrowser,
  redeem,
  registerClient,
  signInAndAllow,
  type RegisteredClient,
} from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { assertErrorRedirect, assertReturnPage, consentedBrowser, WHOLE_FILE } from '../../support/authorize-answers.ts'
import { openTestServer } from '../../support/server.ts'
import { hasSession } from '../../support/session-cookie.ts'
import { execute } from '../../support/store/dump.ts'
import { perform, performOnUser } from '../../support/tasks.ts'

/** When an error of an unverified client is redirected, and when the user sees a page: AUTH-10, AUTH-16. */

const server = await openTestServer(WHOLE_FILE)
await createAda(server)

const HOME = 'https://app.example/callback'
const REDIRECTS = [
  HOME,
  'https://app.example/other',
  'https://app.example:8443/callback',
  'https://other.example/callback',
  'http://127.0.0.1:4000/cb',
  'https://localhost:4000/cb',
  'com.example.app:/cb',
] as const
type Redirect = (typeof REDIRECTS)[number]
const SAME_HOST: readonly Redirect[] = [HOME, 'https://app.example/other']

interface Prepared {
  readonly browser: PlainBrowser
  readonly client: RegisteredClient
}

/** What the user did before, with the redirect URI HOME, and whether that lets errors be redirected to its host. */
const EARLIER: Readonly<Record<string, { readonly isKnown: boolean; readonly prepare: () => Promise<Prepared> }>> = {
  nothing: {
    isKnown: false,
    prepare: async () => ({ client: await register(), browser: await otherBrowser() }),
  },
  'a consent': {
    isKnown: true,
    prepare: async () => {
      const client = await register()
      return { client, browser: await consentedBrowser(server, client, { redirect_uri: HOME }) }
    },
  },
  'a consent, in a browser without a session': {
    isKnown: false,
    prepare: async () => {
      const client = await register()
      await consentedBrowser(server, client, { redirect_uri: HOME })
      return { client, browser: new PlainBrowser(server) }
    },
  },
  'a consent from before the client had another name': {
    isKnown: false,
    prepare: async () => {
      const client = await register()
      const browser = await consentedBrowser(server, client, { redirect_uri: HOME })
      rename(client)
      return { client, browser }
    },
  },
  'a grant': { isKnown: true, prepare: () => granted() },
  'a grant that was revoked': {
    isKnown: false,
    prepare: () => granted('update grants set revoked_at = created_at where client_id = ?'),
  },
  'a grant that expired': {
    isKnown: false,
    prepare: () => granted('update grants set expires_at = created_at where client_id = ?'),
  },
  'a grant that was not used': {
    isKnown: false,
    prepare: () => granted('update grants set idle_expires_at = created_at where client_id = ?'),
  },
  'a grant without a host': {
    isKnown: false,
    prepare: () => granted('update grants set redirect_host = null where client_id = ?'),
  },
  'a grant from before the client had another name': {
    isKnown: false,
    prepare: async () => {
      const prepared = await granted()
      rename(prepared.client)
      return prepared
    },
  },
  'a grant from before the tokens of the client were revoked': {
    isKnown: false,
    prepare: async () => {
      const prepared = await granted()
      server.clock.advance(1)
      await perform(server.context, 'client.revoke-tokens', { client_id: prepared.client.client_id })
      return prepared
    },
  },
  'a grant from before the tokens of the user were revoked': {
    isKnown: false,
    prepare: async () => {
      const { client } = await granted()
      server.clock.advance(1)
      await performOnUser(server.context, 'user.revoke-tokens', EMAIL)
      server.clock.advance(1)
      return { client, browser: await otherBrowser() }
    },
  },
}

for (const [earlier, { isKnown, prepare }] of Object.entries(EARLIER)) {
  test(`AUTH-10, AUTH-16: an error goes to the host that the user allowed, and to no other: ${earlier}`, async () => {
    const { browser, client } = await prepare()
    for (const redirect_uri of REDIRECTS) {
      // A wider scope than the user allowed, so that a consent does not suffice, and a request that anybody can make.
      for (const [parameters, error] of [
        [{ prompt: 'none', scope: 'read write' }, 'consent_required'],
        [{ response_type: 'token' }, 'unsupported_response_type'],
      ] as const) {
        const answer = await browser.get(authorizeUrl(client, { redirect_uri, ...parameters }))
        const isSignedOut = error === 'consent_required' && !hasSession(browser)
        const expected = isSignedOut ? 'login_required' : error
        if (isKnown && SAME_HOST.includes(redirect_uri))
          assertErrorRedirect(server, answer, expected, 'the-state', redirect_uri)
        else assertReturnPage(answer, expected, placeOf(redirect_uri))
      }
    }
  })
}

test('AUTH-10: a grant with a redirect URI to the user’s computer makes no error a redirect', async () => {
  for (const redirect_uri of REDIRECTS.slice(4)) {
    const client = await register()
    const browser = new PlainBrowser(server)
    const answer = await signInAndAllow(browser, authorizeUrl(client, { redirect_uri, scope: 'read' }))
    const code = answer.searchParams.get('code') ?? assert.fail()
    assert.equal((await redeem(server, client, code, { redirect_uri })).statusCode, 200)
    for (const to of REDIRECTS) {
      const url = authorizeUrl(client, { redirect_uri: to, response_type: 'token' })
      assertReturnPage(await browser.get(url), 'unsupported_response_type', placeOf(to))
    }
  }
})

function register(): Promise<RegisteredClient> {
  return registerClient(server, { redirect_uris: REDIRECTS })
}

/** A browser of a user who consented to another client. */
async function otherBrowser(): Promise<PlainBrowser> {
  return consentedBrowser(server, await registerClient(server), { prompt: 'consent' })
}

/** A client with a grant, and without a consent that is remembered: as after an answer of the operator's application. */
async function granted(change?: string): Promise<Prepared> {
  const client = await register()
  await obtainTokens(server, client, { scope: 'read' })
  execute(server, 'delete from consents where client_id = ?', client.client_id)
  if (change !== undefined) execute(server, change, client.client_id)
  return { client, browser: await otherBrowser() }
}

function rename({ client_id }: RegisteredClient): void {
  const later = server.context.clock() + 1
  execute(server, 'update clients set identity_from = ? where client_id = ?', later, client_id)
  server.clock.advance(2_000)
}

function placeOf(redirectUri: string): string {
  const { host, protocol } = new URL(redirectUri)
  if (protocol === 'com.example.app:') return 'com.example.app'
  return /^(127|localhost)/.test(host) ? 'this computer' : host
}
