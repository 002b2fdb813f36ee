import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { test } from 'node:test'
import type { ListedGroupDocument } from '../../../../src/admin/group/tasks.ts'
import type { ProviderId } from '../../../../src/protocol/sign-in/authentication.ts'
import { identityKey } from '../../../../src/protocol/sign-in/provider-identity.ts'
import { authorizeUrl, locationOf, PlainBrowser, registerClient } from '../../../../tools/flow.ts'
import { addApp } from '../../../../tools/sign-in/app.ts'
import { WHOLE_FILE } from '../../../support/authorize-answers.ts'
import { openStillClock } from '../../../support/clocks.ts'
import { sendJson } from '../../../support/hosts/web-host.ts'
import { createOrganization } from '../../../support/organizations.ts'
import { openProviderHost, type Claims, type Deviation } from '../../../support/provider/provider-host.ts'
import { addProvider, signInAt } from '../../../support/provider/providers.ts'
import { openTestServer } from '../../../support/server.ts'
import { submitTo } from '../../../support/sign-in/apps.ts'
import { perform } from '../../../support/tasks.ts'

const host = await openProviderHost(WHOLE_FILE)
const server = await openTestServer(WHOLE_FILE, { clock: openStillClock() })
const { context, clock } = server
const { store } = context
const client = await registerClient(server)
const acme = await createOrganization(server, 'Acme')
for (const group_id of ['dev', 'finance', 'ops', 'cluster-admins']) await perform(context, 'group.create', { group_id })
await perform(context, 'organization-group.create', { organization_id: acme, group_id: 'ops' })

const GRAPH = '/v1.0/me/checkMemberGroups'
const [FIRST, SECOND] = ['8f3c0a52-0000-4000-8000-000000000001', '9a11b7de-0000-4000-8000-000000000002']
const IDP = 'idp' as ProviderId
const LIST = ['dev=dev', 'CN=Finance,DC=acme=finance', 'dev=ops']
const ADA = identityKey({ id: IDP, issuer: host.issuer }, 'ada')
const DAY_MS = 24 * 60 * 60 * 1000
const person = { sub: 'ada', name: 'Ada' }

await addProvider(server, host, {
  signUp: 'anybody',
  groupClaim: 'realm_access.roles',
  groups: LIST,
})
const graphHost = new URL(host.issuer).host
const overage = {
  groupClaim: 'groups',
  graphHost,
  groups: [`${FIRST}=dev`, `${SECOND}=finance`, 'no id=ops'],
  signUp: 'anybody',
} as const
await addProvider(server, host, overage, { id: 'entra' })
await addProvider(
  server,
  host,
  { ...overage, groupClaim: 'https://acme.test/groups', graphHost: undefined },
  { id: 'other' },
)
const teams = { groupClaim: 'teams', groups: ['acme/dev=dev', 'acme/ops=ops'], signUp: 'anybody' } as const
const github = { id: 'github', template: 'github', name: 'GitHub' } as const
await addProvider(server, host, { ...teams, scope: 'read:user user:email read:org' }, github)
clock.advance(1001)

async function signIn(claims: Claims, provider: string, deviation: Deviation = {}) {
  const browser = new PlainBrowser(server)
  const page = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
  return { browser, answer: await signInAt({ browser, page, host }, claims, deviation, provider) }
}

/** The groups of the person at a provider, as the provider said them. */
async function groupsOf(provider: string, subject = 'ada'): Promise<readonly string[]> {
  const listed = await store.listUsers({ before: undefined, limit: 1000 })
  const identities = (await Promise.all(listed.map(({ id }) => store.listIdentities(id)))).flat()
  const found = identities.find((one) => one.providerId === provider && one.subject === subject)
  if (found === undefined) return []
  const rows = await store.listGroupsOfUser(found.userId)
  return rows.filter(({ source }) => source === `provider:${provider}`).map(({ groupId }) => groupId)
}

