import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeTasks } from '../../../src/admin/openapi.ts'
import type { Task } from '../../../src/admin/task.ts'
import { TASKS } from '../../../src/admin/tasks.ts'
import type { GroupId } from '../../../src/protocol/access/group.ts'
import { openAdminServer, requestOf, bearer, type AdminServer } from '../../support/admin-server.ts'
import { aGroup } from '../../support/records.ts'
import { type Members } from '../../support/tasks.ts'
import { RULES } from './rules.ts'
import { allowedBy, forbiddenBy, type Schema } from './schema-values.ts'

/** A member of a task's input, as the document describes it. */
interface Described {
  readonly name: string
  readonly place: 'path' | 'query' | 'body'
  readonly schema: Schema
  readonly isRequired: boolean
  readonly example: unknown
}

interface Operation {
  readonly parameters: readonly {
    readonly name: string
    readonly in: 'path' | 'query'
    readonly required: boolean
    readonly schema: Schema
    readonly example?: unknown
  }[]
  readonly requestBody?: { readonly content: { readonly 'application/json': Body } }
}

interface Body {
  readonly schema: Schema & { readonly oneOf?: readonly { readonly required: readonly string[] }[] }
  readonly example: Members
}

const DOCUMENT = JSON.parse(JSON.stringify(describeTasks('1.2.3'))) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

/** The groups that examples name. */
const NAMED_GROUPS = ['finance', 'grafana-admins'] as GroupId[]

test('ADM-11: a value that the OpenAPI document allows, up to its limits, is not rejected as malformed', async (t) => {
  const stage = await openAdminServer(t)
  const fewer = cutWhatIsKnown()
  for (const task of TASKS) {
    const token = await issue(stage, task)
    const described = describe(task)
    const usual = usualInput(task, described)
    for (const { name, place, schema } of described) {
      // No schema can express what makes a password easy to guess.
      const allowed = schema.format === 'password' ? (schema.examples ?? []) : allowedBy(schema)
      for (const value of fewer(place, schema, allowed)) {
        const { statusCode, body } = await stage.perform(task, input(task, usual, name, value), token)
        const isTaken = [200, 201, 404, 409].includes(statusCode)
        assert.ok(isTaken, inWords(task, name, value, body))
      }
    }
  }
})

test('ADM-11: a value that the OpenAPI document forbids is rejected as malformed', async (t) => {
  const stage = await openAdminServer(t)
  const fewer = cutWhatIsKnown()
  for (const task of TASKS) {
    const token = await issue(stage, task)
    const described = describe(task)
    const usual = usualInput(task, described)
    for (const { name, place, schema, isRequired } of described) {
      const faults = forbiddenBy(schema).filter((value) => isFaultyText(schema, place, value))
      for (const value of [...fewer(place, schema, faults), ...(isRequired && place !== 'path' ? [undefined] : [])]) {
        const { statusCode, body } = await stage.perform(task, input(task, usual, name, value), token)
        assert.ok([400, 413, 422].includes(statusCode), inWords(task, name, value, body))
      }
    }
    const { statusCode } = await stage.perform(task, { ...usual, 'no-such-member': 'x' }, token)
    assert.equal(statusCode, 422, `${task.name} with a member that it does not have`)
  }
})

test('OpenAPI: every operation with an input has an example, and the server accepts the example', async (t) => {
  const stage = await openAdminServer(t)
  for (const task of TASKS) {
    const described = describe(task)
    const example = Object.fromEntries(described.map(({ name, example: value }) => [name, value]))
    for (const { name, isRequired } of described) {
      if (isRequired) assert.notEqual(example[name], undefined, `${task.name} has no example of ${name}`)
    }
    const token = await issue(stage, task)
    const unnamed = await stage.perform(task, defined(example), token)
    assert.ok([200, 201, 404, 409].includes(unnamed.statusCode), `${task.name}: ${unnamed.body.slice(0, 300)}`)
    const rule = RULES[task.name]
    if (rule === undefined || unnamed.statusCode < 300 || task.name === 'installation.install') continue
    for (const id of NAMED_GROUPS) await stage.server.context.store.createGroup(aGroup({ id }))
    // The same about what is there; a choice between two names is made by the sample.
    const sample = await rule.sample(stage)
    const chosen = task.exactlyOneOf.filter((name) => !(name in sample))
    const known = Object.fromEntries(Object.entries(defined(example)).filter(([name]) => !chosen.includes(name)))
    delete known['organization_id']
    const answer = await stage.perform(task, { ...known, ...sample }, token)
    assert.equal(answer.statusCode, rule.status, `${task.name}: ${answer.body}`)
  }
})

