import { after, type Brand, type EpochMs } from '../../base/brand.ts'

/** A provider at which users sign in. */
export type ProviderId = Brand<string, 'ProviderId'>

/** Identities of persons of the operator's application have this in the place of a provider. No provider can have the id. */
export const APPLICATION = 'delegate' as ProviderId

/**
 * How a user authenticated. RFC 8176 §2, and `fed`: a provider authenticated the user. `otp`: an authenticator app; `pop`: a passkey;
 * `mfa`: with two factors; `recovery`: a recovery code was the second, which ID tokens do not say.
 */
export type AuthenticationMethod = 'pwd' | 'fed' | 'otp' | 'pop' | 'mfa' | 'recovery'

/** How sure it is that the user is the person: 1 one factor, 2 two factors, 3 a passkey, which no imitated page can use. */
export type AuthenticationLevel = 1 | 2 | 3

/** The level follows from the methods, and is not stored. */
export function levelOf(methods: readonly AuthenticationMethod[]): AuthenticationLevel {
  if (methods.includes('pop')) return 3
  return methods.includes('mfa') ? 2 : 1
}

/** The second factors of an account for which an authentication is enough. */
export interface CoveredFactors {
  readonly passkey: boolean
  /** The app, and accounts at providers with `multi_factor`. */
  readonly others: boolean
}

/**
 * For which second factors an authentication is enough, where the user changes how the user signs in: a passkey needs a passkey, and
 * the others any second factor. Otherwise a person with less could add a factor of their own, and meet with it what a scope requires
 * (threats.md ACR-06). A recovery code is the exception: its user has lost the others.
 */
export function coveredBy(methods: readonly AuthenticationMethod[]): CoveredFactors {
  return { passkey: levelOf(methods) === 3 || methods.includes('recovery'), others: levelOf(methods) > 1 }
}

/** What a sign-in elsewhere shows: with two factors if the operator or the application says that it always asks for them. */
export function methodsElsewhere(isMultiFactor: boolean): readonly AuthenticationMethod[] {
  return isMultiFactor ? ['fed', 'mfa'] : ['fed']
}

/** When and how a user authenticated: the `auth_time` and `amr` of OpenID Connect Core §2. */
export interface Authentication {
  /** At least one. */
  readonly methods: readonly AuthenticationMethod[]
  /** As `evaluateTime` found it. undefined: unknown, because the source of the sign-in did not say it, and was not asked for a new one. */
  readonly at: EpochMs | undefined
  /** The provider that authenticated the user; undefined: this server did. */
  readonly providerId: ProviderId | undefined
}

/** What the source of a sign-in, such as a provider, says about when the person authenticated. */
export type StatedTime =
  | { readonly kind: 'said'; readonly at: EpochMs }
  | { readonly kind: 'unsaid' }
  /** Just now: this server authenticated the person, or the source can neither say the time nor be asked for a new sign-in. */
  | { readonly kind: 'now' }

/** What a source was asked for, because a client or an account page needs it. */
export interface SignInDemand {
  /** The person must not have authenticated before this time. */
  readonly after: EpochMs
  /** The source was asked to authenticate the person, whatever session it has. Otherwise the source learned how old the session may be. */
  readonly isAfresh: boolean
}

export type EvaluatedTime =
  | { readonly kind: 'accepted'; readonly at: EpochMs | undefined }
  /** The source did not heed how old its session may be, and is asked to authenticate the person. */
  | { readonly kind: 'ask-again' }
  | { readonly kind: 'too-old' }
  /** The time has not come yet, so it is no time of an authentication. */
  | { readonly kind: 'future' }

/**
 * When a person authenticated, for every sign-in method. OpenID Connect Core 1.0 §2 (`auth_time`), §3.1.2.1, §3.1.3.7 number 13.
 *
 * A source whose clock differs by at most `toleranceMs` is right. If it is ahead, the time is now; a later time is refused. If it is behind,
 * the time is the one that was demanded, so that each later check of the demand has the same result. A source that says no time is believed only if it was asked
 * to authenticate the person: by how old its session may be, a client could make an old session count as new (threats.md UP-24). A source
 * is asked again at most once, because that demand is `isAfresh`.
 */
export function evaluateTime(
  stated: StatedTime,
  demand: SignInDemand | undefined,
  { now, toleranceMs }: { readonly now: EpochMs; readonly toleranceMs: number },
): EvaluatedTime {
  const earliest = demand?.after ?? 0
  const atLeast = (at: EpochMs): EvaluatedTime => ({ kind: 'accepted', at: Math.max(at, earliest) as EpochMs })
  switch (stated.kind) {
    case 'now':
      return atLeast(now)
    case 'said': {
      if (stated.at > after(now, toleranceMs)) return { kind: 'future' }
      const at = Math.min(stated.at, now) as EpochMs
      if (demand === undefined) return { kind: 'accepted', at }
      if (after(at, toleranceMs) >= earliest) return atLeast(at)
      return { kind: demand.isAfresh ? 'too-old' : 'ask-again' }
    }
    case 'unsaid':
      if (demand === undefined) return { kind: 'accepted', at: undefined }
      return demand.isAfresh ? atLeast(now) : { kind: 'ask-again' }
  }
}