/** Signs Ada in, and returns what the provider said of her groups. */
async function said(claims: Claims, provider = 'idp', deviation: Deviation = {}): Promise<readonly string[]> {
  const { answer } = await signIn({ ...person, email: `ada@${provider}.test`, ...claims }, provider, deviation)
  assert.equal(answer.statusCode, 303, answer.body)
  return groupsOf(provider)
}

function roles(value: unknown): Claims {
  return { realm_access: { roles: value } }
}

for (const [what, claims, expected, deviation] of [
  ['a list', roles(['dev', 'unlisted']), ['dev', 'ops']],
  ['one text', roles('CN=Finance,DC=acme'), ['finance']],
  ['the id of a group', roles(['finance', 'cluster-admins', `${acme}/ops`]), []],
  ['another letter case and spaces', roles(['Dev', ' dev', 'dev\u{200b}', 'd\u{435}v']), []],
  ['numbers, objects and lists', roles([1, { dev: 'dev' }, ['dev'], null, true]), []],
  ['an object', roles({ dev: 'dev', length: 1, 0: 'dev' }), []],
  ['a number in the place of the path', { realm_access: 5 }, []],
  ['the path as one member', { 'realm_access.roles': ['dev'] }, ['dev', 'ops']],
  ['the prototype', JSON.parse('{"realm_access":{"__proto__":{"roles":["dev"]}}}') as Claims, []],
  ['1,001 values, which leave what it said before', roles([...times(1000), 'dev']), ['dev', 'finance', 'ops']],
  ['1,000 values, of which the last is listed', roles([...times(999), 'dev']), ['dev', 'ops']],
  ['a value that is too long', roles(['x'.repeat(257), 'dev']), ['dev', 'ops']],
  ['nothing', {}, []],
  ['nothing in the ID token, and a list at userinfo', {}, ['finance'], { userinfo: roles(['CN=Finance,DC=acme']) }],
  [
    'a list in the ID token, and another at userinfo',
    roles(['dev']),
    ['dev', 'ops'],
    { userinfo: roles(['CN=Finance,DC=acme']) },
  ],
  [
    'a pointer to an address',
    { _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: `${host.issuer}/evil` } } },
    [],
  ],
] as const)
  test(`GRP-04: a provider that says ${what} puts the user into ${JSON.stringify(expected)}`, async () => {
    await said(roles(['dev', 'CN=Finance,DC=acme']))
    const before = host.paths().length
    assert.deepEqual(await said(claims, 'idp', deviation), expected)
    assert.ok(
      !host
        .paths()
        .slice(before)
        .some((path) => path.includes('evil') || path.includes('me')),
    )
  })

function times(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `v${index}`)
}

const asked = { groupIds: [FIRST, SECOND] }
const pointer = { _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: `${host.issuer}/evil` } } }
for (const [what, claims, answer, expected] of [
  ['a pointer', pointer, sendJson({ value: [SECOND, 'another'] }), ['finance']],
  ['hasgroups', { hasgroups: true }, sendJson({ value: [] }), []],
  ['a pointer, and Graph refuses', pointer, refusing(403), ['dev']],
  ['a pointer, and Graph fails', pointer, refusing(500), ['dev']],
  ['a pointer, and Graph leads elsewhere', pointer, redirecting, ['dev']],
  ['a pointer, and Graph says no list', pointer, sendJson({ value: 'no list' }), ['dev']],
] as const)
  test(`GRP-04: of a token of Entra with ${what}, the listed groups are asked, and the user is in ${JSON.stringify(expected)}`, async () => {
    assert.deepEqual(await said({ groups: [FIRST, 'no id'] }, 'entra'), ['dev', 'ops'])
    assert.deepEqual(await said({ groups: [FIRST] }, 'entra'), ['dev'])
    const [bodies, before] = [[] as unknown[], host.paths().length]
    host.answer(GRAPH, (request, response) => {
      assert.match(request.headers.authorization ?? '', /^bearer \S{20,}$/i)
      void json(request).then((body) => {
        bodies.push(body)
        answer(request, response)
      })
    })
    assert.deepEqual(await said(claims, 'entra'), expected)
    assert.deepEqual(bodies, [asked])
    assert.ok(!host.paths().slice(before).includes('/evil'))
    // The rows that fail are the last ones.
    assert.equal(await hasFailed('entra'), expected[0] === 'dev')
  })

