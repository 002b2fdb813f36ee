import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { GroupId } from '../../../src/protocol/access/group.ts'
import type { OrganizationId, UserId } from '../../../src/protocol/ids.ts'
import type { EpochMs } from '../../../src/base/brand.ts'
import type { RoleRecord } from '../../../src/ports/records/role.ts'
import { ConsoleBrowser, filledIn, formOf, giveRole, openConsole } from '../../../tools/console-browser.ts'
import { PASSWORD } from '../../../tools/flow.ts'
import { createAccount } from '../../support/accounts.ts'
import { openAdminServer, type AdminServer } from '../../support/admin-server.ts'
import { perform, said, type Members } from '../../support/tasks.ts'

/** Groups: their lists and pages, on the page of a user, and the claim of a client and of an API. */

const ends: (() => unknown)[] = []
let stage: AdminServer
let browser: ConsoleBrowser
const ids: Record<'grace' | 'mia', string> = { grace: '', mia: '' }
const [ADMINS, ACME, OWN] = ['/console/groups/cluster-admins', '/console/organizations/acme', 'acme%2Ffinance'] as const
const API = 'https://pay.example'
/** Ends in an hour. */
let end = ''

before(async () => {
  stage = await openAdminServer({ after: (finish) => void ends.push(finish as () => unknown) })
  browser = await openConsole(stage.server)
  const { clock, store } = stage.server.context
  for (const organization_id of ['acme', 'globex'])
    await run('organization.create', { organization_id, name: organization_id.toUpperCase() })
  for (const [who, organization_id] of [
    ['grace', 'acme'],
    ['mia', 'globex'],
  ] as const) {
    ids[who] = String((await run('user.create', { email: `${who}@acme.test`, email_verified: true }))['user_id'])
    await run('member.add', { organization_id, user_id: ids[who] })
  }
  await run('group.create', { group_id: 'cluster-admins', name: 'Cluster “admins” <b>', protected: true })
  await run('organization-group.create', { organization_id: 'acme', group_id: 'finance', name: 'Finance' })
  await run('organization-group.create', { organization_id: 'globex', group_id: 'finance', name: 'Other Finance' })
  end = new Date(clock() + 3_600_000).toISOString()
  await run('group.add-member', { group_id: 'cluster-admins', user_id: ids.grace, until: end })
  const groups = ['cluster-admins' as GroupId]
  const of = { userId: ids.grace as UserId, groups, since: 0 as EpochMs, now: clock() }
  await store.setGroupsOfSource({ ...of, source: 'application', expiresAt: undefined })
  const redirect_uris = ['https://grafana.example/cb']
  const claim = { groups: 'groups', group_words: ['cluster-admins=Admin', 'acme/finance'] }
  await run('client.create', { client_id: 'grafana', client_name: 'Grafana', redirect_uris, rules: claim })
  await run('api.create', { resource: API, groups: 'roles', group_words: ['cluster-admins'] })
})

after(async () => {
  for (const finish of ends.toReversed()) await finish()
})

function run(task: string, input: Members): Promise<Members> {
  return perform(stage.server.context, task, input)
}

async function page(path: string, by = browser): Promise<string> {
  const { statusCode, body } = await by.console.get(path)
  assert.equal(statusCode, 200, body)
  return body
}

/** The rows of a list, without their markup. */
function rowsOf(body: string): readonly string[] {
  const rows = body.match(/<(tr|li) data-row[^]*?<\/\1>/g) ?? []
  return rows.map((row) =>
    row
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  )
}

async function signIn(access: RoleRecord['access'], organization?: string): Promise<ConsoleBrowser> {
  const email = stage.anEmail()
  await createAccount(stage.server, { email, password: PASSWORD, name: undefined })
  await giveRole(stage.server, access, email, organization as OrganizationId | undefined)
  const own = new ConsoleBrowser(stage.server)
  await own.open('/console', { email })
  return own
}

