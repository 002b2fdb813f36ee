import type { Input, Outcome } from '../../../ports/operations/index.ts'
import type { PasskeyReason } from '../../../ports/operations/passkey.ts'
import type { PasskeyRecord } from '../../../ports/records/passkey.ts'
import type { UserId } from '../../../protocol/ids.ts'
import { PASSKEY_LIMIT, type PasskeyId } from '../../../protocol/sign-in/passkey.ts'
import { type NounOperations, when } from '../../noun.ts'
import { belongingKey } from '../organization/group-members.ts'
import { acceptLink } from './links.ts'
import { holdFirstFactor } from './second-factors.ts'
import type { Row } from '../../rows.ts'
import { evictByOperator, evictOthers } from '../../shared/evictions.ts'
import { keepChanged } from '../../shared/sign-in/changed-here.ts'
import { hasPasskeys, hasSecondFactor, holdChange, keepsFactor } from '../../shared/sign-in/covered-factors.ts'
import { eachOf, listOf, rows, shared, type Steps } from '../../shared/statement.ts'
import { bigint, flag, optionalGroup, table, text } from '../../table.ts'

export const PASSKEYS = table<PasskeyRecord>({
  userId: text('user_id'),
  id: text('passkey_id'),
  credentialId: text('credential_id'),
  publicKey: text('public_key'),
  counter: bigint('counter'),
  isBackupEligible: flag('backup_eligible'),
  isBackedUp: flag('backed_up'),
  agent: optionalGroup('agent_browser', { browser: text('agent_browser'), system: text('agent_system') }),
  createdAt: bigint('created_at'),
  usedAt: bigint('used_at'),
})

const FIND = shared('select * from passkeys where user_id = :userId and passkey_id = :id')
const NEXT = shared('select user_id from passkeys where user_id > :after order by user_id limit :limit')
const WITHOUT_PASSWORD = shared(
  `select user_id from users
   where user_id = any(string_to_array(:users, ' ')) and (password_hash is null or :passwordsCount = 0)`,
)
const AT_PROVIDERS = shared(
  `select i.user_id from identities as i join providers as p on p.provider_id = i.provider_id
   where i.user_id = any(string_to_array(:users, ' ')) and p.disabled_at is null`,
)
/** More than a user has. */
const SLICE = 1000
const LIST = shared('select * from passkeys where user_id = :userId order by created_at, passkey_id')
const INSERT = shared(
  `insert into passkeys (${PASSKEYS.names}) values (${PASSKEYS.parameters})
   on conflict (user_id, passkey_id) do nothing returning passkey_id`,
)
const REMOVE = shared('delete from passkeys where user_id = :userId and passkey_id = :id returning passkey_id')
/** Changes nothing, and locks the row: passkeys and other methods of a user are added and removed one after the other. */
const HOLD_LIVE = shared(
  'update users set password_hash = password_hash where user_id = :userId and disabled_at is null returning user_id',
)
const HOLD = shared('update users set password_hash = password_hash where user_id = :userId returning password_hash')
const RISE = shared(
  `update passkeys
   set counter = :counter, backup_eligible = :isBackupEligible, backed_up = :isBackedUp, used_at = :now
   where user_id = :userId and passkey_id = :id and (counter < :counter or (counter = 0 and :counter = 0))
   returning passkey_id`,
)
const NOTE_USE = shared(
  `update passkeys set backup_eligible = :isBackupEligible, backed_up = :isBackedUp, used_at = :now
   where user_id = :userId and passkey_id = :id returning passkey_id`,
)
const HAS_IDENTITY = shared(
  `select i.identity_key from identities as i join providers as p on p.provider_id = i.provider_id
   where ${eachOf('identities', 'i.user_id = :userId and p.disabled_at is null')} limit 1`,
)
const REMOVE_PASSWORD = shared(
  'update users set password_hash = null where user_id = :userId and password_hash is not null returning user_id',
)

