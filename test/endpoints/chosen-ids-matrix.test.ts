import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import type { Response } from 'light-my-request'
import { normalizeEmail } from '../../src/protocol/sign-in/email-address.ts'
import { chosenClientId } from '../../src/protocol/client/identifier.ts'
import type { UserId } from '../../src/protocol/ids.ts'
import { DEVICE_CODE, TOKEN_EXCHANGE } from '../../src/protocol/token/grant-types.ts'
import type { Resource } from '../../src/protocol/token/resource.ts'
import type { Scope } from '../../src/protocol/token/scope.ts'
import { assertionClaims, assertionForm, makeClientKey, signJws } from '../../tools/client-assertion.ts'
import { openDeviceConsent, poll, startDevice } from '../../tools/device-flow.ts'
import { makeProof } from '../../tools/dpop-proof.ts'
import {
  authorizeUrl,
  locationOf,
  PASSWORD,
  PlainBrowser,
  postForm,
  redeem,
  REDIRECT_URI,
  refresh,
  requestToken,
  type RegisteredClient,
} from '../../tools/flow.ts'
import { ASSERTION_GRANT_TYPES, identityAssertionForm } from '../../tools/identity-assertion.ts'
import { createAccount, createAda } from '../support/accounts.ts'
import { declareApi, JWT_API, knowApis, OPAQUE_API } from '../support/apis.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { commandJson } from '../support/command.ts'
import { ConsoleBrowser, giveRole } from '../../tools/console-browser.ts'
import { credentialsOf } from '../support/hosts/http-agent.ts'
import { codeIn, openConsent } from '../support/organizations.ts'
import { openAssertingServer, reasonOf } from '../support/provider/asserting.ts'
import { hasSession } from '../support/session-cookie.ts'
import { DEVICES_ON } from '../support/sign-in/devices.ts'
import { perform, type Members } from '../support/tasks.ts'
import { introspect } from '../support/token-questions.ts'
import { openOwner } from './account/owner.ts'
import { tokensOf, userinfo, type LoginTokens } from './openid/login.ts'

/** Every way to a token, and every place that names a client, a user or an organization, with chosen ids. */

/** Ids with each special character, and one id for all three kinds of record, as two administrators can make it at the same moment. */
const ROWS = [
  { client: 'spa:acme/1@x|y~z=w.v_u-t', user: 'auth0|5f:x=y.z~1_2-3', organization: 'acme:eu|1=2~3.4_5-6' },
  { client: 'twin', user: 'twin', organization: 'twin' },
] as const

const OUT = 'https://app.example/signed-out'
const GRANT_TYPES = [...ASSERTION_GRANT_TYPES, DEVICE_CODE] as const
const setup = await openAssertingServer(
  WHOLE_FILE,
  { assertionClients: ROWS.map(({ client }) => client), link: 'verified-email' },
  { listen: true, grantTypes: [...GRANT_TYPES, TOKEN_EXCHANGE], env: DEVICES_ON },
)
const { server, api: jwtApi } = setup
const { context } = server
await createAda(server)
await giveRole(server)
const rule = { resource: JWT_API as Resource, scope: 'read' as Scope }
const opaqueApi = await declareApi(server, OPAQUE_API, { format: 'opaque' }, undefined, [rule])
const administrator = await perform<{ token: string }>(context, 'admin.create', { name: 'Ada', access: 'write' })
const key = makeClientKey('ES256')

/** Whose a token is. RFC 9068 §2.2, RFC 8693 §4.1. */
interface Subject {
  readonly sub: string
  readonly org_id?: string
  readonly act?: { readonly sub: string; readonly act?: { readonly sub: string } }
}

interface Way {
  readonly how: string
  readonly of: 'machine' | 'user'
  readonly is?: Omit<Subject, 'sub'>
  readonly get: () => Promise<string>
}

