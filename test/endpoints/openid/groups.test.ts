import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAXIMA } from '../../../src/base/maxima.ts'
import type { GroupId } from '../../../src/protocol/access/group.ts'
import { DEFAULT_RULES, groupClaimOf, type ClientRules } from '../../../src/protocol/client/policy.ts'
import type { ClientId } from '../../../src/protocol/ids.ts'
import {
  authorizeUrl,
  EMAIL,
  PlainBrowser,
  redeem,
  refresh,
  registerClient,
  type RegisteredClient,
} from '../../../tools/flow.ts'
import { declareApi, JWT_API, knowApis } from '../../support/apis.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { addMember, codeIn, createOrganization, openConsent } from '../../support/organizations.ts'
import { perform } from '../../support/tasks.ts'
import { pageSays } from '../../texts/page-texts.ts'
import { idTokenOf, makeClient, openLogin, tokensOf, userinfo, type LoginTokens } from './login.ts'

const server = await openLogin(WHOLE_FILE)
const { context } = server
const ada = (await context.store.findUserByEmail(EMAIL))?.id ?? assert.fail()
const acme = await createOrganization(server, 'Acme')
const globex = await createOrganization(server, 'Globex')
await addMember(server, ada, acme)
await addMember(server, ada, globex)
// Without an API every scope is accepted.
await declareApi(server, JWT_API)
knowApis(server)
for (const id of ['dev', 'finance', 'ops']) await perform(context, 'group.create', { group_id: id })
for (const organization_id of [acme, globex])
  await perform(context, 'organization-group.create', { organization_id, group_id: 'cluster-admins' })
for (const id of ['dev', 'finance', `${acme}/cluster-admins`, `${globex}/cluster-admins`]) await setMember(id, true)

const ALL: ClientRules = { ...DEFAULT_RULES, groupClaim: { name: 'groups', words: [] } }

function setMember(id: string, isMember: boolean, user_id: string = ada) {
  return perform(context, `group.${isMember ? 'add' : 'remove'}-member`, { group_id: id, user_id })
}

/** Signs in, and allows what is asked, for an organization or none. */
async function login(
  client: RegisteredClient,
  parameters: Readonly<Record<string, string>> = {},
  organization = 'none',
): Promise<LoginTokens> {
  const browser = new PlainBrowser(server)
  const page = await openConsent(
    browser,
    authorizeUrl(client, { scope: 'openid groups', prompt: 'consent', ...parameters }),
  )
  const record = (await context.store.findClient(client.client_id as ClientId)) ?? assert.fail()
  const isAsked = groupClaimOf(record) !== undefined && (parameters['scope'] ?? 'groups').includes('groups')
  assert.equal(
    pageSays('identityScopes.groups').test(page.body),
    isAsked || parameters['claims']?.includes('groups') === true,
  )
  const code = codeIn(await browser.submit(page, { decision: 'allow', organization }))
  return tokensOf(await redeem(server, client, code ?? ''))
}

/** The claims with groups of the ID token, and those of the userinfo endpoint, which are the same unless the ID token has none. */
async function saidBy(tokens: LoginTokens): Promise<Readonly<Record<string, unknown>>> {
  const { groups, roles, entitlements } = idTokenOf(tokens)
  const info = (await userinfo(server, tokens.access_token)).json<Readonly<Record<string, unknown>>>()
  assert.deepEqual([info['groups'], info['roles'], info['entitlements']], [groups, roles, entitlements])
  return JSON.parse(JSON.stringify({ groups, roles, entitlements })) as Readonly<Record<string, unknown>>
}

const finance = { group: 'finance' as GroupId, word: 'Editor' }
const dev = { group: 'dev' as GroupId, word: 'Editor' }
const ops = { group: 'ops' as GroupId, word: 'Admin' }
for (const [what, groupClaim, parameters, expected] of [
  ['all groups of the server', { name: 'groups', words: [] }, {}, { groups: ['dev', 'finance'] }],
  ['two groups with one word', { name: 'roles', words: [finance, dev, ops] }, {}, { roles: ['Editor'] }],
  ['groups that the user is not in', { name: 'entitlements', words: [ops] }, {}, { entitlements: [] }],
  [
    'the claim by its name',
    ALL.groupClaim,
    { scope: 'openid', claims: '{"id_token":{"groups":null}}' },
    { groups: ['dev', 'finance'] },
  ],
  ['another claim by its name', ALL.groupClaim, { scope: 'openid', claims: '{"id_token":{"roles":null}}' }, {}],
  ['no scope', ALL.groupClaim, { scope: 'openid profile' }, {}],
  ['no setting', undefined, {}, {}],
] as const)
  test(`GRP-02: an application of the operator that reads ${what} gets ${JSON.stringify(expected)}`, async () => {
    const client = await makeClient(server, groupClaim === undefined ? {} : { groupClaim })
    const tokens = await login(client, parameters)
    assert.deepEqual(await saidBy(tokens), expected)
    assert.deepEqual(await saidBy(tokensOf(await refresh(server, client, tokens.refresh_token ?? ''))), expected)
  })

