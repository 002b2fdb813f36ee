import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alterLast } from '../../support/alter.ts'
import { subjectKey } from '../../../src/protocol/sign-in/interaction.ts'
import { authorizeUrl, locationOf, PlainBrowser, pushedUrl, redeem, registerClient } from '../../../tools/flow.ts'
import { identityKey } from '../../../src/protocol/sign-in/provider-identity.ts'
import type { ProviderId } from '../../../src/protocol/sign-in/authentication.ts'
import {
  APPLICATION_URL,
  leave,
  openApplication,
  redirectOf,
  startAtClient,
  SUBJECT,
} from '../../support/application.ts'
import { assertErrorRedirect, assertLocalPage, WHOLE_FILE } from '../../support/authorize-answers.ts'
import { createAda } from '../../support/accounts.ts'
import { anIdentity } from '../../support/provider/provider-records.ts'
import { anOrganization, aUserOfProvider } from '../../support/records.ts'
import { openTestServer } from '../../support/server.ts'
import { hasSession } from '../../support/session-cookie.ts'
import { assertStoreUnchanged, selectAll } from '../../support/store/dump.ts'
import { pageSays } from '../../texts/page-texts.ts'

const server = await openTestServer(WHOLE_FILE, { env: { GRANTOR_DELEGATE_URL: APPLICATION_URL } })
const { store } = server.context
const application = await openApplication(server)
await createAda(server)

test('the application signs the person in and consents for them: the client gets a code, and the tokens are for the person', async () => {
  const { browser, client, interaction } = await startAtClient(server, { scope: 'read' })
  const back = await browser.get(await application.signIn(interaction, { subject: 'u_1', name: 'Grace Hopper' }))
  const answer = new URL(locationOf(back))
  assert.deepEqual([answer.searchParams.get('state'), answer.searchParams.get('iss')], ['the-state', server.origin])
  const tokens = await redeem(server, client, answer.searchParams.get('code') ?? '')
  assert.equal(tokens.statusCode, 200, tokens.body)
  const [user] = selectAll(server, 'select * from users where name = ?', 'Grace Hopper')
  const [grant] = selectAll(server, 'select * from grants where client_id = ?', client.client_id)
  assert.deepEqual([grant?.['user_id'], grant?.['scope']], [user?.['user_id'], 'read'])
  assert.deepEqual([user?.['password_hash'], Number(user?.['first_signed_in_at']) > 0], [null, true])
  assert.ok(!hasSession(browser), 'nothing is remembered by default')
})

test('PAR-01: the application signs the person in for a pushed request, which its consent uses up', async () => {
  const client = await registerClient(server, { client_name: 'Pusher' })
  const url = await pushedUrl(server, client, { scope: 'read' })
  const browser = new PlainBrowser(server)
  const back = await browser.get(await application.signIn(await leave(browser, url), { subject: 'u_par' }))
  const code = new URL(locationOf(back)).searchParams.get('code') ?? ''
  assert.equal((await redeem(server, client, code)).statusCode, 200)
  assertLocalPage(await browser.get(url))
})

test('the application reads the client and the scopes, with the texts of the consent page', async () => {
  const parameters = { scope: 'read write', login_hint: 'ada@acme.test', ui_locales: 'de en', prompt: 'login consent' }
  const { client, interaction } = await startAtClient(server, parameters, {
    client_name: 'Claude',
    'client_name#de': 'Klaus',
  })
  const shown = await application.show(interaction)
  assert.equal(shown.statusCode, 200, shown.body)
  const { expires_at, sign_in_after, ...rest } = shown.json<Record<string, unknown>>()
  const { registered_at, ...asking } = rest['client'] as Record<string, unknown>
  for (const time of [expires_at, sign_in_after, registered_at]) assert.ok(!Number.isNaN(Date.parse(String(time))))
  assert.deepEqual(asking, {
    client_id: client.client_id,
    client_name: 'Claude',
    'client_name#de': 'Klaus',
    trust_level: 'unverified',
    document_host: null,
    destination: { kind: 'host', host: 'app.example', scheme: null },
  })
  assert.deepEqual(
    { ...rest, client: undefined },
    {
      interaction,
      purpose: 'authorization',
      answered: null,
      multi_factor_needed: false,
      device: null,
      client: undefined,
      scopes: [
        { name: 'read', sentences: [] },
        { name: 'write', sentences: [] },
      ],
      withheld: null,
      resources: [],
      organization_id: null,
      login_hint: 'ada@acme.test',
      ui_locales: ['de', 'en'],
      prompt: ['login', 'consent'],
    },
  )
})