test('the list has all groups, or those with a text in the id or the name, and a search finds them', async () => {
  const list = async (path: string) => rowsOf(await page(path)).map((row) => row.split(' ', 1)[0])
  assert.deepEqual(await list('/console/groups'), ['Other', 'Cluster', 'Finance'])
  assert.deepEqual(await list('/console/groups?name=ACME'), ['Finance'])
  assert.deepEqual(await list(`${ACME}/groups`), ['Finance'])
  for (const [text, section, to] of [
    ['cluster-admins', 'overview', ADMINS],
    ['acme/finance', 'overview', `/console/groups/${OWN}`],
    ['finance', 'overview', '/console/found?text=finance'],
  ] as const) {
    const { headers } = await browser.console.get(
      `/console/search?${new URLSearchParams({ q: text, in: section }).toString()}`,
    )
    assert.equal(headers.location, to)
  }
  const found = await page('/console/found?text=admins')
  assert.match(found, new RegExp(`<h2>Groups<[^]*href="${ADMINS}"[^]*Protected<[^]*cluster-<b>admins</b>`))
  assert.match(found, /href="\/console\/groups\?name=admins"/)
})

test('a group has its members with who says it and the end, and what names it, which its deletion names too', async () => {
  const body = await page(ADMINS)
  assert.doesNotMatch(body, /<b>/)
  const [said1 = '', said2 = '', ...named] = rowsOf(body)
  assert.match(said1, /^grace@acme\.test – In the group an administrator \d+ \w+ \d{4}, \d\d:\d\d UTC /)
  assert.match(said2, /^grace@acme\.test – In the group your application – /)
  assert.deepEqual(named, [`API ${API}`, 'Client grafana'])
  assert.match(
    body,
    /href="\/console\/clients\/grafana"[^]*href="\/console\/organizations|href="\/console\/clients\/grafana"/,
  )
  const asked = await browser.open(`${ADMINS}?ask=group.delete`)
  assert.match(asked.body, /The API https:\/\/pay\.example names the group cluster-admins, and 1 more/)
  const refused = await browser.press(asked, 'group.delete')
  assert.deepEqual([refused.statusCode, /role="alert"[^]*names the group/.test(refused.body)], [409, true])
})

test('a row is what one source says: removing it leaves those of others', async () => {
  const row = `${ids.grace} application`
  const removed = await browser.send(ADMINS, 'group.remove-member', [row], { asked: '1' })
  assert.match(
    removed.body,
    new RegExp(said('group.remove-member', { user_id: 'grace@acme\\.test \\(application\\)' })),
  )
  assert.deepEqual(rowsOf(removed.body).filter((one) => one.startsWith('grace')).length, 1)
})

test('a user is added by the address, with an end that a day or a time gives', async () => {
  const asked = await browser.open(`${ADMINS}?ask=group.add-member`)
  const wrong = await browser.press(asked, 'group.add-member', { email: 'mia@acme.test', until: 'tomorrow' })
  assert.match(wrong.body, /id="error-until"[^]*neither a day/)
  const added = await browser.press(wrong, 'group.add-member', {
    user_id: 'mia@acme.test',
    email: '',
    until: '2099-12-31',
  })
  assert.match(added.body, new RegExp(`${said('group.add-member')}[^]*1 Jan 2100`))
})

