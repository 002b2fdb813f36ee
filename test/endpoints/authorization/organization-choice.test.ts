import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import type { OrganizationId, UserId } from '../../../src/protocol/ids.ts'
import {
  authorizeUrl,
  locationOf,
  PASSWORD,
  PlainBrowser,
  redeem,
  registerClient,
  type RegisteredClient,
  type Tokens,
} from '../../../tools/flow.ts'
import {
  addMember,
  codeIn,
  createOrganization,
  createPerson,
  openConsent,
  optionsIn,
} from '../../support/organizations.ts'
import { openTestServer } from '../../support/server.ts'
import { assertStoreUnchanged, selectAll } from '../../support/store/dump.ts'
import { assertErrorRedirect, assertReturnPage, WHOLE_FILE } from '../../support/authorize-answers.ts'
import { perform } from '../../support/tasks.ts'
import { sentence } from '../../texts/page-texts.ts'

const server = await openTestServer(WHOLE_FILE)
const { store } = server.context
const acme = await createOrganization(server, 'Acme')
const beta = await createOrganization(server, 'Beta')
const foreign = await createOrganization(server, 'Foreign')
const nowhere = `gor_${'0'.repeat(34)}`
let people = 0

/** A new user who belongs to these organizations. */
async function personIn(...organizations: readonly OrganizationId[]): Promise<{ id: UserId; email: string }> {
  people += 1
  const email = `person-${people}@acme.test`
  const id = await createPerson(server, email)
  for (const organization of organizations) await addMember(server, id, organization)
  return { id, email }
}

interface Open {
  readonly browser: PlainBrowser
  readonly page: LightMyRequestResponse
  readonly client: RegisteredClient
  readonly person: { readonly id: UserId; readonly email: string }
}

/** The consent page of a new client, for a new user who belongs to these organizations. */
async function openPage(organizations: readonly OrganizationId[], parameters = {}): Promise<Open> {
  const client = await registerClient(server)
  const person = await personIn(...organizations)
  const browser = new PlainBrowser(server)
  const page = await openConsent(browser, authorizeUrl(client, parameters), person.email)
  return { browser, page, client, person }
}

/** The organization of the tokens for the code in a response. */
async function organizationOf(client: RegisteredClient, answer: LightMyRequestResponse): Promise<unknown> {
  const code = codeIn(answer)
  assert.ok(code, answer.body.slice(0, 300))
  return decodeJwt((await redeem(server, client, code)).json<Tokens>().access_token)['org_id']
}

test('decision 0005: a user without an organization is not asked for one', async () => {
  const { browser, page, client } = await openPage([])
  assert.equal(optionsIn(page), undefined)
  assert.equal(await organizationOf(client, await browser.submit(page, { decision: 'allow' })), undefined)
})

test('decision 0005: the only organization of a user is preselected, and the user may choose none', async () => {
  const { browser, page, client, person } = await openPage([acme])
  assert.deepEqual(optionsIn(page), [
    { value: acme, text: 'Acme', isSelected: true },
    { value: 'none', text: sentence('withoutOrganization'), isSelected: false },
  ])
  assert.equal(
    await organizationOf(client, await browser.submit(page, { decision: 'allow', organization: acme })),
    acme,
  )
  const again = await openConsent(browser, authorizeUrl(client, { prompt: 'consent' }), person.email)
  const without = await browser.submit(again, { decision: 'allow', organization: 'none' })
  assert.equal(await organizationOf(client, without), undefined)
})

test('decision 0005: a user of several organizations must choose one, listed by name, and may deny without a choice', async () => {
  const { browser, page, client } = await openPage([beta, acme])
  assert.deepEqual(
    optionsIn(page)?.map(({ value, isSelected }) => [value, isSelected]),
    [
      ['', false],
      [acme, false],
      [beta, false],
      ['none', false],
    ],
  )
  assert.match(page.body, /<select[^>]* required/)
  for (const fields of [{}, { organization: '' }]) {
    const asked = await assertStoreUnchanged(server, () => browser.submit(page, { decision: 'allow', ...fields }))
    assert.equal(asked.statusCode, 400)
    assert.match(asked.body, /role="alert"[^]*Choose for which organization/)
  }
  const answer = await browser.submit(page, { decision: 'allow', organization: beta })
  assert.equal(await organizationOf(client, answer), beta)
  const other = await openPage([beta, acme])
  assertErrorRedirect(server, await other.browser.submit(other.page, { decision: 'deny' }), 'access_denied')
})

test('N8: prompt=consent lets a user change a remembered organization, and the operator lists all of them', async () => {
  const { browser, page, client, person } = await openPage([beta, acme])
  assert.equal(
    await organizationOf(client, await browser.submit(page, { decision: 'allow', organization: beta })),
    beta,
  )
  const again = await openConsent(browser, authorizeUrl(client, { prompt: 'consent' }), person.email)
  assert.deepEqual(
    optionsIn(again)?.map(({ value }) => value),
    ['', acme, beta, 'none'],
  )
  assert.equal(
    await organizationOf(client, await browser.submit(again, { decision: 'allow', organization: acme })),
    acme,
  )
  const user = await perform<{
    readonly organizations: readonly { readonly organization_id: string; readonly name: string }[]
  }>(server.context, 'user.show', { user_id: person.id })
  assert.deepEqual(user.organizations.map(({ name }) => name).toSorted(), ['Acme', 'Beta'])
})

