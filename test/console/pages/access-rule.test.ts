import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { OrganizationId } from '../../../src/protocol/ids.ts'
import { ConsoleBrowser, filledIn, giveRole, openConsole } from '../../../tools/console-browser.ts'
import { PASSWORD } from '../../../tools/flow.ts'
import { createAccount } from '../../support/accounts.ts'
import { openAdminServer, type AdminServer } from '../../support/admin-server.ts'
import { perform, type Members } from '../../support/tasks.ts'

/** Access rules: their lists, pages and forms, on the pages of a client, an API and a group, and that the console is exempt. */

const ends: (() => unknown)[] = []
let stage: AdminServer
let browser: ConsoleBrowser
const [RULES, ACME, API] = [
  '/console/access-rules',
  '/console/organizations/acme/access-rules',
  'https://pay.example',
] as const
const SENTENCE = 'Only <b>Finance</b>. Ask finance-it'

before(async () => {
  stage = await openAdminServer({ after: (finish) => void ends.push(finish as () => unknown) })
  browser = await openConsole(stage.server)
  for (const organization_id of ['acme', 'globex']) await run('organization.create', { organization_id, name: 'Org' })
  await run('group.create', { group_id: 'finance', name: 'Finance' })
  await run('organization-group.create', { organization_id: 'acme', group_id: 'ops', name: 'Ops' })
  await run('api.create', { resource: API, scopes: [{ name: 'pay', sentence: 'Pay', granted_to: 'users' }] })
  for (const client_id of ['board', 'grafana'])
    await run('client.create', { client_id, client_name: client_id, redirect_uris: ['https://app.example/cb'] })
  const rule = { scopes: [`${API}=pay`], except_groups: ['finance'], sentence: SENTENCE }
  await run('access-rule.create', { rule_id: 'payments', ...rule })
  await run('access-rule.create', { rule_id: 'grafana-only', clients: ['grafana'], sign_in: true, state: 'report' })
  const own = { rule_id: 'own', except_clients: ['board'], groups: ['acme/ops'] }
  await run('organization-access-rule.create', { organization_id: 'acme', ...own })
  await run('organization-access-rule.create', { organization_id: 'globex', rule_id: 'secret', clients: ['board'] })
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
  assert.doesNotMatch(body, /<b>Finance/)
  return body
}

async function signIn(organization?: string): Promise<ConsoleBrowser> {
  const email = stage.anEmail()
  await createAccount(stage.server, { email, password: PASSWORD, name: undefined })
  await giveRole(stage.server, 'write', email, organization as OrganizationId | undefined)
  const own = new ConsoleBrowser(stage.server)
  await own.open('/console', { email })
  return own
}

/** The ids of the rules on a page, by their links. */
const rulesOn = (body: string): readonly string[] =>
  [...body.matchAll(/href="[^"]*\/access-rules\/([\w-]+)/g)].map(([, id = '']) => id)

test('the list has all rules, or those about a client, an API or with a text, and so have the pages of these and the search', async () => {
  for (const [path, ...ids] of [
    [RULES, 'grafana-only', 'payments'],
    [`${RULES}?client_id=board`, 'payments'],
    [`${RULES}?client_id=grafana`, 'grafana-only', 'payments'],
    [`${RULES}?resource=${encodeURIComponent(API)}`, 'payments'],
    [`${RULES}?text=GRAFANA`, 'grafana-only'],
    [ACME, 'own'],
    ['/console/clients/board', 'payments'],
    ['/console/clients/grafana', 'grafana-only', 'payments'],
    [`/console/apis/${encodeURIComponent(API)}`, 'payments'],
    ['/console/groups/finance', 'payments'],
    ['/console/groups/acme%2Fops', 'own'],
    ['/console/found?text=grafana-only', 'grafana-only'],
  ] as const)
    assert.deepEqual(rulesOn(await page(path)), ids, path)
  assert.match(await page('/console/groups/acme%2Fops'), new RegExp(`href="${ACME}/own"`))
})

test('a rule is created by its form, which reads it back as a sentence, reports, says nothing more, and is deleted', async () => {
  const created = await browser.press(await browser.open(`${RULES}?ask=access-rule.create`), 'access-rule.create', {
    rule_id: 'made',
    except_groups: 'finance',
    clients: 'board',
    require: '2fa',
    sentence: SENTENCE,
  })
  assert.match(created.body, /<h1><bdi>made<\/bdi>/)
  assert.match(
    created.body,
    /is <bdi>on<\/bdi>\. It reads: <bdi>For everyone except finance, everything needs 2fa at board\./,
  )
  assert.match(created.body, /href="\/console\/groups\/finance"[^]*href="\/console\/clients\/board"[^]*two factors/)
  const asked = await browser.open(`${RULES}/made?ask=access-rule.update`)
  const typed = { ...filledIn(asked, 'access-rule.update'), state: 'report', require: 'none', sentence: '' }
  const changed = await browser.press(asked, 'access-rule.update', typed)
  assert.match(changed.body, />Report<[^]*It is left out\.[^]*Nothing</)
  const { state, sentence, except_groups } = await run('access-rule.show', { rule_id: 'made' })
  assert.deepEqual([state, sentence, except_groups], ['report', null, ['finance']])
  const deleted = await browser.press(await browser.open(`${RULES}/made?ask=access-rule.delete`), 'access-rule.delete')
  assert.match(deleted.body, /The access rule <bdi>made<\/bdi> is deleted[^]*<h1>Access rules</)
  assert.ok(!rulesOn(deleted.body).includes('made'))
})

test('CON-08, ACS-05: a role for one organization has its rules, and learns none of the server or of another one', async () => {
  const own = await signIn('acme')
  assert.deepEqual(rulesOn(await page(ACME, own)), ['own'])
  assert.match(await page(`${ACME}/own`, own), /For acme\/ops, everything is not given at all clients except board\./)
  for (const path of [RULES, `${RULES}/payments`, `${ACME}/payments`, ACME.replace('acme', 'globex')])
    assert.equal((await own.console.get(path)).statusCode, 404, path)
  assert.doesNotMatch(await page('/console/organizations/acme/found?text=e', own), /payments|grafana-only|secret/)
})

test('ACS-05: no rule locks the operator out: with everything taken from everyone the console opens, and the rule is ended there', async () => {
  const all = { except_groups: ['finance'], sentence: SENTENCE }
  await run('access-rule.create', { rule_id: 'all', ...all })
  await run('access-rule.create', { rule_id: 'all-phr', ...all, require: 'phr', max_age: 1 })
  await run('organization-access-rule.create', { organization_id: 'acme', rule_id: 'all', except_groups: ['acme/ops'] })
  for (const operator of [browser, await signIn()])
    assert.deepEqual(rulesOn(await page(RULES, operator)).slice(0, 2), ['all', 'all-phr'])
  const fresh = await signIn()
  for (const rule of ['all', 'all-phr']) {
    const asked = await fresh.open(`${RULES}/${rule}?ask=access-rule.delete`)
    assert.equal((await fresh.press(asked, 'access-rule.delete')).statusCode, 200)
  }
  assert.match(await page(ACME, await signIn('acme')), /everything is not given/)
})
