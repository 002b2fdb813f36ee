import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { test } from 'node:test'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import { decodeJwt } from 'jose'
import type { ProviderId } from '../../../../src/protocol/sign-in/authentication.ts'
import type { ProviderSettings } from '../../../../src/protocol/sign-in/provider.ts'
import type { UserId } from '../../../../src/protocol/ids.ts'
import { PASSWORD, registerClient, requestToken } from '../../../../tools/flow.ts'
import { ASSERTION_GRANT_TYPES, identityAssertionForm, makeProviderKey } from '../../../../tools/identity-assertion.ts'
import { createAccount } from '../../../support/accounts.ts'
import { declareApi, JWT_API, knowApis } from '../../../support/apis.ts'
import { assertError } from '../../../support/error-answer.ts'
import { openDocumentHost } from '../../../support/hosts/document-host.ts'
import { sendJson } from '../../../support/hosts/web-host.ts'
import { addMember, createOrganization } from '../../../support/organizations.ts'
import { openAssertingServer, reasonOf, tokensOf, type AssertingServer } from '../../../support/provider/asserting.ts'
import { openProviderHost } from '../../../support/provider/provider-host.ts'
import { addProvider } from '../../../support/provider/providers.ts'
import { anIdentity } from '../../../support/provider/provider-records.ts'
import { assertStoreUnchanged, execute, selectAll } from '../../../support/store/dump.ts'
import { perform } from '../../../support/tasks.ts'
import { isActive } from '../../../support/token-questions.ts'

/** Which account an identity assertion is for, and the keys of its provider. */

const REFUSED = 'subject_refused'

/** Presents claims. Returns the user, or why the assertion is refused. A refusal changes nothing. */
async function outcomeOf({ server, present }: AssertingServer, claims: object): Promise<string> {
  const answer = await present({ claims: { ...claims } })
  return answer.statusCode === 200
    ? String(decodeJwt(tokensOf(answer).access_token).sub)
    : `${String(reasonOf(server))} ${answer.body}`
}

type Rules = Pick<ProviderSettings, 'signUp' | 'link'>

/** What the address of the claims has here, and whether the person gets an account: a new one, that one, or none. */
const CASES: readonly (readonly [
  rules: Rules,
  account: 'none' | 'unused' | 'unverified' | 'verified' | 'disabled' | 'of the provider',
  claims: object,
  expected: 'new' | 'same' | 'none',
])[] = [
  [{ signUp: 'off', link: 'ask' }, 'none', {}, 'none'],
  [{ signUp: 'domains', link: 'ask' }, 'none', {}, 'new'],
  [{ signUp: 'domains', link: 'ask' }, 'none', { email: 'x@free.test' }, 'none'],
  [{ signUp: 'domains', link: 'ask' }, 'none', { email_verified: false }, 'none'],
  [{ signUp: 'domains', link: 'ask' }, 'none', { email: undefined }, 'none'],
  [{ signUp: 'anybody', link: 'ask' }, 'none', { email: undefined }, 'new'],
  [{ signUp: 'anybody', link: 'ask' }, 'none', { email: 'y@other.test' }, 'new'],
  [{ signUp: 'anybody', link: 'ask' }, 'verified', {}, 'none'],
  [{ signUp: 'anybody', link: 'ask' }, 'unverified', {}, 'none'],
  [{ signUp: 'off', link: 'ask' }, 'unused', {}, 'same'],
  [{ signUp: 'off', link: 'verified-email' }, 'verified', {}, 'same'],
  [{ signUp: 'off', link: 'verified-email' }, 'verified', { email_verified: false }, 'none'],
  [{ signUp: 'anybody', link: 'verified-email' }, 'unverified', {}, 'none'],
  [{ signUp: 'anybody', link: 'verified-email' }, 'disabled', {}, 'none'],
  [{ signUp: 'anybody', link: 'verified-email' }, 'of the provider', {}, 'none'],
]

