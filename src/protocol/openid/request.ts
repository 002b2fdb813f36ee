import { isObject, parseJson } from '../../base/json.ts'
import { GROUP_CLAIM_NAMES, type GroupClaim } from '../access/group-claim.ts'
import type { Parameters } from '../../base/message.ts'
import { knownAcrValues, type AuthenticationRequest } from '../sign-in/acr.ts'
import { scopeOf, type Scope } from '../token/scope.ts'
import { scopeOfClaim, type UserClaim } from './user-claims.ts'
import { MAXIMA } from '../../base/maxima.ts'

/** The most that `max_age` can be, in seconds. */
export const MAX_AGE_LIMIT = 1e9

/** What OpenID Connect adds to an authorization request. Core 1.0 §3.1.2.1 and §5.5. */
export interface OpenidRequest {
  /** Returned in the ID token, byte for byte. */
  readonly nonce: string | undefined
  /** The greatest age of the user's authentication, in seconds. */
  readonly maxAge: number | undefined
  /** An ID token that names the user, as sent. */
  readonly idTokenHint: string | undefined
  /** undefined: the request says nothing about the authentication. */
  readonly authentication: AuthenticationRequest | undefined
  readonly claims: ClaimsRequest
}

/** The `claims` parameter. Claims that this server does not know are ignored. */
export interface ClaimsRequest {
  /** The scopes of the requested claims: a request for a claim counts as one for its scope, so that the user sees its sentence. */
  readonly scope: Scope
  /** The claims with the groups of the user that are requested. */
  readonly groups: readonly GroupClaim['name'][]
  /** The claims that the ID token should have. */
  readonly idToken: readonly UserClaim[]
  /** Whether the ID token must have `auth_time`. Core 1.0 §2. */
  readonly isAuthTimeEssential: boolean
  /** What is said of `acr` for the ID token. §5.5.1.1. undefined: nothing. */
  readonly acr: AuthenticationRequest | undefined
  /** The one user who may answer the request. */
  readonly subject: string | undefined
}

export type OpenidFault =
  | 'nonce_malformed'
  | 'max_age_malformed'
  | 'hint_too_long'
  | 'claims_malformed'
  | 'acr_unavailable'

const NONCE = new RegExp(`^[\\x20-\\x7e]{1,${MAXIMA.nonce.most}}$`)
/** Seconds. */
const MAX_AGE = /^\d{1,10}$/
/** Longer than the id of any user: a value that is cut names no user. Each pending request stores it (threats.md BND-01). */
const SUBJECT_LIMIT = 64
/** A request without the parameter. */
export const NO_CLAIMS: ClaimsRequest = {
  scope: scopeOf([]),
  groups: [],
  idToken: [],
  isAuthTimeEssential: false,
  acr: undefined,
  subject: undefined,
}

/** Reads the parameters, or returns the first fault. */
export function readOpenidRequest(parameters: Parameters): OpenidRequest | OpenidFault {
  const nonce = parameters.get('nonce')
  if (nonce !== undefined && !NONCE.test(nonce)) return 'nonce_malformed'
  const age = parameters.get('max_age')
  if (age !== undefined && (!MAX_AGE.test(age) || Number(age) > MAX_AGE_LIMIT)) return 'max_age_malformed'
  const idTokenHint = parameters.get('id_token_hint')
  if (idTokenHint !== undefined && idTokenHint.length > MAXIMA.idTokenHint.most) return 'hint_too_long'
  const text = parameters.get('claims')
  const claims = text === undefined ? NO_CLAIMS : readClaims(text)
  if (typeof claims === 'string') return claims
  const maxAge = age === undefined ? undefined : Number(age)
  const authentication = readAuthentication(parameters.get('acr_values'), claims, maxAge)
  return { nonce, maxAge, idTokenHint, authentication, claims }
}

/**
 * What the request asks about the authentication. §3.1.2.1, RFC 9470 §4. Values of `acr_values` are voluntary, and unknown ones are
 * ignored. An essential value of `claims` comes before them, and a voluntary one after them.
 */
function readAuthentication(
  text: string | undefined,
  { acr }: ClaimsRequest,
  maxAge: number | undefined,
): AuthenticationRequest | undefined {
  if (acr?.isEssential === true && acr.acrValues.length > 0) return acr
  if (text === undefined && acr === undefined && maxAge === undefined) return undefined
  return { acrValues: knownAcrValues([...(text ?? '').split(' '), ...(acr?.acrValues ?? [])]), isEssential: false }
}

function readClaims(text: string): ClaimsRequest | OpenidFault {
  const request = text.length > MAXIMA.claimsParameter.most ? undefined : parseJson(text)
  if (!isObject(request)) return 'claims_malformed'
  const { userinfo = null, id_token: idToken = null } = request
  if (!isMember(userinfo) || !isMember(idToken)) return 'claims_malformed'
  const [forUserinfo, forIdToken] = [Object.keys(userinfo ?? {}), Object.keys(idToken ?? {})]
  if (forUserinfo.length + forIdToken.length > MAXIMA.claims.most) return 'claims_malformed'
  const acr = idToken !== null && 'acr' in idToken ? readAcr(idToken['acr']) : undefined
  if (acr === 'acr_unavailable') return acr
  const known = (names: readonly string[]) => names.filter((name) => scopeOfClaim(name) !== undefined) as UserClaim[]
  const scopes = known([...forUserinfo, ...forIdToken]).flatMap((name) => scopeOfClaim(name) ?? [])
  const [subject, another] = new Set([idToken?.['sub'], userinfo?.['sub']].flatMap(valueOf))
  // Ignoring the value would let any user answer the request (Core 1.0 §5.5.1).
  if (another !== undefined || (subject !== undefined && typeof subject !== 'string')) return 'claims_malformed'
  const groups = GROUP_CLAIM_NAMES.filter((name) => forUserinfo.includes(name) || forIdToken.includes(name))
  const isAuthTimeEssential = isEssential(idToken?.['auth_time'])
  const named = subject?.slice(0, SUBJECT_LIMIT)
  return { scope: scopeOf(scopes), groups, idToken: known(forIdToken), isAuthTimeEssential, acr, subject: named }
}

/** An essential `acr` of which the server knows no value cannot be met (Core 1.0 §5.5.1.1). */
function readAcr(requested: unknown): AuthenticationRequest | 'acr_unavailable' {
  const { value, values } = isObject(requested) ? requested : {}
  const named = [value, values].flat().filter((one) => one !== undefined)
  const acrValues = knownAcrValues(named)
  const isDemand = isEssential(requested) && named.length > 0
  return isDemand && acrValues.length === 0 ? 'acr_unavailable' : { acrValues, isEssential: isDemand }
}

function isMember(value: unknown): value is Readonly<Record<string, unknown>> | null {
  return value === null || isObject(value)
}

function isEssential(requested: unknown): requested is Readonly<Record<string, unknown>> {
  return isObject(requested) && requested['essential'] === true
}

/** The value that a claim must have, if the request says one. */
function valueOf(requested: unknown): readonly unknown[] {
  return isObject(requested) && 'value' in requested ? [requested['value']] : []
}
