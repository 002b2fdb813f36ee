import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditEntryDocument } from '../../src/admin/audit/tasks.ts'
import type { GrantDocument } from '../../src/admin/grant.ts'
import type { SessionDocument } from '../../src/admin/session.ts'
import type { WholeUserDocument } from '../../src/admin/user/tasks.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import type { Frame } from '../../src/console/engine/form.ts'
import { SCREENS } from '../../src/console/screens.ts'
import { ConsoleBrowser, giveRole } from '../../tools/console-browser.ts'
import { PASSWORD } from '../../tools/flow.ts'
import { createAccount } from '../support/accounts.ts'
import { openAdminServer } from '../support/admin-server.ts'
import { perform } from '../support/tasks.ts'

/** What the page of a user says of the state of an account, and offers for it. */

const AT = '2026-11-28T03:00:00.000Z'
const [USER, OTHER] = ['gus_01a2202fc507qD7mG16HhrM_Pyr6nep-10', 'gus_01a2202fc507qD7mG16HhrM_Pyr6nep-11']
const screen = SCREENS.find(({ path }) => path === '/console/users/{user_id}') ?? assert.fail()

const GRETA: WholeUserDocument = {
  user_id: USER,
  email: 'greta@globex.test',
  email_verified_at: AT,
  name: 'Greta Wagner',
  profile: {},
  has_password: true,
  first_signed_in_at: AT,
  last_signed_in_at: AT,
  created_at: AT,
  disabled_at: null,
  not_before: AT,
  state: 'active',
  state_until: null,
  reach: 'account',
  identities: [],
  authenticator_app: null,
  passkeys: [],
  is_address_doubtful: false,
  sign_in: { ways: ['password'], second_step: null, obstacles: [] },
  role: null,
  organizations: [],
  link: null,
}

const SESSION: SessionDocument = {
  session_id: 'AbCdEfGhIjKlMnOpQrStUv',
  user_id: USER,
  methods: ['pwd'],
  provider_id: null,
  authenticated_at: AT,
  browser: 'Firefox',
  system: 'macOS',
  network: '203.0.113.7',
  started_at: AT,
  seen_at: AT,
  expires_at: AT,
}

function obstacle(reason: WholeUserDocument['sign_in']['obstacles'][number]['reason'], more: object = {}) {
  return { reason, message: `${reason}.`, provider: null, wrong_attempts: null, until: null, ...more }
}

function pageOf(
  user: Partial<WholeUserDocument>,
  sessions: readonly SessionDocument[] = [],
  grants: readonly GrantDocument[] = [],
  more: Partial<Frame> = {},
  events: readonly AuditEntryDocument[] = [],
): string {
  const frame: Frame = {
    issuer: 'https://auth.acme.test',
    place: { path: `/console/users/${USER}`, parameters: {}, query: {}, now: Date.parse(AT) as EpochMs },
    organization: undefined,
    mayWrite: true,
    mayOpen: () => true,
    self: OTHER,
    isLoopbackOnly: false,
    reaches: () => true,
    isCut: false,
    outOfReach: '',
    csrf: 'c',
    forms: screen.forms,
    filters: [],
    ...more,
  }
  const answers = {
    user: { ...GRETA, ...user },
    sessions: { sessions, next: null },
    grants: { grants, names: { gci_1: 'Build Board', gor_1: 'Globex' }, next: null },
    audit: { events, names: {}, next: null },
    groups: { groups: [] },
  }
  return screen.view(answers, frame).main.toString()
}

