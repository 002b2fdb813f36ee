import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Response as Answer } from 'light-my-request'
import { requireTask } from '../../src/admin/tasks.ts'
import {
  asksFirst,
  chosenRows,
  fixedFields,
  matchingRows,
  worksOnce,
  type Form,
} from '../../src/console/engine/form.ts'
import { formFields } from '../../src/console/engine/filling.ts'
import { ConsoleBrowser, filledIn, formOf, giveRole } from '../../tools/console-browser.ts'
import { hiddenFields, locationOf, unescaped } from '../../tools/flow.ts'
import { openAdminServer, type AdminServer } from '../support/admin-server.ts'
import { openMailHost } from '../support/hosts/mail-host.ts'
import { assertStoreUnchanged, dumpStore } from '../support/store/dump.ts'
import { perform, saidOf, type Members } from '../support/tasks.ts'
import { declareFormApi, FORMS, makeFormObjects, type FormOnScreen } from './form-objects.ts'
import { leavesIn, openForm, type Fields, type OpenForm } from './open-form.ts'

/**
 * Each form of each screen, as a browser without script sends it. With each fault it is refused and changes nothing; without one it does
 * what its task does, once, in the name of the person; and what the next page offers as undo takes that back.
 */

const ends: (() => unknown)[] = []
const files = { after: (end: unknown) => void ends.push(end as () => unknown) }
let stage: AdminServer
let browser: ConsoleBrowser
/** Of another session of the same person. */
let other: ConsoleBrowser
let actor: string

before(async () => {
  stage = await openAdminServer(files, (await openMailHost(files)).env)
  actor = await giveRole(stage.server)
  await declareFormApi(stage)
  browser = new ConsoleBrowser(stage.server)
  other = new ConsoleBrowser(stage.server)
  for (const one of [browser, other]) await one.open('/console')
})

after(async () => {
  for (const end of ends.toReversed()) await end()
})

/** A request that is refused. `at`: the fields that the page names as wrong, with what was typed. */
interface Fault {
  readonly what: string
  readonly status: number
  readonly body?: Fields
  readonly rows?: readonly string[]
  readonly headers?: Fields
  readonly at?: readonly string[]
}

