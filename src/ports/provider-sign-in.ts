import type { ClientAssertion } from '../protocol/client/assertion.ts'
import type { SignInDemand, StatedTime } from '../protocol/sign-in/authentication.ts'
import type { ProviderClaims } from '../protocol/sign-in/provider-identity.ts'
import type { ProviderRecord } from './records/provider.ts'

/** What binds a sign-in at a provider to the browser that began it. All of it is derived from the state. */
export interface UpstreamBinding {
  /** RFC 6749 §4.1.1. */
  readonly state: string
  /** RFC 7636 §4.1. */
  readonly codeVerifier: string
  /** OpenID Connect Core §3.1.2.1. */
  readonly nonce: string
  readonly redirectUri: string
}

/** Whose browser it is. */
export interface UpstreamCause {
  readonly network: string
}

export interface UpstreamRequest extends UpstreamBinding, UpstreamCause {
  /** undefined: the person may have authenticated at the provider at any time. */
  readonly demand: SignInDemand | undefined
  readonly loginHint: string | undefined
}

/** What a provider says after a sign-in. */
export interface UpstreamAnswer {
  readonly claims: ProviderClaims
  readonly time: StatedTime
  readonly groups: UpstreamGroups
}

/** The values of the claim of a provider that has the groups of a person. */
export type UpstreamGroups =
  | { readonly kind: 'said'; readonly values: readonly string[] }
  /** The operator named no claim. */
  | { readonly kind: 'unasked' }
  /** The API of the provider that has them did not answer, or the person has more than are read (threats.md GRP-04). */
  | { readonly kind: 'unknown' }

/** Why a sign-in at a provider does not go on. */
export type UpstreamReason =
  /** Requests are switched off (`GRANTOR_OUTBOUND`). */
  | 'off'
  /** The secret has to be set again, because the master key was replaced. */
  | 'secret-missing'
  /** The provider did not answer, or not in time. */
  | 'unreachable'
  /** This process has too many requests to providers under way. It says nothing about the provider. */
  | 'busy'
  /** The person or the provider refused the sign-in: RFC 6749 §4.1.2.1. */
  | 'refused'
  /** The provider refused the code, or the credentials of this server: RFC 6749 §5.2. */
  | 'rejected'
  /** The answer has another issuer, nonce, audience or signature than it must have, or it cannot be read. */
  | 'invalid'

export interface UpstreamFailure {
  readonly kind: 'failed'
  readonly reason: UpstreamReason
  /** For the operator. It has no secret, no code and no token. */
  readonly detail: string
}

/** A finding of `probe`. */
export interface ProviderFinding {
  readonly check: 'state' | 'discovery' | 'keys' | 'secret' | 'request' | 'assertions'
  readonly isOk: boolean
  readonly detail: string
}

/** Signs users in at providers. No token of a provider is kept. Its methods never reject. */
export interface ProviderSignIn {
  /** The address at the provider to which the browser goes. RFC 6749 §4.1.1. */
  readonly begin: (
    provider: ProviderRecord,
    request: UpstreamRequest,
  ) => Promise<{ readonly kind: 'ready'; readonly location: string } | UpstreamFailure>
  /** Redeems the code in the query of the redirect URI, and returns what the provider says about the person and the sign-in. */
  readonly finish: (
    provider: ProviderRecord,
    binding: UpstreamBinding & UpstreamCause,
    query: URLSearchParams,
  ) => Promise<({ readonly kind: 'authenticated' } & UpstreamAnswer) | UpstreamFailure>
  /**
   * Whether a key of the provider signed the JWT. The keys are those at its `jwks_uri`, of which each node has a copy (RFC 7517 §5). An
   * unknown key makes the server fetch them again, at most once in 30 seconds. `failed`: there are no keys to compare with.
   */
  readonly verify: (
    provider: ProviderRecord,
    signed: Pick<ClientAssertion, 'jwt' | 'algorithm' | 'keyId'> & UpstreamCause,
  ) => Promise<{ readonly kind: 'verified' } | { readonly kind: 'wrong' } | UpstreamFailure>
  /** Whether sign-ins and then a try of the server got no answer. The sign-in page then says so, and no browser is sent there. */
  readonly isDown: (provider: ProviderRecord) => boolean
  /** The ids of the providers that are down, or may be, because sign-ins got no answer. */
  readonly suspects: () => readonly ProviderRecord['id'][]
  /** Looks whether a suspect answers, at most once in 15 seconds. Any answer counts but a 5xx of one without metadata and keys. */
  readonly tryAgain: (provider: ProviderRecord, redirectUri: string) => Promise<void>
  /** Looks whether the provider can be used, with the redirect URI of this server there. */
  readonly probe: (provider: ProviderRecord, redirectUri: string) => Promise<readonly ProviderFinding[]>
  /** Encrypts the secret of this server at a provider, for the store. */
  readonly encryptSecret: (id: ProviderRecord['id'], secret: string) => string
  /** Whether this is the secret of this server at the provider. */
  readonly hasSecret: (provider: ProviderRecord, secret: string) => boolean
}

/** Called after each sign-in that reached or failed to reach a provider. `outcome`: `authenticated`, or an UpstreamReason. */
export type ProviderSignInObserver = (
  providerId: ProviderRecord['id'],
  outcome: 'authenticated' | UpstreamReason,
) => void
