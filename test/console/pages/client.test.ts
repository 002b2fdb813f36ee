import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ConsoleBrowser, formOf, giveRole } from '../../../tools/console-browser.ts'
import { obtainTokens, registerClient } from '../../../tools/flow.ts'
import { openAdminServer, type AdminServer } from '../../support/admin-server.ts'
import { perform, type Members } from '../../support/tasks.ts'

/** The page of a client: its tabs, what waits for a person, and where each button is. */

const ends: (() => unknown)[] = []
let stage: AdminServer
let browser: ConsoleBrowser
const API = 'https://builds.acme.test'

before(async () => {
  stage = await openAdminServer({ after: (end) => void ends.push(end as () => unknown) })
  await giveRole(stage.server)
  browser = new ConsoleBrowser(stage.server)
  await browser.open()
  const scopes = [
    { name: 'projects:read', sentence: 'Read your projects', granted_to: 'users' },
    { name: 'payments:write', sentence: 'Pay for builds', granted_to: 'approved-clients' },
  ]
  await run('api.create', { resource: API, scopes })
})

after(async () => {
  for (const end of ends.toReversed()) await end()
})

function run(task: string, input: Members): Promise<Members> {
  return perform(stage.server.context, task, input)
}

async function pageOf(client: string, tab?: string): Promise<string> {
  const { statusCode, body } = await browser.console.get(
    `/console/clients/${client}${tab === undefined ? '' : `?tab=${tab}`}`,
  )
  assert.equal(statusCode, 200, body)
  return body
}

/** The words of the plate, and the buttons in it. */
function plateOf(body: string): readonly (string | undefined)[] {
  const [, plate = ''] = /<section class="answer ([^]*?)<\/section>/.exec(body) ?? []
  return [
    /<h2[^>]*>([^<]*)</.exec(plate)?.[1],
    ...[...plate.matchAll(/class="button"[^>]*>([^<]*)</g)].map(([, text]) => text?.trim()),
  ]
}

/** The buttons of the heading: those at once, and those behind "More". */
function buttonsOf(body: string): readonly (readonly string[])[] {
  const [, heading = ''] = /<div class="heading">([^]*?)<nav class="tabs"/.exec(body) ?? []
  const [lead = '', rest = ''] = heading.split('<details')
  return [lead, rest].map((part) => [...part.matchAll(/value="([a-z.-]+)"/g)].map(([, task = '']) => task))
}

test('a client that registered itself waits for a decision, with the scopes that need an approval; a verified one does not', async () => {
  const { client_id: client } = await registerClient(stage.server, {
    client_name: 'Cursor',
    redirect_uris: ['https://app.example/callback', 'http://127.0.0.1/callback'],
    scope: 'projects:read payments:write',
  })
  const body = await pageOf(client)
  assert.deepEqual(plateOf(body), [
    'Anyone can register under this name',
    'Approve payments:write…',
    'See what a user sees',
  ])
  assert.match(body, /It sends people to\s+<bdi>app\.example<\/bdi> and to\s+<bdi>this computer<\/bdi>/)
  assert.deepEqual(buttonsOf(body), [
    ['client.verify', 'client.disable'],
    ['client.approve-scopes', 'client.revoke-tokens', 'client.delete'],
  ])
  await run('client.verify', { client_id: client })
  assert.deepEqual(plateOf(await pageOf(client))[0], 'It waits for your approval')
  await run('client.approve-scopes', { client_id: client, scope: 'payments:write' })
  const settled = await pageOf(client)
  assert.deepEqual(plateOf(settled), [undefined])
  assert.deepEqual(buttonsOf(settled)[0], ['client.disable'])
  assert.match(settled, /<dt>Approved<\/dt>\s*<dd>\s*<span class="scopes"><code>payments:write/)
})

test('a blocked domain is said with its rule, and a disabled client has the button that enables it alone', async () => {
  const { client_id: client } = await registerClient(stage.server, { redirect_uris: ['https://evil.example/cb'] })
  await run('domain.block', { pattern: 'evil.example', note: 'Phishing' })
  stage.server.clock.advance(1000)
  const body = await pageOf(client)
  assert.deepEqual(plateOf(body), ['A rule blocks it', 'See the rules'])
  assert.match(body, /blocked by[^]*evil\.example[^]*Phishing/)
  await run('domain.forget', { pattern: 'evil.example' })
  await run('client.disable', { client_id: client })
  const disabled = await pageOf(client)
  assert.deepEqual([plateOf(disabled)[0], buttonsOf(disabled)[0]], [undefined, ['client.enable']])
})

test('each tab has an address and its own content, and a tab that there is not is the summary', async () => {
  const client = await stage.makeClient({ scope: 'projects:read' })
  await obtainTokens(stage.server, client, { resource: API })
  const { client_id: id } = client
  const current = (body: string) =>
    /<nav class="tabs"[^]*?aria-current="page">([^]*?)<\/a/
      .exec(body)?.[1]
      ?.replaceAll(/<[^>]*>/g, '')
      .trim()
  const headings = (body: string) => [...body.matchAll(/<h2[^>]*>([^<]*)/g)].map(([, text]) => text?.trim())
  const [summary, grants, activity, settings] = await Promise.all(
    [undefined, 'grants', 'activity', 'settings'].map((tab) => pageOf(id, tab)),
  )
  assert.deepEqual(
    [summary, grants, activity, settings].map((body) => current(body ?? '')),
    ['Summary', 'Grants 1', 'Activity', 'Settings'],
  )
  assert.match(summary ?? '', /Who uses it <span class="count">1 user</)
  assert.equal(formOf({ body: summary ?? '' }, 'grant.revoke').match(/name="row"/g)?.length, 1)
  assert.equal(grants?.match(/<tr data-row>/g)?.length, 1)
  assert.match(activity ?? '', /authorization\.approved/)
  assert.ok(headings(settings ?? '').includes('Secret and registration'))
  for (const task of ['rotate-secret', 'set-secret', 'adopt', 'create-registration-token']) {
    assert.match(settings ?? '', new RegExp(`value="client\\.${task}"`), task)
    assert.doesNotMatch(summary ?? '', new RegExp(`value="client\\.${task}"`), task)
  }
  assert.equal(current(await pageOf(id, 'constructor')), 'Summary')
  // A form on a tab leads back to the tab.
  const asked = await browser.press({ body: settings } as never, 'client.rotate-secret')
  assert.match(asked.body, /<a class="button" href="[^"]*\?tab=settings">Cancel</)
})