test('GRP-04: a pointer of a provider without Graph leaves what it said, and 200 values are ten requests, two at a time', async () => {
  const claim = 'https://acme.test/groups'
  assert.deepEqual(await said({ [claim]: [FIRST] }, 'other'), ['dev'])
  assert.deepEqual(await said({ _claim_names: { [claim]: 'src1' } }, 'other'), ['dev'])
  const ids = Array.from({ length: 200 }, (_, index) => `8f3c0a52-0000-4000-8000-${String(index).padStart(12, '0')}`)
  await addProvider(server, host, { ...overage, groups: ids.map((id) => `${id}=dev`) }, { id: 'large' })
  clock.advance(1001)
  const waiting: (() => void)[] = []
  let requests = 0
  host.answer(GRAPH, (request, response) => {
    requests += 1
    void json(request).then((body) => {
      waiting.push(() => sendJson({ value: (body as typeof asked).groupIds.slice(-1) })(request, response))
      if (waiting.length === 2) for (const answer of waiting.splice(0)) answer()
    })
  })
  assert.deepEqual(await said(pointer, 'large'), ['dev'])
  assert.equal(requests, 10)
})

test('GRP-04: teams of GitHub are read page by page; where GitHub refuses, the sign-in goes on and what it said stays', async () => {
  const pages = [
    [...Array.from({ length: 98 }, (_, index) => team('acme', `t${index}`)), team('evil', 'dev'), 'no team'],
    [team('acme', 'dev')],
  ]
  host.answer('/api/v3/user/teams', (request, response) => {
    const page = new URL(request.url ?? '', host.issuer).searchParams.get('page')
    sendJson(pages[Number(page) - 1] ?? [])(request, response)
  })
  const ofGithub = { id: 7, name: 'Ada', emails: [] }
  const atGithub = async () => {
    assert.equal((await signIn(ofGithub, 'github', { callback: { iss: null } })).answer.statusCode, 303)
    return groupsOf('github', '7')
  }
  assert.deepEqual(await atGithub(), ['dev'])
  host.answer('/api/v3/user/teams', refusing(403))
  assert.deepEqual(await atGithub(), ['dev'])
  host.answer('/api/v3/user/teams', sendJson(Array.from({ length: 100 }, () => team('evil', 'dev'))))
  assert.deepEqual(await atGithub(), ['dev'])
  host.answer('/api/v3/user/teams', sendJson([]))
  assert.deepEqual(await atGithub(), [])
})

/** What the store has of the word of the provider `idp` for a user, and what of it counts. */
async function counting(user_id: string): Promise<readonly string[]> {
  const { groups } = await perform<{ readonly groups: readonly ListedGroupDocument[] }>(context, 'group.list', {
    user_id,
  })
  return groups.flatMap(({ group_id: id, sources }) =>
    sources?.some(({ source, counts }) => counts && source === 'provider:idp') === true ? [id] : [],
  )
}

function update(members: Claims) {
  return perform(context, 'provider.update', { provider_id: 'idp', ...members })
}