/** What no page of the session sends, whatever the form is. */
async function foreignFaults({ screen, form, address, body }: OpenForm): Promise<readonly Fault[]> {
  const theirs = hiddenFields({ body: formOf(await other.console.get(address), form.task) })['csrf'] ?? ''
  const elsewhere = screen.path === '/console/keys' ? '/console/token' : '/console/keys'
  const { csrf = '' } = hiddenFields(await browser.console.get(elsewhere))
  const task = FORMS.find((one) => !screen.forms.some((own) => own.task === one.form.task))?.form.task ?? ''
  const fields = formFields(form)
  const parameters = [...screen.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const members = new Set(['organization_id', 'dry_run', 'more', 'constructor', '__proto__', ...parameters])
  const unknown = [
    ...[...members].filter((name) => !fields.some((field) => field.name === name)),
    ...fields.flatMap(({ name, kind }) =>
      kind === 'rows'
        ? [name, `${name}.name`, `${name}.0.more`, `${name}.1000.name`]
        : kind === 'group'
          ? [name, `${name}.more`]
          : [`${name}.0.x`],
    ),
  ]
  return [
    { what: 'without the token of its page', body: without(body, 'csrf') },
    { what: 'with the token of another page', body: { ...body, csrf } },
    { what: 'with the token of another session', body: { ...body, csrf: theirs } },
    { what: 'from another site', headers: { 'sec-fetch-site': 'cross-site' } },
    { what: 'from another host of the site', headers: { 'sec-fetch-site': 'same-site' } },
    { what: 'from no page', headers: { 'sec-fetch-site': 'none' } },
    { what: 'from another port', headers: { origin: 'http://localhost:8080' } },
    { what: 'from an origin that is hidden', headers: { origin: 'null' } },
    { what: 'for a task of another screen', body: { ...body, task } },
    ...unknown.map((name) => ({ what: `with ${name}`, body: { ...body, [name]: 'x' } })),
  ].map((fault) => ({ status: 403, ...fault }))
}

const without = (body: Fields, name: string): Fields =>
  Object.fromEntries(Object.entries(body).filter(([one]) => one !== name))

/** What a page of the session sends for other rows, late, or without what the person confirms. */
function ownFaults({ form, body, row }: OpenForm): readonly Fault[] {
  const [isOnce, isEdit, asks] = [worksOnce(form), form.kind === 'edit', asksFirst(form)]
  const [wrong, secrets] = [wrongFields(form), secretFields(form)]
  const faults: readonly (Fault | false)[] = [
    row !== undefined && { what: 'without a row', status: 422, rows: [] },
    row !== undefined && { what: 'with 51 rows', status: 422, rows: manyRows(51) },
    row !== undefined && { what: 'with an absent row', status: isEdit ? 409 : 404, rows: [anotherId(row)] },
    ...['', '12'].map(
      (typed) =>
        row !== undefined &&
        asks && {
          what: `with 11 rows and the number "${typed}"`,
          status: 422,
          rows: manyRows(11),
          body: { ...body, typed },
          at: ['typed'],
        },
    ),
    asks && { what: 'that did not ask', status: 303, body: without(body, 'asked') },
    isOnce && { what: 'without what works once', status: 409, body: without(body, 'once') },
    isOnce && { what: 'with a guess of it', status: 409, body: { ...body, once: 'x' } },
    isEdit && { what: 'without what it showed', status: 409, body: without(body, 'seen') },
    isEdit && { what: 'with what another one showed', status: 409, body: { ...body, seen: 'x'.repeat(43) } },
    matchingRows(form) !== undefined && { what: 'for more than match', status: 422, body: { ...body, typed: '2' } },
    hasAny(wrong) && { what: 'with wrong fields', status: 422, body: { ...body, ...wrong }, at: Object.keys(wrong) },
    hasAny(secrets) && { what: 'with a wrong secret', status: 422, body: { ...body, ...wrong, ...secrets } },
  ]
  return faults.filter((fault) => fault !== false)
}

const hasAny = (fields: Fields): boolean => Object.keys(fields).length > 0
const manyRows = (length: number): readonly string[] => Array.from({ length }, (_, index) => `row-${index}`)
const anotherId = (id: string): string => id.replace(/.$/, (last) => (last === 'A' ? 'E' : 'A'))

const NO_CHOICE = 'nothing-of-these'

/** In each field what its kind or its length does not take. */
function wrongFields(form: Form): Fields {
  const chosen = fixedFields(form)
  return Object.fromEntries(
    leavesIn(form).flatMap(([at, { kind, maxLength, isSecret }]): readonly (readonly [string, string])[] => {
      if (isSecret || chosen.includes(at)) return []
      if (kind === 'number') return [[at, 'x']]
      if (kind === 'choice' || kind === 'boxes') return [[at, NO_CHOICE]]
      if (kind === 'json') return [[at, '{"keys":"x"}']]
      return kind === 'text' && maxLength !== undefined ? [[at, 'x'.repeat(maxLength + 1)]] : []
    }),
  )
}

/** So long that no random id or token of a page has it by chance. */
const MARK = 'neverShownAnywhere'
const SECRET = `${MARK}\u00a0${MARK}`
const PRIVATE_KEY = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', d: SECRET }

/** A text that no page may repeat in each field that has a secret, or may have one. */
function secretFields(form: Form): Fields {
  return Object.fromEntries(
    leavesIn(form).flatMap(([at, { isSecret, kind }]): readonly (readonly [string, string])[] => {
      // A name says what a secret is, but for the members of metadata that are about tokens.
      assert.ok(isSecret || !/(?:^|[._])(?:token|secret|password|key)$/.test(at), `${form.task}: ${at}`)
      return isSecret ? [[at, SECRET]] : kind === 'json' ? [[at, JSON.stringify({ keys: [PRIVATE_KEY] })]] : []
    }),
  )
}

function send(
  { action, body: own, row }: OpenForm,
  { body = own, rows = row === undefined ? [] : [row], headers }: Partial<Fault> = {},
): Promise<Answer> {
  const form = new URLSearchParams(without(body, 'row'))
  for (const one of rows) form.append('row', one)
  return browser.console.post(action, form, headers)
}

/** What is wrong with the answers to all requests that must be refused, each with another value of what works once. */
async function findAccepted(opened: OpenForm): Promise<readonly string[]> {
  const { form, action, body } = opened
  const wrong: string[] = []
  for (const fault of [...(await foreignFaults(opened)), ...ownFaults(opened)]) {
    const sent = fault.body ?? body
    const once = stage.server.context.random(16).toString('base64url')
    const answer = await send(opened, { ...fault, body: sent['once'] === body['once'] ? { ...sent, once } : sent })
    const shown = fault.at === undefined ? {} : filledIn(answer, form.task)
    const lost = (fault.at ?? []).filter((at) => {
      const isKept = at === 'typed' || sent[at] === NO_CHOICE || shown[at] === sent[at]
      return !isKept || !answer.body.includes(`id="error-${at}"`)
    })
    if (answer.statusCode !== fault.status || lost.length > 0 || answer.body.includes(MARK))
      wrong.push(`${fault.what}: ${answer.statusCode}, not ${fault.status} ${lost.join(' ')}`)
  }
  const query = new URLSearchParams({ ...body, ask: form.task }).toString()
  const { statusCode } = await browser.console.get(`${action.split('?', 1)[0]}?${query}`)
  return statusCode === 200 ? wrong : [...wrong, `in an address: ${statusCode}`]
}

const SENT_BEFORE = /This form was sent before|This was done already/

/** Sends the form, twice at once if it works once, and beside rows that it leaves alone if it takes several. Returns the next page. */
async function performForm(opened: OpenForm): Promise<Answer> {
  const { screen, form, row } = opened
  const { member, isBulk = false } = chosenRows(form) ?? {}
  const { already } = requireTask(form.task)
  const known =
    isBulk && already !== undefined && !screen.path.includes('{') ? await makeFormObjects(stage, screen, form) : {}
  const earlier = Object.entries(known).filter(([name]) => name === member)
  for (const one of earlier) await perform(stage.server.context, form.task, Object.fromEntries([one]))
  const others = earlier.map(([, id]) => id)
  const rows = row === undefined ? [] : isBulk ? [row, anotherId(row), ...others, row] : [row]
  const answers = await Promise.all(Array.from({ length: worksOnce(form) ? 2 : 1 }, () => send(opened, { rows })))
  const [done = assert.fail(), ...late] = answers.toSorted((a, b) => a.statusCode - b.statusCode)
  assert.ok(done.statusCode < 400, done.body)
  for (const { statusCode, body } of late) assert.deepEqual([statusCode, SENT_BEFORE.test(body)], [409, true])
  const secret = /class="secret">\s*<code>([^<]+)</.exec(done.body)?.[1]?.slice(-40)
  if (secret !== undefined) {
    assert.deepEqual([done.headers['cache-control'], done.headers.location], ['no-store', undefined])
    assert.ok(!late.some(({ body }) => body.includes(secret)))
    secrets.set(form.task, secret)
  }
  const page = done.statusCode === 303 ? await browser.console.get(locationOf(done)) : done
  if (isBulk)
    assert.match(page.body, new RegExp(others.length > 0 ? saidOf(form.task, '1', 1) : saidOf(form.task, '1 of 2')))
  return page
}

/** Sends the form once more, as after a step back in the browser. */
async function repeatForm(opened: OpenForm): Promise<void> {
  const { task, kind } = opened.form
  const { already, words } = requireTask(task)
  if (kind === 'edit')
    for (const body of [opened.body, opened.shown]) {
      const late = await assertStoreUnchanged(stage.server, () => send(opened, { body }), task)
      assert.deepEqual([late.statusCode, /This was changed after the form was shown/.test(late.body)], [409, true])
    }
  if (kind !== 'change' || already === undefined) return
  const again = await assertStoreUnchanged(stage.server, () => send(opened), task)
  const { body } = await browser.console.get(locationOf(again))
  assert.match(body, new RegExp(words.already ?? 'Unchanged'))
  assert.doesNotMatch(body, />\s*Undo/)
}

/** Presses what the page offers as undo: the object is as it was, and the form is there for it again. false: it offers nothing. */
async function undoForm({ form, address, action, asked, row, ...opened }: OpenForm, page: Answer): Promise<boolean> {
  const notice = { body: page.body.slice(page.body.indexOf('class="notice')) }
  const [, task] = /name="task" value="([^"]+)">\s*Undo\s*</.exec(notice.body) ?? []
  if (task === undefined) return false
  // A browser sends each of the fields that have one name.
  const hidden = formOf(notice, task).matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)
  const back = new URLSearchParams({ task })
  for (const [, name = '', value = ''] of hidden) back.append(name, unescaped(value))
  assert.deepEqual(back.getAll('row'), row === undefined ? [] : [row])
  assert.equal((await browser.console.post(action, back)).statusCode, 303)
  if (form.kind === 'edit')
    assert.deepEqual(filledIn(await browser.console.get(address), form.task), filledIn(asked, form.task))
  else {
    const again = await send({ form, address, action, asked, row, ...opened })
    const { body } = await browser.console.get(locationOf(again))
    assert.doesNotMatch(body, new RegExp(requireTask(form.task).words.already ?? '^$'))
  }
  return true
}

