import type { Outcome } from '../../../ports/operations/index.ts'
import type { EnrolmentReason, TotpUse } from '../../../ports/operations/second-factor.ts'
import type { SignInBasis } from '../../../ports/operations/session.ts'
import type { SecondFactorRecord } from '../../../ports/records/second-factor.ts'
import type { EpochMs } from '../../../base/brand.ts'
import type { UserId } from '../../../protocol/ids.ts'
import { GUESS_LIMIT } from '../../../protocol/sign-in/totp.ts'
import { type NounOperations, when } from '../../noun.ts'
import { evictByOperator, evictOthers, forgetBrowsers } from '../../shared/evictions.ts'
import { IS_UNCHANGED, keepChanged } from '../../shared/sign-in/changed-here.ts'
import { hasPasskeys, hasSecondFactor, holdChange, listStrongIdentities } from '../../shared/sign-in/covered-factors.ts'
import { holdSignIn } from '../../shared/sign-in/held-sign-in.ts'
import { findBy, rows, shared, type Steps } from '../../shared/statement.ts'
import { bigint, table, text } from '../../table.ts'

export const SECOND_FACTORS = table<SecondFactorRecord>({
  userId: text('user_id'),
  secret: text('secret'),
  lastStep: bigint('last_step'),
  failures: bigint('failures'),
  createdAt: bigint('created_at'),
  usedAt: bigint('used_at'),
})

const INSERT = shared(
  `insert into second_factors (${SECOND_FACTORS.names}) values (${SECOND_FACTORS.parameters})
   on conflict (user_id) do nothing returning user_id`,
)
const FIND = shared('select * from second_factors where user_id = :userId')
const REMOVE_REPLACED = shared('delete from second_factors where user_id = :userId and created_at = :replaces')
/** An import would add the app again. */
const KEEP_REMOVED = shared(
  `update users set updated_at = updated_at + 1 where ${IS_UNCHANGED}
     and exists (select 1 from second_factors where user_id = :userId)`,
)
const REMOVE = shared('delete from second_factors where user_id = :userId returning user_id')
const THIS_APP = 'user_id = :userId and created_at = :createdAt'
const MAY_GUESS = `(:isKnownBrowser = 1 or failures < ${GUESS_LIMIT})`
/** A success in a known browser does not unlock the others, which may be those of the person who guesses. */
const ACCEPT = shared(
  `update second_factors set last_step = :step, used_at = :now,
     failures = case when failures < ${GUESS_LIMIT} then 0 else failures end
   where ${THIS_APP} and last_step < :step and ${MAY_GUESS} returning user_id`,
)
const COUNT = shared(
  `update second_factors set failures = failures + 1
   where ${THIS_APP} and failures < ${GUESS_LIMIT} returning user_id`,
)
const USE_CODE = shared('delete from recovery_codes where user_id = :userId and digest = :digest returning digest')
const NOTE_USE = shared('update second_factors set failures = 0, used_at = :now where user_id = :userId')
const FIND_CODE = shared('select digest from recovery_codes where user_id = :userId and digest = :digest')
const LIST_CODES = shared('select digest from recovery_codes where user_id = :userId')
const ADD_CODE = shared('insert into recovery_codes (user_id, digest) values (:userId, :digest)')
const REMOVE_CODES = shared('delete from recovery_codes where user_id = :userId')

