import type { LinkRecord } from '../../ports/records/user.ts'
import type { EpochMs } from '../../protocol/brand.ts'
import type { UserId } from '../../protocol/ids.ts'
import type { SecretHash } from '../../protocol/secrets.ts'
import { LINKS } from '../tables.ts'
import { assignments, without } from '../table.ts'
import { endLogoutNoticesOfUser } from './logout-notices.ts'
import { endLaterOfUser } from './not-before.ts'
import { rows, shared, type SharedHandlers, type Steps } from './statement.ts'

const FIND_ENABLED_USER = shared('select user_id from users where user_id = :user_id and disabled_at is null')
const CREATE = shared(
  `insert into links (${LINKS.names}) values (${LINKS.parameters})
   on conflict (user_id) do update set ${assignments(without(LINKS, 'user_id'))}`,
)
const FIND = shared('select * from links where user_id = :userId')
const REMOVE = shared('delete from links where user_id = :userId')
const USE = shared(
  'delete from links where user_id = :userId and link_hash = :hash and expires_at > :now returning created_at',
)
/** Whatever revoked the user's sessions since the link was created also ended the link. */
const SET_PASSWORD = shared(
  `update users set password_hash = :passwordHash, valid_from = greatest(valid_from, :now)
   where user_id = :userId and disabled_at is null and valid_from <= :createdAt returning user_id`,
)

export const linkHandlers = {
  createLink: {
    keys: ({ userId }) => [userId],
    *run(link) {
      const values = LINKS.values(link)
      if ((yield* rows(FIND_ENABLED_USER, values)).length === 0) return 'unknown'
      yield* rows(CREATE, values)
      return 'created'
    },
  },
  useLink: {
    keys: ({ userId }) => [userId],
    *run(use) {
      const createdAt = yield* useUpLink(use)
      if (createdAt === undefined) return 'unknown'
      if ((yield* rows(SET_PASSWORD, { ...use, createdAt })).length === 0) return 'unknown'
      yield* endLaterOfUser(use.userId, use.now)
      yield* endLogoutNoticesOfUser(use.userId)
      return 'used'
    },
  },
} satisfies SharedHandlers

export const linkReads = {
  *findLink(userId: UserId): Steps<LinkRecord | undefined> {
    const [row] = yield* rows(FIND, { userId })
    return row === undefined ? undefined : LINKS.read(row)
  },
}

/** Uses up a link that has not expired, and returns when it was created; undefined: there is none. */
export function* useUpLink(use: {
  readonly userId: UserId
  readonly hash: SecretHash
  readonly now: EpochMs
}): Steps<EpochMs | undefined> {
  return (yield* rows(USE, use))[0]?.['created_at'] as EpochMs | undefined
}

export function* removeLink(userId: UserId): Steps<void> {
  yield* rows(REMOVE, { userId })
}
