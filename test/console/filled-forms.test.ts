import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { pathParameters } from '../../src/admin/task.ts'
import { requireTask } from '../../src/admin/tasks.ts'
import { filledTexts } from '../../src/console/engine/filling.ts'
import { chosenRows, fieldsIn, type Texts } from '../../src/console/engine/form.ts'
import { SCREENS } from '../../src/console/screens.ts'
import { type ConsoleBrowser, filledIn, formOf, openConsole } from '../../tools/console-browser.ts'
import { hiddenFields } from '../../tools/flow.ts'
import { openAdminServer, type AdminServer } from '../support/admin-server.ts'
import { perform as performTask, type Members } from '../support/tasks.ts'
import { declareFormApi, FORMS } from './form-objects.ts'
import { openForm, type OpenForm } from './open-form.ts'

/** Each form that shows what an object has: what is left alone, what is emptied, and what another person changes meanwhile. */

const ends: (() => unknown)[] = []
let stage: AdminServer
let browser: ConsoleBrowser

before(async () => {
  stage = await openAdminServer({ after: (end) => void ends.push(end as () => unknown) })
  browser = await openConsole(stage.server)
  await declareFormApi(stage)
})

after(async () => {
  for (const end of ends.toReversed()) await end()
})

const perform = (name: string, input: Members): Promise<Members> => performTask(stage.server.context, name, input)

/** The forms that show what an object has. */
const EDITS = FORMS.filter(({ form }) => form.kind === 'edit')

/** What the fields of a form would have now, by the tasks that its screen reads. */
async function readTexts({ screen, form, objects }: OpenForm): Promise<Texts> {
  const { path, reads } = screen
  const place = { path, parameters: objects, query: {}, now: stage.server.clock.now() }
  const answers = Object.entries(reads).map(async ([name, { task, input }]) => {
    const own = pathParameters(requireTask(task)).map((one) => [one, objects[one]])
    return [name, await perform(task, { ...input(place), ...Object.fromEntries(own) })] as const
  })
  const subject = objects[chosenRows(form)?.member ?? '']
  return filledTexts(form, Object.fromEntries(await Promise.all(answers)), subject) ?? {}
}

const isNone = (text = ''): boolean => text === '' || text === 'false'
/** Boxes that are not ticked are not sent, and an unticked flag is as one that was never set. */
const plain = (texts: Texts): Texts =>
  Object.fromEntries(
    Object.entries(texts)
      .filter(([, text]) => !isNone(text))
      .map(([path, text]) => [path, text === 'on' ? 'true' : text]),
  )

/** Fields that have no empty value, or that others need, as the code grant needs redirect URIs: the form says so. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  'user.set-email': ['email'],
  'group.update': ['name'],
  'organization-group.update': ['name'],
  'organization.rename': ['name'],
  'client.update': ['client_name', 'redirect_uris', 'grant_types'],
  'client.set-keys': ['jwks'],
  'api.update': [
    ...['scopes.0', 'scopes.1'].flatMap((row) =>
      ['name', 'sentence.default', 'granted_to'].map((part) => `${row}.${part}`),
    ),
    'scopes.0.step_up.level',
  ],
  'provider.update': ['name', 'client_id', 'scope', 'domains', 'group_days', 'assertion_clients', 'assertion_apis'],
}

/** What has no meaning without another field, and ends with it. */
const WITH: Texts = { backchannel_logout_session_required: 'backchannel_logout_uri' }

/** They replace a secret, which is never shown, and what the person chooses in the form itself. */
const UNFILLED = ['client.set-secret', 'installation.install']

test('CON-35: each form that changes or replaces what there is shows it, and only such a form restores', () => {
  for (const { forms, path } of SCREENS)
    for (const form of forms) {
      const isFilled = form.kind === 'edit'
      const isChange = /^P(ATCH|UT)$/.test(requireTask(form.task).method) && fieldsIn(form).length > 0
      assert.ok(isFilled || !isChange || UNFILLED.includes(form.task), `${path} ${form.task} is not filled`)
      assert.ok(isFilled || requireTask(form.task).undo !== form.task, `${path} ${form.task} restores nothing`)
    }
  assert.ok(EDITS.length >= 9, String(EDITS.length))
})