test('an answer is final: the same body gets the same address, another one is a conflict, and the interaction shows the answer', async () => {
  const { interaction } = await startAtClient(server)
  const answer = { name: 'Ada', scope: '', authenticated_at: new Date(server.clock.now()).toISOString() }
  const [first, second] = [await application.accept(interaction, answer), await application.accept(interaction, answer)]
  assert.equal(first.statusCode, 200, first.body)
  assert.equal(redirectOf(first), redirectOf(second))
  const user = await server.context.store.findIdentity(subjectKey(SUBJECT))
  for (const one of [first, second]) assert.equal(one.json<{ user_id: string }>().user_id, user?.userId)
  for (const other of [
    await application.accept(interaction, { ...answer, name: 'Eve' }),
    await application.reject(interaction),
  ]) {
    assert.deepEqual([other.statusCode, typeOf(other)], [409, 'already_answered'])
  }
  assert.equal((await application.show(interaction)).json<{ answered: string }>().answered, 'accepted')
})

test('DEL-01: in another browser the answer signs no user in', async () => {
  const { interaction } = await startAtClient(server)
  const address = await application.signIn(interaction)
  const { browser: other } = await startAtClient(server)
  for (const browser of [new PlainBrowser(server), other]) {
    assertLocalPage(await assertStoreUnchanged(server, () => browser.get(address)), 403)
  }
})

test('DEL-02: the proof of another interaction, of another answer, and a changed one are rejected', async () => {
  const { browser, interaction } = await startAtClient(server)
  const elsewhere = await leave(browser, authorizeUrl(await registerClient(server)))
  const proofOf = (address: string): string => new URL(address).searchParams.get('proof') ?? ''
  const proof = proofOf(await application.signIn(interaction))
  const other = proofOf(await application.signIn(elsewhere))
  const changed = proof.startsWith('A') ? `B${proof.slice(1)}` : `A${proof.slice(1)}`
  for (const wrong of [other, changed, '', proof.slice(1)]) {
    const address = `/v2/oauth/continue?${new URLSearchParams({ interaction, proof: wrong }).toString()}`
    assertLocalPage(await assertStoreUnchanged(server, () => browser.get(address), wrong), 403)
  }
})

test('DEL-03: of 100 concurrent answers one is stored: equal ones get its address, and all others conflict', async () => {
  const { interaction } = await startAtClient(server)
  const same = await Promise.all(Array.from({ length: 100 }, () => application.accept(interaction)))
  assert.equal(new Set(same.map(redirectOf)).size, 1)

  const { interaction: contested } = await startAtClient(server)
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => [application.accept(contested), application.reject(contested)]).flat(),
  )
  const accepted = answers.filter((_, index) => index % 2 === 0)
  const statuses = [accepted, answers.filter((_, index) => index % 2 === 1)].map((some) =>
    [...new Set(some.map(({ statusCode }) => statusCode))].join(),
  )
  assert.deepEqual(new Set(statuses), new Set(['200', '409']))
})

test('DEL-05: a wider scope is refused, and a narrower one is what the client gets', async () => {
  const { browser, client, interaction } = await startAtClient(server, { scope: 'read write' })
  const wider = await assertStoreUnchanged(server, () => application.accept(interaction, { scope: 'read admin' }))
  assert.deepEqual([wider.statusCode, typeOf(wider)], [422, 'scope_wider'])
  const back = await browser.get(await application.signIn(interaction, { scope: 'read' }))
  const tokens = await redeem(server, client, new URL(locationOf(back)).searchParams.get('code') ?? '')
  assert.equal(tokens.json<{ scope: string }>().scope, 'read')
})

test('DEL-05: the refusal of a scope says what the client requested, also if it requested none or no client asks', async () => {
  const { interaction } = await startAtClient(server, { scope: 'read write' })
  const { interaction: none } = await startAtClient(server, { scope: '' })
  const account = await leave(new PlainBrowser(server), '/account/data')
  for (const [asked, says] of [
    [interaction, 'The client requested: read write'],
    [none, 'The client requested no scope.'],
    [account, 'No client asks here. Leave scope out.'],
  ] as const) {
    const refused = await application.accept(asked, { scope: 'admin' })
    const { detail } = refused.json<{ detail: readonly { readonly msg: string }[] }>()
    assert.deepEqual([refused.statusCode, detail[0]?.msg], [422, says])
  }
})

test('DEL-05: more than 50 scopes, which the consent page does not let a person choose, are narrowed too', async () => {
  const many = Array.from({ length: 60 }, (_, index) => `scope-${index}`)
  const { browser, client, interaction } = await startAtClient(server, { scope: many.join(' ') })
  const back = await browser.get(await application.signIn(interaction, { scope: 'scope-1 scope-2' }))
  const tokens = await redeem(server, client, new URL(locationOf(back)).searchParams.get('code') ?? '')
  assert.equal(tokens.json<{ scope: string }>().scope, 'scope-1 scope-2')
})