const operations = {
  addPasskey: {
    keys: ({ passkey }) => [passkey.userId],
    // With a link the not-before time of the user changes.
    cache: ({ passkey: { userId } }) => [userId, belongingKey(userId)],
    event: when('added', ({ passkey: { userId, id }, reason }) => ({
      event: 'passkey.added',
      userId,
      details: { passkey: id, reason: reason.kind },
    })),
    mails: 'added',
    run: addPasskey,
  },
  usePasskey: {
    keys: ({ userId }) => [userId],
    // A use starts a session, which has an event.
    cache: 'kept',
    event: ({ userId, id, isBackupEligible, wasBackupEligible }, outcome) => {
      const isChanged = isBackupEligible !== wasBackupEligible
      if (outcome === 'unknown' || (outcome === 'used' && !isChanged)) return undefined
      return {
        event: outcome === 'used' ? 'passkey.backup-changed' : 'passkey.counter-back',
        userId,
        details: { passkey: id, ...(isChanged && { eligible: isBackupEligible }) },
      }
    },
    mails: 'counter-back',
    *run({ userId, id, counter, now, ...use }) {
      const isBackupEligible = use.isBackupEligible ? 1 : 0
      const values = { userId, id, counter, now, isBackupEligible, isBackedUp: use.isBackedUp ? 1 : 0 }
      if ((yield* rows(RISE, values)).length === 1) return 'used'
      return (yield* rows(NOTE_USE, values)).length === 1 ? 'counter-back' : 'unknown'
    },
  },
  removePasskey: {
    account: ({ userId }) => userId,
    keys: ({ userId }) => [userId],
    cache: 'kept',
    event: when('removed', ({ userId, id, by }) => ({
      event: 'passkey.removed',
      userId,
      details: { passkey: id, by: by.kind },
    })),
    mails: 'removed',
    *run({ userId, id, by }) {
      const isHeld = by.kind === 'operator' || (yield* holdChange(userId, by.session))
      const [user] = yield* rows(HOLD, { userId })
      if (!isHeld || user === undefined) return 'unknown'
      const found = yield* reads.listPasskeys(userId)
      if (found.every((one) => one.id !== id)) return 'unknown'
      const hasPassword = by.kind === 'user' && by.passwordCounts && user['password_hash'] !== null
      const hasOther = by.kind === 'operator' || found.length > 1 || hasPassword || (yield* hasIdentity(userId))
      if (!hasOther || (by.kind === 'user' && !(yield* keepsFactor(userId, by.factors, id)))) return 'last'
      yield* rows(REMOVE, { userId, id })
      yield* by.kind === 'user' ? evictOthers(userId, by.session) : evictByOperator(userId)
      return 'removed'
    },
  },
  removePassword: {
    keys: ({ userId }) => [userId],
    cache: ({ userId }) => userId,
    event: when('removed', ({ userId }) => ({ event: 'user.password-removed', userId })),
    mails: 'removed',
    *run({ userId, session, passkeysCount }) {
      if (!(yield* holdChange(userId, session))) return 'unknown'
      const hasPasskey = passkeysCount && (yield* hasPasskeys(userId))
      if (!hasPasskey && !(yield* hasIdentity(userId))) return 'last'
      if ((yield* rows(REMOVE_PASSWORD, { userId })).length === 0) return 'unknown'
      yield* evictOthers(userId, session)
      return 'removed'
    },
  },
} satisfies NounOperations

const reads = {
  *hasAnyPasskey(): Steps<boolean> {
    return (yield* rows(NEXT, { after: '', limit: 1 })).length > 0
  },
  *countPasskeyOnlyUsers({ passwordsCount }: { readonly passwordsCount: boolean }): Steps<number> {
    let count = 0
    for (let after = ''; ;) {
      const slice = usersOf(yield* rows(NEXT, { after, limit: SLICE }))
      const values = { users: listOf(slice), passwordsCount: passwordsCount ? 1 : 0 }
      const without = usersOf(yield* rows(WITHOUT_PASSWORD, values))
      const others = new Set(usersOf(yield* rows(AT_PROVIDERS, { users: listOf(without) })))
      count += without.filter((id) => !others.has(id)).length
      const last = slice.at(-1)
      if (last === undefined) return count
      after = last
    }
  },
  *findPasskey(userId: UserId, id: PasskeyId): Steps<PasskeyRecord | undefined> {
    const [row] = yield* rows(FIND, { userId, id })
    return row === undefined ? undefined : PASSKEYS.read(row)
  },
  *listPasskeys(userId: UserId): Steps<readonly PasskeyRecord[]> {
    return (yield* rows(LIST, { userId })).map(PASSKEYS.read)
  },
}

export const passkeys = { operations, reads }

function* addPasskey({ passkey, reason }: Input<'addPasskey'>): Steps<Outcome<'addPasskey'>> {
  const { userId, id } = passkey
  if (!(yield* isAllowed(passkey, reason))) return 'refused'
  const others = yield* reads.listPasskeys(userId)
  const staying = reason.kind === 'link' ? others.filter((one) => reason.keep.includes(one.id)) : others
  if (others.some((one) => one.id === id)) return 'taken'
  if (staying.length >= PASSKEY_LIMIT) return 'too-many'
  if (
    reason.kind === 'link' &&
    !(yield* acceptLink({
      ...reason,
      userId,
      providerId: undefined,
      passwordHash: undefined,
      browserHash: undefined,
      adds: undefined,
      countsAsFactor: true,
    }))
  )
    return 'refused'
  yield* rows(INSERT, PASSKEYS.values(passkey))
  yield* keepChanged(userId)
  return 'added'
}

/** The row of the user is locked then, so it stays so until the operation is committed. */
function* isAllowed({ userId, createdAt }: PasskeyRecord, reason: PasskeyReason): Steps<boolean> {
  switch (reason.kind) {
    case 'session':
      return yield* holdChange(userId, reason.session)
    case 'sign-in':
      return (yield* holdFirstFactor(userId, reason, createdAt)) && !(yield* hasSecondFactor(userId))
    case 'link':
      return (yield* rows(HOLD_LIVE, { userId })).length === 1
  }
}

function usersOf(found: readonly Row[]): readonly UserId[] {
  return [...new Set(found.map((row) => row['user_id'] as UserId))]
}

function* hasIdentity(userId: UserId): Steps<boolean> {
  return (yield* rows(HAS_IDENTITY, { userId })).length > 0
}
