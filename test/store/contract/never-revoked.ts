import type { EpochMs } from '../../../src/base/brand.ts'

/** The times of a consent for no organization, where the server never revoked all tokens. */
export const NEVER_REVOKED = { server: 0 as EpochMs, organization: undefined } as const
