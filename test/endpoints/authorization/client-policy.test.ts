import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newClient } from '../../../src/clients/new-client.ts'
import { DEFAULT_RULES } from '../../../src/protocol/client/policy.ts'
import { createClient } from '../../../src/admin/client/metadata.ts'
import { NO_SCOPE, type Scope } from '../../../src/protocol/token/scope.ts'
import {
  authorizeUrl,
  EMAIL,
  locationOf,
  obtainCode,
  PASSWORD,
  PlainBrowser,
  redeem,
  REDIRECT_URI,
  refresh,
  registerClient,
  type RegisteredClient,
  type Tokens,
} from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import {
  assertErrorRedirect,
  assertLocalPage,
  assertReturnPage,
  consentedBrowser,
  isCodeAnswer,
  WHOLE_FILE,
} from '../../support/authorize-answers.ts'
import { declareApi, JWT_API, knowApis } from '../../support/apis.ts'
import { forgetRule, evaluateDomain } from '../../support/domains.ts'
import { addMember, clientId, createOrganization, createPerson } from '../../support/organizations.ts'
import { openTestServer } from '../../support/server.ts'
import { assertStoreUnchanged, selectAll } from '../../support/store/dump.ts'
import { pageSays } from '../../texts/page-texts.ts'

const server = await openTestServer(WHOLE_FILE)
await createAda(server)
const UNLIMITED_API = 'https://unlimited.example'
const PUBLIC_ISSUER = { GRANTOR_ISSUER: 'https://auth.example', GRANTOR_HOST: '127.0.0.1' }

test('WAY-01: while its domain is blocked, a client starts no authorization and continues none; its tokens stay valid', async () => {
  const client = await registerClient(server, { redirect_uris: ['https://app.bad.example/cb'] })
  const asked = { redirect_uri: 'https://app.bad.example/cb' }
  const url = authorizeUrl(client, asked)
  const tokens = await redeem(server, client, await obtainCode(server, client, asked), asked)
  const { refresh_token = '' } = tokens.json<Tokens>()
  const browser = new PlainBrowser(server)
  const signIn = await browser.get(locationOf(await browser.get(url)))
  const other = await consentedBrowser(server, await registerClient(server))
  const consent = await other.get(locationOf(await other.get(authorizeUrl(client, { ...asked, prompt: 'consent' }))))
  await evaluateDomain(server, '*.bad.example', 'blocked')
  for (const attempt of [
    () => new PlainBrowser(server).get(url),
    () => browser.submit(signIn, { email: EMAIL, password: PASSWORD }),
    () => other.submit(consent, { decision: 'allow' }),
    () => other.submit(consent, { decision: 'deny' }),
  ]) {
    assertLocalPage(await assertStoreUnchanged(server, attempt), 403)
  }
  assert.equal((await refresh(server, client, refresh_token)).statusCode, 200)
  await forgetRule(server, '*.bad.example')
  assert.ok(isCodeAnswer(await other.submit(consent, { decision: 'allow' })))
})

test('WAY-01: a client of a trusted domain is shown with it, and its errors are redirected', async () => {
  const redirect_uri = 'https://app.known.example/callback'
  const client = await registerClient(server, { redirect_uris: [redirect_uri] })
  const faulty = authorizeUrl(client, { redirect_uri, response_type: 'x' })
  const get = () => new PlainBrowser(server).get(faulty)
  assertReturnPage(await get(), 'unsupported_response_type', 'app.known.example')
  await evaluateDomain(server, 'app.known.example', 'trusted')
  assertErrorRedirect(server, await get(), 'unsupported_response_type', 'the-state', redirect_uri)
  const browser = await consentedBrowser(server, await registerClient(server))
  const url = authorizeUrl(client, { redirect_uri })
  const page = await browser.get(locationOf(await browser.get(url)))
  assert.match(page.body, /From <code><bdi>app\.known\.example<\/bdi><\/code>/)
  assert.doesNotMatch(page.body, /Unverified/)
  assert.match(page.body, pageSays('onlyIfStarted'))
  await evaluateDomain(server, 'app.known.example', 'blocked')
  assertLocalPage(await get(), 403)
})

test('WAY-01: a client that also has a redirect to loopback is not of a known domain', async () => {
  await evaluateDomain(server, 'half.example', 'trusted')
  const redirect_uris = ['https://half.example/cb', 'http://127.0.0.1/cb']
  const client = await registerClient(server, { redirect_uris })
  for (const redirect_uri of redirect_uris) {
    const page = await new PlainBrowser(server).get(authorizeUrl(client, { redirect_uri, response_type: 'x' }))
    assert.deepEqual([page.statusCode, page.body.includes('Unverified')], [400, true])
  }
})

