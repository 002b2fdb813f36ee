import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApi } from '../../src/admin/api/api.ts'
import { createUser } from '../../src/admin/user/user.ts'
import { PAGE_REFUSALS, type PageReason } from '../../src/protocol/authorization/page-refusals.ts'
import { REFUSALS } from '../../src/protocol/refusals.ts'
import { createRenderer } from '../../src/web/render.ts'
import { errorPage } from '../../src/endpoints/error-page.ts'
import { authorizeUrl, locationOf, PlainBrowser, REDIRECT_URI, registerClient } from '../../tools/flow.ts'
import { WHOLE_FILE, withParameters } from '../support/authorize-answers.ts'
import { evaluateDomain } from '../support/domains.ts'
import { anApiDeclaration } from '../support/records.ts'
import { lastLogged } from '../support/error-answer.ts'
import { openTestServer } from '../support/server.ts'
import { branding, languages } from '../web/samples.ts'

const EVERY_REASON = Object.values(PAGE_REFUSALS).flatMap((reasons) => Object.entries<string>(reasons))
const server = await openTestServer(WHOLE_FILE)
const client = await registerClient(server)
const other = `gci_${'0'.repeat(34)}`
const known = client.client_id

/** The text of the part for developers. */
function notesOf(html: string): string {
  const folded = /<summary>[^<]+<\/summary>([\s\S]*?)<\/details>/.exec(html)?.[1] ?? ''
  return folded.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
}

/** What follows a URI that was not sent as it is shown. */
const OTHERWISE_WRITTEN = ' (written differently, or with parts that are not shown)'

test('each reason of an error page belongs to one page, and the page explains it to developers in every language', () => {
  const renderer = createRenderer(branding, '/pictures/')
  assert.equal(new Set(EVERY_REASON.map(([reason]) => reason)).size, EVERY_REASON.length)
  for (const [reason, explanation] of EVERY_REASON) {
    assert.match(explanation, /^[A-Z].+\.$/)
    const { page, event } = errorPage(reason as PageReason)
    assert.equal(event?.reason, reason)
    for (const language of languages) {
      const notes = notesOf(renderer.render(page, language, 'x').replaceAll('&#39;', "'"))
      assert.ok(notes.includes(`reason=${reason}`) && notes.includes(explanation), `${reason} ${language}: ${notes}`)
    }
  }
})

/** What is changed in a good request, the reason, the client in the log line, and the redirect URI in the line and on the page. */
const REFUSED: readonly (readonly [
  change: Readonly<Record<string, string | undefined>>,
  reason: PageReason,
  client: string | undefined,
  redirectUri?: string,
])[] = [
  [{ client_id: undefined }, 'client_id_missing', undefined],
  [{ client_id: '' }, 'client_id_missing', undefined],
  [{ client_id: '.marked-client' }, 'client_id_malformed', undefined],
  [{ client_id: `gci_<b>${'x'.repeat(31)}` }, 'client_id_malformed', undefined],
  [{ client_id: other }, 'client_unknown', other],
  [{ client_id: 'http://10.0.0.1/client' }, 'client_url_unusable', 'gcd_'],
  [{ redirect_uri: undefined, client_id: 'two' }, 'redirect_uri_missing', 'two'],
  [{ redirect_uri: 'marked redirect' }, 'redirect_uri_malformed', known],
  [{ redirect_uri: `${REDIRECT_URI}/` }, 'redirect_uri_not_registered', known, `${REDIRECT_URI}/`],
  [
    { redirect_uri: 'https://marked-user:marked-password@app.test:8443/a/b?code=marked-query#marked-fragment' },
    'redirect_uri_not_registered',
    known,
    'https://app.test:8443/a/b',
  ],
  [
    { redirect_uri: 'http://localhost:3000/cb', client_id: 'local' },
    'redirect_uri_not_allowed',
    'local',
    'http://localhost:3000/cb',
  ],
  [
    { redirect_uri: 'unknown-app://cb/a?marked-query', client_id: 'app' },
    'redirect_uri_not_allowed',
    'app',
    'unknown-app://cb/a',
  ],
  [{ redirect_uri: 'https://bad.test/cb', client_id: 'blocked' }, 'client_not_allowed', 'blocked'],
]

