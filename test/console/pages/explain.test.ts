import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { OrganizationId } from '../../../src/protocol/ids.ts'
import { ConsoleBrowser, giveRole, openConsole } from '../../../tools/console-browser.ts'
import { PASSWORD } from '../../../tools/flow.ts'
import { createAccount } from '../../support/accounts.ts'
import { knowApis } from '../../support/apis.ts'
import { openAdminServer, type AdminServer } from '../../support/admin-server.ts'
import { perform, type Members } from '../../support/tasks.ts'

/** What a client can get for a user, asked on a screen, and on the pages of a user, a client and an API. */

const ends: (() => unknown)[] = []
let stage: AdminServer
let browser: ConsoleBrowser
let grace = ''
let eve = ''
const API = 'https://pay.example'

before(async () => {
  stage = await openAdminServer({ after: (finish) => void ends.push(finish as () => unknown) })
  browser = await openConsole(stage.server)
  const run = (task: string, input: Members) => perform(stage.server.context, task, input)
  await run('organization.create', { organization_id: 'acme', name: 'Acme' })
  grace = String((await run('user.create', { email: 'grace@acme.test', email_verified: true }))['user_id'])
  eve = String((await run('user.create', { email: 'eve@globex.test', email_verified: true }))['user_id'])
  await run('member.add', { organization_id: 'acme', user_id: grace })
  await run('group.create', { group_id: 'finance' })
  const scopes = ['read', 'pay'].map((name) => ({ name, sentence: name, granted_to: 'users' }))
  await run('api.create', { resource: API, scopes })
  await run('client.create', {
    client_id: 'board',
    client_name: 'Board',
    redirect_uris: ['https://app.example/cb'],
  })
  const rule = { scopes: [`${API}=pay`], except_groups: ['finance'], sentence: 'Only <b>Finance</b>' }
  await run('access-rule.create', { rule_id: 'payments', ...rule })
  knowApis(stage.server)
})

after(async () => {
  for (const finish of ends.toReversed()) await finish()
})

async function page(path: string, by = browser): Promise<string> {
  const { statusCode, body } = await by.console.get(path)
  assert.equal(statusCode, 200, body)
  assert.doesNotMatch(body, /<b>Finance/)
  return body
}

test('ACS-04: the pages of a user, a client and an API ask what is not given, by names too, and the answer says the rule', async () => {
  for (const [path, known] of [
    [`/console/users/${grace}`, `name="user_id" value="${grace}"`],
    ['/console/clients/board', 'name="client_id" value="board"'],
    [`/console/apis/${encodeURIComponent(API)}`, `name="resource" value="${API}"`],
  ] as const)
    assert.match(await page(path), new RegExp(`<form method="get" action="/console/access"[^]*${known}`), path)
  const asked = new URLSearchParams({ user_id: 'grace@acme.test', client_id: 'Board' })
  const body = await page(`/console/access?${asked.toString()}`)
  assert.match(body, new RegExp(`href="/console/users/${grace}"[^]*grace@acme\\.test[^]*href="/console/clients/board"`))
  assert.match(body, /<code>[^]*pay[^]*>No<[^]*Rule payments takes it from everyone except finance\./)
  assert.match(body, /<code>[^]*read[^]*>Yes</)
  assert.match(body, /href="\/console\/access-rules\/payments"[^]*Only &lt;b&gt;Finance/)
  const bare = await page('/console/access?user_id=&client_id=')
  assert.match(bare, /name="user_id"/)
  assert.doesNotMatch(bare, /<table/)
  assert.equal((await browser.console.get(`/console/access?user_id=${grace}&client_id=none-such`)).statusCode, 200)
})

test('CON-08: a role for one organization asks about its members alone, and reads no rule of the server', async () => {
  const email = stage.anEmail()
  await createAccount(stage.server, { email, password: PASSWORD, name: undefined })
  await giveRole(stage.server, 'read', email, 'acme' as OrganizationId)
  const own = new ConsoleBrowser(stage.server)
  await own.open('/console', { email })
  const of = (user: string) => `/console/organizations/acme/access?user_id=${user}&client_id=board&resource=${API}`
  const body = await page(of(grace), own)
  assert.match(body, />No<[^]*A rule of the server takes it\./)
  assert.doesNotMatch(body, /payments|finance/i)
  const absent = await own.console.get(of('gus_01a200f2d7f1OGrZM2nOk7CWgjISwIxFbQ'))
  const stranger = await own.console.get(of(eve))
  assert.equal(stranger.statusCode, absent.statusCode)
  assert.notEqual(stranger.statusCode, 200)
  assert.equal((await own.console.get('/console/access')).statusCode, 404)
})