test('WAY-03: the users of a first-party client are not asked for consent, and none is remembered', async () => {
  const client = await createFirstParty()
  const browser = await consentedBrowser(server, await registerClient(server))
  const before = selectAll(server, 'select * from consents').length
  assert.ok(isCodeAnswer(await browser.get(authorizeUrl(client))))
  assert.ok(isCodeAnswer(await browser.get(authorizeUrl(client, { prompt: 'none' }))))
  const fresh = new PlainBrowser(server)
  const signIn = await fresh.get(locationOf(await fresh.get(authorizeUrl(client))))
  assert.ok(isCodeAnswer(await fresh.submit(signIn, { email: EMAIL, password: PASSWORD })))
  assert.equal(selectAll(server, 'select * from consents').length, before)
})

test('WAY-03: a first-party client asks for consent with prompt=consent, and for loopback unless the issuer is on it, too', async (t) => {
  const loopback = ['http://127.0.0.1:4000/cb', 'https://localhost:4000/cb']
  for (const env of [{}, PUBLIC_ISSUER]) {
    const own = await openTestServer(t, { env })
    await createAda(own)
    await declareApi(own, JWT_API)
    knowApis(own)
    const client = await createFirstParty([...loopback, 'com.example.app:/cb'], own)
    const browser = await consentedBrowser(own, await registerClient(own))
    const isImplied = async (parameters: Readonly<Record<string, string>>): Promise<boolean> =>
      isCodeAnswer(await browser.get(authorizeUrl(client, parameters)))
    assert.equal(await isImplied({}), true)
    assert.equal(await isImplied({ prompt: 'consent' }), false)
    assert.equal(await isImplied({ redirect_uri: 'com.example.app:/cb' }), false)
    for (const redirect_uri of loopback) assert.equal(await isImplied({ redirect_uri }), env !== PUBLIC_ISSUER)
  }
})

test('WAY-03: rules of a client that no operator created imply nothing, even if it is verified', async () => {
  const { context } = server
  const ours = await createFirstParty()
  const record = await context.store.findClient(clientId(ours))
  assert.ok(record)
  const browser = await consentedBrowser(server, await registerClient(server))
  for (const source of ['registration', 'document'] as const) {
    const { id } = newClient(context, context.clock(), record.metadata, source)
    await context.store.createClient({ ...record, id, source })
    assert.match(locationOf(await browser.get(authorizeUrl({ client_id: id }))), /\/consent\?/)
  }
})

test('WAY-03: consent is implied for the scope that the operator registered, and for nothing wider', async (t) => {
  const own = await openTestServer(t)
  await createAda(own)
  await declareApi(own, JWT_API)
  await declareApi(own, UNLIMITED_API, {}, [])
  knowApis(own)
  const client = await createFirstParty([], own)
  const browser = await consentedBrowser(own, await registerClient(own))
  const isImplied = async (parameters: Readonly<Record<string, string>>): Promise<boolean> =>
    isCodeAnswer(await browser.get(authorizeUrl(client, parameters)))
  assert.equal(await isImplied({}), true)
  assert.equal(await isImplied({ scope: 'read' }), true)
  assert.equal(await isImplied({ scope: 'read', resource: JWT_API }), true)
  assert.equal(await isImplied({ scope: 'read write' }), false)
  assert.equal(await isImplied({ scope: 'write' }), false)
  assert.equal(await isImplied({ resource: UNLIMITED_API, scope: '' }), false)
})

test('WAY-03: a user of a first-party client who belongs to an organization chooses for which one', async (t) => {
  const own = await openTestServer(t)
  const userId = await createPerson(own)
  const client = await createFirstParty([], own)
  const organizationId = await createOrganization(own, 'Acme')
  await addMember(own, userId, organizationId)
  const browser = new PlainBrowser(own)
  const signIn = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
  assert.match(locationOf(await browser.submit(signIn, { email: EMAIL, password: PASSWORD })), /\/consent\?/)
  assert.ok(isCodeAnswer(await browser.get(authorizeUrl(client, { org_id: organizationId }))))
})

/** A first-party client for the scope `read`, with the redirect URI of tools/flow.ts and these. */
async function createFirstParty(redirectUris: readonly string[] = [], { context } = server): Promise<RegisteredClient> {
  const metadata = {
    client_name: 'Ours',
    redirect_uris: [REDIRECT_URI, ...redirectUris],
    token_endpoint_auth_method: 'client_secret_post' as const,
    scope: 'read' as Scope,
  }
  const input = { metadata, rules: { ...DEFAULT_RULES, consent: 'implied' }, approvedScope: NO_SCOPE } as const
  const { client, secret = '' } = await createClient(context, input)
  return { client_id: client.id, client_secret: secret }
}