test('DEL-05: an organization that the person does not belong to gives no code: the person chooses here', async () => {
  const organization = anOrganization({}, server.clock.now())
  await store.createOrganization(organization)
  const { browser, interaction } = await startAtClient(server)
  const back = await browser.get(await application.signIn(interaction, { organization_id: organization.id }))
  assert.match(locationOf(back), /\/v2\/oauth\/consent\?/)
  const page = await browser.get(locationOf(back))
  assert.equal(page.statusCode, 200, page.body)
  assert.ok(!page.body.includes(organization.name))
})

test('DEL-05: where the client asks for an organization, the application consents for that one or leaves it out', async () => {
  const [organization, other] = [anOrganization({}, server.clock.now()), anOrganization({}, server.clock.now())]
  for (const one of [organization, other]) await store.createOrganization(one)
  const { interaction } = await startAtClient(server, { org_id: organization.id })
  for (const organization_id of [other.id, null]) {
    const refused = await assertStoreUnchanged(server, () => application.accept(interaction, { organization_id }))
    assert.deepEqual([refused.statusCode, typeOf(refused)], [422, 'value_error'])
  }
  assert.equal((await application.accept(interaction, { organization_id: organization.id })).statusCode, 200)
})

test('DEL-05: the same subject at a provider belongs to another person', async () => {
  const user = aUserOfProvider()
  const key = identityKey({ id: 'google' as ProviderId, issuer: 'https://accounts.google.com' }, SUBJECT)
  const identity = anIdentity({ key, userId: user.id, providerId: 'google' as ProviderId, subject: SUBJECT })
  await store.provisionUser({ user, identity })
  const { browser, interaction } = await startAtClient(server)
  await browser.get(await application.signIn(interaction))
  const [session] = selectAll(server, 'select user_id from sessions where session_id = ?', interactionId(interaction))
  assert.notEqual(session?.['user_id'], user.id)
})

test('DEL-06: a person who comes back without an answer sees a page that leads to the application again, and nothing is lost', async () => {
  const { browser, interaction } = await startAtClient(server)
  const page = await browser.get(`/v2/oauth/continue?interaction=${interaction}`)
  assert.equal(page.statusCode, 503)
  assert.match(page.body, pageSays('notAnswered'))
  const again = /<a class="button main" href="([^"]+)"/.exec(page.body)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const second = await leave(browser, again)
  assert.notEqual(second, interaction)
  for (const one of [interaction, second]) assert.equal((await application.show(one)).statusCode, 200)
  const back = await browser.get(await application.signIn(second))
  assert.ok(new URL(locationOf(back)).searchParams.has('code'))
})

test('DEL-07: redirect_to is an address of the issuer, whatever the headers of the request say', async () => {
  const { interaction } = await startAtClient(server)
  const answer = await server.injectAdmin({
    method: 'POST',
    url: `/admin/v1/interactions/${interaction}/accept`,
    headers: { authorization: `Bearer ${application.token}`, host: 'evil.test', 'x-forwarded-host': 'evil.test' },
    payload: { subject: SUBJECT, decision: 'allow' },
  })
  assert.equal(answer.statusCode, 200, answer.body)
  assert.ok(redirectOf(answer).startsWith(`${server.origin}/v2/oauth/continue?interaction=${interaction}&proof=`))
})

test('DEL-08: no log line has an interaction or a proof, and the browser sends no referrer', async () => {
  const { browser, interaction } = await startAtClient(server)
  const address = await application.signIn(interaction)
  const answer = await browser.get(address)
  assert.equal(answer.headers['referrer-policy'], 'no-referrer')
  const log = server.log()
  assert.ok(log.includes('"interaction.answered"') || log.includes('interaction.accept'))
  for (const secret of [interaction, application.token, new URL(address).searchParams.get('proof') ?? ''])
    assert.ok(!log.includes(secret))
})

test('BND-01: of ui_locales the first 255 characters are read and stored, and no part of a language', async () => {
  for (const [ui_locales, expected] of [
    [`de ${'en-US '.repeat(2000)}`, 254],
    ['x'.repeat(12_000), 0],
  ] as const) {
    const { interaction } = await startAtClient(server, { ui_locales })
    const { ui_locales: shown } = (await application.show(interaction)).json<{
      readonly ui_locales: readonly string[]
    }>()
    assert.equal(shown.join(' ').length, expected)
    assert.ok(shown.every((language) => /^(de|en-US)$/.test(language)))
  }
})

