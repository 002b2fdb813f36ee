import type { UserRecord } from '../../ports/records/user.ts'
import type { Page, Reads } from '../../ports/store.ts'
import type { Input } from '../../ports/operations.ts'
import type { EpochMs } from '../../protocol/brand.ts'
import type { SessionId, UserId } from '../../protocol/ids.ts'
import type { SecretHash } from '../../protocol/secrets.ts'
import { BROWSER_LIMIT, recordOf, sessionOf, userOf, windowStart } from '../rows.ts'
import { columns } from './column-parameters.ts'
import type { Database } from './database.ts'
import { openBatchLoader } from './batch-loader.ts'
import { changeRow, eachAlone, type Handlers } from './handlers.ts'

const INSERT = {
  name: 'insert-user',
  text: `insert into users (user_id, email, name, password_hash, created_at, valid_from) values ($1, $2, $3, $4, $5, $6)
    on conflict (email) do nothing returning user_id`,
}
const FIND = { name: 'find-users', text: 'select * from users where user_id = any($1::text[])' }
/** An aggregate returns a row even if there is no account, so that both cases take equally long (threats.md UI-08). */
const FIND_ID_BY_EMAIL = {
  name: 'find-user-id-by-email',
  text: 'select coalesce(max(user_id), $2) as user_id from users where email = $1',
}
const FIND_BY_EMAIL = { name: 'find-user-by-email', text: 'select * from users where email = $1' }
const LIST = { name: 'list-users', text: 'select * from users where user_id < $1 order by user_id desc limit $2' }
const SET_PASSWORD = {
  name: 'set-password',
  text: `update users set password_hash = $1, valid_from = greatest(valid_from, $2) where user_id = $3 returning user_id`,
}
const DISABLE = {
  name: 'disable-user',
  text: `update users set disabled_at = coalesce(disabled_at, $1), valid_from = greatest(valid_from, $1) where user_id = $2 returning user_id`,
}
const ENABLE = {
  name: 'enable-user',
  text: `update users set disabled_at = null,
      valid_from = case when disabled_at is null then valid_from else greatest(valid_from, $1) end
    where user_id = $2 returning user_id`,
}
const EXPIRE = {
  name: 'expire-user',
  text: 'update users set valid_from = greatest(valid_from, $1) where user_id = $2 returning user_id',
}
const DELETE = { name: 'delete-user', text: 'delete from users where user_id = $1 returning user_id' }
const DELETE_OWN = [
  { name: 'delete-sessions-of-user', text: 'delete from sessions where user_id = $1' },
  { name: 'delete-memberships-of-user', text: 'delete from memberships where user_id = $1' },
  { name: 'delete-browsers-of-user', text: 'delete from browsers where user_id = $1' },
  { name: 'delete-consents-of-user', text: 'delete from consents where user_id = $1' },
] as const
const EXPIRE_EVERYTHING = {
  name: 'expire-everything',
  text: `insert into settings (name, value) values ('not-before', $1)
    on conflict (name) do update set value = excluded.value
    where cast(settings.value as bigint) < cast(excluded.value as bigint)`,
}
const FIND_VALID_FROM = { name: 'find-not-before', text: `select value from settings where name = 'not-before'` }
const START_SESSION = {
  name: 'start-session',
  text: `insert into sessions (session_id, session_hash, user_id, created_at, expires_at) values ($1, $2, $3, $4, $5)`,
}
const END_SESSION = { name: 'end-session', text: 'delete from sessions where session_id = $1 returning session_id' }
const FIND_SESSION = { name: 'find-sessions', text: 'select * from sessions where session_id = any($1::text[])' }
const MEET_BROWSER = {
  name: 'meet-browser',
  text: `insert into browsers (user_id, browser_hash, seen_at) values ($1, $2, $3)
    on conflict (user_id, browser_hash) do update set seen_at = excluded.seen_at`,
}
const FORGET_BROWSERS = {
  name: 'forget-browsers',
  text: `delete from browsers where user_id = $1 and browser_hash not in (
      select browser_hash from browsers where user_id = $1 order by seen_at desc limit $2)`,
}
const KNOWS_BROWSER = {
  name: 'knows-browser',
  text: 'select seen_at from browsers where user_id = $1 and browser_hash = $2',
}
const COUNT_HITS = {
  name: 'count-hits',
  text: `insert into hits as h (bucket, window_start, window_end, count)
    select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[])
    on conflict (bucket, window_start) do update set count = h.count + excluded.count
    returning h.bucket, h.window_start, h.count`,
}
const FORGIVE_HITS = {
  name: 'forgive-hits',
  text: `update hits as h set count = greatest(h.count - i.by, 0)
    from unnest($1::text[], $2::bigint[], $3::bigint[]) as i (bucket, window_start, by)
    where h.bucket = i.bucket and h.window_start = i.window_start`,
}

