import type { EpochMs } from '../../base/brand.ts'
import { levelOf, type AuthenticationLevel, type AuthenticationMethod } from './authentication.ts'

/**
 * The names of the levels, lowest first: values of `acr` (OpenID Connect Core 1.0 §2). `phr` is that of the OpenID Connect EAP ACR Values
 * 1.0: phishing-resistant.
 */
export const ACR_VALUES = ['urn:grantor:acr:1fa', 'urn:grantor:acr:2fa', 'phr'] as const
export type Acr = (typeof ACR_VALUES)[number]

/** What an authorization request asks about the authentication of the user: by `acr_values`, `acr` in `claims`, or `max_age`. */
export interface AuthenticationRequest {
  /** The values of which one is enough, in the order of preference. Empty: any level is. */
  readonly acrValues: readonly Acr[]
  /** Without one of the values the client gets an error. OpenID Connect Core 1.0 §5.5.1.1. */
  readonly isEssential: boolean
}

/** What the tokens of a grant say of the authentication of the user. RFC 9068 §2.2.1, RFC 9470 §6. */
export interface StatedAuthentication {
  readonly acr: Acr
  /** At least that of `acr`. */
  readonly level: AuthenticationLevel
  /** When the user authenticated. undefined: unknown. */
  readonly at: EpochMs | undefined
}

/** The level of a value. */
export function levelOfAcr(value: Acr): AuthenticationLevel {
  return (ACR_VALUES.indexOf(value) + 1) as AuthenticationLevel
}

/** The value of `acr` for a session: the first requested one that it meets, and otherwise that of its level. */
export function acrOf(methods: readonly AuthenticationMethod[], requested: readonly Acr[]): Acr {
  const level = levelOf(methods)
  const [first, second, third] = ACR_VALUES
  return requested.find((value) => levelOfAcr(value) <= level) ?? ({ 1: first, 2: second, 3: third } as const)[level]
}

/** Whether a level is enough for a request. */
export function meetsAcr({ acrValues }: Pick<AuthenticationRequest, 'acrValues'>, level: AuthenticationLevel): boolean {
  return acrValues.length === 0 || acrValues.some((value) => levelOfAcr(value) <= level)
}

/** The level that a user is asked for, whose session is too weak: that of the first requested value in reach. undefined: none is. */
export function reachableLevel(
  { acrValues }: Pick<AuthenticationRequest, 'acrValues'>,
  reach: AuthenticationLevel,
): AuthenticationLevel | undefined {
  return acrValues.map(levelOfAcr).find((level) => level <= reach)
}

/** Those of the texts that are values of `acr` here, each once, in their order. */
export function knownAcrValues(texts: readonly unknown[]): readonly Acr[] {
  if (texts.length === 0) return []
  return [...new Set(texts)].filter((text): text is Acr => (ACR_VALUES as readonly unknown[]).includes(text))
}

const LEVEL_WORDS = { 1: '1fa', 2: '2fa', 3: 'phr' } as const

/** What tasks and commands call a level. */
export function levelWord<Level extends AuthenticationLevel>(level: Level): (typeof LEVEL_WORDS)[Level] {
  return LEVEL_WORDS[level]
}
