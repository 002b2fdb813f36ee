import assert from 'node:assert/strict'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import type { TestServer } from './server.ts'

interface ErrorBody {
  readonly error: string
  readonly error_description: string
  readonly detail?: readonly Problem[]
}

interface Problem {
  readonly loc: readonly string[]
  readonly msg: string
  readonly type: string
  readonly input: unknown
  readonly ctx: object
}

/**
 * Checks all of an error of a JSON endpoint (decision 0005): the status, the code, the shape of every problem, no null except
 * `input`, and headers that prevent caching and let scripts of any origin read it. Returns the body.
 */
export function assertError(answer: LightMyRequestResponse, status: number, error: string): ErrorBody {
  assert.equal(answer.headers['access-control-allow-origin'], '*', `${answer.statusCode} ${answer.body}`)
  const exposed = String(answer.headers['access-control-expose-headers']).split(', ')
  assert.ok(exposed.includes('Retry-After') && exposed.includes('WWW-Authenticate'), exposed.join())
  return assertErrorForPrograms(answer, status, error)
}

/** The same of an endpoint that no script in a browser may use. */
export function assertErrorForPrograms(answer: LightMyRequestResponse, status: number, error: string): ErrorBody {
  const seen = `${answer.statusCode} ${answer.body}`
  assert.equal(answer.statusCode, status, seen)
  assert.equal(answer.headers['content-type'], 'application/json', seen)
  assert.equal(answer.headers['cache-control'], 'no-store')
  assert.equal(answer.headers['pragma'], 'no-cache')
  assert.equal(answer.headers['x-content-type-options'], 'nosniff')
  assert.equal(answer.headers['access-control-allow-credentials'], undefined)
  assert.equal(answer.headers['set-cookie'], undefined)
  const body = answer.json<ErrorBody>()
  assert.equal(body.error, error, seen)
  assert.match(body.error_description, /^[A-Z].+\.$/, seen)
  const { detail, ...rest } = body
  assert.deepEqual(Object.keys(rest).toSorted(), ['error', 'error_description'], seen)
  if (detail !== undefined) assert.ok(detail.length > 0, seen)
  for (const problem of detail ?? []) assertProblem(problem, seen)
  return body
}

function assertProblem(problem: Problem, seen: string): void {
  assert.deepEqual(Object.keys(problem).toSorted(), ['ctx', 'input', 'loc', 'msg', 'type'], seen)
  assert.ok(Array.isArray(problem.loc) && problem.loc.length > 0, seen)
  assert.ok(
    problem.loc.every((part) => typeof part === 'string'),
    seen,
  )
  assert.match(problem.type, /^[a-z]+(_[a-z]+)*$/, seen)
  assert.match(problem.msg, /^[A-Z].+\.$/, seen)
  assert.ok(typeof problem.ctx === 'object' && problem.ctx !== null && !Array.isArray(problem.ctx), seen)
  assertNoNull(problem.ctx, seen)
  if (typeof problem.input === 'string') assert.ok(problem.input.length <= 200, seen)
}

function assertNoNull(value: unknown, seen: string): void {
  assert.notEqual(value, null, seen)
  if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) assertNoNull(inner, seen)
}

/** The last line of the log. */
export function lastLogged({ log }: Pick<TestServer, 'log'>): Readonly<Record<string, unknown>> {
  return JSON.parse(log().trim().split('\n').at(-1) ?? '') as Readonly<Record<string, unknown>>
}

/** Every problem as `body.redirect_uris.1:value_error`, sorted. */
export function problemsOf({ detail }: { readonly detail?: readonly Problem[] }): readonly string[] {
  return (detail ?? []).map(({ loc, type }) => `${loc.join('.')}:${type}`).toSorted()
}
