import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { CONSOLE_CLIENT_ID } from '../../src/protocol/client/console.ts'
import type { OrganizationId, UserId } from '../../src/protocol/ids.ts'
import { locationOf } from '../../tools/flow.ts'
import { openAdminServer, type AdminServer, type PeopledOrganization } from '../support/admin-server.ts'
import { ConsoleBrowser, formOf, giveRole } from '../../tools/console-browser.ts'
import { aUser } from '../support/records.ts'
import { assertStoreUnchanged } from '../support/store/dump.ts'
import { perform, said } from '../support/tasks.ts'

/** A role for one organization: what it shows, and what is as if absent. */

const ends: (() => unknown)[] = []
let stage: AdminServer
let mine: PeopledOrganization
let other: PeopledOrganization
let browser: ConsoleBrowser
let home: string

before(async () => {
  stage = await openAdminServer({ after: (end) => void ends.push(end as () => unknown) })
  mine = await stage.makePeopledOrganization()
  other = await stage.makePeopledOrganization()
  await giveRole(stage.server, 'write', undefined, mine.organization_id)
  browser = new ConsoleBrowser(stage.server)
  await browser.open('/console')
  home = `/console/organizations/${mine.organization_id}/grants`
})

after(async () => {
  for (const end of ends.toReversed()) await end()
})

test('a role for one organization begins at its grants, sees its name, revokes, and nothing else is in the side', async () => {
  assert.equal(locationOf(await browser.console.get('/console')), home)
  const page = await browser.console.get(home)
  assert.equal(page.statusCode, 200, page.body)
  assert.match(page.body, /<h1>Grants for <bdi>Acme<\/bdi><\/h1>/)
  assert.match(page.body, /May change everything\s+of <bdi>Acme<\/bdi>/)
  const links = [...page.body.matchAll(/href="(\/console[^"]*)"/g)].map(([, path = '']) => path)
  const own = links.filter((path) => !path.startsWith('/console/a/'))
  assert.ok(own.length > 2 && own.every((path) => path.startsWith(home.replace('grants', ''))), own.join(' '))
  for (const path of own) assert.equal((await browser.console.get(path)).statusCode, 200, path)
  const { roles } = await perform<{ roles: readonly { signed_in_at: string | null }[] }>(
    stage.server.context,
    'role.list',
    {},
  )
  assert.match(roles[0]?.signed_in_at ?? '', /^\d{4}-/)

  const asked = await browser.press(page, 'organization.revoke-grant', { row: mine.grant_id })
  assert.match(asked.body, /The app loses its access/)
  assert.match(
    (await browser.press(asked, 'organization.revoke-grant')).body,
    new RegExp(said('organization.revoke-grant')),
  )
  const { events } = await perform<{ events: readonly object[] }>(stage.server.context, 'audit.list', { limit: 1 })
  const { user_id: actor } = (roles[0] ?? {}) as { user_id?: string }
  assert.partialDeepStrictEqual(events[0], { event: 'grant.revoked', actor, organization_id: mine.organization_id })
})