test('NET-10: a refused request without a redirect has its reason in the log and on the page, and its redirect URI without secrets', async () => {
  const clients: Readonly<Record<string, string>> = {
    two: (await registerClient(server, { redirect_uris: [REDIRECT_URI, `${REDIRECT_URI}2`] })).client_id,
    local: (await registerClient(server, { redirect_uris: ['http://localhost/cb'] })).client_id,
    app: (await registerClient(server, { redirect_uris: ['unknown-app://cb/a?marked-query', REDIRECT_URI] })).client_id,
    blocked: (await registerClient(server, { redirect_uris: ['https://bad.test/cb'] })).client_id,
  }
  await evaluateDomain(server, 'bad.test', 'blocked')
  for (const [change, reason, named, redirectUri] of REFUSED) {
    const url = withParameters(authorizeUrl(client), (query) => {
      for (const [name, value] of Object.entries(change)) {
        if (value === undefined) query.delete(name)
        else query.set(name, clients[value] ?? value)
      }
    })
    const answer = await new PlainBrowser(server).get(url)
    const line = lastLogged(server)
    const seen = `${JSON.stringify(change)}: ${JSON.stringify(line)}`
    assert.equal(answer.headers.location, undefined, seen)
    assert.deepEqual(
      [line['event'], line['reason'], (line['redirect_uri'] as string | undefined)?.replace(OTHERWISE_WRITTEN, '')],
      ['request.refused', reason, redirectUri],
      seen,
    )
    if (named === 'gcd_') assert.match(String(line['client']), /^gcd_/)
    else assert.equal(line['client'], named === undefined ? undefined : (clients[named] ?? named), seen)
    const notes = notesOf(answer.body)
    assert.ok(notes.includes(`reason=${reason}`), seen)
    if (redirectUri !== undefined) assert.ok(notes.includes(redirectUri), `${seen} ${notes}`)
    assert.ok(!answer.body.includes('marked') && !JSON.stringify(line).includes('marked'), seen)
  }
})

test('the log lines of a refused sign-in, a repeated page and a forged form have the client, the user and the reason', async () => {
  const user = await createUser(server.context, {
    email: 'grace@acme.test',
    password: 'right-password-1',
    name: 'Grace',
  })
  const seen: unknown[] = []
  const note = (): void => {
    const { event, reason, client: by, user: who } = lastLogged(server)
    seen.push([event, reason, by, who])
  }
  const browser = new PlainBrowser(server)
  const signIn = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
  for (const email of ['grace@acme.test', 'unknown@acme.test']) {
    await browser.submit(signIn, { email, password: 'wrong-password-1' })
    note()
  }
  await browser.submit(signIn, { email: '', password: '' })
  note()
  const consent = await browser.get(
    locationOf(await browser.submit(signIn, { email: 'grace@acme.test', password: 'right-password-1' })),
  )
  await browser.submit(signIn, { email: 'grace@acme.test', password: 'right-password-1' })
  note()
  await browser.submit(consent, { decision: 'perhaps' })
  note()
  await browser.submit(consent, { decision: 'allow', csrf: 'x' })
  note()
  await browser.submit(consent, { decision: 'deny' })
  note()
  await browser.submit(consent, { decision: 'deny' })
  note()
  assert.deepEqual(seen, [
    ['sign-in.refused', 'wrong-credentials', known, user.id],
    ['sign-in.refused', 'wrong-credentials', known, undefined],
    ['sign-in.refused', 'email-missing', known, undefined],
    ['session.started', undefined, known, user.id],
    ['request.refused', 'decision_missing', known, user.id],
    ['request.refused', 'form_token_wrong', known, undefined],
    ['authorization.denied', undefined, known, user.id],
    ['request.refused', 'authorization_decided', known, undefined],
  ])
})

test('a page of a refusal that is thrown explains it, too: a path without pages, a broken query', async () => {
  const accept = { accept: 'text/html' }
  const nowhere = await server.inject({ method: 'GET', url: '/nowhere', headers: accept })
  assert.match(notesOf(nowhere.body), /reason=path_unknown/)
  const broken = await server.inject({ method: 'GET', url: '/v2/oauth/authorize?client_id=%zz', headers: accept })
  assert.match(notesOf(broken.body), /error=invalid_request reason=form_malformed/)
  assert.ok(notesOf(broken.body).includes(REFUSALS.invalid_request.description))
  assert.equal(lastLogged(server)['reason'], 'form_malformed')
  const home = await server.inject({ method: 'GET', url: '/', headers: accept })
  assert.doesNotMatch(home.body, /<details/)
})

test('RFC 8707 §2: the refusal of an unknown resource names it without its query, on the page, in the redirect and in the log', async () => {
  await createApi(server.context, anApiDeclaration('https://api.test'))
  server.clock.advance(2000)
  const url = authorizeUrl(client, { resource: 'https://unknown.test/mcp?marked-query' })
  const description = `No API is declared for https://unknown.test/mcp${OTHERWISE_WRITTEN}.`
  const page = await new PlainBrowser(server).get(url)
  assert.ok(notesOf(page.body).includes(`error=invalid_target reason=resource_unknown ${description}`), page.body)
  const { event, reason, description: logged } = lastLogged(server)
  assert.deepEqual([event, reason, logged], ['authorization.refused', 'resource_unknown', description])
  const link = /href="([^"]*unknown[^"]*)"/.exec(page.body)?.[1]?.replaceAll('&amp;', '&') ?? ''
  assert.equal(new URL(link).searchParams.get('error_description'), description)
})