for (const one of EDITS) {
  const { task } = one.form
  const where = `${task} at ${one.screen.path}`

  test(`CON-35: what a person leaves alone in the form of ${where} stays, and what is emptied is empty or refused`, async () => {
    let opened = await openForm(stage, browser, one)
    const first = plain(await readTexts(opened))
    const own = Object.entries(plain(opened.shown)).filter(([path]) => path in first)
    assert.deepEqual(Object.fromEntries(own), first, 'The form shows all that there is.')
    for (const emptied of [undefined, ...Object.keys(first)]) {
      opened = await openForm(stage, browser, one)
      const { asked, shown } = opened
      const had = plain(await readTexts(opened))
      // A choice that has a value cannot be sent without one.
      const choice = new RegExp(
        `<(?:select|input\\s+type="radio")\\s+name="${emptied ?? ' '}"[^]*?</(?:select|fieldset)>`,
      )
      const [shownChoice] = choice.exec(formOf(asked, task)) ?? []
      if (shownChoice !== undefined && !shownChoice.includes('value=""')) continue
      const answer = await browser.press(asked, task, { ...shown, ...(emptied !== undefined && { [emptied]: '' }) })
      const isRefused = answer.statusCode >= 400
      const { [emptied ?? '']: left, ...others } = plain(await readTexts(opened))
      const at = `${emptied} (${answer.statusCode})`
      const kept = Object.entries(had).filter(([path]) => path !== emptied && (WITH[path] ?? ' ') !== emptied)
      assert.deepEqual(others, Object.fromEntries(kept), at)
      assert.equal(isRefused, emptied !== undefined && NEEDED[task]?.includes(emptied) === true, at)
      if (isRefused) assert.match(answer.body, /class="error"|role="alert"/, at)
      else if (emptied !== undefined) assert.ok(isNone(left), `${at} is still ${left}`)
    }
  })

  test(`CON-35: of two changes by the form of ${where} only one succeeds, also between the comparison and the task`, async () => {
    const opened = await openForm(stage, browser, one)
    const { asked, body } = opened
    const { context } = stage.server
    const { clockCheck } = context
    let between: Texts | undefined
    // Asked when a task begins that changes something.
    const databaseNow = async () => {
      Object.assign(context, { clockCheck })
      assert.equal((await browser.press(asked, task, body)).statusCode, 200)
      between = await readTexts(opened)
      return clockCheck.databaseNow()
    }
    Object.assign(context, { clockCheck: { ...clockCheck, databaseNow } })
    const refused = await browser.press(asked, task, body)
    assert.deepEqual([refused.statusCode, /at the same time/.test(refused.body)], [409, true])
    assert.deepEqual(await readTexts(opened), between)
    // The form has what was typed, and can be sent again.
    assert.equal((await browser.press(refused, task, filledIn(refused, task))).statusCode, 200)
  })
}

test('CON-35: a role that another person gave or ended after the form was shown is noticed, and so is a change before an undo', async () => {
  const { user_id: id } = await perform('user.create', { email: stage.anEmail() })
  const path = `/console/users/${String(id)}`
  const role = async () => (await perform('user.show', { user_id: id }))['role'] as Members | null
  const first = await browser.open(`${path}?ask=role.set`)
  await perform('role.set', { user_id: id, access: 'read' })
  const given = await browser.press(first, 'role.set', { access: 'write' })
  assert.deepEqual([given.statusCode, (await role())?.['access']], [409, 'read'])
  await perform('role.remove', { user_id: id })
  const ended = await browser.press(given, 'role.set', { access: 'write' })
  assert.deepEqual([ended.statusCode, await role()], [409, null])
  assert.equal((await browser.press(ended, 'role.set', { access: 'write' })).statusCode, 200)
  assert.equal((await role())?.['access'], 'write')
  // What is not read is not compared: two rows, or a page of the list that there is not.
  const roles = '/console/roles'
  const asked = await browser.open(`${roles}?${new URLSearchParams({ ask: 'role.set', row: String(id) }).toString()}`)
  const body = formOf(asked, 'role.set')
  const sent = new URLSearchParams({ ...hiddenFields({ body }), ...filledIn(asked, 'role.set'), task: 'role.set' })
  sent.set('access', 'read')
  sent.delete('seen')
  const unread = await browser.console.post(`${roles}?before=%00`, new URLSearchParams(sent))
  sent.append('row', String((await perform('user.create', { email: stage.anEmail() }))['user_id']))
  const several = await browser.console.post(roles, sent)
  assert.deepEqual([unread.statusCode >= 400, several.statusCode, (await role())?.['access']], [true, 409, 'write'])

  const named = await browser.press(await browser.open(`${path}?ask=user.update`), 'user.update', { name: 'Grace' })
  const notice = { ...named, body: named.body.slice(named.body.indexOf('class="notice')) } as typeof named
  await perform('user.update', { user_id: id, name: 'Hopper' })
  assert.equal((await browser.press(notice, 'user.update')).statusCode, 409)
  assert.equal((await perform('user.show', { user_id: id }))['name'], 'Hopper')
})

test('the undo of a name brings back that there was none', async () => {
  const { user_id: id } = await perform('user.create', { email: stage.anEmail() })
  const asked = await browser.open(`/console/users/${String(id)}?ask=user.update`)
  const done = await browser.press(asked, 'user.update', { name: 'Grace' })
  const notice = { ...done, body: done.body.slice(done.body.indexOf('class="notice')) } as typeof done
  await browser.press(notice, 'user.update', { name: '' })
  assert.equal((await perform('user.show', { user_id: id }))['name'], null)
})
