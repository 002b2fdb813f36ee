import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { COMMAND_LINE } from '../../../src/admin/administrators.ts'
import { createLink, sendLink } from '../../../src/admin/user/link.ts'
import type { ClientId } from '../../../src/protocol/ids.ts'
import {
  authorizeUrl,
  formAction,
  locationOf,
  PASSWORD,
  PlainBrowser,
  registerClient,
  unescaped,
  type RegisteredClient,
} from '../../../tools/flow.ts'
import { createAccount } from '../../support/accounts.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { deliver, mailedLinkTo, openMailHost } from '../../support/hosts/mail-host.ts'
import { addProvider } from '../../support/provider/providers.ts'
import { openProviderHost } from '../../support/provider/provider-host.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { perform } from '../../support/tasks.ts'
import { formsOf } from './owner.ts'

/** Each journey ends in the product: an invitation, a reset, an old link and a request that ended. */

const host = await openMailHost(WHOLE_FILE)
const PRODUCT = 'https://acme.test/app'
const BEHIND_TLS = { GRANTOR_ISSUER: 'https://id.acme.test', GRANTOR_HOST: '127.0.0.1' }
const local = await openTestServer(WHOLE_FILE, { env: { ...host.env, GRANTOR_PRODUCT_URL: PRODUCT } })
const NEW = 'another long horse'
const BOTH = { password: NEW, repeated: NEW }
const HOME = 'https://board.example/'
const LOGIN = 'https://board.example/login?tenant=1'

async function anAccount(server = local, isVerified = true, password: string | undefined = PASSWORD) {
  const email = `${randomBytes(6).toString('hex')}@acme.test`
  return { ...(await createAccount(server, { email, isVerified, password, name: undefined })), email }
}

interface Client extends RegisteredClient {
  readonly id: ClientId
}

/** A client that the operator verified, unless the case says otherwise. */
async function aClient(metadata: object = { client_uri: HOME }, server = local, isVerified = true): Promise<Client> {
  const client = await registerClient(server, { client_name: 'Build Board', ...metadata })
  if (isVerified) await perform(server.context, 'client.verify', { client_id: client.client_id })
  return { ...client, id: client.client_id as ClientId }
}

/** The order of an operator for a link that leads to a client. */
function leadingTo(clientId: ClientId) {
  return { ...COMMAND_LINE, clientId }
}

/** Where the links in the content of a page lead, by their texts. */
function linksOf({ body }: { readonly body: string }): Readonly<Record<string, string>> {
  const [, main = ''] = /<main>([^]*?)<\/main>/.exec(body) ?? []
  const found = [...main.matchAll(/<a [^>]*?href="([^"]*)"[^>]*>([^]*?)<\/a>/g)]
  return Object.fromEntries(
    found.map(([, uri = '', text = '']) => [text.replaceAll(/<[^>]*>|[\u2066-\u2069]/g, '').trim(), unescaped(uri)]),
  )
}

/** The links of the page that follows the use of a link. */
async function useOf(address: string, browser = new PlainBrowser(local)) {
  const used = await browser.submit(await browser.get(address), BOTH)
  assert.equal(used.statusCode, 200, used.body)
  return linksOf(used)
}

test('LNK-10: a link leads to the client that it names, as the policy allows it then, and otherwise to GRANTOR_PRODUCT_URL', async (t) => {
  const secure = await openTestServer(t, { env: { ...BEHIND_TLS, GRANTOR_PRODUCT_URL: PRODUCT } })
  const loopback = { client_uri: 'http://localhost:8080/' }
  const cases: Readonly<Record<string, readonly [() => Promise<Client>, string, TestServer?]>> = {
    verified: [() => aClient(), HOME],
    'verified, with a page for sign-ins': [
      () => aClient({ client_uri: HOME, initiate_login_uri: LOGIN }),
      `${LOGIN}&iss=http%3A%2F%2Flocalhost%3A3000`,
    ],
    'of an operator': [
      async () => {
        const client = await aClient(undefined, local, false)
        await perform(local.context, 'client.adopt', { client_id: client.id })
        return client
      },
      HOME,
    ],
    unverified: [() => aClient(undefined, local, false), PRODUCT],
    'verified once': [
      async () => {
        const client = await aClient()
        await perform(local.context, 'client.unverify', { client_id: client.id })
        return client
      },
      PRODUCT,
    ],
    disabled: [
      async () => {
        const client = await aClient()
        await perform(local.context, 'client.disable', { client_id: client.id })
        return client
      },
      PRODUCT,
    ],
    deleted: [
      async () => {
        const client = await aClient()
        await perform(local.context, 'client.delete', { client_id: client.id })
        return client
      },
      PRODUCT,
    ],
    'without an address': [() => aClient({}), PRODUCT],
    'of a blocked domain': [
      async () => {
        await perform(local.context, 'domain.block', { pattern: 'blocked.example' })
        local.clock.advance(2000)
        return aClient({ client_uri: 'https://blocked.example/' })
      },
      PRODUCT,
    ],
    'on this computer, as the server is': [() => aClient(loopback), 'http://localhost:8080/'],
    'on this computer, as the server is not': [() => aClient(loopback, secure), PRODUCT, secure],
  }
  for (const [name, [make, expected, server = local]] of Object.entries(cases)) {
    const { email } = await anAccount(server)
    const { id: clientId } = await make()
    const { address } = await createLink(server.context, email, leadingTo(clientId))
    const links = await useOf(address, new PlainBrowser(server))
    const product = Object.entries(links).find(([text]) => text.startsWith('Continue to '))
    const word = expected === PRODUCT ? 'Continue to Grantor' : 'Continue to Build Board'
    assert.deepEqual(product, [word, expected], name)
    assert.ok('See your account' in links, name)
  }
})

