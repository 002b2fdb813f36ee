import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { requireTask } from '../../src/admin/tasks.ts'
import { asAdministrator, COMMAND_LINE } from '../../src/admin/administrators.ts'
import { runTask } from '../../src/admin/run-task.ts'
import { READ } from '../../src/console/engine/frozen-context.ts'
import { OPERATIONS, READS } from '../../src/store/nouns.ts'
import { hiddenFields, locationOf } from '../../tools/flow.ts'
import { ConsoleBrowser, formOf, leadsTo, openConsole } from '../../tools/console-browser.ts'
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

test('CON-10: a form that was sent before, and is sent once more from the page that says so, creates another record', async () => {
  const path = '/console/organizations?ask=organization.create'
  const [first, second] = [await browser.console.get(path), await browser.console.get(path)]
  await browser.press(first, 'organization.create', { name: 'Twice' })
  const refused = await browser.press(first, 'organization.create', { name: 'Twice' })
  assert.match(refused.body, /This form was sent before, and did nothing now\./)
  for (const page of [refused, second])
    assert.equal((await browser.press(page, 'organization.create', { name: 'Twice' })).statusCode, 200)
  // Without a secret, a person who goes back and types something else sends another form.
  assert.equal((await browser.press(first, 'organization.create', { name: 'Other' })).statusCode, 200)
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
  assert.match((await browser.console.get(done)).body, /<dt>Approved</)
})

test('a sign-in on the way to an address that is too long leads to the console', async () => {
  const other = new ConsoleBrowser(stage.server)
  const { statusCode, body } = await other.open(`/console/apis/${'x'.repeat(4000)}`)
  assert.deepEqual([statusCode, /<h1>Overview/.test(body)], [200, true], body)
})

test('CON-10: no page repeats a private key, however it was typed, and what has none stays', async () => {
  const client = await perform(stage.server.context, 'client.create', {
    client_name: 'Keys',
    grant_types: ['client_credentials'],
  })
  const asked = await browser.open(`/console/clients/${String(client['client_id'])}?ask=client.set-keys`)
  const shown = async (jwks: string) => (await browser.press(asked, 'client.set-keys', { jwks })).body
  const others = [
    "{ keys: [{ d: 'neverShownAnywhere' }] }",
    'keys:\n- d: neverShownAnywhere',
    'neverShownAnywhere=\n-----END',
    '{"keys":[{"\\u0064":"neverShownAnywhere"}]}',
  ]
  for (const text of [...others, '{"keys":[{"d":"neverShownAnywhere"}],"keys":[]}'])
    assert.doesNotMatch(await shown(text), /neverShownAnywhere/, text)
  assert.match(await shown('{"keys":[{"kid":"zq8"}]}'), /zq8/)
})