/** All sessions end last. */
const order = ({ form }: FormOnScreen): number => (form.task === 'token.revoke-all' ? 1 : 0)

const [silent, undone, secrets] = [new Set<string>(), new Set<string>(), new Map<string, string>()]

for (const one of FORMS.toSorted((a, b) => order(a) - order(b)))
  test(`CON-06, CON-09, CON-10, CON-15: ${one.form.task} at ${one.screen.path} with each fault, and without one`, async () => {
    const { task } = one.form
    const opened = await openForm(stage, browser, one)
    const wrong = await assertStoreUnchanged(stage.server, () => findAccepted(opened), task)
    assert.deepEqual(wrong, [])
    const earlier = await newestEvent()
    const page = await performForm(opened)
    const event = await newestEvent()
    if (event?.['id'] === earlier?.['id']) silent.add(task)
    else assert.equal(event?.['actor'], actor, 'The audit names the person.')
    await repeatForm(opened)
    if (await undoForm(opened, page)) undone.add(task)
  })

async function newestEvent(): Promise<Members | undefined> {
  const { events } = await perform<{ events: readonly Members[] }>(stage.server.context, 'audit.list', { limit: 1 })
  return events[0]
}

test('what the forms did is in the audit, what can be undone is offered so, and a secret is on the page of its form alone', () => {
  assert.deepEqual([...silent], SILENT)
  assert.deepEqual([...undone], UNDONE)
  assert.deepEqual([...secrets.keys()], SHOWN_ONCE)
  const kept = [stage.server.log(), JSON.stringify(dumpStore(stage.server))]
  for (const [task, secret] of secrets) assert.ok(!kept.some((text) => text.includes(secret)), task)
})

/** They change nothing, or had nothing to change. */
const SILENT = ['user.end-sessions', 'provider.test', 'audit.verify', 'token.inspect', 'mail.test']

/** The next page takes them back at once. The undo of others asks first. */
const UNDONE = [
  'client.verify',
  'client.unverify',
  'client.disable',
  'client.enable',
  'client.approve-scopes',
  'user.disable',
  'user.set-email',
  'user.update',
  'group.update',
  'organization-group.update',
  'access-rule.update',
  'organization-access-rule.update',
  'organization.rename',
  'organization.disable',
  'member.disable',
  'installation.disable',
  'domain.trust',
  'domain.block',
]

const SHOWN_ONCE = [
  'client.create',
  'client.rotate-secret',
  'client.create-registration-token',
  'user.create-link',
  'api.create-credentials',
  'admin.create',
  'delegate.create-credentials',
  'initial-token.create',
]