test('without a client and GRANTOR_PRODUCT_URL the page of a used link leads to the account', async (t) => {
  const server = await openTestServer(t, {})
  const { email } = await anAccount(server)
  const { address } = await createLink(server.context, email)
  assert.deepEqual(await useOf(address, new PlainBrowser(server)), {
    'Go to your account': 'http://localhost:3000/account',
  })
})

test('LNK-10: a verified client whose website gets another host loses its mark, and no link leads there', async () => {
  const client = await aClient()
  const { email } = await anAccount()
  const { address } = await createLink(local.context, email, leadingTo(client.id))
  const {
    client_id,
    client_name = '',
    redirect_uris,
    registration_access_token: token,
  } = client as never as Record<string, string>
  const changed = await local.inject({
    method: 'PUT',
    url: `/v2/oauth/register?client_id=${client_id}`,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    payload: JSON.stringify({ client_id, client_name, redirect_uris, client_uri: 'https://evil.example/' }),
  })
  assert.equal(changed.statusCode, 200, changed.body)
  assert.equal((await useOf(address))['Continue to Grantor'], PRODUCT)
})

test('a reset that began in a request of a client goes on with the request, and the client gets its code', async () => {
  const { email } = await anAccount()
  // Also a client that is not verified: it is the request of this person.
  const client = await aClient({}, local, false)
  const browser = new PlainBrowser(local)
  const link = await askIn(browser, client, email)
  const links = await useOf(link, browser)
  const page = await browser.get(links['Continue to Build Board'] ?? '')
  const consent = await browser.get(locationOf(await browser.submit(page, { email, password: NEW })))
  const back = new URL(locationOf(await browser.submit(consent, { decision: 'allow' })))
  assert.equal(back.origin + back.pathname, 'https://app.example/callback')
  assert.ok(back.searchParams.has('code'))
})

test('LNK-10: the request of another browser, one that ended and one that a query names are not continued', async () => {
  const client = await aClient()
  const other = await aClient({ client_uri: 'https://other.example/', client_name: 'Other' })
  const leads = async (prepare: (browser: PlainBrowser, email: string) => Promise<string>, opener?: PlainBrowser) => {
    const { email } = await anAccount()
    const browser = new PlainBrowser(local)
    return useOf(await prepare(browser, email), opener ?? browser)
  }
  const toClient = { 'Continue to Build Board': HOME, 'See your account': 'http://localhost:3000/account' }
  // Another browser opens the mail.
  assert.deepEqual(await leads((browser, email) => askIn(browser, client, email), new PlainBrowser(local)), toClient)
  // The person denied the request meanwhile.
  const ended = await leads(async (browser, email) => {
    const signIn = await begin(browser, client)
    const link = await askFrom(browser, signIn, email)
    const consent = await browser.get(
      locationOf(await browser.submit(await browser.get(signIn), { email, password: PASSWORD })),
    )
    await browser.submit(consent, { decision: 'deny' })
    return link
  })
  assert.deepEqual(ended, toClient)
  // The query of a link and of the form names the request of an attacker, or of another client in this browser.
  const attacker = new PlainBrowser(local)
  const foreign = new URL(await begin(attacker, other)).searchParams.get('authorization') ?? ''
  const lured = await leads(async (browser, email) => {
    await browser.get('/account')
    return askFrom(browser, `/v2/oauth/sign-in?authorization=${foreign}`, email)
  })
  assert.equal(lured['Continue to Grantor'], PRODUCT)
  const queried = await leads(async (browser, email) => {
    const own = new URL(await begin(browser, other)).searchParams.get('authorization') ?? ''
    const { address } = await createLink(local.context, email, leadingTo(client.id))
    return `${address}&authorization=${own}&client_id=${other.id}&product=https://evil.example`
  })
  assert.deepEqual(queried, toClient)
})

