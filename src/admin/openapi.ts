import * as z from 'zod'
import { MAXIMA } from '../base/maxima.ts'
import { sayNull } from '../protocol/null-meaning.ts'
import { accessesFor, hasBody, pathParameters, placeOf, type Task } from './task.ts'
import { TASKS } from './tasks.ts'

type Json = Readonly<Record<string, unknown>>

const CHALLENGE = {
  'WWW-Authenticate': header('A Bearer challenge (RFC 6750 §3).', {
    type: 'string',
    pattern: '^Bearer realm="grantor"',
  }),
}
const RETRY = { 'Retry-After': header('Seconds to wait.', { type: 'integer', minimum: 0 }) }

/** The error responses of tasks, by status. */
const REFUSALS = {
  '400': { description: 'The request is malformed, or reached an https issuer over plain HTTP.' },
  '401': { description: 'The token is missing, wrong, expired or revoked.', headers: CHALLENGE },
  '403': { description: 'The token is valid, but not for this task or organization.', headers: CHALLENGE },
  '404': { description: 'A record that the request names does not exist.' },
  '409': { description: 'The current state of the server does not allow the task; detail has the reason.' },
  '413': { description: `The body has more than ${MAXIMA.adminBody.most / 1024} KiB.` },
  '415': { description: 'The body is not application/json.' },
  '422': { description: 'The input is invalid; detail has every problem.' },
  '429': { description: 'This network failed to authenticate too often.', headers: RETRY },
  '431': { description: 'The request has more than 100 header fields.' },
  '500': { description: 'The server failed; its log has the cause.' },
  '503': {
    description:
      'The store or the server is busy or not available. A change may have been made: read before you repeat it.',
    headers: RETRY,
  },
} as const

/** The body of every error response (docs/errors.md). */
const REFUSAL = z.object({
  error: z.string().describe('The error code, for programs.'),
  error_description: z.string(),
  detail: z
    .array(
      z.object({
        loc: z
          .array(z.string())
          .describe('The path to the member; it starts with the part of the request: body, limit.'),
        msg: z.string(),
        type: z.string().describe('The stable name of the problem.'),
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
        'The tasks of operators over HTTP. The command line has the same tasks. Unknown members and parameters are rejected.',
    },
    servers: [{ url: '/' }],
    security: [{ admin: [] }],
    tags: [...new Set(TASKS.map(nounOf))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        admin: bearerOf(
          'The header `Authorization: Bearer gad_…`, with the token of "grantor admin create": read or write, for the server or for one organization.',
        ),
        delegate: bearerOf(
          'The header `Authorization: Bearer gde_…`, with the token of "grantor delegate create-credentials".',
        ),
      },
      responses: Object.fromEntries(
        Object.entries(REFUSALS).map(([status, refusal]) => [
          `Refusal${status}`,
          { ...refusal, content: jsonOf(SCHEMA) },
        ]),
      ),
      schemas,
    },
  }
}

const SCHEMA: Json = { $ref: '#/components/schemas/Refusal' }

function operationOf(task: Task, schemas: Record<string, unknown>): Json {
  const input = withoutDefinitions(z.toJSONSchema(task.input.strict(), { io: 'input', override: sayNull }), schemas)
  const properties = (input['properties'] ?? {}) as Readonly<Record<string, Json>>
  const required = new Set((input['required'] ?? []) as readonly string[])
  const members = Object.keys(properties)
  const output = withoutDefinitions(z.toJSONSchema(task.output), schemas)
  return {
    operationId: task.name,
    summary: task.summary,
    description: `Needs credentials with ${accessesFor(task).join(' or ')} access.${absenceOf(task)}`,
    ...(task.access === 'delegate' ? { security: [{ delegate: [] }] } : {}),
    tags: [nounOf(task)],
    parameters: members
      .filter((member) => placeOf(task, member) !== 'body')
      .map((member) => parameterOf(task, member, properties[member] ?? {}, required.has(member))),
    ...bodyOf(task, properties, required),
    responses: {
      [task.creates ? '201' : '200']: { description: 'Done.', content: jsonOf(output) },
      ...Object.fromEntries(
        Object.keys(REFUSALS)
          .filter((status) => mayRefuse(task, status))
          .map((status) => [status, { $ref: `#/components/responses/Refusal${status}` }]),
      ),
    },
  }
}

/** What a change says of members that are left out, for callers who send JSON. */
export function absenceOf({ method, input }: Task): string {
  const isPartial = method === 'PATCH' && Object.values(input.shape).some((member) => member instanceof z.ZodOptional)
  return isPartial ? ' Members that are absent do not change.' : ''
}

function parameterOf(task: Task, name: string, member: Json, isRequired: boolean): Json {
  const { description, ...schema } = member
  const place = pathParameters(task).includes(name) ? 'path' : 'query'
  return {
    name,
    in: place,
    required: place === 'path' || isRequired,
    ...(description === undefined ? {} : { description }),
    example: exampleOf(member),
    schema,
  }
}

/** The body is required if one of its members is. Its example has every member that may be combined with the others. */
function bodyOf(task: Task, properties: Readonly<Record<string, Json>>, required: ReadonlySet<string>): Json {
  const members = Object.keys(properties).filter((member) => placeOf(task, member) === 'body')
  if (members.length === 0) return {}
  const { exactlyOneOf: choice } = task
  const needed = members.filter((member) => required.has(member))
  const shown = members.filter((member) => !choice.slice(1).includes(member))
  const schema = {
    type: 'object',
    properties: Object.fromEntries(members.map((member) => [member, properties[member]])),
    required: needed,
    ...(choice.length === 0 ? {} : { oneOf: choice.map((member) => ({ required: [member] })) }),
    additionalProperties: false,
  }
  const example = Object.fromEntries(shown.map((member) => [member, exampleOf(properties[member] ?? {})]))
  const content = { 'application/json': { schema, example } }
  return { requestBody: { required: needed.length > 0 || choice.length > 0, content } }
}

/** An example of a value: the first that the schema gives, or one that is composed of the examples of its parts. */
function exampleOf(schema: Json): unknown {
  const { anyOf, examples, items, properties } = schema as Readonly<Record<string, object | undefined>>
  const named = [...listOf(examples), schema['const'], schema['default'], ...listOf(schema['enum'])]
  const first = named.find((value) => value !== undefined)
  if (first !== undefined) return first
  if (anyOf !== undefined) return exampleOf(listOf(anyOf)[0] as Json)
  if (items !== undefined) return [exampleOf(items as Json)]
  if (schema['type'] === 'boolean') return true
  if (properties === undefined) return schema['minimum']
  return Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, exampleOf(member as Json)]))
}

function listOf(list: unknown): readonly unknown[] {
  return (list ?? []) as readonly unknown[]
}

/** Only a request with a body can have a wrong media type or length. */
function mayRefuse(task: Task, status: string): boolean {
  if (status === '413' || status === '415') return hasBody(task)
  if (status === '409') return task.mayConflict
  return true
}

/** Moves the definitions of a schema to the schemas of the document, and returns a reference or the rest. */
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

function bearerOf(description: string): Json {
  return { type: 'http', scheme: 'bearer', description }
}

function jsonOf(schema: Json): Json {
  return { 'application/json': { schema } }
}

function header(description: string, schema: Json): Json {
  return { description, required: true, schema }
}

function nounOf({ name }: Task): string {
  return name.split('.', 1)[0] ?? name
}