test('JAG-08: an assertion finds, links or creates the account that a sign-in would, and asks no person', async (t) => {
  const opened = await openAssertingServer(t)
  const { server } = opened
  for (const [index, [rules, account, claims, expected]] of CASES.entries()) {
    const { signUp: sign_up, link } = rules
    await perform(server.context, 'provider.update', { provider_id: 'idp', sign_up, link })
    server.clock.advance(1001)
    const email = `p${index}@acme.test`
    const id = await prepare(opened, email, account)
    const what = JSON.stringify([rules, account, claims])
    const person = { sub: `s${index}`, email, ...claims }
    const act = () => outcomeOf(opened, person)
    const outcome = expected === 'none' ? await assertStoreUnchanged(server, act, what) : await act()
    if (expected === 'none') assert.match(outcome, new RegExp(`^${REFUSED} `), what)
    else assert.equal(outcome === id ? 'same' : outcome.startsWith('gus_') ? 'new' : outcome, expected, what)
    if (expected !== 'none') assert.equal(await act(), outcome, `${what} again`)
  }
  assert.deepEqual(selectAll(server, 'select * from identity_proofs'), [])
})

/** Returns the id of the account that has the address, if one has. */
async function prepare(
  { server }: AssertingServer,
  email: string,
  account: (typeof CASES)[number][1],
): Promise<string | undefined> {
  if (account === 'none') return undefined
  const isVerified = account === 'verified' || account === 'of the provider'
  const password = account === 'unused' ? undefined : PASSWORD
  const { id } = await createAccount(server, { email, password, name: undefined, isVerified })
  // As after a sign-in.
  if (account !== 'unused') execute(server, 'update users set first_signed_in_at = 1 where user_id = ?', id)
  if (account === 'of the provider') {
    const identity = anIdentity({ userId: id, providerId: 'idp' as ProviderId })
    await server.context.store.linkIdentity({
      identity,
      reason: { kind: 'address', email },
      now: server.clock.now(),
      mails: [],
    })
  }
  if (account === 'disabled') await perform(server.context, 'user.disable', { user_id: id })
  return id
}

test('JAG-08, JAG-13: a known subject is refused if the user is disabled, needs another provider, or the identity was removed', async (t) => {
  const opened = await openAssertingServer(t)
  const { server } = opened
  const id = await outcomeOf(opened, {})
  const [, unknown] = (await outcomeOf(opened, { sub: 'nobody', email: undefined })).split(' {')
  await perform(server.context, 'user.disable', { user_id: id })
  const [reason, body] = (await assertStoreUnchanged(server, () => outcomeOf(opened, {}))).split(' {')
  assert.deepEqual([reason, body], [REFUSED, unknown], 'the answers are the same')
  await perform(server.context, 'user.enable', { user_id: id })
  assert.equal(await outcomeOf(opened, {}), id)
  await perform(server.context, 'provider.update', { provider_id: 'idp', domains: ['other.test'], link: 'ask' })
  const rule = { issuer: 'https://other.example', domains: ['acme.test'], routing: 'required' } as const
  await addProvider(server, { issuer: rule.issuer }, rule, { id: 'required' })
  server.clock.advance(1001)
  assert.match(await assertStoreUnchanged(server, () => outcomeOf(opened, {})), new RegExp(REFUSED))
  await perform(server.context, 'provider.delete', { provider_id: 'required' })
  await perform(server.context, 'provider.update', { provider_id: 'idp', sign_up: 'off', domains: ['acme.test'] })
  server.clock.advance(1001)
  execute(server, 'delete from identities')
  assert.match(await outcomeOf(opened, {}), new RegExp(REFUSED))
})

test('JAG-08: of assertions for one new person at once, all get the one new account', async (t) => {
  const opened = await openAssertingServer(t)
  const users = await Promise.all(Array.from({ length: 8 }, () => outcomeOf(opened, {})))
  assert.equal(new Set(users).size, 1, users.join())
  assert.equal(selectAll(opened.server, 'select * from users').length, 1)
})

test('JAG-08: an assertion that looked for a person just before another one created the account finds it', async (t) => {
  const opened = await openAssertingServer(t)
  const { store } = opened.server.context
  const { findIdentity } = store
  const users: string[] = []
  let isFirst = true
  Object.assign(store, {
    async findIdentity(key: Parameters<typeof findIdentity>[0]) {
      const found = await findIdentity(key)
      if (!isFirst) return found
      isFirst = false
      users.push(await outcomeOf(opened, {}))
      return found
    },
  })
  users.push(await outcomeOf(opened, {}))
  assert.deepEqual(users, [users[0], users[0]])
  assert.match(users[0] ?? '', /^gus_/)
})