for (const ids of ROWS) {
  const email = `${ids.client.length}@acme.test`
  const client = await createChosen(ids.client)
  await createMember(ids, email)
  const place = { organization_id: ids.organization }
  await perform(context, 'installation.install', {
    client_id: ids.client,
    ...place,
    scope: 'read',
    acts_for_members: true,
  })
  knowApis(server)
  const machine = { grant_type: 'client_credentials' }
  const ofOrganization = { ...machine, org_id: ids.organization }
  const forMember = { ...ofOrganization, user_id: ids.user }

  async function token(form: Readonly<Record<string, string>>, resource = JWT_API, headers = {}): Promise<string> {
    return tokensOf(await requestToken(server, client, { resource, ...form }, headers)).access_token
  }

  /** The tokens of a code, by the consent page. */
  async function signIn(
    parameters: Readonly<Record<string, string>>,
    { organization = 'none', browser = new PlainBrowser(server) } = {},
  ): Promise<LoginTokens> {
    const page = await openConsent(
      browser,
      authorizeUrl(client, { scope: 'openid read', prompt: 'consent', ...parameters }),
      email,
    )
    const code = codeIn(await browser.submit(page, { decision: 'allow', organization }))
    return tokensOf(await redeem(server, client, code ?? assert.fail(page.body)))
  }

  function exchange(subject: string, form: Readonly<Record<string, string>> = {}): Promise<Response> {
    const type = { subject_token_type: 'urn:ietf:params:oauth:token-type:access_token' }
    const about = { grant_type: TOKEN_EXCHANGE, subject_token: subject, ...type, resource: OPAQUE_API }
    return postForm(server, '/v2/oauth/token', { ...credentialsOf(jwtApi), ...about, ...form })
  }

  async function connect(): Promise<string> {
    const browser = new PlainBrowser(server)
    const device = await startDevice(server, client, { scope: 'read', resource: JWT_API })
    await browser.submit(await openDeviceConsent(browser, device, email), { decision: 'allow', organization: 'none' })
    return tokensOf(await poll(server, client, device)).access_token
  }

  const [jwt, opaque] = [{ resource: JWT_API }, { resource: OPAQUE_API }]
  const proof = () =>
    makeProof(key, { method: 'POST', address: `${server.origin}/v2/oauth/token`, nowMs: server.clock.now() })
  const org_id = ids.organization
  const act = { sub: ids.client }
  const assertion = () => setup.assertion({ claims: { client_id: ids.client, sub: ids.client, email } })
  const WAYS: readonly Way[] = [
    { how: 'itself', of: 'machine', get: () => token(machine) },
    { how: 'itself, opaque', of: 'machine', get: () => token(machine, OPAQUE_API) },
    { how: 'itself, with a DPoP proof', of: 'machine', get: () => token(machine, JWT_API, { dpop: proof() }) },
    { how: 'an organization', of: 'machine', is: { org_id }, get: () => token(ofOrganization) },
    { how: 'a member', of: 'user', is: { org_id, act }, get: () => token(forMember) },
    { how: 'a member, opaque', of: 'user', is: { org_id, act }, get: () => token(forMember, OPAQUE_API) },
    {
      how: 'a member, exchanged',
      of: 'user',
      is: { org_id, act: { sub: JWT_API, act } },
      get: async () => tokensOf(await exchange(await token(forMember))).access_token,
    },
    { how: 'code', of: 'user', get: async () => (await signIn(jwt)).access_token },
    { how: 'code, opaque', of: 'user', get: async () => (await signIn(opaque)).access_token },
    {
      how: 'code, for an organization',
      of: 'user',
      is: { org_id },
      get: async () => (await signIn(jwt, { organization: org_id })).access_token,
    },
    {
      how: 'refresh token',
      of: 'user',
      get: async () => tokensOf(await refresh(server, client, (await signIn(jwt)).refresh_token ?? '')).access_token,
    },
    {
      how: 'code, exchanged',
      of: 'user',
      is: { act: { sub: JWT_API } },
      get: async () => tokensOf(await exchange((await signIn(jwt)).access_token)).access_token,
    },
    { how: 'device', of: 'user', get: connect },
    { how: 'identity assertion', of: 'user', get: () => token(identityAssertionForm(assertion())) },
  ]

  test(`CID-03: each token with the ids of ${ids.client} says whose it is, and ends with that principal alone`, async () => {
    const tokens: { readonly way: Way; readonly text: string }[] = []
    for (const way of WAYS) tokens.push({ way, text: await way.get() })
    const facts = async (text: string) =>
      (await introspect(server, isJwtFor(text, JWT_API) ? jwtApi : opaqueApi, text)).json<Members>()
    for (const { way, text } of tokens) {
      const expected = { sub: ids[way.of === 'user' ? 'user' : 'client'], ...way.is }
      const found = await facts(text)
      assert.deepEqual([found['client_id'], subjectOf(found)], [ids.client, expected], way.how)
      if (!text.startsWith('gat_')) assert.deepEqual(subjectOf(decodeJwt(text)), expected, way.how)
    }
    const principals: readonly (readonly [noun: string, id: Members, ends: (way: Way) => boolean])[] = [
      ['user', { user_id: ids.user }, ({ of }) => of === 'user'],
      ['organization', place, ({ is }) => is?.org_id !== undefined],
      ['client', { client_id: ids.client }, () => true],
    ]
    const ended = new Set<Way>()
    for (const [noun, id, ends] of principals) {
      await perform(context, `${noun}.disable`, id)
      for (const { way, text } of tokens) {
        if (ends(way)) ended.add(way)
        assert.equal((await facts(text))['active'], !ended.has(way), `${way.how}, without the ${noun}`)
      }
      await perform(context, `${noun}.enable`, id)
    }
  })

  test(`CID-03: userinfo, an id_token_hint and an exchange do not take a token of the machine ${ids.client} for one of a user`, async () => {
    const browser = new PlainBrowser(server)
    const own = await signIn({ scope: 'openid' }, { browser })
    const info = await userinfo(server, own.access_token)
    assert.deepEqual([info.statusCode, info.json<Members>()['sub']], [200, ids.user])
    const { aud, sub } = decodeJwt(own.id_token ?? '')
    assert.deepEqual([aud, sub], [ids.client, ids.user])
    const silent = { scope: 'openid', prompt: 'none' }
    const hinted = (hint: string) => browser.get(authorizeUrl(client, { ...silent, id_token_hint: hint }))
    const leave = (hint: string) =>
      browser.get(
        `/v2/oauth/end-session?${new URLSearchParams({ id_token_hint: hint, post_logout_redirect_uri: OUT }).toString()}`,
      )
    assert.ok(codeIn(await hinted(own.id_token ?? '')))
    for (const form of [machine, ofOrganization, forMember]) {
      const text = tokensOf(await requestToken(server, client, form)).access_token
      assert.equal((await userinfo(server, text)).statusCode, 403)
      for (const other of [text, await token(form)]) {
        const back = new URL(locationOf(await hinted(other)))
        assert.deepEqual(
          [back.origin + back.pathname, back.searchParams.get('error')],
          [REDIRECT_URI, 'invalid_request'],
        )
        assert.equal(reasonOf(server), 'hint_wrong')
        assert.equal((await leave(other)).statusCode, 200)
        assert.ok(hasSession(browser))
      }
      if (form === forMember) continue
      for (const user_id of [undefined, ids.user]) {
        const answer = await exchange(await token(form), user_id === undefined ? {} : { user_id })
        assert.deepEqual([answer.statusCode, reasonOf(server)], [400, 'subject_without_user'])
      }
    }
    assert.equal(locationOf(await leave(own.id_token ?? '')), OUT)
    assert.ok(!hasSession(browser))
  })

  test(`CID-03: a user_id of the machine ${ids.client} names a member of the organization, or is refused`, async () => {
    const other = await perform(context, 'organization.create', {
      name: 'Other',
      organization_id: `${ids.organization}2`,
    })
    const elsewhere = { organization_id: other['organization_id'] }
    await perform(context, 'installation.install', {
      client_id: ids.client,
      ...elsewhere,
      scope: 'read',
      acts_for_members: true,
    })
    const record = String(chosenClientId(ids.client))
    for (const form of [
      { ...machine, user_id: ids.user },
      { ...forMember, org_id: String(other['organization_id']) },
      { ...forMember, user_id: record },
      { ...forMember, user_id: `${ids.client}x` },
      { ...identityAssertionForm(assertion()), user_id: record },
    ]) {
      const answer = await requestToken(server, client, { ...jwt, ...form })
      assert.deepEqual([answer.statusCode, reasonOf(server)], [400, 'user_mismatch'], JSON.stringify(form))
    }
  })

  test(`CID-02: the console, the audit, the account pages and the commands name ${ids.client} and find it`, async () => {
    const record = String(chosenClientId(ids.client))
    await signIn(jwt, { organization: ids.organization })
    const browser = new ConsoleBrowser(server)
    await browser.open()
    const sought = async (text: string, section: string) =>
      locationOf(
        await browser.console.get(`/console/search?${new URLSearchParams({ q: text, in: section }).toString()}`),
      )
    const [clientAt, userAt] = [`/console/clients/${record}`, `/console/users/${encodeURIComponent(ids.user)}`]
    assert.deepEqual([await sought(ids.client, 'clients'), await sought(ids.user, 'users')], [clientAt, userAt])
    for (const [path, shown] of [
      [clientAt, ids.client],
      [`/console/clients/${encodeURIComponent(ids.client)}`, ids.client],
      [`${clientAt}/consent`, 'Board'],
      [userAt, ids.user],
      [`/console/grants?client_id=${encodeURIComponent(ids.client)}&user_id=${encodeURIComponent(ids.user)}`, 'Board'],
      [`/console/audit?client_id=${encodeURIComponent(ids.client)}`, 'Board'],
      [`/console/audit?user_id=${encodeURIComponent(ids.user)}`, email],
    ] as const) {
      const page = await browser.console.get(path)
      assert.ok(page.statusCode === 200 && page.body.includes(shown), `${path} ${page.body}`)
    }
    for (const [filter, member, expected] of [
      ['client_id', ids.client, record],
      ['user_id', ids.user, ids.user],
      ['organization_id', ids.organization, ids.organization],
    ] as const) {
      const { events } = await perform<{ events: readonly Members[] }>(context, 'audit.list', { [filter]: member })
      assert.ok(events.length > 0)
      for (const event of events) assert.equal(event[filter], expected)
    }
    const owner = openOwner(server, email)
    const exported = (await owner.submit(await owner.open('/account/data'), 'csrf')).json<{
      readonly account: Members
      readonly grants: readonly Members[]
      readonly organizations: readonly Members[]
    }>()
    assert.equal(exported.account['user_id'], ids.user)
    assert.equal(exported.organizations[0]?.['organization_id'], ids.organization)
    assert.deepEqual(new Set(exported.grants.map((grant) => grant['client_id'])), new Set([ids.client]))
    assert.match((await owner.remove(await owner.open('/account/apps'), 'client')).body, /<title>Connected apps/)
    const secret = 'a-secret:with%2Band+more'
    const options = { token: administrator.token, input: `${secret}\n` }
    const ask = (...words: readonly string[]) =>
      commandJson<Members>([...words, '--server', server.adminOrigin], options)
    const set = await ask('client', 'set-secret', ids.client, '--client-secret', '-')
    assert.deepEqual([set['client_id'], set['outcome'], 'client_secret' in set], [ids.client, 'set', false])
    assert.equal((await requestToken(server, { ...client, client_secret: secret }, machine)).statusCode, 200)
    assert.equal((await ask('client', 'rotate-secret', ids.client))['client_id'], ids.client)
    for (const [noun, member, id] of [
      ['client', 'client_id', ids.client],
      ['user', 'user_id', ids.user],
      ['org', 'organization_id', ids.organization],
    ] as const)
      assert.equal((await ask(noun, 'show', id))[member], id)
  })

  test(`CID-02: RFC 7523 §3: an assertion of ${ids.client} has its client_id as issuer and subject, and not the id of the record`, async () => {
    await perform(context, 'client.set-keys', { client_id: ids.client, jwks: { keys: [key.jwk] } })
    const present = (name: string) => {
      const claims = assertionClaims(name, server.origin, server.clock.now())
      return postForm(server, '/v2/oauth/token', {
        ...machine,
        ...jwt,
        ...assertionForm(signJws(key, { alg: key.algorithm }, claims)),
      })
    }
    assert.equal(decodeJwt(tokensOf(await present(ids.client)).access_token).sub, ids.client)
    for (const other of [String(chosenClientId(ids.client)), `${ids.client}x`])
      assert.equal((await present(other)).statusCode, 401, other)
    assert.equal((await requestToken(server, client, machine)).statusCode, 401, 'its secret ended')
  })
}

async function createChosen(id: string): Promise<RegisteredClient> {
  return perform<RegisteredClient>(context, 'client.create', {
    client_id: id,
    client_name: 'Board',
    redirect_uris: [REDIRECT_URI],
    post_logout_redirect_uris: [OUT],
    grant_types: GRANT_TYPES,
    token_endpoint_auth_method: 'client_secret_post',
  })
}

/** A user with a password and a proved address, who belongs to the organization. */
async function createMember({ user, organization }: (typeof ROWS)[number], email: string): Promise<void> {
  const made = await createAccount(server, { email: `like-${email}`, password: PASSWORD, name: 'Grace' })
  await context.store.createUser({
    ...made,
    id: user as UserId,
    email: normalizeEmail(email),
    emailVerifiedAt: made.createdAt,
  })
  await perform(context, 'organization.create', { name: 'Acme', organization_id: organization })
  await perform(context, 'member.add', { organization_id: organization, user_id: user })
}

function isJwtFor(token: string, resource: string): boolean {
  return !token.startsWith('gat_') && decodeJwt(token).aud === resource
}

function subjectOf({ sub, act, org_id }: Members): Members {
  return { sub, ...(act === undefined ? {} : { act }), ...(org_id === undefined ? {} : { org_id }) }
}
