import type { IncomingMessage } from 'node:http'
import { readQueryValue, type QueryType } from '../../admin/query-values.ts'
import { readInput, unknownMember } from '../../admin/run-task.ts'
import { hasBody, placeOf } from '../../admin/task.ts'
import { invalidRequest, type OAuthError } from '../../protocol/errors.ts'
import { isObject, readJson } from '../../base/json.ts'
import { parseForm } from '../../base/message.ts'
import { MAXIMA } from '../../base/maxima.ts'
import { problem, type Problem } from '../../base/validation.ts'
import { decodeBody, readBody } from '../body.ts'
import { findEncoding, findMediaTypeProblem } from '../request.ts'
import type { TaskRow } from './routes.ts'

const JSON_TYPE = 'application/json'
type Members = Readonly<Record<string, unknown>>

/**
 * Reads a task's input from the path, the query and the body. The refusal names every problem. Unknown members are refused:
 * a mistyped filter would otherwise select everything, and an id in the body never replaces the one in the path (ADM-07).
 *
 * @throws OAuthError invalid_request
 */
export async function readTaskInput(
  message: IncomingMessage,
  { task, queryTypes }: TaskRow,
  parameters: Readonly<Record<string, string>>,
): Promise<Record<string, unknown>> {
  const problems: Problem[] = []
  const query = readQuery(message.url ?? '', queryTypes(), problems)
  const body = hasBody(task) ? await readJsonBody(message) : {}
  const parts = { query, body }
  const sent: Members[] = []
  for (const [part, members] of Object.entries(parts)) {
    const foreign = Object.keys(members).filter((member) => placeOf(task, member) !== part)
    problems.push(...foreign.map((member) => unknownMember([part, member])))
    sent.push(Object.fromEntries(Object.entries(members).filter(([member]) => !foreign.includes(member))))
  }
  const read = readInput(task, Object.assign({}, ...sent, parameters) as Members)
  if (read.kind === 'valid' && problems.length === 0) return read.input
  throw malformed(422, [...problems, ...(read.kind === 'invalid' ? read.problems : [])])
}

function readQuery(url: string, types: ReadonlyMap<string, QueryType>, problems: Problem[]): Members {
  const mark = url.indexOf('?')
  const form = parseForm(mark === -1 ? '' : url.slice(mark + 1))
  if (form === undefined) {
    const msg = 'This is not application/x-www-form-urlencoded.'
    throw invalidRequest('form_malformed', { problems: [problem(['query'], 'form_invalid', msg, null, {})] })
  }
  for (const name of form.repeated) {
    if (types.get(name) === 'list') continue
    problems.push(problem(['query', name], 'repeated', 'This parameter must not be repeated.', null, {}))
  }
  return Object.fromEntries(
    form.names.map((name): [string, unknown] => {
      const texts = form.all(name)
      // RFC 6749 §3.1 treats an empty value as absent. Here an empty variable in a script would then select everything.
      return [name, readQueryValue(types.get(name) ?? 'string', texts.length === 0 ? [''] : texts)]
    }),
  )
}

/** A request without a body has no members. It needs no content type then. */
async function readJsonBody(message: IncomingMessage): Promise<Members> {
  const { headers } = message
  const length = headers['content-length']
  if (headers['transfer-encoding'] === undefined && (length === undefined || length === '0')) return {}
  const wrong = findMediaTypeProblem(message, JSON_TYPE)
  if (wrong !== undefined) throw invalidRequest('media_type_wrong', { status: 415, problems: [wrong] })
  const encoding = findEncoding(headers)
  if (encoding !== undefined) throw invalidRequest('media_type_wrong', { ...encoding, status: 415 })
  const tooLarge = (problems: readonly Problem[]): OAuthError =>
    invalidRequest('body_too_large', { status: 413, problems })
  const body = await readBody(message, tooLarge, MAXIMA.adminBody)
  const text = decodeBody(body, headers)
  if (text === undefined) throw malformed(422, [problem(['body'], 'json_invalid', 'The body is not UTF-8.', null, {})])
  const read = readJson(text)
  // The answer repeats nothing of the body, because any part of it may be a password.
  if (read.kind === 'malformed') throw malformed(422, [{ ...read.problem, input: null }])
  if (isObject(read.value)) return read.value
  throw malformed(422, [problem(['body'], 'object_type', 'The body must be an object.', null, { expected: 'object' })])
}

function malformed(status: 422, problems: readonly Problem[]): OAuthError {
  return invalidRequest('input_malformed', { status, problems })
}