test('JAG-05, JAG-08: the user becomes a member only within the domains, and must be an active one', async (t) => {
  const opened = await openAssertingServer(t)
  const { server, client } = opened
  const [acme, other] = [await createOrganization(server, 'Acme'), await createOrganization(server, 'Other')]
  const set = async (settings: object): Promise<void> => {
    await perform(server.context, 'provider.update', { provider_id: 'idp', ...settings })
    server.clock.advance(1001)
  }
  await set({ organization_id: acme, sign_up: 'anybody', membership: 'anybody' })
  const within = decodeJwt(
    tokensOf(await opened.present({ claims: { sub: 'in', email: 'in@acme.test' } })).access_token,
  )
  assert.equal(within['org_id'], acme)
  const outside = [
    { email: 'x@free.test' },
    { email: undefined },
    { email_verified: false },
    { email: 'x@sub.acme.test' },
  ]
  for (const [index, claims] of outside.entries()) {
    const refused = () => outcomeOf(opened, { sub: `out${index}`, email: `out${index}@acme.test`, ...claims })
    assert.match(await assertStoreUnchanged(server, refused, JSON.stringify(claims)), new RegExp(REFUSED))
  }
  await set({ organization_id: null, membership: 'domains' })
  const member = await outcomeOf(opened, { sub: 'member', email: undefined })
  await set({ organization_id: acme })
  assert.match(await outcomeOf(opened, { sub: 'member', email: undefined }), new RegExp(REFUSED))
  await addMember(server, member as UserId, acme)
  const token = tokensOf(await opened.present({ claims: { sub: 'member', email: undefined } })).access_token
  assert.deepEqual([decodeJwt(token).sub, decodeJwt(token)['org_id']], [member, acme])
  const place = { organization_id: acme, user_id: member }
  await perform(server.context, 'member.disable', place)
  assert.equal(await isActive(server, opened.api, token), false)
  for (const email of [undefined, 'member@acme.test']) {
    const refused = () => outcomeOf(opened, { sub: 'member', email })
    assert.match(await assertStoreUnchanged(server, refused), new RegExp(REFUSED))
  }
  const form = identityAssertionForm(opened.assertion({ claims: { sub: 'in', email: 'in@acme.test' } }))
  assertError(await requestToken(server, client, { ...form, org_id: other }), 400, 'invalid_request')
  const answer = await requestToken(server, client, { ...form, org_id: acme })
  assert.equal(decodeJwt(tokensOf(answer).access_token)['org_id'], acme)
  await perform(server.context, 'organization.disable', { organization_id: acme })
  await set({ link: 'verified-email' })
  for (const account of ['none', 'unused', 'verified'] as const) await prepare(opened, `${account}@acme.test`, account)
  for (const sub of ['in', 'none', 'unused', 'verified']) {
    const refused = () => outcomeOf(opened, { sub, email: `${sub}@acme.test` })
    assert.match(await assertStoreUnchanged(server, refused, sub), new RegExp(REFUSED))
  }
  await perform(server.context, 'organization.enable', { organization_id: acme })
  for (const sub of ['none', 'unused', 'verified']) {
    const claims = { sub, email: `${sub}@acme.test` }
    const named = () => opened.present({ claims }, { user_id: String(within.sub) })
    assertError(await assertStoreUnchanged(server, named, sub), 400, 'invalid_request')
    assert.equal(reasonOf(server), 'user_mismatch')
  }
})

