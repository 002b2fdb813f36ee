import { describeAccessToken } from '../endpoints/introspection/introspect.ts'
import { findTokenProofFault } from '../endpoints/token/proof.ts'
import type { Context } from '../ports/context.ts'
import type { ApiRecord } from '../ports/records/api.ts'
import { checkToken } from '../tokens/inactive-reason.ts'
import { findToken, type FoundToken } from '../tokens/find-token.ts'
import type { TokenClaims } from '../protocol/token/introspection-answer.ts'
import { findNamed, isOfApi } from '../protocol/token/resource.ts'
import { scopeTokens } from '../protocol/token/scope.ts'

/** What a token must be good for. */
export interface TokenDemand {
  /** The API that received the token, as it was declared. */
  readonly resource: string
  /** Scopes, separated by spaces, all of which the token must have. Default: none. */
  readonly scope?: string
  /** What the request has for a token that is bound to a key (RFC 9449 §7.1). Without it, such a token is refused. */
  readonly proof?: PresentedProof
}

/** The proof of a request. */
export interface PresentedProof {
  /** The header `DPoP`, which may be absent. */
  readonly dpop: string | undefined
  /** `GET`, `POST`, … */
  readonly method: string
  /** The whole address of the request as clients know it. The query is ignored. */
  readonly url: string
}

/** The token must not be accepted. `status` and `code` are those of RFC 6750 §3.1; `reason` is for the log, not for the caller. */
export class TokenRefused extends Error {
  readonly status: 401 | 403
  readonly code: 'invalid_token' | 'insufficient_scope'
  readonly reason: string

  constructor(code: TokenRefused['code'], reason: string) {
    super(`The access token is refused: ${reason}.`)
    this.name = 'TokenRefused'
    this.code = code
    this.status = code === 'invalid_token' ? 401 : 403
    this.reason = reason
  }
}

/**
 * Verifies an access token, JWT or opaque, for an API in this process. The state is read from the store each time, so a revocation takes
 * effect at once, as with introspection. A token that is bound to a key needs a proof, each of which is accepted once by this process.
 *
 * @throws TokenRefused; TypeError when the demand does not name an API, because tokens for any API would be accepted
 */
export async function verifyToken(
  context: Context,
  token: string,
  { resource, scope = '', proof }: TokenDemand,
): Promise<TokenClaims> {
  if (typeof resource !== 'string' || typeof scope !== 'string') {
    throw new TypeError('Give the API that the token must be for, and its scopes as one string: { resource, scope }')
  }
  if (proof !== undefined && (typeof proof.method !== 'string' || !URL.canParse(proof.url))) {
    throw new TypeError('Give the proof of the request as { dpop, method, url }, with its whole address.')
  }
  // A header of the host may be missing, too.
  const found = typeof token === 'string' ? await findToken(context, token) : undefined
  if (found?.kind !== 'access') throw new TokenRefused('invalid_token', 'unknown')
  const declared = await context.apis()
  if (!isFor(found, resource, declared)) throw new TokenRefused('invalid_token', 'for-another')
  const checked = await checkToken(context, found, context.clock())
  if (typeof checked === 'string') throw new TokenRefused('invalid_token', checked)
  const fault = findProofReason(context, token, found, proof)
  if (fault !== undefined) throw new TokenRefused('invalid_token', fault)
  const granted = new Set(scopeTokens(checked.facts.scope))
  const missing = scope.split(' ').filter((one) => one !== '' && !granted.has(one))
  if (missing.length > 0) throw new TokenRefused('insufficient_scope', `scope-missing: ${missing.join(' ')}`)
  return describeAccessToken(context, checked, { kind: 'api', api: findNamed(declared, resource) })
}

type FoundAccessToken = Extract<FoundToken, { kind: 'access' }>

/** Why a token that is bound to a key comes without what proves it; undefined also for a bearer token. */
function findProofReason(
  context: Context,
  accessToken: string,
  { facts: { keyThumbprint: key } }: FoundAccessToken,
  proof: PresentedProof | undefined,
): string | undefined {
  if (key === undefined) return undefined
  if (typeof proof?.dpop !== 'string') return 'proof-missing'
  const { dpop, method, url: address } = proof
  const fault = findTokenProofFault(context, { dpop, method, address }, { accessToken, key, network: undefined })
  return typeof fault === 'object' ? fault.kind : fault?.replaceAll('_', '-')
}

function isFor({ facts }: FoundAccessToken, resource: string, declared: readonly ApiRecord[]): boolean {
  return facts.resources.some((one) => isOfApi(one, resource, declared))
}