test('CON-08: what is of another organization or of the server is as if absent, also in searches, filters and names', async () => {
  const { context } = stage.server
  const strangers = [other.organization_id, other.user_id, other.grant_id]
  const absent = {
    organization: `gor_${'0'.repeat(34)}`,
    grant: other.grant_id.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
  }
  const plainPage = (body: string): string => body.replace(/Request <code>[^<]+<\/code>/, '')
  const read = async (path: string) => {
    const answer = await browser.console.get(path)
    return { status: answer.statusCode, body: plainPage(answer.body), location: answer.headers.location }
  }
  const nowhere = await read('/console/nothing')
  for (const path of [
    ...['clients', 'users', 'grants', 'audit', 'organizations', 'domains', 'domains/new', 'initial-tokens'].map(
      (list) => `/console/${list}`,
    ),
    `/console/clients/${mine.client_id}`,
    `/console/clients/${mine.client_id}/consent`,
    `/console/users/${mine.user_id}`,
    `/console/grants/${mine.grant_id}`,
    `/console/organizations/${mine.organization_id}`,
    `/console/organizations/${mine.organization_id}/members?ask=member.add`,
    `/console/organizations/${other.organization_id}`,
    ...['grants', 'members', 'groups', 'access-rules', 'access', 'installations', 'found?text=a'].map(
      (list) => `/console/organizations/${other.organization_id}/${list}`,
    ),
    `/console/organizations/${other.organization_id}/grants/${other.grant_id}`,
    `/console/organizations/${absent.organization}/grants`,
    `/console/clients?ask=client.delete&row=${mine.client_id}`,
    '/console/audit?format=ndjson',
  ])
    assert.deepEqual(await read(path), { ...nowhere, status: 404 }, path)

  const [there, notThere] = await Promise.all(
    [other.grant_id, absent.grant].map((id) =>
      read(`${home}/${id}`).then((one) => JSON.stringify(one).replaceAll(id, '')),
    ),
  )
  assert.equal(there, notThere)
  assert.match(there ?? '', /"status":404/)

  for (const filter of [`user_id=${other.user_id}`, `client_id=${other.client_id}`, `before=${other.grant_id}`]) {
    const { status, body } = await read(`${home}?${filter}`)
    assert.equal(status, 200, filter)
    const shown = body.replace(/<div class="chips">[^]*?<\/details>/, '').replaceAll(/(href|action)="[^"]*"/g, '')
    assert.ok(!strangers.some((id) => shown.includes(id)), filter)
  }
  const { email } = (await context.store.findUser(other.user_id)) ?? {}
  for (const q of [...strangers, other.client_id, 'Client', email ?? '', 'claude.ai', '"><b>']) {
    const { location = '' } = await read(`/console/search?${new URLSearchParams({ q, in: 'users' }).toString()}`)
    assert.ok(
      [home, home.replace('/grants', '/found')].some((path) => location.startsWith(path)),
      q,
    )
    const { status, body } = await read(location)
    assert.ok(
      status !== 200 ||
        /Nothing matches|None of the members, groups, access rules and clients has|<li data-row/.test(body),
      q,
    )
    assert.ok(![...strangers, other.client_id].some((id) => id !== q && body.includes(id)), q)
    if (q !== 'Client') assert.doesNotMatch(body, /<(tr|li) data-row/, q)
  }

  const page = await browser.console.get(home)
  const csrf = /name="csrf" value="([^"]+)"/.exec(formOf(page, 'organization.revoke-grant'))?.[1] ?? ''
  const sent = { csrf, task: 'organization.revoke-grant', asked: '1' }
  for (const [path, form, status] of [
    [home, { ...sent, row: other.grant_id }, 404],
    [home, { ...sent, row: mine.grant_id, organization_id: other.organization_id }, 403],
    [home, { ...sent, task: 'grant.revoke', row: other.grant_id }, 403],
    ['/console/grants', { ...sent, task: 'grant.revoke', row: other.grant_id }, 404],
    [`/console/organizations/${other.organization_id}/grants`, { ...sent, row: other.grant_id }, 404],
  ] as const)
    await assertStoreUnchanged(
      stage.server,
      async () =>
        assert.equal((await browser.console.post(path, form)).statusCode, status, JSON.stringify([path, form])),
      path,
    )
  assert.equal((await perform(context, 'grant.show', { grant_id: other.grant_id }))['revoked_at'], null)
  const lists = `/console/organizations/${mine.organization_id}`
  for (const [list, task, subject] of [
    ['members', 'member.disable', other.user_id],
    ['members', 'member.add', other.user_id],
    ['installations', 'installation.disable', other.client_id],
  ] as const)
    await assertStoreUnchanged(
      stage.server,
      async () => {
        const shown = await browser.console.get(`${lists}/${list}`)
        assert.ok(!strangers.some((id) => shown.body.includes(id)), list)
        assert.doesNotMatch(shown.body, /member\.add|organization\.|href="\/console\/(users|clients)/)
        const first = list === 'members' ? 'member.disable' : task
        const token = /name="csrf" value="([^"]+)"/.exec(formOf(shown, first))?.[1] ?? ''
        const fields = task === 'member.add' ? { user_id: subject } : { row: subject }
        const answer = await browser.console.post(`${lists}/${list}`, { csrf: token, task, asked: '1', ...fields })
        assert.equal(answer.statusCode, task === 'member.add' ? 403 : 404, task)
      },
      task,
    )
  const sought = await read(`${lists}/members?${new URLSearchParams({ text: email ?? '' }).toString()}`)
  assert.match(sought.body, /Nothing matches/)

  // Of a user who left the organization the grant has no name.
  const one = `${home}/${mine.grant_id}`
  assert.match((await read(one)).body, /<dt>User<[^]*<bdi>person-\d+@acme\.test<\/bdi>/)
  await perform(context, 'member.remove', { organization_id: mine.organization_id, user_id: mine.user_id })
  for (const path of [home, one]) assert.doesNotMatch((await read(path)).body, /person-\d+@acme\.test/)
})

