import assert from 'node:assert/strict'
import { after, type TestContext } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import {
  authorizeUrl,
  locationOf,
  PlainBrowser,
  REDIRECT_URI,
  signInAndAllow,
  type RegisteredClient,
} from '../../tools/flow.ts'
import type { TestServer } from './server.ts'

/** Keeps a server open for all cases of a file. Used before the first case. */
export const WHOLE_FILE: Pick<TestContext, 'after'> = { after: (hook) => after(hook as () => Promise<void>) }

/**
 * LP400 in the list of cases: an error page without a link to the client. It may lead to the account, to another link, and to itself in each
 * language, with nothing of the request but the id of an unknown client.
 */
export function assertLocalPage(response: LightMyRequestResponse, status = 400): void {
  assert.equal(response.statusCode, status, response.body.slice(0, 300))
  assert.equal(response.headers.location, undefined)
  assert.match(String(response.headers['content-type']), /^text\/html/)
  const links = [...response.body.matchAll(/<a [^>]*?href="([^"]*)"/g)].map(([, uri = '']) => uri)
  const others = links.filter(
    (uri) =>
      !/^http:\/\/localhost(:\d+)?\/(account|v2\/oauth\/sign-in\/forgot)(\?|$)/.test(uri) &&
      !/^\?(client_id=[^&]+&amp;)?ui_locales=\w+&amp;keep=language$/.test(uri),
  )
  assert.deepEqual([response.body.split('<a ').length - 1, others], [links.length, []], 'the page has a link')
}

/** RFC 6749 §4.1.2.1: the characters that an `error_description` may have. */
const DESCRIPTION = /^[\x20\x21\x23-\x5b\x5d-\x7e]{10,}$/

/** ER in the list of cases: a redirect with the error, its description, the state unless it is '', and the issuer. Returns the description. */
export function assertErrorRedirect(
  server: TestServer,
  response: LightMyRequestResponse,
  error: string,
  state = 'the-state',
  redirectUri = REDIRECT_URI,
): string {
  assert.equal(response.statusCode, 303, response.body.slice(0, 300))
  const location = new URL(locationOf(response))
  const description = location.searchParams.get('error_description') ?? ''
  assert.match(description, DESCRIPTION)
  const query = new URLSearchParams({
    error,
    error_description: description,
    ...(state === '' ? {} : { state }),
    iss: server.origin,
  })
  assert.equal(`${location.origin}${location.pathname}`, redirectUri)
  assert.deepEqual([...location.searchParams], [...query])
  return description
}

/** The error page of an unverified client: the error, the host, a link and no redirect. */
export function assertReturnPage(response: LightMyRequestResponse, error: string, host = 'app.example'): URL {
  assert.equal(response.statusCode, 400, response.body.slice(0, 300))
  assert.equal(response.headers.location, undefined)
  assert.ok(response.body.includes(host), 'the page does not name the host')
  const links = [...response.body.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href]) => href ?? '')
  assert.equal(links.length, 1)
  const link = new URL((links[0] ?? '').replaceAll('&amp;', '&'))
  assert.equal(link.searchParams.get('error'), error)
  assert.ok(!/http-equiv|<script/i.test(response.body), 'the page could go on by itself')
  return link
}

export function isCodeAnswer(response: LightMyRequestResponse): boolean {
  const { location } = response.headers
  return location !== undefined && new URL(location).searchParams.has('code')
}

/** A browser that is signed in, with a consent for the client. */
export async function consentedBrowser(
  server: TestServer,
  client: RegisteredClient,
  parameters: Readonly<Record<string, string>> = {},
): Promise<PlainBrowser> {
  const browser = new PlainBrowser(server)
  await signInAndAllow(browser, authorizeUrl(client, parameters))
  return browser
}

/** The address with one parameter taken out, changed or added again. */
export function withParameters(url: string, change: (query: URLSearchParams) => void): string {
  const [path, query] = url.split('?', 2)
  const parameters = new URLSearchParams(query)
  change(parameters)
  return `${path}?${parameters.toString()}`
}
