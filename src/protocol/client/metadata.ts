import * as z from 'zod'
import { CLIENT_MEMBERS, KEY_MEMBERS, type ClientMetadata } from './members.ts'
import { registrationRules, type RegistrationRules, type ValuePolicy } from './registration-rules.ts'
import { keepMembers, sentShape, type AnyMember, type Keepers, type SentOf } from '../members.ts'
import { MAX_AGE_LIMIT } from '../openid/request.ts'
import { NO_SCOPE, scopeTokens } from '../token/scope.ts'
import { isObject, isSameJson } from '../../base/json.ts'
import { MAXIMA } from '../../base/maxima.ts'
import { problem, type Problem } from '../../base/validation.ts'

/** The settings that registration depends on. */
export interface RegistrationPolicy extends ValuePolicy {
  /** What an administrator changes. Only values that it does not have are checked, and no other member changes. */
  readonly previous?: ClientMetadata
}

/** The result of reading a registration request. */
export type RegistrationReading =
  | {
      readonly kind: 'accepted'
      readonly metadata: ClientMetadata
      /** Fields that the caller sent as null and the specification types "or null". The response repeats the null (decision 0005). */
      readonly nulls: readonly string[]
    }
  /** A field has the wrong type: 422. */
  | { readonly kind: 'malformed'; readonly problems: readonly Problem[] }
  /** All types are right, and a value is not allowed: 400. */
  | { readonly kind: 'not-allowed'; readonly problems: readonly Problem[] }

type ClientMember = AnyMember<RegistrationRules> & {
  readonly repeatsNull?: true
  readonly follows?: readonly string[]
}
const ROWS: readonly (readonly [string, ClientMember])[] = Object.entries(CLIENT_MEMBERS)
const KEEPERS: Keepers<RegistrationRules> = ROWS.map(([name, { keep }]) => ({ name, keep }))
const SENT = z.object(sentShape(CLIENT_MEMBERS))
type Sent = SentOf<typeof CLIENT_MEMBERS>
const REPEATED_NULLS = ROWS.filter(([, { repeatsNull }]) => repeatsNull === true).map(([name]) => name)
/** The members that describe the client, and have no effect on the protocol. */
export const DESCRIPTION: readonly string[] = REPEATED_NULLS.filter((name) => name !== 'scope')
/** Of the stored text. Released clients register less than 2 KiB. */
const METADATA_BYTES = MAXIMA.registration.most
/**
 * Characters of a registration whose stored text is surely shorter than that, so that its bytes are not counted: a character has at
 * most three bytes, and what the server adds (defaults, and names of members) fewer than 2 KiB.
 */
const SHORT_TEXT = 2048

/**
 * Reads a registration request (RFC 7591 §2 and §3.1). `body` is parsed JSON. Values that this server does not support are
 * dropped, dangerous values are refused, and all faults are reported together. `sentLength`: the characters of the text that was
 * parsed; undefined if there is no such text.
 */
export function readRegistration(
  body: unknown,
  given: RegistrationPolicy,
  sentLength: number | undefined,
): RegistrationReading {
  const { previous } = given
  const policy = previous === undefined ? given : withPrevious(given, previous)
  const parsed = SENT.safeParse(body, { reportInput: true })
  const malformed = parsed.success ? [] : parsed.error.issues.map(shapeProblem)
  // Every field of the right type is checked against the policy, so that one response reports all faults.
  const fields = parsed.success ? parsed.data : wellTypedFields(body, malformed)
  const faults = new Map<string, Problem>()
  const fault = (found: Problem): void => {
    if (previous === undefined || !isPrevious(found, body, previous))
      faults.set(found.loc.join('.'), asSent(found, body))
  }

  const rules = registrationRules(fields, policy, fault)
  const read = keepMembers<typeof CLIENT_MEMBERS, RegistrationRules>(KEEPERS, fields, rules)
  for (const { loc } of malformed) faults.delete(loc.join('.'))
  const problems = [...malformed, ...faults.values()]
  if (malformed.length > 0) return { kind: 'malformed', problems }
  if (problems.length > 0) return { kind: 'not-allowed', problems }
  const metadata = previous === undefined ? read : withUnnamed(read, body, previous)
  const isShort = sentLength !== undefined && sentLength <= SHORT_TEXT
  if (!isShort && bytesOf(metadata) > Math.max(METADATA_BYTES, previous === undefined ? 0 : bytesOf(previous))) {
    const msg = `The metadata may have at most ${METADATA_BYTES} bytes in all.`
    const large = problem(['body'], 'too_long', msg, null, { max_length: METADATA_BYTES })
    return { kind: 'not-allowed', problems: [large] }
  }
  return { kind: 'accepted', metadata, nulls: REPEATED_NULLS.filter((name) => fields[name as keyof Sent] === null) }
}

