import type { AccessTokenFacts } from '../protocol/token/access-token.ts'
import { toSeconds, type EpochMs } from '../base/brand.ts'

/** The milliseconds that a time-ordered id begins with (ids.ts). */
const TIME_PREFIX = /^[0-9a-f]{12}/

/**
 * Returns when an access token without a grant was issued, to the millisecond.
 *
 * `iat` has whole seconds only, and an organization that installs a client may get its first token within the same second.
 * The milliseconds are in the token's `jti`: it starts with the time of issue, or with the expiry time, which is a whole
 * number of seconds later. For a `jti` that does not, the start of the second is returned, so that a token from before a
 * not-before time never appears to be from after it (threats.md INT-06).
 */
export function issueTime({ tokenId, issuedAt, expiresAt }: AccessTokenFacts): EpochMs {
  const second = issuedAt * 1000
  const idTime = Number.parseInt(TIME_PREFIX.exec(tokenId)?.[0] ?? '', 16) as EpochMs
  const isOfThisToken = toSeconds(idTime) === issuedAt || toSeconds(idTime) === expiresAt
  return (isOfThisToken ? second + (idTime % 1000) : second) as EpochMs
}
