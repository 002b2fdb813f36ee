import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { requireTask } from '../../src/admin/tasks.ts'
import { asAdministrator, COMMAND_LINE } from '../../src/admin/administrators.ts'
import { runTask } from '../../src/admin/run-task.ts'
import type { InputField } from '../../src/console/engine/input-fields.ts'
import { READ } from '../../src/console/engine/frozen-context.ts'
import { fieldsIn } from '../../src/console/engine/form.ts'
import { SCREENS } from '../../src/console/screens.ts'
import { formFields } from '../../src/console/engine/filling.ts'
import { OPERATIONS, READS } from '../../src/store/nouns.ts'
import { hiddenFields, locationOf } from '../../tools/flow.ts'
import { ConsoleBrowser, filledIn, formOf, grantIdIn, leadsTo, openConsole } from '../../tools/console-browser.ts'
import { openAdminServer, type AdminServer } from '../support/admin-server.ts'
import { perform, type Members, said, saidOf } from '../support/tasks.ts'

/** What becomes of a form that is sent twice, beside another one, with long rows, or with a secret in the wrong place. */

const ends: (() => unknown)[] = []
let stage: AdminServer
let browser: ConsoleBrowser

before(async () => {
  stage = await openAdminServer({ after: (end) => void ends.push(end as () => unknown) })
  browser = await openConsole(stage.server)
})

after(async () => {
  for (const end of ends.toReversed()) await end()
})

const PROVIDER = { template: 'oidc', name: 'Acme', issuer: 'http://127.0.0.1:9', client_id: 'grantor' }

/** Does this once, when the next task that changes something begins: after the console compared what the person saw. */
function atNextChange(act: () => Promise<unknown>): void {
  const { context } = stage.server
  const { clockCheck } = context
  const databaseNow = async () => {
    Object.assign(context, { clockCheck })
    await act()
    return clockCheck.databaseNow()
  }
  Object.assign(context, { clockCheck: { ...clockCheck, databaseNow } })
}

test('the name of each operation of the store, other than of a counter, says that it is no read', () => {
  assert.deepEqual(
    Object.keys(READS).filter((name) => !READ.test(name)),
    [],
  )
  assert.deepEqual(
    Object.keys(OPERATIONS).filter((name) => READ.test(name)),
    ['countRegistrations', 'countHit'],
  )
})

test('CON-35: of two changes of one object at once only one succeeds, also between the comparison and the task', async () => {
  const { context } = stage.server
  const { client_id: client } = await perform(context, 'client.create', {
    client_name: 'Board',
    scope: 'openid',
    redirect_uris: ['https://board.example/cb'],
  })
  const resource = await stage.makeApi()
  await perform(context, 'provider.create', { ...PROVIDER, provider_id: 'acme', client_secret: 's3cr3t' })
  const one = { client_id: client }
  const { user_id: user } = await perform(context, 'user.create', { email: 'first@acme.test' })
  const { organization_id: organization } = await perform(context, 'organization.create', { name: 'Acme' })
  const [person, company] = [{ user_id: user }, { organization_id: organization }]
  await perform(context, 'role.set', { ...person, access: 'read', loopback_only: true })
  const approved = [{ name: 'approved', sentence: 'Approved', granted_to: 'approved-clients' }]
  await perform(context, 'api.create', { resource: 'https://approved.example', scopes: approved })
  const scopes = [{ name: 'theirs', sentence: 'Theirs', granted_to: 'users' }]
  const scope = { 'scopes.0.name': 'mine', 'scopes.0.sentence.default': 'Mine', 'scopes.0.granted_to': 'users' }
  const renamed = { client_name: 'Mine', grant_types: 'authorization_code refresh_token' }
  type Case = readonly [
    task: string,
    id: Members,
    mine: Readonly<Record<string, string>>,
    theirs: Members,
    path: string,
  ]
  const cases: readonly Case[] = [
    ['client.set-rules', one, { consent: 'implied' }, { claims: 'userinfo' }, `clients/${String(client)}`],
    ['client.update', one, renamed, { client_name: 'Theirs' }, `clients/${String(client)}`],
    ['api.update', { resource }, scope, { scopes }, `apis/${encodeURIComponent(resource)}/scopes`],
    ['provider.update', { provider_id: 'acme' }, { name: 'Mine' }, { name: 'Theirs' }, 'providers/acme'],
    ['client.approve-scopes', one, { scope: 'approved' }, { scope: 'theirs' }, `clients/${String(client)}`],
    ['organization.rename', company, { name: 'Mine' }, { name: 'Theirs' }, `organizations/${String(organization)}`],
    ['user.set-email', person, { email: 'mine@acme.test' }, { email: 'theirs@acme.test' }, `users/${String(user)}`],
    ['role.set', person, { loopback_only: '' }, { access: 'write', loopback_only: true }, `users/${String(user)}`],
  ]
  for (const [task, id, mine, theirs, path] of cases) {
    const show = () => perform(context, task === 'role.set' ? 'user.show' : task.replace(/\..*/, '.show'), id)
    const asked = await browser.open(`/console/${path}?ask=${task}`)
    let between: Members | undefined
    atNextChange(async () => {
      await perform(context, task, { ...id, ...theirs })
      between = await show()
    })
    const refused = await browser.press(asked, task, { ...filledIn(asked, task), ...mine })
    assert.deepEqual([refused.statusCode, /at the same time/.test(refused.body)], [409, true], task)
    assert.deepEqual(await show(), between, task)
    // The form has what was typed, and can be sent again.
    assert.equal((await browser.press(refused, task, { ...filledIn(refused, task), ...mine })).statusCode, 200, task)
    assert.notDeepEqual(await show(), between, task)
  }
})

