import type { Brand, EpochMs } from './brand.ts'

/** A provider at which users sign in. */
export type ProviderId = Brand<string, 'ProviderId'>

/** Identities of persons of the operator's application have this in the place of a provider. No provider can have the id. */
export const APPLICATION = 'delegate' as ProviderId

/** How a user authenticated. RFC 8176 §2, and `fed`: a provider authenticated the user. */
export type AuthenticationMethod = 'pwd' | 'fed'

/** When and how a user authenticated: the `auth_time` and `amr` of OpenID Connect Core §2. */
export interface Authentication {
  /** At least one. */
  readonly methods: readonly AuthenticationMethod[]
  readonly at: EpochMs
  /** The provider that authenticated the user; undefined: this server did. */
  readonly providerId: ProviderId | undefined
}