test('support sees groups and changes nothing, and reads why the account of a protected member is out of reach', async () => {
  const support = await signIn('support')
  for (const path of ['/console/groups', ADMINS, `${ACME}/groups`])
    assert.doesNotMatch(await page(path, support), /\?ask=|name="task"/, path)
  const member = `/console/users/${ids.grace}`
  const body = await page(member, support)
  assert.match(body, /The account has a role for the console, or is in a protected group\./)
  assert.doesNotMatch(body, /value="user\./)
  const own = await page(member)
  assert.match(
    own,
    new RegExp(
      `<dt>Groups</dt>[^]*href="${ADMINS}"[^]*Protected<[^]*an administrator, until[^]*counts as the holder of a role`,
    ),
  )
  assert.doesNotMatch(
    await page(`/console/users/${(await stage.makePeopledOrganization()).user_id}`),
    /counts as the holder/,
  )
})

test('CON-08: a role for one organization sees and changes its groups alone, with its members, and protects none', async () => {
  const officer = await signIn('write', 'acme')
  const [home, group] = [`${ACME}/groups`, `${ACME}/groups/${OWN}`]
  assert.deepEqual(rowsOf(await page(home, officer)).length, 1)
  for (const path of ['/console/groups', ADMINS, `/console/groups/${OWN}`, '/console/organizations/globex/groups'])
    assert.equal((await officer.console.get(path)).statusCode, 404, path)
  const foreign = [`${home}/globex%2Ffinance`, `${home}/cluster-admins`]
  for (const path of foreign) {
    const { statusCode, body } = await officer.console.get(path)
    assert.deepEqual([statusCode, /Other Finance|“admins”/.test(body)], [404, false], path)
  }
  const body = await page(group, officer)
  assert.match(body, /A record of the server/)
  assert.doesNotMatch(body, /grafana/i)
  assert.match(await page(`${ACME}/found?text=fin`, officer), new RegExp(`<h2>Groups<[^]*href="${group}"`))
  const asked = await officer.open(`${group}?ask=organization-group.update`)
  assert.doesNotMatch(formOf(asked, 'organization-group.update'), /name="protected"/)
  const add = 'organization-group.add-member'
  const adding = await officer.open(`${group}?ask=${add}`)
  const stranger = await officer.press(adding, add, { email: 'mia@acme.test' })
  const unknown = await officer.press(adding, add, { email: 'none@acme.test' })
  const [theirs, absent] = [stranger, unknown].map(({ statusCode, body: text }) => [
    statusCode,
    /role="alert">([^]*?)<\/p>/.exec(text)?.[1]?.replaceAll(/(mia|none)@/g, '@'),
  ])
  assert.deepEqual(theirs, absent)
  assert.equal(stranger.body.includes(ids.mia), false)
  const wrong = await officer.press(adding, add, { user_id: 'grace@acme.test' })
  assert.match(wrong.body, /id="error-user_id"[^]*Give the id here/)
  const added = await officer.press(stranger, add, { email: 'grace@acme.test' })
  assert.match(added.body, new RegExp(said(add)))
})

test('a client and an API have the claim with a link to each group, and forms that read it back', async () => {
  const client = await page('/console/clients/grafana?tab=settings')
  assert.match(
    client,
    new RegExp(`Groups of users[^]*<code><bdi>groups</bdi></code>[^]*href="${ADMINS}"[^]*as</span> <bdi>Admin<`),
  )
  const api = `/console/apis/${encodeURIComponent(API)}`
  assert.match(await page(api), new RegExp(`Groups of users[^]*<code><bdi>roles</bdi></code>[^]*href="${ADMINS}"`))
  const asked = await browser.open('/console/clients/grafana?ask=client.set-rules')
  assert.partialDeepStrictEqual(filledIn(asked, 'client.set-rules'), {
    groups: 'groups',
    group_words: 'cluster-admins=Admin\nacme/finance',
  })
  const missing = await browser.press(asked, 'client.set-rules', { groups: 'groups', group_words: 'nothing' })
  assert.deepEqual([missing.statusCode, /There is no group nothing/.test(missing.body)], [409, true])
  const many = Array.from({ length: 101 }, (_, index) => `g-${index}`).join('\n')
  assert.match((await browser.press(asked, 'client.set-rules', { group_words: many })).body, /id="error-group_words"/)
  const changed = await browser.open(`${api}?ask=api.update`)
  const done = await browser.press(changed, 'api.update', {
    ...filledIn(changed, 'api.update'),
    group_words: 'acme/finance=pays',
  })
  assert.match(done.body, /href="\/console\/groups\/acme%2Ffinance"[^]*as<\/span> <bdi>pays</)
})