test('decision 0005: disabled organizations and memberships are not offered, and equal names are made distinct', async () => {
  const [closed, twin] = [await createOrganization(server, 'Closed'), await createOrganization(server, 'Acme')]
  const person = await personIn(acme, beta, closed, twin)
  const now = server.clock.now()
  await store.disableOrganization({ id: closed, now })
  await store.disableMember({ userId: person.id, organizationId: beta, now })
  const client = await registerClient(server)
  const page = await openConsent(new PlainBrowser(server), authorizeUrl(client), person.email)
  const texts = optionsIn(page)?.map(({ text }) => text)
  assert.deepEqual(texts?.slice(1, -1).toSorted(), [`Acme (${acme})`, `Acme (${twin})`].toSorted())
})

test('decision 0005: a client that names an organization gets that one; the page names it and offers no other', async () => {
  const { browser, page, client } = await openPage([acme, beta], { org_id: acme })
  assert.equal(optionsIn(page), undefined)
  assert.match(page.body, /Organization<\/dt>\s*<dd><bdi>Acme<\/bdi>/)
  assert.equal(await organizationOf(client, await browser.submit(page, { decision: 'allow' })), acme)
})

test('UI-02: the form cannot name an organization that the user does not belong to', async () => {
  const { browser, page, client } = await openPage([acme])
  for (const organization of [foreign, beta, nowhere, 'x', ` ${acme}`, acme.toUpperCase(), '*']) {
    const allowed = { decision: 'allow', organization, org_id: organization }
    const answer = await assertStoreUnchanged(server, () => browser.submit(page, allowed))
    assert.equal(answer.statusCode, 400, organization)
    assert.equal(codeIn(answer), undefined)
  }
  const lonely = await openPage([])
  const answer = await lonely.browser.submit(lonely.page, { decision: 'allow', organization: foreign })
  assert.deepEqual([answer.statusCode, codeIn(answer)], [400, undefined])
  const fixed = await openPage([acme, beta], { org_id: acme })
  const tampered = await fixed.browser.submit(fixed.page, { decision: 'allow', organization: beta, org_id: beta })
  assert.equal(await organizationOf(fixed.client, tampered), acme)
  assert.equal(
    await organizationOf(client, await browser.submit(page, { decision: 'allow', organization: acme })),
    acme,
  )
})

test('UI-02: one authorization gives one code for one organization, whatever is submitted afterwards', async () => {
  const { browser, page, client } = await openPage([acme, beta])
  const [first, second] = await Promise.all([
    browser.submit(page, { decision: 'allow', organization: acme }),
    browser.submit(page, { decision: 'allow', organization: beta }),
  ])
  const codes = [codeIn(first), codeIn(second)].filter((code) => code !== undefined)
  assert.equal(codes.length, 1)
  const winner = codeIn(first) === undefined ? { answer: second, id: beta } : { answer: first, id: acme }
  const again = await browser.submit(page, { decision: 'allow', organization: winner.id })
  assert.equal(codeIn(again), codes[0])
  assert.equal(await organizationOf(client, winner.answer), winner.id)
})

test('AUTH-22: an organization that the user does not belong to or that does not exist is access_denied, and gives no code', async () => {
  const client = await registerClient(server)
  await perform(server.context, 'client.verify', { client_id: client.client_id })
  const { email } = await personIn(acme)
  const answers = []
  for (const org_id of [foreign, nowhere]) {
    const browser = new PlainBrowser(server)
    const answer = await openConsent(browser, authorizeUrl(client, { org_id, login_hint: email }), email)
    assertErrorRedirect(server, answer, 'access_denied')
    // Again with a session, as in the first request of another client.
    for (const parameters of [{ org_id }, { org_id, prompt: 'none' }, { org_id, prompt: 'consent' }]) {
      const silent = await browser.get(authorizeUrl(client, parameters))
      assertErrorRedirect(server, silent, 'access_denied')
      answers.push(locationOf(silent))
    }
  }
  assert.equal(new Set(answers).size, 1)
  const rows = selectAll(server, 'select status from authorizations where client_id = ?', client.client_id)
  assert.deepEqual(
    rows.map(({ status }) => status),
    ['denied', 'denied'],
  )
})

test('AUTH-22: for an unverified client the error is a page with a link, before and after the sign-in', async () => {
  const client = await registerClient(server)
  const { email } = await personIn(acme)
  const browser = new PlainBrowser(server)
  assertReturnPage(await openConsent(browser, authorizeUrl(client, { org_id: foreign }), email), 'access_denied')
  assertReturnPage(await browser.get(authorizeUrl(client, { org_id: foreign })), 'access_denied')
})

