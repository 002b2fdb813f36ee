import type { MembershipKey } from '../../../ports/operations/organization.ts'
import { after, type EpochMs } from '../../../base/brand.ts'
import type { ClientId, OrganizationId, UserId } from '../../../protocol/ids.ts'
import type { NounOperations } from '../../noun.ts'
import { idBefore } from '../../rows.ts'
import { eachOf, lookFor, rows, shared, type SharedStatement, type Steps } from '../../shared/statement.ts'

/**
 * A not-before time revokes what was issued before it. A row that an earlier commit wrote is from before it too, although the row has
 * a later time if the clock that issued it was ahead. Such a row would be valid when that time has come, so it ends with the operation
 * that sets the not-before time (threats.md STO-13).
 *
 * Like a sign-out, each operation changes sessions first, then codes, then grants: Citus locks all shards of a table for such a
 * statement, and two operations that lock the tables in another order wait for each other.
 */

/** The authorization or interaction of a row may be as much older than the row as both may live. */
const OLDER_MS = 24 * 60 * 60 * 1000
/** What a clock within its tolerance issues to other users meanwhile is not later than this. */
const AHEAD_MS = 60_000

const OF_USER = 'user_id = :userId and (cast(:organizationId as text) is null or organization_id = :organizationId)'

const LATER_CODES = `authorization_id >= :since and status = 'approved' and approved_at >= :now`
const LATER_GRANTS = 'created_at >= :now and revoked_at is null and grant_id >= :since'
const USER_ACCESS = accessWhere(
  eachOf('authorizations', `${LATER_CODES} and ${OF_USER}`, 'since'),
  eachOf('grants', `${LATER_GRANTS} and ${OF_USER}`, 'since'),
)
const ACCESS = accessWhere(LATER_CODES, LATER_GRANTS)
const CLIENT_ACCESS = accessOf('client_id = :clientId')
const ORGANIZATION_ACCESS = accessOf('organization_id = :organizationId')
/** A consent for an organization begins with its id and a space (`consentTarget`). */
const OF_ORGANIZATION = `substr(resources, 1, length(cast(:organizationId as text)) + 1) = cast(:organizationId as text) || ' '`
const LATER_CONSENTS_OF_MEMBER = shared(
  `delete from consents where user_id = :userId and given_at >= :now and ${OF_ORGANIZATION}`,
)
const USER_SIGN_INS = [
  shared(`delete from sessions where ${eachOf('sessions', 'user_id = :userId and created_at >= :now')}`),
  shared('delete from links where user_id = :userId and created_at >= :now'),
]
const SIGN_INS = shared('delete from sessions where created_at >= :now and session_id >= :since')
/** The answer of the operator's application names its subject, not the user. */
const ANSWERS = shared(
  `delete from interactions where ${lookFor('interactions', 'answered_at >= :now and interaction_id >= :since')}`,
)

const REVOKE_ALL_TOKENS = shared(
  `insert into settings (name, value) values ('not-before', :now)
   on conflict (name) do update
   set value = cast(greatest(cast(settings.value as bigint) + 1, cast(excluded.value as bigint)) as text)`,
)
const FIND_NOT_BEFORE = shared(`select value from settings where name = 'not-before'`)

/** The time before which everything that the server issued is revoked. */
const operations = {
  revokeAllTokens: {
    keys: () => ['setting:not-before'],
    cache: 'kept',
    event: () => ({ event: 'server.tokens-revoked' }),
    *run({ now }) {
      yield* revokeAllTokens(now)
      return 'expired'
    },
  },
} satisfies NounOperations

const reads = {
  *findNotBefore(): Steps<EpochMs> {
    const [row] = yield* rows(FIND_NOT_BEFORE)
    return Number(row?.['value'] ?? 0) as EpochMs
  },
}

export const notBefore = { operations, reads }

/** Ends the grants, codes, sessions and links of a user that have a time of now or later. */
export function* endLaterOfUser(userId: UserId, now: EpochMs): Steps<void> {
  yield* endLater([...USER_SIGN_INS, ...USER_ACCESS], now, { userId, organizationId: undefined })
  yield* endLater([ANSWERS], after(now, AHEAD_MS), {})
}

/** Ends the grants, codes and consents of a member for the organization that have a time of now or later. */
export function endLaterOfMember({ userId, organizationId }: MembershipKey, now: EpochMs): Steps<void> {
  return endLater([...USER_ACCESS, LATER_CONSENTS_OF_MEMBER], now, { userId, organizationId })
}

/** Ends the grants and codes of a client that have a time of now or later. */
export function endLaterOfClient(clientId: ClientId, now: EpochMs): Steps<void> {
  return endLater(CLIENT_ACCESS, now, { clientId })
}

/** Ends the grants and codes for an organization that have a time of now or later. Its consents name the not-before time that they were given under. */
export function endLaterOfOrganization({ id }: { readonly id: OrganizationId }, now: EpochMs): Steps<void> {
  return endLater(ORGANIZATION_ACCESS, now, { organizationId: id })
}

/** Ends all grants, codes, sessions and answers that have a time of now or later. A consent names the not-before time that it was given under. */
function endLaterOfServer(now: EpochMs): Steps<void> {
  return endLater([SIGN_INS, ...ACCESS, ANSWERS], now, {})
}

function* endLater(statements: readonly SharedStatement[], now: EpochMs, owner: object): Steps<void> {
  const since = idBefore(after(now, -OLDER_MS), '')
  for (const statement of statements) yield* rows(statement, { ...owner, now, since })
}

/** The statements that end the grants and codes of an owner. */
function accessOf(isOfOwner: string): readonly SharedStatement[] {
  return accessWhere(`${LATER_CODES} and ${isOfOwner}`, `${LATER_GRANTS} and ${isOfOwner}`)
}

function accessWhere(codes: string, grants: string): readonly SharedStatement[] {
  return [
    shared(`update authorizations set status = 'burned' where ${codes}`),
    shared(`update grants set revoked_at = :now where ${grants}`),
  ]
}

/** Moves the server's not-before time, by a millisecond if it is later already, and ends what has a later time. */
export function* revokeAllTokens(now: EpochMs): Steps<void> {
  yield* rows(REVOKE_ALL_TOKENS, { now: String(now) })
  yield* endLaterOfServer(now)
}
