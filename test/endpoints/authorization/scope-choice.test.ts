import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import {
  authorizeUrl,
  hiddenFields,
  locationOf,
  PlainBrowser,
  redeem,
  refresh,
  registerClient,
  signInAndAllow,
  type RegisteredClient,
  type Tokens,
} from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { declareApi, knowApis } from '../../support/apis.ts'
import { assertLocalPage, WHOLE_FILE } from '../../support/authorize-answers.ts'
import { openTestServer } from '../../support/server.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'
import { perform } from '../../support/tasks.ts'
import type { LocalizedText } from '../../../src/base/localized-text.ts'
import { pageSays } from '../../texts/page-texts.ts'

const [PROJECTS, BUILDS] = ['https://projects.example', 'https://builds.example']
const server = await openTestServer(WHOLE_FILE)
await createAda(server)
await declareApi(server, PROJECTS, {}, [
  { name: 'read', sentence: 'Read your projects', grantedTo: 'users' },
  { name: 'write', sentence: 'Change your projects', grantedTo: 'users' },
  { name: 'delete', sentence: 'Delete your projects', grantedTo: 'users' },
])
await declareApi(server, BUILDS, {}, [
  { name: 'start', sentence: 'Start builds', grantedTo: 'users' },
  { name: 'read', sentence: 'Read your builds', grantedTo: 'users' },
])
const browser = new PlainBrowser(server)
await signInAndAllow(browser, authorizeUrl(await registerClient(server)))

test('RFC 6749 §3.3: the user leaves scopes out; the answer names the scope, and no refresh brings the others back', async () => {
  const client = await registerClient(server)
  const page = await consentPage(client)
  const fields = hiddenFields(page)
  assert.deepEqual(
    Object.keys(fields).filter((name) => name.startsWith('allow.')),
    ['allow.read', 'allow.write', 'allow.delete'],
  )
  const tokens = await redeemAll(client, await allow(page, 'allow.write', 'allow.delete'))
  assert.equal(tokens.scope, 'read')
  const refreshed = await refresh(server, client, tokens.refresh_token ?? '', { scope: 'read write delete' })
  assert.equal(refreshed.statusCode, 200, refreshed.body)
  assert.equal(refreshed.json<Tokens>().scope, 'read')
})

test('the consent page shows the texts of an API in its language, and says which language another one has', async () => {
  const resource = 'https://texts.example'
  const texts: Readonly<Record<string, LocalizedText>> = {
    'texts:read': { en: 'Read <b>texts</b>', de: 'Texte lesen' },
    'texts:list': { default: 'List', de: 'Auflisten' },
    'texts:send': { en: 'Send texts' },
    'texts:copy': { de: 'Texte kopieren' },
    'texts:sort': 'Sort',
  }
  const scopes = Object.entries(texts).map(([name, sentence]) => ({ name, sentence, granted_to: 'users' }))
  await perform(server.context, 'api.create', { resource, name: { en: 'Texts', de: 'Texte' }, scopes })
  const scope = Object.keys(texts).join(' ')
  const client = await registerClient(server, { scope })
  const shownIn = async (ui_locales: string): Promise<readonly string[]> => {
    knowApis(server)
    const answer = await browser.get(authorizeUrl(client, { resource, scope, ui_locales, prompt: 'consent' }))
    const { body } = await browser.get(locationOf(answer))
    return [...body.matchAll(/<bdi(?: lang="(\w+)")?>([^<]*)</g)].map(([, lang, text]) => [text, lang].join())
  }
  const read = 'Read &lt;b&gt;texts&lt;/b&gt;,'
  const english = ['Texts,', read, 'List,', 'Send texts,', 'Texte kopieren,de', 'Sort,']
  const german = ['Texte,', 'Texte lesen,', 'Auflisten,', 'Send texts,en', 'Texte kopieren,', 'Sort,']
  for (const [language, expected] of [
    ['en', english],
    ['de', german],
  ] as const) {
    const shown = await shownIn(language)
    assert.deepEqual(
      expected.filter((text) => !shown.includes(text)),
      [],
      `${language}: ${shown.join(' ')}`,
    )
  }
  await perform(server.context, 'api.update', {
    resource,
    texts: [{ language: 'de', scope: 'texts:send', text: 'Neu' }],
  })
  assert.ok((await shownIn('de')).includes('Neu,'))
})