test('GRP-04: what a provider said counts while it is enabled, names the group, and for so many days; and not for one with its id', async () => {
  assert.deepEqual(await said(roles(['dev'])), ['dev', 'ops'])
  const { userId } = (await store.findIdentity(ADA)) ?? assert.fail()
  for (const [change, undo, expected] of [
    [() => store.disableProvider({ id: IDP, now: clock.now() }), () => store.enableProvider(IDP), []],
    [() => update({ groups: ['dev=dev'] }), () => update({ groups: LIST }), ['dev']],
    [() => update({ group_claim: null }), () => update({ group_claim: 'realm_access.roles', groups: LIST }), []],
    [() => perform(context, 'provider.delete', { provider_id: 'idp' }), again, []],
  ] as const) {
    assert.deepEqual(await counting(userId), ['dev', 'ops'])
    await change()
    assert.deepEqual(await counting(userId), expected)
    await undo()
    clock.advance(1001)
  }
  assert.deepEqual(await counting(userId), [])
  assert.deepEqual(await said(roles(['dev'])), ['dev', 'ops'])
  const { userId: later } = (await store.findIdentity(ADA)) ?? assert.fail()
  clock.advance(30 * DAY_MS - 1)
  assert.deepEqual(await counting(later), ['dev', 'ops'])
  clock.advance(1)
  assert.deepEqual(await counting(later), [])
})

/** The provider is created again, with its id and its persons. */
async function again(): Promise<void> {
  clock.advance(1)
  await addProvider(server, host, { signUp: 'anybody', groupClaim: 'realm_access.roles', groups: LIST })
}

test('GRP-04: the groups count from the session on, and not before the second step; another list meanwhile starts no session', async () => {
  const second = { sub: 'second', email: 'second@idp.test', email_verified: true }
  await signIn({ ...second, ...roles('CN=Finance,DC=acme') }, 'idp')
  const app = await addApp(server, second.email)
  for (const [isChanged, expected] of [
    [true, ['finance']],
    [false, ['dev', 'ops']],
  ] as const) {
    clock.advance(60_000)
    const { browser, answer } = await signIn({ ...second, ...roles(['dev']) }, 'idp')
    assert.deepEqual(await groupsOf('idp', 'second'), ['finance'])
    if (isChanged) await update({ groups: [...LIST, 'other=cluster-admins'] })
    const done = await submitTo(browser, answer, '/sign-in/code', { code: app.code() })
    assert.equal(done.statusCode === 303, !isChanged)
    assert.deepEqual(await groupsOf('idp', 'second'), expected)
    if (isChanged) await update({ groups: LIST })
    clock.advance(1001)
  }
})

test('GRP-01: a provider of an organization says only its groups, to its members, and none after the membership ends', async () => {
  const own = { template: 'keycloak', name: 'Acme', client_id: 'grantor', client_secret: 's3cr3t', issuer: host.issuer }
  const input = { ...own, provider_id: 'acme', organization_id: acme, membership: 'anybody', group_claim: 'groups' }
  for (const group of ['cluster-admins', 'globex/ops', `${acme.slice(0, -1)}0/ops`])
    await assert.rejects(
      perform(context, 'provider.create', { ...input, groups: [`a=${group}`] }),
      /only groups of the organization/,
    )
  await assert.rejects(
    perform(context, 'provider.create', { ...input, groups: [`a=${acme}/missing`] }),
    /There is no group/,
  )
  await perform(context, 'provider.create', { ...input, groups: [`a=${acme}/ops`] })
  await assert.rejects(perform(context, 'provider.update', { provider_id: 'acme', groups: ['a=ops'] }), /only groups/)
  await assert.rejects(update({ organization_id: acme, membership: 'anybody' }), /only groups of the organization/)
  await assert.rejects(perform(context, 'group.delete', { group_id: 'dev' }), /The provider \w+ names the group dev/)
})

function team(login: string, slug: string) {
  return { slug, organization: { login } }
}

function refusing(status: number) {
  return (_: IncomingMessage, response: ServerResponse) => void response.writeHead(status).end('{}')
}

function redirecting(_: IncomingMessage, response: ServerResponse): void {
  response.writeHead(302, { location: `${host.issuer}/evil` }).end()
}

async function hasFailed(provider: string): Promise<boolean> {
  const { events } = await perform<{ readonly events: readonly { readonly details: Claims }[] }>(
    context,
    'audit.list',
    { event: 'provider.failed' },
  )
  return events.some(({ details }) => details['provider'] === provider && details['reason'] === 'groups')
}
