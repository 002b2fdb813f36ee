import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as z from 'zod'
import { SCREENS } from '../../src/console/screens.ts'
import {
  asksFirst,
  chosenRows,
  fieldsIn,
  formWords,
  matchingRows,
  needsRecentSignIn,
} from '../../src/console/engine/form.ts'
import { searchAddress } from '../../src/console/search.ts'
import { inputFields } from '../../src/console/engine/input-fields.ts'
import { isReading, pathParameters } from '../../src/admin/task.ts'
import { requireTask, TASKS } from '../../src/admin/tasks.ts'
import { findDisorder } from '../repository/layout.ts'

/** What the table of screens says, against the table of tasks. */

const rows = SCREENS.flatMap((screen) => screen.forms.map((form) => ({ screen, form, task: requireTask(form.task) })))

/** Whether a task creates a secret, deletes, or gives rights. */
function isGrave(name: string): boolean {
  const task = requireTask(name)
  const members = Object.keys(
    (z.toJSONSchema(task.output, { io: 'output' }) as { properties?: object }).properties ?? {},
  )
  const hasSecret = members.some((member) =>
    /^(token|link|client_secret|secret|registration_access_token|initial_access_token)$/.test(member),
  )
  // To test a provider changes nothing, and to disable it takes rights away.
  const givesRights = /^(role|admin|provider|key|delegate)\./.test(name) && !/^provider\.(test|disable)$/.test(name)
  // What clients may do: a scope for approved clients alone can become one for all clients.
  const opens = /^(api\.update|client\.(approve-scopes|set-rules|update|adopt)|installation\.install)$/.test(name)
  return opens || hasSecret || task.method === 'DELETE' || givesRights
}

test('CON-15: each screen reads tasks that only read, with the members of its path', () => {
  for (const { path, reads, filters } of SCREENS) {
    assert.ok(Object.keys(reads).length <= 7, `${path} reads more than seven tasks`)
    for (const { task: name } of Object.values(reads)) {
      const task = requireTask(name)
      assert.deepEqual([isReading(task), task.method], [true, 'GET'], `${path}: ${name}`)
      for (const parameter of pathParameters(task)) assert.ok(path.includes(`{${parameter}}`), `${path}: ${name}`)
    }
    const [first] = Object.values(reads)
    assert.equal(first === undefined ? 0 : inputFields(requireTask(first.task), filters).length, filters.length, path)
  }
})

test('CON-15: each form has what its task needs from the path, the rows and its fields, and asks first where that cannot be undone', () => {
  for (const { screen, form, task } of rows) {
    const where = `${screen.path}: ${form.task}`
    const required = (z.toJSONSchema(task.input, { io: 'input' }) as { required?: readonly string[] }).required ?? []
    const given = [...screen.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    const words = formWords(form)
    const { secret, undo: usual } = requireTask(form.task)
    const { undo: way = usual } = form
    const { warning } = words
    const known = [...given, chosenRows(form)?.member, ...fieldsIn(form)]
    assert.deepEqual(
      required.filter((name) => !known.includes(name)),
      [],
      where,
    )
    if (isGrave(form.task)) assert.ok(needsRecentSignIn(form), where)
    if (way === undefined && warning === undefined)
      assert.ok(asksFirst(form) || isReading(task) || /enable$|test$/.test(form.task), where)
    if (typeof way === 'string' && way !== form.task) {
      const undo = screen.forms.find((one) => one.task === way)
      assert.deepEqual(
        [undo && chosenRows(undo)?.member, undo && asksFirst(undo)],
        [chosenRows(form)?.member, false],
        `${where} is undone by a form of the screen, at once`,
      )
    }
    if (secret !== undefined) assert.ok(secret.member in task.output.shape, where)
  }
})

/** The nouns that have screens for all that can be done with them. */
const WHOLE_NOUNS: readonly string[] = ['api', 'client', 'provider']
/** Members without a field: what a scope requires is beside the scope, and so are its texts. */
const WITHOUT_FIELD: readonly string[] = ['create', 'update'].flatMap((verb) => [
  `api.${verb} step_up`,
  `api.${verb} texts`,
])

test('each task that changes an API, a client or a provider is a form, with a field for each of its members', () => {
  const isWhole = (name: string): boolean => WHOLE_NOUNS.includes(name.split('.', 1)[0] ?? '')
  const changing = TASKS.filter((task) => !isReading(task) && isWhole(task.name)).map(({ name }) => name)
  const offered = rows.filter(({ form }) => isWhole(form.task))
  assert.deepEqual(
    changing.filter((name) => !offered.some(({ form }) => form.task === name)),
    [],
  )
  const missing = changing.flatMap((name) => {
    const own = offered.filter(({ form }) => form.task === name)
    // The members of a form that is about what the filters find are the filters.
    const members = own.some(({ form }) => matchingRows(form) !== undefined)
      ? []
      : Object.keys(requireTask(name).input.shape)
    return members
      .filter(
        (member) =>
          !own.some(({ screen, form }) =>
            [...pathParameters(screen), chosenRows(form)?.member, ...fieldsIn(form)].includes(member),
          ),
      )
      .map((member) => `${name} ${member}`)
  })
  assert.deepEqual(missing, WITHOUT_FIELD)
})

test('CON-15: a screen that imports the store, the endpoints or HTTP is found', () => {
  const planted = [
    '../../store/nouns.ts',
    '../../endpoints/paths.ts',
    '../../http/reply.ts',
    '../../clients/find-client.ts',
  ].map((target) => ({
    path: 'src/console/screens/planted.ts',
    text: `import { x } from '${target}'\nexport const y = x\n`,
  }))
  const faults = planted.map((file) => findDisorder([file]).filter((line) => line.includes('may not import')).length)
  assert.deepEqual(faults, [1, 1, 1, 0])
})

test('a search leads to the object of an id, and otherwise to all that has the text, however it looks', () => {
  const id = '01a200f2d7f1OGrZM2nOk7CWgjISwIxFbQ'
  const cases: readonly (readonly [text: string, address: string, within?: string])[] = [
    [`gus_${id}`, `/console/users/gus_${id}`],
    [` gci_${id} `, `/console/clients/gci_${id}`],
    [id, `/console/grants/${id}`],
    ['https://app.example/client.json', '/console/clients?host=app.example'],
    ['http://127.0.0.1:8080/cb', '/console/clients?host=127.0.0.1'],
    ['zed://oauth/callback', '/console/clients?host=zed%3A'],
    ['', '/console'],
    ...['ada@acme', 'claude.ai', '127.0.0.1', 'localhost', 'Cursor', 'weber', 'Weber', '"><script>'].flatMap(
      (text): [string, string, string?][] => {
        const query = new URLSearchParams({ text }).toString()
        return [
          [text, `/console/found?${query}`],
          [text, `/console/organizations/globex/found?${query}`, 'globex'],
        ]
      },
    ),
    [`gus_${id}`, `/console/organizations/globex/grants?user_id=gus_${id}`, 'globex'],
    [`gci_${id}`, `/console/organizations/globex/grants?client_id=gci_${id}`, 'globex'],
    [id, `/console/organizations/globex/grants/${id}`, 'globex'],
  ]
  // The reference of an error page.
  assert.equal(searchAddress('aB3dE_x9-0000002k', undefined), '/console/audit?request_id=aB3dE_x9-0000002k')
  for (const [text, address, within] of cases) assert.equal(searchAddress(text, within), address, text)
})
