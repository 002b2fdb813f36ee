import { APPLICATION } from './authentication.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { GroupId } from '../access/group.ts'
import type { InteractionId, OrganizationId } from '../ids.ts'
import { identityKey, type IdentityKey } from './provider-identity.ts'
import type { Scope } from '../token/scope.ts'
import type { SecretHash, Secrets } from '../secrets.ts'
import { addressOf } from '../uri/server-address.ts'

/** The key of the identity of a person of the application. No identity of a provider has the same. */
export function subjectKey(subject: string): IdentityKey {
  return identityKey({ id: APPLICATION, issuer: '' }, subject)
}

/** Where the browser returns to after the application has answered. */
export const CONTINUE_PATH = '/v2/oauth/continue'

/**
 * The application's id of a person, at most 255 characters of ASCII, as OpenID Connect Core §2 has it for `sub`. Not `.` or `..`: in the
 * path of a URL they are other paths (RFC 3986 §5.2.4), and the tokens of the person could not be revoked.
 */
export const SUBJECT_FORM =
  /^(?:[\x21-\x2d\x2f-\x7e][\x21-\x7e]{0,254}|\.[\x21-\x2d\x2f-\x7e][\x21-\x7e]{0,253}|\.\.[\x21-\x7e]{1,253})$/

/** How far the clocks of the application and of this server may differ. */
export const APPLICATION_TOLERANCE_MS = 10_000

/** The application signed the person in. */
export interface AcceptedSignIn {
  readonly kind: 'accepted'
  readonly subject: string
  /** `allow`: the person has consented at the application. `ask`: the consent page of this server follows. */
  readonly decision: 'allow' | 'ask'
  readonly email: string | undefined
  /** The application says that the address is the person's. */
  readonly isEmailVerified: boolean
  readonly name: string | undefined
  /** The groups of the person, sorted, each once. undefined: the application leaves them as they are. */
  readonly groups: readonly GroupId[] | undefined
  /** The organization that the person consents for. null: for none. undefined: the application leaves it open. */
  readonly organizationId: OrganizationId | null | undefined
  /** The part of the requested scope that the person allows. undefined: all of it. */
  readonly scope: Scope | undefined
  /** When the person authenticated at the application. undefined: it did not say. */
  readonly authenticatedAt: EpochMs | undefined
  /** The person authenticated with two factors. */
  readonly isMultiFactor: boolean
  /** How long the browser stays signed in at this server. 0: for this request alone. */
  readonly rememberSeconds: number
  /** The person confirmed at the application that the device of the request is an own one. Absent: there is none, or nothing was said. */
  readonly isOwnDevice?: true
}

/** The errors with which the application rejects a request of a client. RFC 6749 §4.1.2.1, OpenID Connect Core §3.1.2.6. */
export const REJECTIONS = [
  'access_denied',
  'login_required',
  'interaction_required',
  'unmet_authentication_requirements',
  'temporarily_unavailable',
] as const

export interface RejectedSignIn {
  readonly kind: 'rejected'
  readonly error: (typeof REJECTIONS)[number]
}

/** The application's only answer to an interaction. */
export type InteractionAnswer = AcceptedSignIn | RejectedSignIn

/** What a proof is valid for. */
export interface ProofSubject {
  readonly id: InteractionId
  readonly browserHash: SecretHash
  readonly answer: InteractionAnswer
}

/**
 * Returns the address that the application redirects the browser to. The proof shows that the application gave this answer for this
 * browser. It is derived and not stored, so the same answer has the same address. The address names no person.
 */
export function continueAddress(
  issuer: string,
  secrets: Pick<Secrets, 'digest'>,
  token: string,
  subject: ProofSubject,
  uiLocales: string | undefined,
): string {
  const query = new URLSearchParams({ interaction: token, proof: secrets.digest('interaction', partsOf(subject)) })
  if (uiLocales !== undefined) query.set('ui_locales', uiLocales)
  return `${addressOf(issuer, CONTINUE_PATH)}?${query.toString()}`
}

/** Whether a proof is that of this answer, for this browser. */
export function proofMatches(secrets: Pick<Secrets, 'digestMatches'>, subject: ProofSubject, proof: string): boolean {
  return secrets.digestMatches('interaction', partsOf(subject), proof)
}

function partsOf({ id, browserHash, answer }: ProofSubject): readonly string[] {
  return [id, browserHash, answerText(answer)]
}

/** An answer as it is stored and compared: the members in a fixed order, without those that are undefined. */
export function answerText(answer: InteractionAnswer): string {
  if (answer.kind === 'rejected') return JSON.stringify({ kind: answer.kind, error: answer.error })
  const { kind, subject, decision, email, isEmailVerified, name, organizationId, scope } = answer
  const { authenticatedAt, isMultiFactor, rememberSeconds, isOwnDevice, groups } = answer
  const what = { kind, subject, decision, email, isEmailVerified, name, organizationId, scope }
  return JSON.stringify({ ...what, authenticatedAt, isMultiFactor, rememberSeconds, isOwnDevice, groups })
}

const OPEN = {
  email: undefined,
  name: undefined,
  organizationId: undefined,
  scope: undefined,
  authenticatedAt: undefined,
  groups: undefined,
} as const

/** Reads what `answerText` returned. */
export function readAnswer(text: string): InteractionAnswer {
  const answer = JSON.parse(text) as InteractionAnswer
  return answer.kind === 'accepted' ? { ...OPEN, ...answer } : answer
}

/** The address of the application, for an interaction. */
export function applicationAddress(url: string, token: string): string {
  const address = new URL(url)
  address.searchParams.set('interaction', token)
  return address.href
}