test('JAG-05: a provider speaks for its own persons, clients and APIs, and two with one issuer for none', async (t) => {
  const opened = await openAssertingServer(t)
  const { server, host, client } = opened
  const ada = await outcomeOf(opened, {})
  const second = await openProviderHost(t)
  const key = makeProviderKey('second')
  second.answer('/jwks', sendJson({ keys: [key.jwk] }))
  const own = await registerClient(server, { grant_types: ASSERTION_GRANT_TYPES, client_name: 'Second' })
  const resource = 'https://second.example'
  await declareApi(server, resource)
  const lists = { assertionClients: [own.client_id], assertionApis: [resource] }
  await addProvider(server, second, { domains: ['second.test'], signUp: 'anybody', ...lists }, { id: 'second' })
  knowApis(server)
  const present = (claims: object, by = own) =>
    requestToken(
      server,
      by,
      identityAssertionForm(
        opened.assertion({ claims: { iss: second.issuer, client_id: by.client_id, ...claims } }, key),
      ),
    )
  const seen = decodeJwt(tokensOf(await present({})).access_token)
  assert.notEqual(seen.sub, ada, 'the same sub at another provider is another person')
  assert.equal(seen.aud, resource)
  assert.equal(
    selectAll(server, `select * from users where email = 'ada@acme.test'`).length,
    1,
    'its word proves no address of Acme',
  )
  const refused = [
    [() => present({}, client), 'assertion_issuer'],
    [() => present({ iss: host.issuer }), 'assertion_issuer'],
    [() => present({ resource: JWT_API }), 'assertion_resource'],
    [() => requestToken(server, client, identityAssertionForm(opened.assertion({}, key))), 'assertion_wrong'],
  ] as const
  for (const [request, reason] of refused) await opened.assertRefused(request, reason, reason)
  await addProvider(server, host, { ...lists, assertionClients: [client.client_id] }, { id: 'twin' })
  server.clock.advance(1001)
  await opened.assertRefused(() => opened.present(), 'assertion_issuer', 'two providers')
  await perform(server.context, 'provider.update', { provider_id: 'twin', assertion_clients: [], assertion_apis: [] })
  server.clock.advance(1001)
  assert.equal(await outcomeOf(opened, {}), ada)
})

test('JAG-11: a provider that is disabled, deleted or lists no clients is refused, and its tokens end only with the user', async (t) => {
  const opened = await openAssertingServer(t)
  const { server, client } = opened
  const token = tokensOf(await opened.present()).access_token
  // The node still has its copy of the provider, and the store says it.
  await server.context.store.disableProvider({ id: 'idp' as ProviderId, now: server.clock.now() })
  await opened.assertRefused(() => opened.present(), 'assertion_issuer', 'at once')
  server.clock.advance(1001)
  await opened.assertRefused(() => opened.present(), 'client_not_listed', 'later', 'unauthorized_client')
  assert.equal(await isActive(server, opened.api, token), true)
  await perform(server.context, 'provider.enable', { provider_id: 'idp' })
  await opened.list({ assertion_clients: [], assertion_apis: [] })
  await opened.assertRefused(() => opened.present(), 'client_not_listed', 'no list', 'unauthorized_client')
  await opened.list({ assertion_clients: [client.client_id], assertion_apis: [JWT_API] })
  opened.host.holdBack('/jwks', () => opened.list({ assertion_clients: ['https://other.example/client'] }))
  server.clock.advance(600_000)
  assertError(await opened.present(), 400, 'unauthorized_client')
  assert.equal(await isActive(server, opened.api, token), true)
  const { sub } = decodeJwt(token)
  await perform(server.context, 'user.disable', { user_id: sub })
  assert.equal(await isActive(server, opened.api, token), false)
})

test('JAG-10: keys of the provider are fetched when they are unknown, the first time at once, then once in 30 s, from no other host', async (t) => {
  const opened = await openAssertingServer(t)
  const { server, host, client } = opened
  const fetched = () => host.paths().filter((path) => path === '/jwks').length
  await outcomeOf(opened, {})
  await outcomeOf(opened, {})
  assert.equal(fetched(), 1)
  const next = makeProviderKey('next')
  const present = (): Promise<LightMyRequestResponse> =>
    requestToken(server, client, identityAssertionForm(opened.assertion({}, next)))
  await opened.assertRefused(present, 'assertion_wrong', 'before the pause ends')
  host.answer('/jwks', sendJson({ keys: [next.jwk] }))
  server.clock.advance(30_000)
  tokensOf(await present())
  // In the pause nothing tells an old key from one that the provider has since.
  assertError(await opened.present(), 503, 'temporarily_unavailable')
  assert.equal(fetched(), 3)
  server.clock.advance(30_000)
  await opened.assertRefused(() => opened.present(), 'assertion_wrong', 'the old key')
  assert.equal(fetched(), 4)
  const canary = await openProviderHost(t)
  const faults: readonly RequestListener[] = [
    (_request, response) => response.writeHead(302, { location: `${canary.issuer}/jwks` }).end(),
    sendJson({ keys: [] }),
    sendJson('x'.repeat(70_000)),
  ]
  for (const fault of faults) {
    host.answer('/jwks', fault)
    server.clock.advance(24 * 60 * 60 * 1000)
    const answer = await present()
    assertError(answer, 503, 'temporarily_unavailable')
    assert.equal(reasonOf(server), 'provider_unavailable')
    assert.equal(answer.headers['retry-after'], '5')
    const count = fetched()
    assertError(await present(), 503, 'temporarily_unavailable')
    assert.equal(fetched(), count, 'it was asked a moment ago')
  }
  assert.equal(canary.requests.length, 0)
  host.answer('/jwks', sendJson({ keys: [next.jwk] }))
  server.clock.advance(15_000)
  tokensOf(await present())
  await perform(server.context, 'provider.update', { provider_id: 'idp', private_hosts: ['x.internal'] })
  host.answer(
    '/.well-known/openid-configuration',
    sendJson({
      issuer: host.issuer,
      authorization_endpoint: `${host.issuer}/a`,
      token_endpoint: `${host.issuer}/t`,
      jwks_uri: 'https://10.0.0.1/jwks',
    }),
  )
  server.clock.advance(1001)
  assertError(await present(), 503, 'temporarily_unavailable')
})