test('DEL-11: the address of an existing account does not link: the person has an account of their own, without it', async () => {
  const { browser, interaction } = await startAtClient(server)
  const answer = { subject: 'u_eve', email: 'ada@acme.test', email_verified: true, name: 'Eve' }
  await browser.get(await application.signIn(interaction, answer))
  const users = selectAll(server, `select * from users where email = 'ada@acme.test' or name = 'Eve' order by name`)
  assert.deepEqual(
    users.map(({ name, email }) => [name, email]),
    [
      ['Ada', 'ada@acme.test'],
      ['Eve', null],
    ],
  )
  const [own] = selectAll(server, `select email from identities where subject = 'u_eve'`)
  assert.equal(own?.['email'], 'ada@acme.test')
})

test('the name and the address follow what the application says at the next sign-in; an address that is taken changes nothing', async () => {
  const read = () =>
    selectAll(server, `select u.* from users u join identities i using (user_id) where subject = 'u_new'`)[0]
  const say = async (answer: object) => {
    const { interaction } = await startAtClient(server)
    await application.signIn(interaction, { subject: 'u_new', ...answer })
    const user = read()
    return [user?.['name'], user?.['email'], user?.['email_verified_at'] !== null]
  }
  assert.deepEqual(await say({}), [null, null, false])
  assert.deepEqual(await say({ name: 'Ann', email: ' Ann@Acme.test ' }), ['Ann', 'ann@acme.test', false])
  assert.deepEqual(await say({ email: 'ann@acme.test', email_verified: true }), ['Ann', 'ann@acme.test', true])
  assert.deepEqual(await say({ name: 'Anna', email: 'ada@acme.test' }), ['Anna', 'ann@acme.test', true])
})

test('each rejection reaches the client as an error; the person who says no is redirected at once', async () => {
  const { browser, interaction } = await startAtClient(server)
  const denied = await browser.get(redirectOf(await application.reject(interaction)))
  assertErrorRedirect(server, denied, 'access_denied')
  for (const error of ['login_required', 'interaction_required', 'temporarily_unavailable']) {
    const { browser: next, interaction: other } = await startAtClient(server)
    const page = await next.get(redirectOf(await application.reject(other, error)))
    // An unverified client: anybody can register one, so the page has a link instead of a redirect.
    assert.equal(page.statusCode, 400)
    assert.ok(page.body.includes(`error=${error}`), page.body)
  }
})

test('an answer with too long a time to remember, a wrong time of sign-in, or an unknown member is rejected', async () => {
  const { interaction } = await startAtClient(server, { prompt: 'login' })
  const now = server.clock.now()
  const at = (ms: number) => ({ authenticated_at: new Date(now + ms).toISOString() })
  const cases: readonly (readonly [answer: object, status: number, type: string])[] = [
    [{ remember_seconds: 43_201 }, 422, 'value_error'],
    [at(60_000), 422, 'value_error'],
    [at(-60_000), 409, 'sign_in_too_old'],
    [{ subject: 'a b' }, 422, 'value_error'],
    [{ subject: 'x'.repeat(256) }, 422, 'value_error'],
    [{ subject: '.' }, 422, 'value_error'],
    [{ subject: '..' }, 422, 'value_error'],
    [{ decision: 'maybe' }, 422, 'literal_error'],
    [{ decision: 'ask', scope: '' }, 422, 'value_error'],
    [{ organizations: [] }, 422, 'value_error'],
    [{ level: 3 }, 422, 'value_error'],
  ]
  for (const [answer, status, type] of cases) {
    const refused = await assertStoreUnchanged(server, () => application.accept(interaction, { ...answer }))
    assert.deepEqual([refused.statusCode, typeOf(refused)], [status, type], refused.body)
  }
})

test('an unknown, a made-up and an expired interaction, and one whose client was deleted, are refused', async () => {
  const { interaction } = await startAtClient(server)
  const made = alterLast(interaction)
  assert.equal((await application.show(made)).statusCode, 404)
  const { client, interaction: orphan } = await startAtClient(server)
  await store.disableClient({ id: client.client_id as never, now: server.clock.now() })
  for (const answer of [await application.show(orphan), await application.accept(orphan)])
    assert.deepEqual([answer.statusCode, typeOf(answer)], [409, 'client_gone'])
  server.clock.advance(600_000)
  for (const answer of [await application.show(interaction), await application.accept(interaction)])
    assert.deepEqual([answer.statusCode, typeOf(answer)], [409, 'interaction_expired'])
})

function typeOf(answer: { readonly body: string }): string | undefined {
  return (JSON.parse(answer.body) as { detail?: { type: string }[] }).detail?.[0]?.type
}

/** The id of the row is the part of the credential after the prefix. */
function interactionId(token: string): string {
  return token.slice('gin_'.length, 'gin_'.length + 34)
}
