import { secondsSince, type EpochMs } from '../../base/brand.ts'

/** When the refresh tokens of a grant end. */
export interface RefreshExpiry {
  /** The end of the grant. */
  readonly expiresAt: EpochMs
  /** The end of its newest token, unless it is used. */
  readonly idleExpiresAt: EpochMs
}

/** Reads a grant. */
export function expiryOf({
  expiresAt,
  family,
}: {
  readonly expiresAt: EpochMs
  readonly family: { readonly idleExpiresAt: EpochMs } | undefined
}): RefreshExpiry {
  return { expiresAt, idleExpiresAt: family?.idleExpiresAt ?? expiresAt }
}

/** The same in an answer, in whole seconds from now. draft-ietf-oauth-refresh-token-expiration-03 §6.1 and §7. */
export interface RefreshExpiration {
  /** Not more than `authorization_expires_in`. */
  readonly refresh_token_timeout: number
  readonly authorization_expires_in: number
}

/** Rounded down, so that no client waits too long. */
export function refreshExpiration({ expiresAt, idleExpiresAt }: RefreshExpiry, now: EpochMs): RefreshExpiration {
  const authorization = secondsSince(now, expiresAt)
  return {
    refresh_token_timeout: Math.min(authorization, secondsSince(now, idleExpiresAt)),
    authorization_expires_in: authorization,
  }
}

/** `refresh_token_expiration_types_supported` of the metadata. §8 of the draft. */
export const REFRESH_EXPIRATION_TYPES = ['authorization', 'token_timeout'] as const
