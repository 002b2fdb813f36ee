import type { EpochSeconds } from '../../base/brand.ts'

/** The members of a profile that are URLs. */
export const PROFILE_URLS = ['profile', 'picture', 'website'] as const
/** The other members of a profile that are text. */
export const PROFILE_TEXTS = [
  'given_name',
  'family_name',
  'middle_name',
  'nickname',
  'preferred_username',
  'gender',
  'birthdate',
  'zoneinfo',
  'locale',
  'phone_number',
] as const
/** The members of an address, which are text. OpenID Connect Core 1.0 §5.1.1. */
export const ADDRESS_TEXTS = ['formatted', 'street_address', 'locality', 'region', 'postal_code', 'country'] as const

type ProfileText = (typeof PROFILE_URLS | typeof PROFILE_TEXTS)[number]
type UserAddress = { readonly [Name in (typeof ADDRESS_TEXTS)[number]]?: string | undefined }

/** What the operator stores about a user, by the names of the claims. OpenID Connect Core 1.0 §5.1. */
export type UserProfile = { readonly [Name in ProfileText]?: string } & {
  readonly phone_number_verified?: boolean
  readonly address?: UserAddress
}

/** The claims that each scope requests. OpenID Connect Core 1.0 §5.4. */
const SCOPE_CLAIMS = {
  profile: [
    'name',
    'family_name',
    'given_name',
    'middle_name',
    'nickname',
    'preferred_username',
    'profile',
    'picture',
    'website',
    'gender',
    'birthdate',
    'zoneinfo',
    'locale',
    'updated_at',
  ],
  email: ['email', 'email_verified'],
  phone: ['phone_number', 'phone_number_verified'],
  address: ['address'],
} as const
type ClaimScope = keyof typeof SCOPE_CLAIMS
export type UserClaim = (typeof SCOPE_CLAIMS)[ClaimScope][number]

/** All claims about users. */
export const USER_CLAIMS: readonly UserClaim[] = Object.values(SCOPE_CLAIMS).flat()

/** A user, as far as claims say it. */
export interface DescribedUser {
  readonly email: string | undefined
  readonly isEmailVerified: boolean
  readonly name: string | undefined
  readonly updatedAt: EpochSeconds
  readonly profile: UserProfile
}

/** Returns the scope that requests a claim; undefined if no scope does, as for a claim that this server does not know. */
export function scopeOfClaim(claim: string): ClaimScope | undefined {
  return (Object.keys(SCOPE_CLAIMS) as ClaimScope[]).find((scope) =>
    SCOPE_CLAIMS[scope].some((name: string) => name === claim),
  )
}

/** Returns the claims that the tokens of a scope request. */
export function claimsOfScope(tokens: readonly string[]): readonly UserClaim[] {
  return (Object.keys(SCOPE_CLAIMS) as ClaimScope[]).flatMap((scope) =>
    tokens.includes(scope) ? [...SCOPE_CLAIMS[scope]] : [],
  )
}

/** Returns these claims of a user. A claim without a value is absent (OpenID Connect Core 1.0 §5.3.2). */
export function describeUserClaims(
  { email, isEmailVerified, name, updatedAt, profile }: DescribedUser,
  claims: readonly UserClaim[],
): Readonly<Record<string, unknown>> {
  const known: Partial<Record<UserClaim, unknown>> = {
    ...profile,
    name,
    updated_at: updatedAt,
    ...(profile.phone_number === undefined ? { phone_number_verified: undefined } : {}),
    ...(email === undefined ? {} : { email, email_verified: isEmailVerified }),
  }
  // An address says nothing without it.
  const shown = claims.includes('email') ? [...claims, 'email_verified' as const] : claims
  return Object.fromEntries(shown.flatMap((claim) => (known[claim] === undefined ? [] : [[claim, known[claim]]])))
}