export function accountStatements(database: Database) {
  const handlers = {
    createUser: {
      keys: ({ id, email }) => [id, `email:${email}`],
      run: eachAlone(async (query, { id, email, name, passwordHash, createdAt, notBefore }: UserRecord) => {
        const rows = await query(INSERT, [id, email, name ?? null, passwordHash, createdAt, notBefore])
        return rows.length === 1 ? 'created' : 'email-taken'
      }),
    },
    setPassword: {
      keys: ({ id }) => [id],
      run: eachAlone((query, { id, passwordHash, now }: Input<'setPassword'>) =>
        changeRow(query, SET_PASSWORD, [passwordHash, now, id]),
      ),
    },
    disableUser: {
      keys: ({ id }) => [id],
      run: eachAlone((query, { id, now }: Input<'disableUser'>) => changeRow(query, DISABLE, [now, id])),
    },
    enableUser: {
      keys: ({ id }) => [id],
      run: eachAlone((query, { id, now }: Input<'enableUser'>) => changeRow(query, ENABLE, [now, id])),
    },
    deleteUser: {
      keys: (id) => [id],
      run: eachAlone(async (query, id: UserId) => {
        const rows = await query(DELETE, [id])
        for (const statement of DELETE_OWN) await query(statement, [id])
        return rows.length === 1 ? 'deleted' : 'unknown'
      }),
    },
    revokeUserTokens: {
      keys: ({ id }) => [id],
      run: eachAlone((query, { id, now }: Input<'revokeUserTokens'>) => changeRow(query, EXPIRE, [now, id])),
    },
    revokeAllTokens: {
      keys: () => ['setting:not-before'],
      run: eachAlone(async (query, { now }: Input<'revokeAllTokens'>) => {
        await query(EXPIRE_EVERYTHING, [String(now)])
        return 'expired' as const
      }),
    },
    startSession: {
      keys: ({ session }) => [session.id, session.userId],
      run: eachAlone(async (query, { session, browserHash }: Input<'startSession'>) => {
        const { id, hash, userId, createdAt, expiresAt } = session
        await query(START_SESSION, [id, hash, userId, createdAt, expiresAt])
        await query(MEET_BROWSER, [userId, browserHash, createdAt])
        await query(FORGET_BROWSERS, [userId, BROWSER_LIMIT])
        return 'started' as const
      }),
    },
    endSession: {
      keys: (id) => [id],
      run: eachAlone(async (query, id: SessionId) =>
        (await query(END_SESSION, [id])).length === 1 ? 'ended' : 'unknown',
      ),
    },
    countHit: {
      keys: (hit) => [`hit:${hit.bucket}:${windowStart(hit)}`],
      async run(query, inputs) {
        const rows = await query(
          COUNT_HITS,
          columns(
            inputs,
            ({ bucket }) => bucket,
            windowStart,
            (hit) => windowStart(hit) + hit.windowMs,
            ({ by }) => by,
          ),
        )
        const counts = new Map(rows.map((row) => [`${row['bucket']}:${row['window_start']}`, row['count']]))
        return inputs.map((hit) => {
          const start = windowStart(hit)
          return {
            count: counts.get(`${hit.bucket}:${start}`) as number,
            windowEndsAt: (start + hit.windowMs) as EpochMs,
          }
        })
      },
    },
    forgiveHit: {
      keys: (hit) => [`hit:${hit.bucket}:${windowStart(hit)}`],
      async run(query, inputs) {
        await query(
          FORGIVE_HITS,
          columns(
            inputs,
            ({ bucket }) => bucket,
            windowStart,
            ({ by }) => by,
          ),
        )
        return inputs.map(() => 'forgiven' as const)
      },
    },
  } satisfies Partial<Handlers>
  const reads = {
    async findNotBefore(): Promise<EpochMs> {
      const [row] = await database.query(FIND_VALID_FROM)
      return Number(row?.['value'] ?? 0) as EpochMs
    },
    findUser: openBatchLoader(async (ids: readonly UserId[]) =>
      (await database.query(FIND, [ids])).map((row) => userOf(row)),
    ),
    async findUserIdByEmail(email: string, otherwise: UserId): Promise<UserId> {
      const [row] = await database.query(FIND_ID_BY_EMAIL, [email, otherwise])
      return (row?.['user_id'] ?? otherwise) as UserId
    },
    async findUserByEmail(email: string): Promise<UserRecord | undefined> {
      const [row] = await database.query(FIND_BY_EMAIL, [email])
      return recordOf(row, userOf)
    },
    async listUsers({ before, limit }: Page<UserId>): Promise<readonly UserRecord[]> {
      return (await database.query(LIST, [before ?? '~', limit])).map((row) => userOf(row))
    },
    findSession: openBatchLoader(async (ids: readonly SessionId[]) =>
      (await database.query(FIND_SESSION, [ids])).map((row) => sessionOf(row)),
    ),
    async knowsBrowser(userId: UserId, hash: SecretHash): Promise<boolean> {
      return (await database.query(KNOWS_BROWSER, [userId, hash])).length > 0
    },
  } satisfies Partial<Reads>
  return { handlers, reads }
}