test('GRP-01: a token for an organization has its groups with its id, those of no other, and none after the membership ends', async () => {
  const client = await makeClient(server, ALL)
  assert.deepEqual(await saidBy(await login(client)), { groups: ['dev', 'finance'] })
  const tokens = await login(client, {}, acme)
  assert.deepEqual(await saidBy(tokens), { groups: [`${acme}/cluster-admins`, 'dev', 'finance'].toSorted() })
  await context.store.disableMember({ userId: ada, organizationId: acme, now: context.clock() })
  assert.equal((await refresh(server, client, tokens.refresh_token ?? '')).statusCode, 400)
  assert.deepEqual(await saidBy(await login(client, {}, globex)), {
    groups: [`${globex}/cluster-admins`, 'dev', 'finance'].toSorted(),
  })
})

test('GRP-02: a client that registered itself, also for the scope, gets no groups, and no page names them', async () => {
  for (const metadata of [{}, { token_endpoint_auth_method: 'none' }]) {
    const client = await registerClient(server, { ...metadata, scope: 'openid groups' })
    assert.equal(client['scope'], 'openid')
    const previous = (await context.store.findClient(client.client_id as ClientId)) ?? assert.fail()
    await assert.rejects(perform(context, 'client.set-rules', { client_id: client.client_id, groups: 'groups' }))
    // As an operator gave it before the client was let go, or by hand.
    await context.store.setClientRules({ id: previous.id, previous, rules: ALL })
    const claims = '{"id_token":{"roles":{"essential":true}},"userinfo":{"entitlements":null}}'
    assert.deepEqual(await saidBy(await login(client, { scope: 'openid groups', claims })), {})
  }
})

test('GRP-03: a removed member is out with the next refresh, its repetition and at userinfo; a group that is made again has no member', async () => {
  const client = await makeClient(server, ALL)
  await perform(context, 'group.create', { group_id: 'later' })
  await setMember('later', true)
  const tokens = await login(client)
  await setMember('later', false)
  const [next, repeated] = [
    tokensOf(await refresh(server, client, tokens.refresh_token ?? '')),
    tokensOf(await refresh(server, client, tokens.refresh_token ?? '')),
  ]
  for (const one of [next, repeated]) assert.deepEqual(await saidBy(one), { groups: ['dev', 'finance'] })
  await setMember('later', true)
  const later = tokensOf(await refresh(server, client, next.refresh_token ?? ''))
  assert.deepEqual(await saidBy(later), { groups: ['dev', 'finance', 'later'] })
  await perform(context, 'group.delete', { group_id: 'later' })
  await perform(context, 'group.create', { group_id: 'later' })
  assert.deepEqual(await saidBy(tokensOf(await refresh(server, client, later.refresh_token ?? ''))), {
    groups: ['dev', 'finance'],
  })
})

test('GRP-02: an ID token has all groups or none: 101, or more than fit, are at userinfo alone, and other claims stay', async () => {
  const client = await makeClient(server, { ...ALL, claims: 'id-token' })
  const before = ['dev', 'finance']
  const withEmail = { scope: 'openid groups email' }
  const added: string[] = []
  const join = async (id: string) => {
    await perform(context, 'group.create', { group_id: id })
    await setMember(id, true)
    added.push(id)
  }
  const state = async () => {
    const tokens = await login(client, withEmail)
    const info = (await userinfo(server, tokens.access_token)).json<{ readonly groups: readonly string[] }>()
    assert.deepEqual(info.groups, [...before, ...added].toSorted())
    assert.equal(idTokenOf(tokens)['email'], EMAIL)
    return { inToken: idTokenOf(tokens)['groups'], all: info.groups }
  }
  while (before.length + added.length < MAXIMA.groupsOfToken.most) await join(`g${added.length}`)
  const full = await state()
  assert.deepEqual(full.inToken, full.all)
  await join('one-more')
  assert.equal((await state()).inToken, undefined)
  assert.match(server.log(), /"event":"groups.left-out"/)
  for (const id of added.splice(0)) await perform(context, 'group.delete', { group_id: id })
  for (let place = 0; place < 60; place += 1) await join(`${place}`.padEnd(64, 'x'))
  assert.equal((await state()).inToken, undefined)
  for (const id of added) await perform(context, 'group.delete', { group_id: id })
})

test('without the setting nothing is read of what a user belongs to', async () => {
  const client = await makeClient(server)
  let reads = 0
  const find = context.store.findBelonging
  Object.assign(context.store, { findBelonging: (id: never) => ((reads += 1), find(id)) })
  const tokens = await login(client)
  await saidBy(tokensOf(await refresh(server, client, tokens.refresh_token ?? '')))
  assert.equal(reads, 0)
  Object.assign(context.store, { findBelonging: find })
})