/** The state, the verdict, and the buttons before "More". */
function summaryOf(page: string): readonly string[] {
  const text = (pattern: RegExp): string => (pattern.exec(page)?.[1] ?? '').replaceAll(/<[^>]*>/g, '')
  const lead = /class="actions lead">([^]*?)<details/.exec(page)?.[1] ?? ''
  const buttons = [...lead.matchAll(/<button [^>]*>\s*([^<]*?)\s*<\/button>/g)].map(([, label = '']) => label)
  return [text(/class="state [^"]*">([^<]*)/), text(/<h2 id="can-sign-in">([^]*?)<\/h2>/), buttons.join(', ')]
}

const UNTIL = '2026-11-28T03:12:10.000Z'
const NEW = { has_password: false, first_signed_in_at: null, last_signed_in_at: null }
const NO_WAY = { ways: [], second_step: null, obstacles: [obstacle('no-way')] }
const STATES: readonly (readonly [
  user: Partial<WholeUserDocument>,
  sessions: readonly SessionDocument[],
  state: string,
  verdict: string,
  buttons: string,
])[] = [
  [{}, [], 'Active', 'Can sign in', 'Send reset mail…'],
  [{}, [SESSION], 'Active', 'Can sign in', 'Send reset mail…, End all sessions…'],
  [
    {
      state: 'locked',
      state_until: UNTIL,
      sign_in: {
        ways: ['password'],
        second_step: null,
        obstacles: [obstacle('too-many-passwords', { wrong_attempts: 10, until: UNTIL })],
      },
    },
    [SESSION],
    'Locked, 13 min',
    'The password is refused for 13 more minutes',
    'Unlock…, Send reset mail…, End all sessions…',
  ],
  [
    { state: 'disabled', disabled_at: AT, sign_in: { ways: [], second_step: null, obstacles: [obstacle('disabled')] } },
    [],
    'Disabled',
    'Cannot sign in: the account is disabled',
    'Enable',
  ],
  [
    { ...NEW, state: 'no-way', sign_in: NO_WAY },
    [],
    'No way to sign in',
    'Cannot sign in: there is no password, passkey or provider',
    'Send invitation…',
  ],
  [
    { ...NEW, state: 'invited', sign_in: NO_WAY, link: { purpose: 'invitation', expires_at: UNTIL } },
    [],
    'Invited',
    'Cannot sign in yet: the invitation is open until 28 Nov 2026, 03:12 UTC',
    'Send invitation…',
  ],
  [
    {
      ...NEW,
      state: 'never-signed-in',
      sign_in: {
        ways: [],
        second_step: null,
        obstacles: [
          obstacle('provider-required', { provider: 'Globex' }),
          obstacle('not-connected', { provider: 'Globex' }),
        ],
      },
    },
    [],
    'Never signed in',
    'Signs in at Globex only; it connects at the first sign-in there',
    'Send invitation…',
  ],
  [
    {
      state: 'no-way',
      sign_in: {
        ways: [],
        second_step: null,
        obstacles: [
          obstacle('provider-required', { provider: 'Globex' }),
          obstacle('provider-disabled', { provider: 'Globex' }),
        ],
      },
    },
    [],
    'No way to sign in',
    'Cannot sign in: the provider Globex is disabled',
    'Send reset mail…',
  ],
  [{ email: null }, [], 'Active', 'Can sign in', ''],
]

for (const [user, sessions, ...expected] of STATES) {
  test(`the page of a user says "${expected.join('", "')}"`, () =>
    assert.deepEqual(summaryOf(pageOf(user, sessions)), expected))
}

test('after a failed sign-in the page says that a network may be refused, and of repetitions from when to when', () => {
  const failed = (recordedAt: string, details: AuditEntryDocument['details']): AuditEntryDocument => ({
    id: '01a200f2d7f100000000AbCdEfGhIjKlMn-0',
    actor: null,
    client_id: null,
    grant_id: null,
    organization_id: null,
    request_id: null,
    user_id: USER,
    event: 'sign-in.failed',
    recorded_at: recordedAt,
    details: { reason: 'wrong-credentials', ...details },
  })
  const now = Date.parse(AT)
  const at = (minutes: number) => new Date(now - minutes * 60_000).toISOString()
  const lately = pageOf({}, [], [], {}, [failed(at(14), { again: 3, minute: now - 15 * 60_000 })])
  assert.match(lately, /Can sign in<[^]*a network that made 20 attempts is refused for up to 15 minutes/)
  assert.ok(lately.includes(`>${at(15).slice(11, 16)}–${at(14).slice(11, 16)}</time>`))
  assert.doesNotMatch(pageOf({}, [], [], {}, [failed(at(16), {})]), /a network that made/)
})

test('a person who may only read, or reads the own page, is offered nothing that is refused', () => {
  assert.doesNotMatch(pageOf({}, [SESSION], [], { mayWrite: false, forms: [] }), /<button type="submit"|<details/)
  assert.doesNotMatch(pageOf({}, [], [], { self: USER }), /value="(user\.disable|user\.delete|role\.set)"/)
})

test('CON-38: the page of an account that is out of reach says why nothing is offered', () => {
  const outOfReach = 'Your access (support) does not reach it.'
  assert.match(
    pageOf({ reach: 'nothing' }, [], [], { outOfReach, isCut: true, forms: [] }),
    new RegExp(RegExp.escape(outOfReach)),
  )
  assert.doesNotMatch(pageOf({}, [], [], { outOfReach }), new RegExp(RegExp.escape(outOfReach)))
})

test('CON-36: a name that looks like an address is no heading, whatever characters it has', () => {
  assert.match(pageOf({}), /<h1><bdi>Greta Wagner</)
  for (const name of ['ceo@acme.test', 'ceo＠acme.test', ' ', null])
    assert.match(pageOf({ name }), /<h1><bdi>greta@globex\.test</)
})

test('the grants of one client for one organization are one line, whose button revokes all that are active', () => {
  const grant = (id: string, organization: string | null, reason: GrantDocument['inactive_reason'] = null) => ({
    grant_id: id,
    client_id: 'gci_1',
    user_id: USER,
    organization_id: organization,
    scope: id === 'a' ? 'projects:read' : 'projects:read builds:start',
    resources: [],
    grant_type: 'authorization_code' as const,
    provider_id: null,
    created_at: AT,
    expires_at: AT,
    revoked_at: null,
    inactive_reason: reason,
    refreshed_at: null,
    reach: 'account' as const,
  })
  const page = pageOf({}, [], [grant('a', null), grant('b', 'gor_1'), grant('c', null), grant('d', null, 'expired')])
  const apps = page.slice(page.indexOf('Apps allowed')).match(/<li data-row>[^]*?<\/li>/g) ?? []
  assert.deepEqual(
    apps.map((app) => [...app.matchAll(/name="row" value="(\w)"/g)].map(([, id]) => id)),
    [['a', 'c'], ['b']],
  )
  assert.match(apps[0] ?? '', /Build Board[^]*projects:read<\/code> <code>builds:start[^]*2 sign-ins/)
  assert.match(apps[1] ?? '', /for <a href="\/console\/organizations\/gor_1"><bdi>Globex</)
  assert.doesNotMatch(apps[1] ?? '', /sign-ins/)
})

test('the list of users has its views, the organizations of each row and what is left out; a search says what the role has not', async (t) => {
  const stage = await openAdminServer(t)
  const { server } = stage
  const { context } = server
  const sam = await createAccount(server, { email: 'sam@acme.test', password: PASSWORD, name: 'Sam Lind' })
  await giveRole(server, 'support', 'sam@acme.test')
  const { id: greta } = await createAccount(server, {
    email: 'greta@globex.test',
    password: PASSWORD,
    name: 'Greta Wägner',
  })
  for (const name of ['Globex', 'Initech']) {
    const { organization_id } = await perform(context, 'organization.create', { name })
    await perform(context, 'member.add', { organization_id, user_id: greta })
  }
  const browser = new ConsoleBrowser(server)
  const page = async (path: string) => (await browser.open(path, { email: 'sam@acme.test' })).body
  const all = await page('/console/users')
  const views = [
    ...all.matchAll(
      /href="\/console\/users(\?state=[\w-]+)?"[^>]*aria-current="true"|href="\/console\/users\?state=([\w-]+)"/g,
    ),
  ]
  assert.deepEqual(
    views.map(([, , state = 'all']) => state),
    ['all', 'invited', 'never-signed-in', 'locked', 'disabled'],
  )
  assert.match(all, /Greta Wägner<[^]*<bdi>Globex<\/bdi> <span class="muted">\+1<[^]*Never signed in</)
  assert.match(all, /href="\?ask=user\.create"/)
  assert.match(all, new RegExp(`name="row" value="${greta}"`))
  assert.doesNotMatch(all, new RegExp(`name="row" value="${sam.id}"`))
  assert.match(all, /Rows without a box are left alone\. The account has a role/)
  const never = await page('/console/users?state=never-signed-in&text=wagner')
  assert.match(
    never,
    /aria-current="true">Never signed in<[^]*Remove the filter Name or address wagner[^]*Greta Wägner/,
  )
  assert.match(await page('/console/users?state=locked'), /Nothing matches[^]*Found by the failed sign-ins/)
  const found = await page('/console/found?text=WAG')
  assert.match(found, /<h2>Users<[^]*>In the list<[^]*<bdi>Greta <b>Wäg<\/b>ner<\/bdi>/)
  assert.match(
    found,
    /Searched: all users, groups, access rules and organizations\.\s*Your role cannot search clients, APIs and providers\./,
  )
  // While the index is written the page says how far it is.
  const finished = { counts: { used: 900_000, unused: 100_000, disabled: 0, indexed: 640_000 }, countedMs: 1 }
  const at = { begunAt: server.clock.now(), endedAt: server.clock.now() }
  await context.store.replaceSetting({
    name: 'row-counts',
    value: JSON.stringify({ users: { finished: { ...finished, ...at } } }),
  })
  const { store } = context
  const waiting = { ...store, listUnindexedUsers: async () => ({ users: [], next: greta }) }
  const { actingAs } = context
  Object.assign(context, { actingAs: () => waiting })
  const part = await page('/console/found?text=nobody')
  Object.assign(context, { actingAs })
  assert.match(part, /of 1,000,000 users 640,000, because[^]*href="\/console\/users\?text=nobody">Search the rest</)
  assert.match(part, /Nothing that was searched has/)
  const activity = await page(`/console/users/${greta}/activity`)
  assert.match(activity, /Activity of <a href="\/console\/users\/[^]*view=failed-sign-ins[^]*member\.added/)
  assert.doesNotMatch(await page(`/console/users/${greta}/activity?view=failed-sign-ins`), /member\.added/)
  assert.match(await page('/console/token'), /This is not a part of your role/)
})