test('a link that is mailed again after an invitation leads to the client of the invitation', async () => {
  const client = await aClient()
  const { email } = await anAccount()
  await sendLink(local.context, email, leadingTo(client.id))
  const browser = new PlainBrowser(local)
  const link = await askFrom(browser, '/v2/oauth/sign-in?page=overview', email)
  assert.equal((await useOf(link, browser))['Continue to Build Board'], HOME)
})

test('a person who uses a link by an account at a provider goes on to the client', async (t) => {
  const provider = await openProviderHost(t)
  const server = await openTestServer(t, {})
  await addProvider(server, provider)
  const client = await aClient(undefined, server)
  const { email } = await anAccount(server, false, undefined)
  const { address } = await createLink(server.context, email, leadingTo(client.id))
  const browser = new PlainBrowser(server)
  const form = formsOf(await browser.get(address)).find(({ hidden }) => hidden['provider'] === 'idp')
  assert.ok(form)
  const left = await browser.post(form.action, form.hidden)
  const away = unescaped(/url=([^"]*)"/.exec(left.body)?.[1] ?? locationOf(left))
  const answer = await browser.get(provider.approve(away, { sub: 'ada' }))
  assert.equal(linksOf(answer)['Continue to Build Board'], HOME)
  assert.equal((await browser.get('/account')).statusCode, 200)
})

test('the page of an old link offers a new one, unless the user would get none, and leads back to the client', async (t) => {
  const client = await aClient()
  const order = leadingTo(client.id)
  const forgot = 'http://localhost:3000/v2/oauth/sign-in/forgot'
  const account = 'http://localhost:3000/account'
  const verified = await createLink(local.context, (await anAccount()).email, order)
  const invited = await createLink(local.context, (await anAccount(local, false)).email, order)
  const used = await createLink(local.context, (await anAccount()).email, order)
  await useOf(used.address)
  const shows = async (address: string, server = local) => linksOf(await new PlainBrowser(server).get(address))
  const operators = { 'Back to Grantor': PRODUCT, 'See your account': account }
  // The row of a used link is gone, and with it the client.
  assert.deepEqual(await shows(used.address), { 'Send a new link': forgot, ...operators })
  assert.deepEqual(await shows('/account/link?token=nothing'), { 'Send a new link': forgot, ...operators })
  local.clock.advance(8 * 86_400_000)
  const back = { 'Back to Build Board': HOME, 'See your account': account }
  assert.deepEqual(await shows(verified.address), { 'Send a new link': forgot, ...back })
  assert.deepEqual(await shows(invited.address), back)
  const silent = await openTestServer(t, {})
  assert.deepEqual(await shows('/account/link?token=nothing', silent), { 'Go to your account': account })
})

test('RFC 6749 §4.1.2.1: the page of a request that ended leads the browser that began it back to the client, that of a wrong one does not', async () => {
  const client = await aClient()
  const browser = new PlainBrowser(local)
  const signIn = await begin(browser, client)
  const stranger = await new PlainBrowser(local).get(signIn)
  assert.deepEqual(linksOf(stranger), { 'Back to Grantor': PRODUCT })
  local.clock.advance(3_600_000)
  const expired = await browser.get(signIn)
  assert.match(expired.body, /This page has expired/)
  assert.deepEqual(linksOf(expired), { 'Back to Build Board': HOME })
  const wrong = authorizeUrl(client, { redirect_uri: 'https://evil.example/callback' })
  assert.deepEqual(linksOf(await browser.get(wrong)), { 'Back to Grantor': PRODUCT })
  const unknown = authorizeUrl({ ...client, client_id: 'gci_unknown' }, {})
  assert.deepEqual(linksOf(await browser.get(unknown)), { 'Back to Grantor': PRODUCT })
})

/** The address of the sign-in page for a request of a client. */
async function begin(browser: PlainBrowser, client: RegisteredClient): Promise<string> {
  return locationOf(await browser.get(authorizeUrl(client)))
}

async function askIn(browser: PlainBrowser, client: RegisteredClient, email: string): Promise<string> {
  return askFrom(browser, await begin(browser, client), email)
}

/** Asks for a link at the page to which a sign-in page leads. Returns the link in the mail. */
async function askFrom(browser: PlainBrowser, signIn: string, email: string): Promise<string> {
  const { searchParams } = new URL(signIn, 'http://localhost:3000')
  const page = await browser.get(`/v2/oauth/sign-in/forgot?${searchParams.toString()}`)
  assert.equal((await browser.post(formAction(page), { email })).statusCode, 200)
  await deliver(local)
  return mailedLinkTo(host, email)
}
