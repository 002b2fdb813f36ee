import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { EpochMs } from '../../src/base/brand.ts'
import type { Frame } from '../../src/console/engine/form.ts'
import { fromList } from '../../src/console/links.ts'
import { listHeading, table } from '../../src/console/list.ts'
import { groupsOf, sectionsOf } from '../../src/console/sections.ts'
import { ConsoleBrowser, giveRole } from '../../tools/console-browser.ts'
import { EMAIL } from '../../tools/flow.ts'
import { openAdminServer, type AdminServer } from '../support/admin-server.ts'

/** What is around each screen of the console, and how lists are shown. */

const ends: (() => unknown)[] = []
let stage: AdminServer
let browser: ConsoleBrowser
let user: string

before(async () => {
  stage = await openAdminServer({ after: (end) => void ends.push(end as () => unknown) })
  user = await giveRole(stage.server)
  browser = new ConsoleBrowser(stage.server)
  await browser.open()
})

after(async () => {
  for (const end of ends.toReversed()) await end()
})

const FRAME: Frame = {
  issuer: 'https://auth.acme.test',
  place: { path: '/console/users', parameters: {}, query: {}, now: 0 as EpochMs },
  organization: undefined,
  mayWrite: true,
  mayOpen: () => true,
  self: 'gus_1',
  isLoopbackOnly: false,
  reaches: () => true,
  isCut: false,
  outOfReach: '',
  csrf: 'c',
  forms: [],
  filters: [{ name: 'text', label: 'Name or address', kind: 'text', choices: [], value: undefined }],
}

function at(query: Readonly<Record<string, string>>): Frame {
  return { ...FRAME, place: { ...FRAME.place, query } }
}

test('the side has what is for every day, what is set up, the administration, and tools', () => {
  const groups = groupsOf(sectionsOf(undefined)).map(([heading, rows]) => [heading, rows.map(({ label }) => label)])
  assert.deepEqual(groups, [
    [undefined, ['Overview', 'Users', 'Groups', 'Organizations', 'Clients', 'Grants', 'Audit']],
    ['Set up', ['APIs and scopes', 'Access rules', 'Sign-in providers', 'Domains', 'Initial tokens']],
    ['Administration', ['Roles', 'Credentials', 'Keys', 'Server']],
    ['Tools', ['Why can a user not …', 'What is this token?']],
  ])
  const keys = sectionsOf(undefined).map(({ key }) => key)
  assert.equal(new Set(keys).size, keys.length)
})

test('a page of an object has one link back to its list, with the filters that it had and with no other address', async () => {
  const crumb = async (path: string): Promise<string | undefined> =>
    /<p class="crumbs"><a href="([^"]*)">/.exec((await browser.console.get(path)).body)?.[1]
  const page = `/console/users/${user}`
  const back = (query: string): string => `${page}?${new URLSearchParams({ back: query }).toString()}`
  assert.deepEqual(
    [
      await crumb('/console/users'),
      await crumb('/console'),
      await crumb('/console/found?text=a'),
      await crumb(page),
      await crumb(back('text=ada+%26co&before=gus_2')),
      await crumb(back('https://evil.example/')),
      await crumb(back('ask=user.delete&subject=a&text=%22%3E%3Cb%3E')),
      await crumb('/console/domains/new'),
      await crumb('/console/users/gus_unknown'),
    ],
    [
      undefined,
      undefined,
      undefined,
      '/console/users',
      '/console/users?text=ada+%26co&amp;before=gus_2',
      '/console/users',
      '/console/users?subject=a&amp;text=%22%3E%3Cb%3E',
      '/console/domains',
      '/console/users',
    ],
  )
})

test('the row of a list that is filtered leads to a page that knows the filters', () => {
  assert.equal(fromList(FRAME, '/console/users/gus_2'), '/console/users/gus_2')
  assert.equal(
    fromList(at({ text: 'a&b', ask: 'user.create', done: 'x' }), '/console/users/gus_2'),
    '/console/users/gus_2?back=text%3Da%2526b',
  )
})

test('the account is at the foot of the side with its access, and the version is on the screen of the server alone', async () => {
  const { body } = await browser.console.get('/console/users')
  assert.match(
    body,
    /<\/nav>\s*<details class="me">[^]*?<bdi>Ada<\/bdi>[^]*?Write[^]*?<\/details>\s*<\/div>\s*<\/header>/,
  )
  const { version } = stage.server.context
  assert.ok(!body.includes(version))
  assert.ok((await browser.console.get('/console/server')).body.includes(version))
  assert.ok(body.includes(EMAIL))
})

test('the heading of a list has the number of its rows as far as it is known', () => {
  const count = (frame: Frame, shown: number, next: string | null): string | undefined =>
    /class="count">([^<]*)</.exec(listHeading(frame, 'Users', { shown, next }).toString())?.[1]
  assert.deepEqual(
    [
      count(FRAME, 7, null),
      count(FRAME, 50, 'gus_2'),
      count(FRAME, 0, null),
      // A search that ended before its end, and a later page.
      count(FRAME, 3, 'gus_2'),
      count(at({ before: 'gus_2' }), 7, null),
    ],
    ['7', '50+', undefined, undefined, undefined],
  )
})

test('on a phone the cells of a row are its name, a state, and a last line whose facts have the headings', () => {
  const text = table(FRAME, {
    caption: 'Users',
    rows: ['Ada'],
    empty: '',
    columns: [
      { heading: 'Name', cell: (row) => row },
      { heading: 'Address', cell: () => 'ada@acme.test' },
      { heading: 'State', role: 'badge', cell: () => 'Active' },
      { heading: 'Last sign-in', role: 'meta', cell: () => 'just now' },
    ],
  }).toString()
  assert.match(
    text,
    /<th scope="row">Ada<\/th><td>ada@acme\.test<\/td><td class="badge">Active<\/td><td data-label="Last sign-in" class="meta">just now<\/td>/,
  )
})