test('a scope that the user left out is requested again, and an allowed one is not', async () => {
  const client = await registerClient(server)
  await allow(await consentPage(client), 'allow.delete')
  const part = await browser.get(authorizeUrl(client, { resource: PROJECTS, scope: 'read write' }))
  assert.ok(new URL(locationOf(part)).searchParams.has('code'))
  const whole = await browser.get(authorizeUrl(client, { resource: PROJECTS }))
  assert.match(locationOf(whole), /\/consent\?/)
})

test('at least one scope of each API must remain; the page asks for one and keeps what is checked', async () => {
  const client = await registerClient(server)
  const one = await consentPage(client)
  const none = await assertStoreUnchanged(server, () => allow(one, 'allow.read', 'allow.write', 'allow.delete'))
  assert.equal(none.statusCode, 400)
  assert.match(none.body, pageSays('scopeMissing'))
  assert.ok(!Object.keys(hiddenFields(none)).some((name) => name.startsWith('allow.')))
  const url = `${authorizeUrl(client, { resource: PROJECTS, prompt: 'consent' })}&resource=${encodeURIComponent(BUILDS)}`
  const two = await browser.get(locationOf(await browser.get(url)))
  assert.match(two.body, /Read your builds[^]*Read your projects/)
  const without = await allow(two, 'allow.read', 'allow.start')
  assert.equal(without.statusCode, 400)
  assert.deepEqual(
    Object.keys(hiddenFields(without)).filter((name) => name.startsWith('allow.')),
    ['allow.write', 'allow.delete'],
  )
  assert.ok(new URL(locationOf(await allow(two, 'allow.delete', 'allow.write'))).searchParams.has('code'))
})

test('a request for one scope has no box: the user can deny it', async () => {
  const page = await consentPage(await registerClient(server), { scope: 'read' })
  assert.ok(!page.body.includes('type="checkbox"'))
  assert.ok(new URL(locationOf(await allow(page))).searchParams.has('code'))
})

test('openid cannot be left out, because the client asks who the user is', async (t) => {
  const open = await openTestServer(t)
  await createAda(open)
  const client = await registerClient(open)
  const own = new PlainBrowser(open)
  await signInAndAllow(own, authorizeUrl(await registerClient(open)))
  const page = await own.get(locationOf(await own.get(authorizeUrl(client, { scope: 'openid email' }))))
  const { 'allow.email': box, ...others } = hiddenFields(page)
  assert.ok(box === 'on' && !('allow.openid' in others))
  const answer = new URL(locationOf(await own.post('/v2/oauth/consent', { ...others, decision: 'allow' })))
  const tokens = await redeem(open, client, answer.searchParams.get('code') ?? '')
  assert.equal(tokens.json<Tokens>().scope, 'openid')
})

test('UI-02: boxes of scopes that were not requested are ignored', async () => {
  const client = await registerClient(server)
  const page = await consentPage(client, { scope: 'read write' })
  const form = { ...hiddenFields(page), 'allow.delete': 'on', 'allow.admin': 'on', decision: 'allow' }
  const tokens = await redeemAll(client, await browser.post('/v2/oauth/consent', form))
  assert.equal(tokens.scope, 'read write')
})

test('UI-03: the same answer twice gets the same code, and a second choice of scopes is refused', async () => {
  const client = await registerClient(server)
  const page = await consentPage(client)
  const [first, second] = [await allow(page, 'allow.delete'), await allow(page, 'allow.delete')]
  assert.equal(locationOf(first), locationOf(second))
  assertLocalPage(await allow(page, 'allow.delete', 'allow.write'), 409)
})

async function consentPage(
  client: RegisteredClient,
  parameters: Readonly<Record<string, string>> = {},
): Promise<LightMyRequestResponse> {
  const start = await browser.get(authorizeUrl(client, { resource: PROJECTS, ...parameters }))
  return browser.get(locationOf(start))
}

/** Allows the request with these boxes unchecked. */
function allow(page: LightMyRequestResponse, ...unchecked: readonly string[]): Promise<LightMyRequestResponse> {
  const fields = Object.entries(hiddenFields(page)).filter(([name]) => !unchecked.includes(name))
  return browser.post('/v2/oauth/consent', { ...Object.fromEntries(fields), decision: 'allow' })
}

async function redeemAll(client: RegisteredClient, answer: LightMyRequestResponse): Promise<Tokens> {
  const code = new URL(locationOf(answer)).searchParams.get('code') ?? ''
  const response = await redeem(server, client, code, { resource: PROJECTS })
  assert.equal(response.statusCode, 200, response.body)
  return response.json<Tokens>()
}