test('OpenAPI: of two alternative parameters or members, exactly one is required', async (t) => {
  const stage = await openAdminServer(t)
  const token = await issue(stage)
  const choices = TASKS.filter(({ exactlyOneOf }) => exactlyOneOf.length > 0)
  assert.ok(choices.length > 0)
  for (const task of choices) {
    const { schema } = operationOf(task).requestBody?.content['application/json'] ?? assert.fail(task.name)
    assert.deepEqual(
      schema.oneOf,
      task.exactlyOneOf.map((name) => ({ required: [name] })),
    )
    const described = describe(task)
    const all = Object.fromEntries(described.map(({ name, schema: { examples } }) => [name, examples?.[0]]))
    const none = Object.fromEntries(Object.entries(all).filter(([name]) => !task.exactlyOneOf.includes(name)))
    for (const members of [all, none]) {
      assert.equal((await stage.server.injectAdmin({ ...requestOf(task, members), ...bearer(token) })).statusCode, 422)
    }
  }
})

/** One schema serves many operations: all of its values are sent to the first, and to the others one that tells it is there. */
function cutWhatIsKnown(): <Value>(place: string, schema: Schema, values: readonly Value[]) => readonly Value[] {
  const known = new Set<string>()
  return (place, schema, values) => {
    const key = `${place} ${JSON.stringify(schema)}`
    const isKnown = known.has(key)
    known.add(key)
    return isKnown ? values.slice(0, 1) : values
  }
}

function inWords({ name: task }: Task, name: string, value: unknown, answer: string): string {
  return `${task} with ${name} ${JSON.stringify(value)?.slice(0, 100)}: ${answer.slice(0, 300)}`
}

async function issue(stage: AdminServer, task?: Task): Promise<string> {
  return (await stage.issue(task?.access === 'delegate' ? 'delegate' : 'write')).token
}

function operationOf(task: Task): Operation {
  return DOCUMENT.paths[task.path]?.[task.method.toLowerCase()] ?? assert.fail(task.name)
}

function describe(task: Task): readonly Described[] {
  const { parameters, requestBody } = operationOf(task)
  const { schema, example } = requestBody?.content['application/json'] ?? { schema: {}, example: {} }
  const members = Object.entries(schema.properties ?? {}).map(([name, member]) => ({
    name,
    place: 'body' as const,
    schema: member,
    isRequired: schema.required?.includes(name) === true,
    example: example[name],
  }))
  const others = parameters.map((one) => ({ ...one, place: one.in, isRequired: one.required, example: one.example }))
  return [...others, ...members]
}

/** What must be there, and one of what there must be one of. */
function usualInput({ exactlyOneOf }: Task, described: readonly Described[]): Members {
  const needed = described.filter(({ name, isRequired }) => isRequired || name === exactlyOneOf[0])
  return Object.fromEntries(needed.map(({ name, example }) => [name, example]))
}

function input({ exactlyOneOf }: Task, usual: Members, name: string, value: unknown): Members {
  const others = exactlyOneOf.includes(name) ? exactlyOneOf : []
  const kept = Object.entries(usual).filter(([member]) => !others.includes(member))
  return defined({ ...Object.fromEntries(kept), [name]: value })
}

function defined(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

/** In an address everything is text, and a path has no empty segment. */
function isFaultyText({ type }: Schema, place: Described['place'], value: unknown): boolean {
  if (place === 'body') return true
  return type === 'string' ? typeof value === 'string' && (place === 'query' || value !== '') : !isDeepEmpty(value)
}

/** A list without anything in it is no parameter at all. */
function isDeepEmpty(value: unknown): boolean {
  return Array.isArray(value) && (value.length === 0 || value.some((one) => typeof one !== 'string'))
}
