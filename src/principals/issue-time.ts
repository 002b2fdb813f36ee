import type { AccessTokenFacts } from '../protocol/access-token.ts'
import { toSeconds, type EpochMs } from '../protocol/brand.ts'

/** The milliseconds that a time-ordered id begins with (ids.ts). */
const MOMENT = /^[0-9a-f]{12}/

/**
 * When an access token without a grant was issued, to the millisecond.
 *
 * `iat` has whole seconds only, and an organization that installs a client may get its first token within the same second.
 * The `jti` of such a token has the rest: it begins with the moment of issue, or with that of expiry, a whole number of
 * seconds later. Where it does not, the start of the second counts, so that what came before somebody's moment never
 * passes for having come after it (threats.md INT-06).
 */
export function issueMoment({ tokenId, issuedAt, expiresAt }: AccessTokenFacts): EpochMs {
  const second = issuedAt * 1000
  const moment = Number.parseInt(MOMENT.exec(tokenId)?.[0] ?? '', 16) as EpochMs
  const isOfThisToken = toSeconds(moment) === issuedAt || toSeconds(moment) === expiresAt
  return (isOfThisToken ? second + (moment % 1000) : second) as EpochMs
}
