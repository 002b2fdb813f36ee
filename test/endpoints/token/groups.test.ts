import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { MAXIMA } from '../../../src/base/maxima.ts'
import type { EpochMs } from '../../../src/base/brand.ts'
import { verifyToken } from '../../../src/library/verify.ts'
import { sourceOfProvider, type GroupId, type MemberSource } from '../../../src/protocol/access/group.ts'
import type { ProviderId } from '../../../src/protocol/sign-in/authentication.ts'
import type { Scope } from '../../../src/protocol/token/scope.ts'
import { openDeviceConsent, poll, startDevice } from '../../../tools/device-flow.ts'
import { PlainBrowser, refresh, requestToken, type RegisteredClient, type Tokens } from '../../../tools/flow.ts'
import { knowApis } from '../../support/apis.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { A, B, C, openExchanges } from '../../support/exchanges.ts'
import { install } from '../../support/organizations.ts'
import { createDeviceClient, DEVICES_ON } from '../../support/sign-in/devices.ts'
import { perform } from '../../support/tasks.ts'
import { tokensOf } from '../../support/token-answers.ts'
import { introspect } from '../../support/token-questions.ts'

/** A and C read groups in JWTs, B in opaque tokens. */
const opened = await openExchanges(WHOLE_FILE, { env: { ...DEVICES_ON } })
const { server, a, b, c, ada, acme, client, tokensFor, exchanged } = opened
const { context } = server
for (const id of ['dev', 'finance', 'ops', 'ended']) await perform(context, 'group.create', { group_id: id })
await perform(context, 'organization-group.create', { organization_id: acme, group_id: 'admins' })
await perform(context, 'api.update', { resource: A, groups: 'groups' })
await perform(context, 'api.update', { resource: B, groups: 'roles', group_words: ['finance=pays', 'dev=pays', 'ops'] })
await perform(context, 'api.update', { resource: C, groups: 'entitlements' })
knowApis(server)
const cli = await createDeviceClient(server)
await install(server, client, acme, { scope: 'a:status' as Scope, actsForMembers: true })

async function setMember(id: string, isMember: boolean, source: MemberSource = 'operator', until?: number) {
  const member = { userId: ada, groupId: id as GroupId, source }
  const times = { createdAt: context.clock(), expiresAt: until as EpochMs | undefined }
  const outcome = isMember
    ? await context.store.addGroupMember({ ...member, ...times })
    : await context.store.removeGroupMember(member)
  assert.ok(outcome === 'added' || outcome === 'removed', outcome)
}
await setMember('dev', true)
await setMember(`${acme}/admins`, true)
await setMember('finance', true, 'application')
await setMember('ops', true, sourceOfProvider('gone' as ProviderId))
await setMember('ended', true, 'operator', context.clock() + 1)
knowApis(server)

type Claims = Readonly<Record<string, unknown>>

/** The claims with groups of a JWT, and of what an API learns of any token; a client learns none by introspection. */
async function saidTo(
  api: RegisteredClient,
  token: string,
  app = client,
): Promise<{ readonly jwt: Claims; readonly now: Claims }> {
  const answer = (await introspect(server, api, token)).json<Claims>()
  assert.equal(answer['active'], true)
  assert.deepEqual(await verifyToken(context, token, { resource: [answer['aud']].flat().map(String)[0] ?? '' }), answer)
  if (app.client_secret !== undefined)
    assert.deepEqual(ofGroups((await introspect(server, app, token)).json<Claims>()), {})
  return { jwt: token.startsWith('gat_') ? {} : ofGroups(decodeJwt(token)), now: ofGroups(answer) }
}

function ofGroups({ groups, roles, entitlements }: Claims): Claims {
  return JSON.parse(JSON.stringify({ groups, roles, entitlements })) as Claims
}

const SERVER_GROUPS = { groups: ['dev', 'finance'] }
const ACME_GROUPS = { groups: ['dev', 'finance', `${acme}/admins`].toSorted() }
const code = () => tokensFor()
const machine = { grant_type: 'client_credentials', resource: A, scope: 'a:status' }
/** How a token comes to be, the API that reads it, and what a JWT and introspection say: of the operator and the application, not of a provider that does not exist, or what has ended. */
const WAYS: Readonly<
  Record<string, readonly [get: () => Promise<string>, api: RegisteredClient, said: Claims, app?: RegisteredClient]>
> = {
  'a code': [async () => (await code()).access_token, a, SERVER_GROUPS],
  'a code for an organization': [
    async () => (await tokensFor({}, { organization: acme })).access_token,
    a,
    ACME_GROUPS,
  ],
  'a refresh': [async () => (await refreshed(await code())).access_token, a, SERVER_GROUPS],
  'a repeated refresh': [
    async () => {
      const tokens = await code()
      await refreshed(tokens)
      return (await refreshed(tokens)).access_token
    },
    a,
    SERVER_GROUPS,
  ],
  'a device': [
    async () => {
      const device = await startDevice(server, cli, { scope: 'a:read', resource: A })
      const browser = new PlainBrowser(server)
      const page = await openDeviceConsent(browser, device)
      await browser.submit(page, { decision: 'allow', organization: 'none', own_device: 'on' })
      return tokensOf(await poll(server, cli, device)).access_token
    },
    a,
    SERVER_GROUPS,
    cli,
  ],
  'an exchange for an opaque token': [
    async () => (await exchanged(a, (await code()).access_token)).access_token,
    b,
    { roles: ['pays'] },
  ],
  'two exchanges': [
    async () => {
      const first = await exchanged(a, (await code()).access_token)
      return (await exchanged(b, first.access_token, { resource: C })).access_token
    },
    c,
    { entitlements: ['dev', 'finance'] },
  ],
  'a client that acts for a member': [
    async () => tokensOf(await requestToken(server, client, { ...machine, org_id: acme, user_id: ada })).access_token,
    a,
    ACME_GROUPS,
  ],
  'a client alone': [async () => tokensOf(await requestToken(server, client, machine)).access_token, a, {}],
  'a code for two APIs': [
    async () => (await tokensFor({ scope: 'a:read c:read' }, { more: `&resource=${C}` })).access_token,
    a,
    {},
  ],
}