test('CON-08: a role for one organization filters by names of its own objects, and others are as if there were none', async () => {
  const { context } = stage.server
  const { organization_id } = mine
  const stranger = aUser({ id: 'auth0|ada' as UserId, email: stage.anEmail(), name: 'Only Elsewhere' })
  await context.store.createUser(stranger)
  await perform(context, 'member.add', { organization_id: other.organization_id, user_id: stranger.id })
  const people = ['Twin Grace', 'Twin Hopper'].map((name) => aUser({ email: stage.anEmail(), name }))
  for (const person of people) {
    await context.store.createUser(person)
    await perform(context, 'member.add', { organization_id, user_id: person.id })
  }
  const refusals = async () => {
    const { events } = await perform<{ events: readonly object[] }>(context, 'audit.list', { event: 'admin.refused' })
    return events.length
  }
  const nameOf = async (client_id: string) =>
    String((await perform(context, 'client.show', { client_id }))['client_name'])
  const ownClient = await nameOf(mine.client_id)
  const earlier = await refusals()
  for (const [filter, status, text] of [
    ['user_id=auth0%7Cada', 200, /Nothing matches/],
    ['user_id=nobody-has-it', 200, /Nothing matches/],
    ['client_id=nobody-has-it', 200, /Nothing matches/],
    [`user_id=${encodeURIComponent(people[0]?.email ?? '')}`, 200, /Nothing matches/],
    ['user_id=twin+hopper', 200, /Nothing matches/],
    ['user_id=Twin+', 200, /<h1>Which one\?<[^]*grants\?user_id=gus_[^"]*"\s*><bdi>Twin [^]*<bdi>Twin /],
    [`client_id=${encodeURIComponent(ownClient)}`, 200, /<tr data-row>/],
  ] as const) {
    const answer = await browser.console.get(`${home}?${filter}`)
    assert.equal(answer.statusCode, status, filter)
    assert.match(answer.body, text, filter)
  }
  // N10: a search lists several by name, and a grant names its user and its client without a link to a screen of the server.
  const search = await browser.console.get(`/console/search?q=${encodeURIComponent('tWIN')}`)
  const found = (await browser.console.get(search.headers.location ?? '')).body
  for (const { id, email } of people)
    assert.match(found, new RegExp(`href="[^"]*/grants\\?user_id=${id}"><bdi>${email}<`))
  assert.match(found, /Searched: all members, groups, access rules and clients\./)
  assert.match((await browser.console.get(home)).body, new RegExp(`<td[^>]*><bdi>${ownClient}<`))
  const shownFor = async (filter: string, text: string) => {
    const { statusCode, body } = await browser.console.get(`${home}?${filter}=${encodeURIComponent(text)}`)
    return [
      statusCode,
      body
        .replaceAll(/Request <code>[^<]+<\/code>/g, '')
        .replaceAll(text, '')
        .replaceAll(`${text.slice(0, 10)}…${text.slice(-4)}`, '')
        .replaceAll(encodeURIComponent(text), ''),
    ]
  }
  const [email, otherClient] = [stranger.email, await nameOf(other.client_id)]
  for (const [filter, there, notThere] of [
    ['user_id', email, email.replace('person', 'nobody')],
    ['user_id', 'Only Elsewhere', 'Only Nowhere'],
    ['user_id', 'auth0|ada', 'auth0|eve'],
    ['client_id', otherClient, `${otherClient}0 there`],
    ['client_id', other.client_id, `gci_${'0'.repeat(34)}`],
  ] as const) {
    const words = await shownFor(filter, there)
    assert.deepEqual(
      JSON.stringify(words).replaceAll(there.replaceAll(' ', '+'), ''),
      JSON.stringify(await shownFor(filter, notThere)).replaceAll(notThere.replaceAll(' ', '+'), ''),
    )
  }
  assert.equal(await refusals(), earlier)
})

test('CON-05: a role for an organization ends when the organization is disabled or deleted', async () => {
  const { context } = stage.server
  const organization_id: OrganizationId = mine.organization_id
  assert.equal((await browser.console.get(home)).statusCode, 200)
  await perform(context, 'organization.disable', { organization_id })
  assert.match((await browser.console.get(home)).body, /has no role here/)
  await perform(context, 'organization.enable', { organization_id })
  assert.equal((await browser.console.get(home)).statusCode, 200)
  await perform(context, 'organization.delete', { organization_id })
  assert.equal((await browser.console.get(home)).statusCode, 403)
  assert.equal((await context.store.findClient(CONSOLE_CLIENT_ID))?.disabledAt, undefined)
})
