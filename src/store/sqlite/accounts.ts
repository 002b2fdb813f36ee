import type { DatabaseSync } from 'node:sqlite'
import type { SessionRecord, UserRecord } from '../../ports/records/user.ts'
import type { Page } from '../../ports/store.ts'
import type { EpochMs } from '../../protocol/brand.ts'
import type { SessionId, UserId } from '../../protocol/ids.ts'
import type { SecretHash } from '../../protocol/secrets.ts'
import { BROWSER_LIMIT, recordOf, sessionOf, userOf, windowStart, type Row } from '../rows.ts'
import type { Handlers } from './handlers.ts'

export function accountStatements(database: DatabaseSync) {
  const insert = database.prepare(
    `insert into users (user_id, email, name, password_hash, created_at, valid_from) values (?, ?, ?, ?, ?, ?)
     on conflict (email) do nothing`,
  )
  const find = database.prepare('select * from users where user_id = ?')
  const findByEmail = database.prepare('select * from users where email = ?')
  // An aggregate returns a row even if there is no account, so that both cases take equally long (threats.md UI-08).
  const findIdByEmail = database.prepare('select coalesce(max(user_id), ?) as user_id from users where email = ?')
  const list = database.prepare('select * from users where user_id < ? order by user_id desc limit ?')
  const setPassword = database.prepare(
    'update users set password_hash = ?, valid_from = max(valid_from, ?) where user_id = ?',
  )
  const disable = database.prepare(
    'update users set disabled_at = coalesce(disabled_at, ?1), valid_from = max(valid_from, ?1) where user_id = ?2',
  )
  const enable = database.prepare(
    `update users set disabled_at = null,
       valid_from = case when disabled_at is null then valid_from else max(valid_from, ?) end
     where user_id = ?`,
  )
  const expire = database.prepare('update users set valid_from = max(valid_from, ?) where user_id = ?')
  const remove = database.prepare('delete from users where user_id = ?')
  const removeOwn = [
    database.prepare('delete from sessions where user_id = ?'),
    database.prepare('delete from memberships where user_id = ?'),
    database.prepare('delete from browsers where user_id = ?'),
    database.prepare('delete from consents where user_id = ?'),
  ] as const
  const revokeAllTokens = database.prepare(
    `insert into settings (name, value) values ('not-before', ?)
     on conflict (name) do update set value = excluded.value
     where cast(settings.value as bigint) < cast(excluded.value as bigint)`,
  )
  const readNotBefore = database.prepare(`select value from settings where name = 'not-before'`)
  const startSession = database.prepare(
    'insert into sessions (session_id, session_hash, user_id, created_at, expires_at) values (?, ?, ?, ?, ?)',
  )
  const endSession = database.prepare('delete from sessions where session_id = ?')
  const findSession = database.prepare('select * from sessions where session_id = ?')
  const meetBrowser = database.prepare(
    `insert into browsers (user_id, browser_hash, seen_at) values (?, ?, ?)
     on conflict (user_id, browser_hash) do update set seen_at = excluded.seen_at`,
  )
  const forgetBrowsers = database.prepare(
    `delete from browsers where user_id = ? and browser_hash not in (
       select browser_hash from browsers where user_id = ? order by seen_at desc limit ?)`,
  )
  const knowsBrowser = database.prepare('select 1 from browsers where user_id = ? and browser_hash = ?')
  const countHit = database.prepare(
    `insert into hits (bucket, window_start, window_end, count) values (?, ?, ?, ?)
     on conflict (bucket, window_start) do update set count = count + excluded.count returning count`,
  )
  const forgiveHit = database.prepare('update hits set count = max(count - ?, 0) where bucket = ? and window_start = ?')

  return {
    createUser({ id, email, name, passwordHash, createdAt, notBefore }) {
      const { changes } = insert.run(id, email, name ?? null, passwordHash, createdAt, notBefore)
      return changes === 1 ? 'created' : 'email-taken'
    },
    setPassword: ({ id, passwordHash, now }) =>
      setPassword.run(passwordHash, now, id).changes === 1 ? 'changed' : 'unknown',
    disableUser: ({ id, now }) => (disable.run(now, id).changes === 1 ? 'changed' : 'unknown'),
    enableUser: ({ id, now }) => (enable.run(now, id).changes === 1 ? 'changed' : 'unknown'),
    deleteUser(id) {
      for (const statement of removeOwn) statement.run(id)
      return remove.run(id).changes === 1 ? 'deleted' : 'unknown'
    },
    revokeUserTokens: ({ id, now }) => (expire.run(now, id).changes === 1 ? 'changed' : 'unknown'),
    revokeAllTokens({ now }) {
      revokeAllTokens.run(String(now))
      return 'expired'
    },
    startSession({ session, browserHash }) {
      startSession.run(session.id, session.hash, session.userId, session.createdAt, session.expiresAt)
      meetBrowser.run(session.userId, browserHash, session.createdAt)
      forgetBrowsers.run(session.userId, session.userId, BROWSER_LIMIT)
      return 'started'
    },
    endSession: (id) => (endSession.run(id).changes === 1 ? 'ended' : 'unknown'),
    countHit(hit) {
      const start = windowStart(hit)
      const end = (start + hit.windowMs) as EpochMs
      const row = countHit.get(hit.bucket, start, end, hit.by) as Row
      return { count: row['count'] as number, windowEndsAt: end }
    },
    forgiveHit(hit) {
      forgiveHit.run(hit.by, hit.bucket, windowStart(hit))
      return 'forgiven'
    },
    findNotBefore: (): EpochMs => Number((readNotBefore.get() as Row | undefined)?.['value'] ?? 0) as EpochMs,
    findUser: (id: UserId): UserRecord | undefined => recordOf(find.get(id), userOf),
    findUserIdByEmail: (email: string, otherwise: UserId): UserId =>
      (findIdByEmail.get(otherwise, email) as Row)['user_id'] as UserId,
    findUserByEmail: (email: string): UserRecord | undefined => recordOf(findByEmail.get(email), userOf),
    listUsers: ({ before, limit }: Page<UserId>): readonly UserRecord[] =>
      list.all(before ?? '~', limit).map((row) => userOf(row as Row)),
    findSession: (id: SessionId): SessionRecord | undefined => recordOf(findSession.get(id), sessionOf),
    knowsBrowser: (userId: UserId, hash: SecretHash): boolean => knowsBrowser.get(userId, hash) !== undefined,
  } satisfies Partial<Handlers> & Record<string, unknown>
}