test('AUTH-22: without a sign-in the response reveals no organization, and prompt=login lets a member sign in', async () => {
  const client = await registerClient(server)
  const [stranger, member] = [await personIn(acme), await personIn(foreign)]
  for (const org_id of [foreign, nowhere]) {
    const answer = await new PlainBrowser(server).get(authorizeUrl(client, { org_id }))
    assert.match(locationOf(answer), /\/v2\/oauth\/sign-in\?/)
  }
  const browser = new PlainBrowser(server)
  await openConsent(browser, authorizeUrl(client), stranger.email)
  const start = await browser.get(authorizeUrl(client, { org_id: foreign, prompt: 'login' }))
  const form = await browser.get(locationOf(start))
  const signedIn = await browser.submit(form, { email: member.email, password: PASSWORD })
  const page = await browser.get(locationOf(signedIn))
  assert.equal(await organizationOf(client, await browser.submit(page, { decision: 'allow' })), foreign)
})

test('AUTH-22: a malformed org_id is invalid_request', async () => {
  const client = await registerClient(server)
  for (const org_id of ['/x', acme.toUpperCase(), `${acme}x`, `${acme} `, client.client_id])
    assertReturnPage(await new PlainBrowser(server).get(authorizeUrl(client, { org_id })), 'invalid_request')
})

test('UI-11: a consent is used only for its organization', async () => {
  const { browser, page, client } = await openPage([acme, beta])
  await browser.submit(page, { decision: 'allow', organization: acme })
  const silently = async (parameters: object) => browser.get(authorizeUrl(client, { prompt: 'none', ...parameters }))
  assert.equal(await organizationOf(client, await silently({ org_id: acme })), acme)
  assertErrorRedirect(server, await silently({ org_id: beta }), 'consent_required')
  // There is only one consent, so it is used.
  assert.equal(await organizationOf(client, await silently({})), acme)
  const second = await openConsent(browser, authorizeUrl(client, { prompt: 'consent' }))
  await browser.submit(second, { decision: 'allow', organization: 'none' })
  assertErrorRedirect(server, await silently({}), 'consent_required')
  assert.equal(await organizationOf(client, await silently({ org_id: acme })), acme)
  assert.equal(optionsIn(await openConsent(browser, authorizeUrl(client)))?.length, 4)
})

test('UI-11: a consent from before the not-before time of the membership or the organization is ignored', async () => {
  const { browser, page, client, person } = await openPage([acme, beta])
  await browser.submit(page, { decision: 'allow', organization: beta })
  const key = { userId: person.id, organizationId: beta }
  const silently = async () => browser.get(authorizeUrl(client, { prompt: 'none' }))
  assert.equal(await organizationOf(client, await silently()), beta)
  server.clock.advance(10)
  await store.removeMember({ ...key, now: server.clock.now() })
  assertErrorRedirect(server, await silently(), 'consent_required')
  await addMember(server, person.id, beta)
  assertErrorRedirect(server, await silently(), 'consent_required')
  const again = await openConsent(browser, authorizeUrl(client, { org_id: beta }))
  await browser.submit(again, { decision: 'allow' })
  assert.equal(await organizationOf(client, await silently()), beta)
  server.clock.advance(10)
  await store.revokeOrganizationTokens({ id: beta, now: server.clock.now() })
  assertErrorRedirect(server, await silently(), 'consent_required')
})

test('UI-13: a user who leaves the organization between two pages gives no code for it, and sees why', async () => {
  const { browser, page, client, person } = await openPage([acme])
  await store.removeMember({ userId: person.id, organizationId: acme, now: server.clock.now() })
  const answer = await browser.submit(page, { decision: 'allow', organization: acme })
  assert.deepEqual([answer.statusCode, codeIn(answer)], [400, undefined])
  assert.match(answer.body, /role="alert"[^]*do not belong to that organization/)
  assert.equal(await organizationOf(client, await browser.submit(answer, { decision: 'allow' })), undefined)

  const fixed = await openPage([acme], { org_id: acme })
  await store.removeMember({ userId: fixed.person.id, organizationId: acme, now: server.clock.now() })
  const allowed = await fixed.browser.submit(fixed.page, { decision: 'allow' })
  assertReturnPage(allowed, 'access_denied')
  await addMember(server, fixed.person.id, acme)
  assert.equal(codeIn(await fixed.browser.submit(fixed.page, { decision: 'allow' })), undefined)
})

test('UI-13: a user who leaves the organization between sign-in and consent page is refused there', async () => {
  const client = await registerClient(server)
  const person = await personIn(acme)
  const browser = new PlainBrowser(server)
  const form = await browser.get(locationOf(await browser.get(authorizeUrl(client, { org_id: acme }))))
  const signedIn = await browser.submit(form, { email: person.email, password: PASSWORD })
  await store.removeMember({ userId: person.id, organizationId: acme, now: server.clock.now() })
  assertReturnPage(await browser.get(locationOf(signedIn)), 'access_denied')
})
