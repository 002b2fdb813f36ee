import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { describeTasks } from '../../../src/admin/openapi.ts'
import { pathParameters, placeOf, type Task } from '../../../src/admin/task.ts'
import { TASKS } from '../../../src/admin/tasks.ts'
import { OPENAPI_PATH } from '../../../src/http/admin/app.ts'
import { ADMINISTRATION_PAGE, administrationPage } from './routes-document.ts'
import { bearer, openAdminServer } from '../../support/admin-server.ts'

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  /** Absent: that of the document. */
  readonly security?: Document['security']
  readonly parameters: readonly { name: string; in: string; required: boolean; schema: object }[]
  readonly requestBody?: {
    readonly required: boolean
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>
  }
  readonly responses: Readonly<Record<string, object>>
}

interface Schema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: unknown
}

interface Document {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string }
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>
}

const DOCUMENT = JSON.parse(JSON.stringify(describeTasks('1.2.3'))) as unknown as Document

test('OpenAPI: the document has the members that version 3.1 requires, and names the server', () => {
  assert.equal(DOCUMENT.openapi, '3.1.0')
  assert.equal(DOCUMENT.info.version, '1.2.3')
  assert.ok(DOCUMENT.info.title !== '')
  const operations = Object.values(DOCUMENT.paths).flatMap((path) => Object.values(path))
  for (const requirement of [DOCUMENT, ...operations].flatMap(({ security = [] }) => security)) {
    for (const scheme of Object.keys(requirement)) assert.ok(DOCUMENT.components['securitySchemes']?.[scheme])
  }
})

test('OpenAPI: the document has every route of the table, and no other', () => {
  const described = Object.entries(DOCUMENT.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { operationId }]) => `${operationId} ${method.toUpperCase()} ${path}`),
  )
  assert.deepEqual(described.toSorted(), TASKS.map(({ name, method, path }) => `${name} ${method} ${path}`).toSorted())
  assert.equal(new Set(TASKS.map(({ name }) => name)).size, TASKS.length, 'names are unique')
})

test('OpenAPI: each route has every parameter and member of its row, with its place and whether it is required', () => {
  for (const task of TASKS) {
    const { parameters, requestBody } = operationOf(task)
    const body = requestBody?.content['application/json']?.schema
    const described = [
      ...parameters.map((one) => `${one.in} ${one.name} ${one.required}`),
      ...Object.keys(body?.properties ?? {}).map((name) => `body ${name} ${body?.required?.includes(name) === true}`),
    ]
    const members = Object.entries(task.input.shape).map(([name, schema]) => {
      const isNeeded = !schema.safeParse(undefined).success
      return `${placeOf(task, name)} ${name} ${isNeeded}`
    })
    assert.deepEqual(described.toSorted(), members.toSorted(), task.name)
    for (const name of pathParameters(task)) assert.ok(name in task.input.shape, `${task.name} has no member ${name}`)
    if (body !== undefined) assert.equal(body.additionalProperties, false, task.name)
  }
})

test('OpenAPI: each route has its answer and its error responses, and every reference can be resolved', () => {
  for (const task of TASKS) {
    const statuses = Object.keys(operationOf(task).responses)
    assert.ok(statuses.includes(task.creates ? '201' : '200'), task.name)
    for (const status of ['401', '403', '404', '422', '429', '503']) assert.ok(statuses.includes(status), task.name)
  }
  const references = JSON.stringify(DOCUMENT).matchAll(/"\$ref":"([^"]*)"/g)
  const targets = new Set([...references].map(([, target]) => target ?? ''))
  assert.ok(targets.size > 5)
  for (const target of targets) {
    const [root, ...names] = target.split('/')
    assert.equal(root, '#')
    const found = names.reduce<unknown>((part, name) => (part as Record<string, unknown> | undefined)?.[name], DOCUMENT)
    assert.equal(typeof found, 'object', `${target} leads nowhere`)
  }
})

test('OpenAPI: a list has at most `limit` rows and the start of the next page', () => {
  const lists = TASKS.filter(({ input }) => 'before' in input.shape)
  assert.ok(lists.length > 1)
  for (const task of lists) {
    assert.ok('limit' in task.input.shape, task.name)
    assert.ok('next' in task.output.shape, task.name)
  }
})

test('OpenAPI: the document is served to all administrators and to no other caller', async (t) => {
  const stage = await openAdminServer(t)
  const { server } = stage
  const organizationId = await stage.makeOrganization()
  for (const { token } of [await stage.issue('read'), await stage.issue('read', organizationId)]) {
    const answer = await server.injectAdmin({ url: OPENAPI_PATH, ...bearer(token) })
    assert.equal(answer.statusCode, 200)
    assert.deepEqual(answer.json(), JSON.parse(JSON.stringify(describeTasks(server.context.version))))
  }
  assert.equal((await server.injectAdmin({ url: OPENAPI_PATH })).statusCode, 401)
  const { token } = await stage.issue('write')
  assert.equal((await server.injectAdmin({ method: 'POST', url: OPENAPI_PATH, ...bearer(token) })).statusCode, 405)
})

test('OpenAPI: each operation accepts the credentials of its security scheme with its access, and refuses all others', async (t) => {
  const stage = await openAdminServer(t)
  const kinds = await Promise.all(
    (['read', 'support', 'users', 'write', 'metrics', 'delegate'] as const).map(async (access) => ({
      access,
      token: (await stage.issue(access)).token,
    })),
  )
  const schemes: Readonly<Record<string, string>> = { gad_: 'admin', gde_: 'delegate' }
  const described = DOCUMENT.components['securitySchemes'] ?? {}
  for (const [prefix, scheme] of Object.entries(schemes))
    assert.ok(JSON.stringify(described[scheme]).includes(`Bearer ${prefix}…`), scheme)
  for (const task of TASKS) {
    const { description, security = DOCUMENT.security } = operationOf(task)
    const allowed = security.flatMap((requirement) => Object.keys(requirement))
    const [, needed = ''] = /with ([\w ]+) access/.exec(description) ?? []
    // No route has this member, so a caller who is accepted gets 422.
    const input = { ...Object.fromEntries(pathParameters(task).map((name) => [name, 'x'])), no_such_member: 'x' }
    for (const { access, token } of kinds) {
      const isIncluded = needed.split(' or ').includes(access)
      const isAccepted = allowed.includes(schemes[token.slice(0, 4)] ?? '') && isIncluded
      const { statusCode } = await stage.perform(task, input, token)
      assert.equal(statusCode, isAccepted ? 422 : 403, `${task.name} with ${access}`)
    }
    assert.equal((await stage.perform(task, input, undefined)).statusCode, 401, task.name)
  }
})

test('docs/administration.md has the routes of the table', () => {
  assert.equal(readFileSync(ADMINISTRATION_PAGE, 'utf8'), administrationPage(), 'Run: npm run docs')
})

function operationOf(task: Task): Operation {
  const operation = DOCUMENT.paths[task.path]?.[task.method.toLowerCase()]
  assert.ok(operation, task.name)
  return operation
}
