import * as z from 'zod'
import { hasBody, pathParameters, placeOf, type Task } from './task.ts'
import { TASKS } from './tasks.ts'

type Json = Readonly<Record<string, unknown>>

/** The answers that any task may give instead. */
const REFUSALS = {
  '401': 'The token is missing, wrong, expired or revoked.',
  '403': 'The token is good, but not for this.',
  '404': 'What the request is about does not exist.',
  '409': 'The state of things does not allow this now.',
  '413': 'The body has more than 16 KiB.',
  '415': 'The body is not application/json.',
  '422': 'The input is not acceptable; detail names every fault.',
  '429': 'Too many failed attempts from this network.',
  '503': 'The store is busy or gone. Try again as Retry-After says.',
} as const

/** The form of every refusal. docs/errors.md */
const REFUSAL = z.object({
  error: z.string().describe('A word that programs read.'),
  error_description: z.string(),
  detail: z
    .array(
      z.object({
        loc: z.array(z.string()).describe('From the part of the request down: body, limit.'),
        msg: z.string(),
        type: z.string().describe('A stable word.'),
        input: z.union([z.string(), z.number(), z.boolean(), z.null()]),
        ctx: z.record(z.string(), z.unknown()),
      }),
    )
    .optional(),
})

/** The HTTP API of the administration, described from the table of tasks. OpenAPI 3.1.0. */
export function describeTasks(version: string): Json {
  const schemas: Record<string, unknown> = { Refusal: withoutDefinitions(z.toJSONSchema(REFUSAL), {}) }
  const paths: Record<string, Record<string, unknown>> = {}
  for (const task of TASKS) {
    const path = (paths[task.path] ??= {})
    path[task.method.toLowerCase()] = operationOf(task, schemas)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Grantor administration',
      version,
      description:
        'What operators do, over HTTP. Made from the same table as the command line. Unknown members and parameters are refused.',
    },
    servers: [{ url: '/' }],
    security: [{ admin: [] }],
    tags: [...new Set(TASKS.map(nounOf))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        admin: {
          type: 'http',
          scheme: 'bearer',
          description: 'Credentials made with "grantor admin create": read or write, perhaps of one organization.',
        },
      },
      responses: Object.fromEntries(
        Object.entries(REFUSALS).map(([status, description]) => [`Refusal${status}`, refusal(description)]),
      ),
      schemas,
    },
  }
}

function operationOf(task: Task, schemas: Record<string, unknown>): Json {
  const input = withoutDefinitions(z.toJSONSchema(task.input.strict(), { io: 'input' }), schemas)
  const properties = (input['properties'] ?? {}) as Readonly<Record<string, Json>>
  const required = new Set((input['required'] ?? []) as readonly string[])
  const members = Object.keys(properties)
  const inBody = members.filter((member) => placeOf(task, member) === 'body')
  const output = withoutDefinitions(z.toJSONSchema(task.output), schemas)
  const body = {
    type: 'object',
    properties: Object.fromEntries(inBody.map((member) => [member, properties[member]])),
    required: inBody.filter((member) => required.has(member)),
    additionalProperties: false,
  }
  return {
    operationId: task.name,
    summary: task.summary,
    description: `Needs credentials with ${task.access} access.`,
    tags: [nounOf(task)],
    parameters: members
      .filter((member) => !inBody.includes(member))
      .map((member) => parameterOf(task, member, properties[member] ?? {}, required.has(member))),
    ...(inBody.length === 0
      ? {}
      : { requestBody: { required: body.required.length > 0, content: { 'application/json': { schema: body } } } }),
    responses: {
      [task.creates ? '201' : '200']: {
        description: 'Done.',
        content: { 'application/json': { schema: output } },
      },
      ...Object.fromEntries(
        Object.keys(REFUSALS)
          .filter((status) => mayRefuse(task, status))
          .map((status) => [status, { $ref: `#/components/responses/Refusal${status}` }]),
      ),
    },
  }
}

function parameterOf(task: Task, name: string, { description, ...schema }: Json, isRequired: boolean): Json {
  const place = pathParameters(task).includes(name) ? 'path' : 'query'
  return {
    name,
    in: place,
    required: place === 'path' || isRequired,
    ...(description === undefined ? {} : { description }),
    schema,
  }
}

/** Without a body nothing is wrong with it, and a list is never missing. */
function mayRefuse(task: Task, status: string): boolean {
  if (status === '413' || status === '415') return hasBody(task)
  if (status === '409') return task.access === 'write'
  return true
}

/** A schema whose named parts stand among the document's own. */
function withoutDefinitions(schema: Json, schemas: Record<string, unknown>): Json {
  const moved = JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json
  const { $schema: _, $defs: definitions = {}, id, ...rest } = moved
  for (const [name, definition] of Object.entries(definitions as Record<string, Json>)) {
    const { id: __, ...plain } = definition
    schemas[name] ??= plain
  }
  if (typeof id !== 'string') return rest
  schemas[id] ??= rest
  return { $ref: `#/components/schemas/${id}` }
}

function refusal(description: string): Json {
  return { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/Refusal' } } } }
}

function nounOf({ name }: Task): string {
  return name.split('.', 1)[0] ?? name
}
