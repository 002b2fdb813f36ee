/** The specification's validation error body: `{ detail: [{ loc, msg, type, input, ctx }] }`. */

/** The stable values of `detail[].type`, with the meaning that docs/errors.md gives. */
export const PROBLEM_TYPES = {
  missing: 'A required field is missing.',
  string_type: 'The value must be a string.',
  bool_type: 'The value must be true or false.',
  int_type: 'The value must be a whole number in the range that `msg` says.',
  list_type: 'The value must be a list of strings.',
  object_type: 'The body must be an object.',
  literal_error: 'The value is not one of `ctx.expected`.',
  url_parsing: 'The value is not an absolute URL.',
  url_scheme: "The URL's scheme is not one of `ctx.expected`.",
  json_invalid: 'The body is not JSON in UTF-8.',
  form_invalid: 'The body or query is not form-urlencoded UTF-8, or has more than 100 parameters.',
  media_type: 'The `Content-Type` is not `ctx.expected`.',
  too_large: 'The body has more than `ctx.max_bytes` bytes.',
  too_short: 'The password has fewer than `ctx.min_length` characters.',
  too_long: 'The text has more than `ctx.max_length` characters, or a password more than `ctx.max_bytes` bytes.',
  password_common:
    'The password is easy to guess: it is a common one, or made of the address, a name or fewer than five different characters.',
  too_many: 'The list has more than `ctx.max_length` entries.',
  repeated: 'The parameter is repeated.',
  interaction_expired: 'The time for the sign-in is over. The person has to start again at the client.',
  already_answered: 'The interaction has another answer already, which stays.',
  client_gone: 'The client was deleted, disabled or blocked, or its policy no longer allows the request.',
  multi_factor_needed: 'The client accepts no sign-in with one factor.',
  sign_in_too_old: 'The person must have authenticated at `ctx.sign_in_after` or later.',
  scope_wider: 'The scope has values that the client did not request.',
  unknown_groups:
    'The groups of `ctx.groups` do not exist, or are of an organization in which the person is no active member.',
  value_error: 'The value is not acceptable; `msg` says why.',
} as const
export type ProblemType = keyof typeof PROBLEM_TYPES

/** One fault of a request. */
export interface Problem {
  /** The path to the faulty value, which begins with the part of the request: `['body', 'redirect_uris', '1']`. */
  readonly loc: readonly string[]
  /** A sentence for a developer. */
  readonly msg: string
  readonly type: ProblemType
  /** The faulty value, cut at 200 characters. null if it is absent or may be a secret. */
  readonly input: unknown
  readonly ctx: Readonly<Record<string, unknown>>
}

/** Fields whose values must never appear in a response or in the log. */
const SECRET_FIELDS: ReadonlySet<string> = new Set([
  'client_secret',
  'code',
  'code_verifier',
  'refresh_token',
  'password',
  'client_assertion',
  'jwks',
  'registration_access_token',
  'token',
])

const INPUT_LIMIT = 200

/** A problem at `loc`. The input is removed if the path names a secret, and shortened if it is long. */
export function problem(
  loc: readonly string[],
  type: ProblemType,
  msg: string,
  input: unknown,
  ctx: Readonly<Record<string, unknown>>,
): Problem {
  return { loc, msg, type, input: loc.some((part) => SECRET_FIELDS.has(part)) ? null : shorten(input), ctx }
}

/** A required field that is absent. */
export function missing(...loc: readonly string[]): Problem {
  return problem(loc, 'missing', 'This field is required.', null, {})
}

/** A form or query field with an invalid value. */
export function unacceptable(part: 'body' | 'query', field: string, msg: string, input: string | undefined): Problem {
  return problem([part, field], 'value_error', msg, input ?? null, {})
}

function shorten(input: unknown): unknown {
  if (input === undefined || input === null) return null
  if (typeof input === 'string') return input.slice(0, INPUT_LIMIT)
  if (typeof input === 'number' || typeof input === 'boolean') return input
  return (JSON.stringify(input) ?? '').slice(0, INPUT_LIMIT)
}