const operations = {
  enableTotp: {
    keys: ({ factor }) => [factor.userId],
    cache: 'kept',
    event: when('enabled', ({ factor: { userId }, reason }) => ({
      event: 'second-factor.enabled',
      userId,
      details: { reason: reason.kind },
    })),
    mails: 'enabled',
    *run({ factor, recoveryDigests, replaces, reason }) {
      const { userId } = factor
      if (!(yield* isAllowed(userId, reason, factor.createdAt))) return 'refused'
      if (replaces !== undefined) yield* rows(REMOVE_REPLACED, { userId, replaces })
      if ((yield* rows(INSERT, SECOND_FACTORS.values(factor))).length === 0) return 'known'
      yield* keepChanged(userId)
      yield* replaceCodes(userId, recoveryDigests)
      yield* evictOthers(userId, reason.kind === 'session' ? reason.session : reason)
      // One in which a person signed in with the password alone does not count as one of the user (threats.md OTP-09).
      yield* forgetBrowsers(userId)
      return 'enabled'
    },
  },
  useTotp: {
    keys: ({ userId }) => [userId],
    // The refusals are reported with their attempt, and a success starts a session.
    cache: 'kept',
    event: 'no-event',
    mails: 'wrong',
    run: useTotp,
  },
  useRecoveryCode: {
    keys: ({ userId }) => [userId],
    cache: 'kept',
    event: ({ userId }, outcome) =>
      outcome.kind === 'used' ? { event: 'recovery-code.used', userId, details: { left: outcome.left } } : undefined,
    mails: 'used',
    *run(use): Steps<Outcome<'useRecoveryCode'>> {
      if ((yield* rows(USE_CODE, use)).length === 0) return { kind: 'unknown' }
      yield* rows(NOTE_USE, use)
      return { kind: 'used', left: (yield* rows(LIST_CODES, use)).length }
    },
  },
  disableTotp: {
    keys: ({ userId }) => [userId],
    cache: 'kept',
    event: when('changed', ({ userId }) => ({ event: 'second-factor.disabled', userId, details: { by: 'user' } })),
    mails: 'changed',
    *run({ userId, session }) {
      return (yield* holdChange(userId, session)) && (yield* remove(userId)) ? 'changed' : 'unknown'
    },
  },
  resetSecondFactor: {
    account: ({ userId }) => userId,
    keys: ({ userId }) => [userId],
    // An import may no longer change the account.
    cache: ({ userId }) => userId,
    event: when('changed', ({ userId }) => ({ event: 'second-factor.disabled', userId, details: { by: 'operator' } })),
    mails: 'changed',
    *run({ userId }) {
      yield* rows(KEEP_REMOVED, { userId })
      if (!(yield* remove(userId))) return 'unknown'
      yield* evictByOperator(userId)
      return 'changed'
    },
  },
  replaceRecoveryCodes: {
    keys: ({ userId }) => [userId],
    cache: 'kept',
    event: when('changed', ({ userId }) => ({ event: 'recovery-codes.replaced', userId })),
    mails: 'changed',
    *run({ userId, session, recoveryDigests }) {
      if (!(yield* holdChange(userId, session)) || !(yield* hasSecondFactor(userId))) return 'unknown'
      yield* replaceCodes(userId, recoveryDigests)
      return 'changed'
    },
  },
} satisfies NounOperations

const reads = {
  findSecondFactor: findBy(SECOND_FACTORS, FIND),
  *hasRecoveryCode(userId: UserId, digest: string): Steps<boolean> {
    return (yield* rows(FIND_CODE, { userId, digest })).length === 1
  },
  *countRecoveryCodes(userId: UserId): Steps<number> {
    return (yield* rows(LIST_CODES, { userId })).length
  },
}

export const secondFactors = { operations, reads }

/** It then stays so until the operation is committed. */
function* isAllowed(userId: UserId, reason: EnrolmentReason, now: EpochMs): Steps<boolean> {
  return reason.kind === 'session'
    ? yield* holdChange(userId, reason.session)
    : yield* holdFirstFactor(userId, reason, now)
}

/** Whether a sign-in may add the first second step of a user: a passkey or an account at a provider would be asked for instead. */
export function* holdFirstFactor(userId: UserId, basis: SignInBasis, now: EpochMs): Steps<boolean> {
  if ((yield* holdSignIn(userId, basis, now)) === undefined || (yield* hasPasskeys(userId))) return false
  return (yield* listStrongIdentities(userId)).length === 0
}

function* useTotp(use: TotpUse): Steps<Outcome<'useTotp'>> {
  const { step, isKnownBrowser } = use
  if (step !== undefined && (yield* rows(ACCEPT, use)).length === 1) return 'accepted'
  if (step === undefined && !isKnownBrowser && (yield* rows(COUNT, use)).length === 1) return 'wrong'
  const found = yield* reads.findSecondFactor(use.userId)
  if (found?.createdAt !== use.createdAt) return 'none'
  if (!isKnownBrowser && found.failures >= GUESS_LIMIT) return 'locked'
  return step === undefined ? 'wrong' : 'used-before'
}

function* replaceCodes(userId: UserId, digests: readonly string[]): Steps<void> {
  yield* rows(REMOVE_CODES, { userId })
  for (const digest of digests) yield* rows(ADD_CODE, { userId, digest })
}

function* remove(userId: UserId): Steps<boolean> {
  yield* rows(REMOVE_CODES, { userId })
  return (yield* rows(REMOVE, { userId })).length === 1
}