function refreshed({ refresh_token: token = '' }: Tokens): Promise<Tokens> {
  return refresh(server, client, token).then(tokensOf)
}

for (const [way, [get, api, expected, app]] of Object.entries(WAYS))
  test(`GRP-03: a token of ${way} has the groups that its only API reads: ${JSON.stringify(expected).replace(acme, 'acme')}`, async () => {
    const token = await get()
    const { jwt, now } = await saidTo(api, token, app)
    assert.deepEqual(now, expected)
    assert.deepEqual(jwt, token.startsWith('gat_') ? {} : expected)
  })

test('GRP-03: a JWT has the groups of its issue, and introspection those of now; a repeated refresh may have newer ones', async () => {
  const tokens = await code()
  await setMember('dev', false)
  assert.deepEqual(await saidTo(a, tokens.access_token), { jwt: SERVER_GROUPS, now: { groups: ['finance'] } })
  const next = await refreshed(tokens)
  await setMember('finance', false, 'application')
  const again = await refreshed(tokens)
  assert.equal(decodeJwt(again.access_token).jti, decodeJwt(next.access_token).jti)
  assert.deepEqual(await saidTo(a, next.access_token), { jwt: { groups: ['finance'] }, now: { groups: [] } })
  assert.deepEqual(await saidTo(a, again.access_token), { jwt: { groups: [] }, now: { groups: [] } })
  await setMember('dev', true)
  await setMember('finance', true, 'application')
})

test('GRP-02: a JWT has all groups or none: 4,096 bytes, and one more, which introspection has', async () => {
  const added: string[] = []
  const join = async (id: string) => {
    await perform(context, 'group.create', { group_id: id })
    await setMember(id, true)
    added.push(id)
  }
  const bytes = () => JSON.stringify(['dev', 'finance', ...added]).length
  while (bytes() + 134 < MAXIMA.groupsInToken.most) await join(`${added.length}`.padEnd(64, 'x'))
  const [half, rest] = [Math.floor((MAXIMA.groupsInToken.most - bytes()) / 2), MAXIMA.groupsInToken.most - bytes()]
  await join('y'.repeat(half - 3))
  await join('z'.repeat(rest - half - 3))
  assert.equal(bytes(), MAXIMA.groupsInToken.most)
  const full = await saidTo(a, (await code()).access_token)
  assert.deepEqual([full.jwt, full.jwt], [full.now, { groups: ['dev', 'finance', ...added].toSorted() }])
  await perform(context, 'group.delete', { group_id: added.pop() })
  await join('z'.repeat(rest - half - 2))
  const more = await saidTo(a, (await code()).access_token)
  assert.deepEqual([more.jwt, more.now], [{}, { groups: ['dev', 'finance', ...added].toSorted() }])
  assert.match(server.log(), /"event":"groups.left-out"/)
  for (const id of added) await perform(context, 'group.delete', { group_id: id })
})

test('an API that reads groups no longer gets none, and no API names a scope "groups" or a group that does not exist', async () => {
  await perform(context, 'api.update', { resource: C, groups: 'off' })
  knowApis(server)
  const { access_token: token } = await tokensFor({ scope: 'c:read', resource: C })
  assert.deepEqual(await saidTo(c, token), { jwt: {}, now: {} })
  const own = {
    resource: 'https://groups.example',
    scopes: [{ name: 'groups', sentence: 'Groups', granted_to: 'users' }],
  }
  await assert.rejects(perform(context, 'api.create', own), /The scope groups belongs to the server itself/)
  const unknown = { resource: C, groups: 'roles', group_words: ['absent=x'] }
  await assert.rejects(perform(context, 'api.update', unknown), /There is no group absent/)
  await assert.rejects(perform(context, 'api.update', { resource: C, group_words: ['dev'] }), /need the claim/)
  const twice = { resource: C, groups: 'roles', group_words: ['dev=x', 'dev=y'] }
  await assert.rejects(perform(context, 'api.update', twice), /The group dev is named twice/)
})

test('a group that a client or an API names is not deleted, and its page says what names it', async () => {
  await perform(context, 'group.create', { group_id: 'named' })
  await perform(context, 'api.update', { resource: C, groups: 'roles', group_words: ['named'] })
  const rules = { groups: 'roles', group_words: ['named=Admin'] }
  const app = await perform(context, 'client.create', {
    client_name: 'Board',
    redirect_uris: ['https://app.example/'],
    rules,
  })
  const naming = [
    { kind: 'api', id: C, organization_id: null },
    { kind: 'client', id: app['client_id'], organization_id: null },
  ]
  for (const [place, { id }] of naming.entries()) {
    assert.deepEqual((await perform(context, 'group.show', { group_id: 'named' }))['named_by'], naming.slice(place))
    const refused = new RegExp(`${id === C ? 'API' : 'client'} ${String(id)} names the group named`)
    await assert.rejects(perform(context, 'group.delete', { group_id: 'named' }), refused)
    if (id === C) await perform(context, 'api.update', { resource: C, groups: 'off' })
    else await perform(context, 'client.set-rules', { client_id: id, groups: 'roles' })
  }
  await perform(context, 'group.delete', { group_id: 'named' })
})