test('JAG-10: the keys of a provider end when it says that there are none, and after 15 minutes in which it fails', async (t) => {
  const opened = await openAssertingServer(t)
  const { server, host, key } = opened
  const MINUTE_MS = 60_000
  for (const [status, minutes] of [
    [404, 6],
    [410, 6],
    [500, 15],
    [429, 15],
  ] as const) {
    host.answer('/jwks', sendJson({ keys: [key.jwk] }))
    server.clock.advance(MINUTE_MS)
    tokensOf(await opened.present())
    host.answer('/jwks', (_request, response) => response.writeHead(status).end())
    if (minutes === 15) {
      server.clock.advance(14 * MINUTE_MS)
      tokensOf(await opened.present())
      server.clock.advance(MINUTE_MS)
    } else server.clock.advance(minutes * MINUTE_MS)
    assertError(await opened.present(), 503, 'temporarily_unavailable')
  }
})

test('JAG-06: a public client with a metadata document may be listed by its URL, also if the server does not know it yet', async (t) => {
  const documents = await openDocumentHost(t)
  documents.publish({ grant_types: ASSERTION_GRANT_TYPES })
  const client = documents.client()
  const opened = await openAssertingServer(t, { assertionClients: [client.client_id] })
  const { server } = opened
  const form = () => identityAssertionForm(opened.assertion({ claims: { client_id: client.client_id } }))
  const token = tokensOf(await requestToken(server, client, form())).access_token
  assert.equal(decodeJwt(token)['client_id'], client.client_id)
  assert.equal(await isActive(server, opened.api, token), true)
  const other = documents.client('/other.json')
  const refused = await requestToken(server, other, form())
  assertError(refused, 400, 'unauthorized_client')
  assert.equal(reasonOf(server), 'client_not_listed')
  await opened.assertRefused(() => opened.present(), 'client_not_listed', 'a registered one', 'unauthorized_client')
})

test('JAG-04: after a restore, an assertion from before it is refused, also one of a provider whose clock is ahead', async (t) => {
  const opened = await openAssertingServer(t)
  const { server, client } = opened
  const [used, ahead] = [0, 60].map((seconds) =>
    identityAssertionForm(opened.assertion({ claims: { iat: Math.floor(server.clock.now() / 1000) + seconds } })),
  )
  tokensOf(await requestToken(server, client, used ?? {}))
  execute(server, 'delete from consumed')
  server.clock.advance(1000)
  await perform(server.context, 'token.revoke-all', { confirm: 'everything' })
  server.clock.advance(1001)
  for (const form of [used, ahead])
    await opened.assertRefused(() => requestToken(server, client, form ?? {}), 'assertion_expired', 'before')
  server.clock.advance(60_000)
  tokensOf(await opened.present())
})

test('DEL-14: while an application signs users in, no provider speaks for them', async (t) => {
  const env = { GRANTOR_DELEGATE_URL: 'http://localhost:9/sign-in' }
  const opened = await openAssertingServer(t, {}, { env })
  await opened.assertRefused(() => opened.present(), 'client_not_listed', 'delegated', 'unauthorized_client')
})