test('CON-37: the box that confirms gives an account that an administrator for a trial prepared a role that lasts', async () => {
  const { context } = stage.server
  const trial = { ...COMMAND_LINE, actor: (await stage.makeUser()).id, isLoopbackOnly: true }
  const input = { email: stage.anEmail() }
  const account = await runTask(asAdministrator(context, trial), requireTask('user.create'), input, () => undefined)
  const { user_id: user } = account as Members
  const role = async () => (await perform(context, 'user.show', { user_id: user }))['role']
  const asked = await browser.open(`/console/users/${String(user)}?ask=role.set`)
  const refused = await browser.press(asked, 'role.set', { access: 'read' })
  assert.deepEqual([refused.statusCode, /be sure of this one and confirm/.test(refused.body)], [409, true])
  assert.equal(await role(), null)
  // A browser sends the texts of all that have the name.
  assert.equal(formOf(refused, 'role.set').match(/name="confirmed"/g)?.length, 1)
  const done = await browser.press(refused, 'role.set', { access: 'read', confirmed: 'on' })
  assert.match(done.body, new RegExp(said('role.set')))
  assert.notEqual(await role(), null)
})

test('CON-10: a second click creates no second organization, and no other record has two for one form', async () => {
  const asked = await browser.console.get('/console/organizations?ask=organization.create')
  const answers = await Promise.all([1, 2].map(() => browser.press(asked, 'organization.create', { name: 'Twice' })))
  assert.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 1)
  const second = answers.find(({ statusCode }) => statusCode === 409) ?? assert.fail()
  assert.match(second.body, /This form was sent before, and did nothing now\./)
  const named = async () => {
    const { organizations } = await perform<{ organizations: readonly Members[] }>(
      stage.server.context,
      'organization.list',
      {},
    )
    return organizations.filter(({ name }) => name === 'Twice').length
  }
  assert.equal(await named(), 1)
  assert.equal((await browser.press(second, 'organization.create', { name: 'Twice' })).statusCode, 200)
  assert.equal(await named(), 2, 'The person wants another one.')
  await perform(stage.server.context, 'user.create', { email: 'second@acme.test' })
  const again = await browser.console.get('/console/users?ask=user.create')
  assert.equal((await browser.press(again, 'user.create', { email: 'second@acme.test' })).statusCode, 409)
})

test('rows with long names are chosen few at a time, and no address that a form leads to is too long', async () => {
  const { context, clock } = stage.server
  const patterns = Array.from({ length: 40 }, (_, index) => `https://${index}.example/${'x'.repeat(80)}`)
  for (const pattern of patterns) await perform(context, 'domain.block', { pattern })
  const path = '/console/domains'
  const verdicts = async () => {
    const { domains } = await perform<{ domains: readonly Members[] }>(context, 'domain.list', {})
    return domains.filter(({ verdict }) => verdict === 'trusted').length
  }
  for (const task of ['domain.trust', 'domain.forget']) {
    const refused = await browser.send(path, task, patterns)
    assert.deepEqual([refused.statusCode, /choose fewer at a time/.test(refused.body)], [422, true])
  }
  assert.equal(await verdicts(), 0)
  const few = patterns.slice(0, 20)
  clock.advance(5 * 60 * 1000 + 1)
  const leaving = await browser.send(path, 'domain.forget', few)
  assert.ok((leadsTo(leaving) ?? assert.fail(leaving.body)).length < 4800)
  const asked = await browser.arrive(await browser.comeBack(leaving))
  assert.match(asked.body, /Remove: 20 rows/)
  assert.match((await browser.send(path, 'domain.trust', few)).body, new RegExp(saidOf('domain.trust', '20 of 20')))

  // What the next page offers to restore, and is too long for its address, is left out.
  const scope = Array.from({ length: 100 }, (_, index) => `board:${'x'.repeat(80)}:${index}`).join(' ')
  const client = await stage.makeClient()
  await perform(context, 'client.approve-scopes', { client_id: client.client_id, scope })
  const url = `/console/clients/${client.client_id}`
  const shown = await browser.open(`${url}?ask=client.approve-scopes`)
  const form = hiddenFields({ body: formOf(shown, 'client.approve-scopes') })
  const done = locationOf(await browser.console.post(url, form))
  assert.ok(done.length < 8192, String(done.length))
  assert.match((await browser.console.get(done)).body, /Scopes approved/)
})