function bytesOf(metadata: ClientMetadata): number {
  return Buffer.byteLength(JSON.stringify(metadata))
}

/** The policy that offers also what the client has. */
function withPrevious(policy: RegistrationPolicy, previous: ClientMetadata): RegistrationPolicy {
  const scope = scopeTokens(previous.scope ?? NO_SCOPE)
  return {
    ...policy,
    declaresScope: (token) => policy.declaresScope(token) || scope.includes(token),
    grantTypes: [...new Set([...policy.grantTypes, ...previous.grant_types])],
    notifiedAt: previous.backchannel_logout_uri,
  }
}

/** Whether the client has the value of a problem already. */
function isPrevious({ loc }: Problem, body: unknown, previous: ClientMetadata): boolean {
  const [, field = '', place] = loc
  const differs = differing(body, previous)
  const isOfKeys = field !== 'token_endpoint_auth_method' && KEY_MEMBERS.some((name) => name === field)
  if (isOfKeys) return !KEY_MEMBERS.some(differs)
  if (!differs(field)) return true
  const [sent, had] = [body, previous].map((all) => (all as Readonly<Record<string, unknown>>)[field])
  if (!Array.isArray(sent) || !Array.isArray(had)) return false
  return place === undefined ? sent.every((one) => had.includes(one)) : had.includes(sent[Number(place)])
}

/** What was read of the members that differ, and what the client has of all others. */
function withUnnamed(read: ClientMetadata, body: unknown, previous: ClientMetadata): ClientMetadata {
  const differs = differing(body, previous)
  const members = ROWS.map(([name, { follows = [] }]) => {
    const source = [name, ...follows].some(differs) ? read : previous
    return [name, source[name as keyof ClientMetadata]] as const
  })
  return Object.fromEntries(members.filter(([, value]) => value !== undefined)) as ClientMetadata
}

function differing(body: unknown, previous: ClientMetadata): (field: string) => boolean {
  const [sent, had] = [body as Readonly<Record<string, unknown>>, previous as Readonly<Record<string, unknown>>]
  return (field) => !isSameJson(sent[field] ?? undefined, had[field])
}

function shapeProblem(issue: z.core.$ZodIssue): Problem {
  const loc = ['body', ...issue.path.map(String)]
  const expected = issue.code === 'invalid_type' ? issue.expected : 'string'
  if (expected === 'array')
    return problem(loc, 'list_type', 'This must be a list of strings.', issue.input, { expected })
  if (expected === 'int' || expected === 'number' || issue.code === 'too_small' || issue.code === 'too_big')
    return problem(loc, 'int_type', `This must be a whole number from 0 to ${MAX_AGE_LIMIT}.`, issue.input, {})
  if (expected === 'boolean') return problem(loc, 'bool_type', 'This must be true or false.', issue.input, {})
  if (expected === 'object')
    return problem(loc, 'object_type', 'The body must be a JSON object.', issue.input, { expected })
  return problem(loc, 'string_type', 'This must be a string.', issue.input, { expected })
}

function wellTypedFields(body: unknown, malformed: readonly Problem[]): Sent {
  if (!isObject(body)) return {}
  const faulty = new Set(malformed.filter(({ loc }) => loc.length === 2).map(({ loc }) => loc[1]))
  const wellTyped = Object.entries(body).filter(([name]) => !faulty.has(name) && name in SENT.shape)
  // The other entries of a list with a faulty entry are checked as well. '' replaces the faulty entry to keep their positions.
  const strings = wellTyped.map(([name, value]) => [
    name,
    Array.isArray(value) ? value.map((one) => (typeof one === 'string' ? one : '')) : value,
  ])
  return SENT.parse(Object.fromEntries(strings))
}

/** The problem with the value from the body, because `wellTypedFields` replaces faulty entries of a list. */
function asSent({ loc, type, msg, ctx }: Problem, body: unknown): Problem {
  const sent = loc.slice(1).reduce<unknown>((value, name) => (value as Record<string, unknown> | null)?.[name], body)
  return problem(loc, type, msg, sent, ctx)
}