test('a sign-in on the way to an address that is too long leads to the console', async () => {
  const other = new ConsoleBrowser(stage.server)
  const { statusCode, body } = await other.open(`/console/apis/${'x'.repeat(4000)}`)
  assert.deepEqual([statusCode, /<h1>Overview/.test(body)], [200, true], body)
})

function csrfOf(path: string): string {
  return stage.server.context.secrets.digest('csrf', ['console', grantIdIn(browser), path])
}

function leavesOf(field: InputField, above = ''): readonly (readonly [path: string, field: InputField])[] {
  const path = `${above}${field.name}`
  if (field.parts.length === 0) return [[path, field]]
  return field.parts.flatMap((part) => leavesOf(part, `${path}.${field.kind === 'rows' ? '0.' : ''}`))
}

test('CON-10: no page repeats a secret that was typed, whatever else is wrong with the form', async () => {
  const { context } = stage.server
  const keys = { keys: [{ kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }] }
  const client = await perform(context, 'client.create', { client_name: 'Keys', jwks: keys })
  const shared = await perform(context, 'client.create', { client_name: 'Shared', grant_types: ['client_credentials'] })
  await perform(context, 'provider.create', { ...PROVIDER, provider_id: 'globex', client_secret: 's3cr3t' })
  const secret = 'zq7x\u00a0zq7y'
  const privately = JSON.stringify({ keys: [{ ...keys.keys[0], d: secret }] })
  const sent: string[] = []
  for (const { path, forms } of SCREENS)
    for (const form of forms) {
      const leaves = formFields(form).flatMap((field) => leavesOf(field))
      // A name says what a secret is, but for the members of metadata that are about tokens.
      const named = leaves.filter(([name]) => /(?:^|[._])(?:token|secret|password|key)$/.test(name))
      for (const [name, field] of named) assert.ok(field.isSecret, `${form.task}: ${name}`)
      const wrong = leaves.flatMap(([name, { isSecret, kind }]): readonly (readonly [string, string])[] =>
        isSecret ? [[name, secret]] : kind === 'json' ? [[name, privately]] : [],
      )
      if (wrong.length === 0) continue
      const of = form.task === 'client.set-secret' ? shared : client
      const url = path.replace('{client_id}', String(of['client_id'])).replace('{provider_id}', 'globex')
      const once = context.random(16).toString('base64url')
      const fields = { csrf: csrfOf(url), task: form.task, asked: '1', once, seen: 'another', name: '' }
      const own = fieldsIn(form).includes('name') ? fields : { ...fields, name: undefined }
      const body = JSON.parse(JSON.stringify({ ...own, ...Object.fromEntries(wrong) })) as Record<string, string>
      const answer = await browser.console.post(url, body)
      assert.ok([409, 422].includes(answer.statusCode), `${form.task}: ${answer.statusCode} ${answer.body}`)
      assert.doesNotMatch(answer.body, /zq7/, form.task)
      sent.push(form.task)
    }
  // As programs print keys, and as JSON that says the member in another way. What has no private key stays.
  const page = `/console/clients/${String(client['client_id'])}`
  const shown = async (jwks: string): Promise<string> => {
    const form = { csrf: csrfOf(page), task: 'client.set-keys', asked: '1', seen: 'another', jwks }
    return (await browser.console.post(page, form)).body
  }
  const others = ["{ keys: [{ d: 'zq7' }] }", 'keys:\n- d: zq7', 'zq7=\n-----END', '{"keys":[{"\\u0064":"zq7"}]}']
  for (const text of [...others, '{"keys":[{"d":"zq7"}],"keys":[]}'])
    assert.doesNotMatch(await shown(text), /zq7/, text)
  assert.match(await shown('{"keys":[{"kid":"zq8"}]}'), /zq8/)
  assert.deepEqual(sent, [
    'client.create',
    'client.set-secret',
    'client.set-keys',
    'provider.create',
    'provider.update',
    'token.inspect',
    'token.revoke',
  ])
})
