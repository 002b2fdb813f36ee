import type { LinkUse } from '../../../ports/operations/user.ts'
import type { LinkRecord } from '../../../ports/records/user.ts'
import type { UserId } from '../../../protocol/ids.ts'
import type { SecretHash } from '../../../protocol/secrets.ts'
import type { ProviderId } from '../../../protocol/sign-in/authentication.ts'
import type { IdentityKey } from '../../../protocol/sign-in/provider-identity.ts'
import { type NounOperations, when } from '../../noun.ts'
import { belongingKey, leaveGroupsOfIdentities } from '../organization/group-members.ts'
import { endHits } from '../server/hits.ts'
import { isRequiredElsewhere } from './providers.ts'
import { markPrepared, roles } from './roles.ts'
import { meetBrowser } from './sessions.ts'
import type { Row } from '../../rows.ts'
import { evictAll } from '../../shared/evictions.ts'
import { hasPasskeys, hasSecondFactor, listStrongIdentities } from '../../shared/sign-in/covered-factors.ts'
import { eachOf, rows, shared, type Steps } from '../../shared/statement.ts'
import { bigint, flag, optionalGroup, table, text, assignments, without } from '../../table.ts'

export const LINKS = table<LinkRecord>({
  userId: text('user_id'),
  origin: text('origin'),
  hash: text('link_hash'),
  purpose: text('purpose'),
  isMailed: flag('mailed'),
  madeBy: optionalGroup('made_by', {
    userId: text('made_by'),
    roleSince: bigint('role_since'),
    notBefore: bigint('maker_not_before'),
  }),
  madeWith: text('made_with'),
  clientId: text('client_id'),
  authorizationId: text('authorization_id'),
  createdAt: bigint('created_at'),
  expiresAt: bigint('expires_at'),
})

/** Changes nothing, and locks the row: of two links of a user, each waits for what the other one ends. */
const HOLD_LIVE = shared(
  'update users set password_hash = password_hash where user_id = :userId and disabled_at is null returning email',
)
const CREATE = shared(
  `insert into links (${LINKS.names}) values (${LINKS.parameters})
   on conflict (user_id, origin) do update set ${assignments(without(LINKS, 'user_id', 'origin'))}`,
)
/** The operator who creates the link may not have known of the role (threats.md LNK-07). */
const FIND_OTHER_ROLE = shared(
  'select user_id from roles where user_id = :userId and set_at is distinct from cast(:roleSince as bigint)',
)
const FIND_SENT = shared(
  'select user_id from links where user_id = :userId and origin = :origin and mailed = 1 and created_at > :unlessSentSince',
)
const LIST = shared('select * from links where user_id = :userId order by origin')
const REMOVE = shared('delete from links where user_id = :userId')
const FIND_LINK = shared(
  `select mailed, made_by, role_since, maker_not_before, made_with from links
   where user_id = :userId and link_hash = :hash`,
)

/**
 * With the role that the maker had then: another one, also the same again, was set at another time, and one that makes no such link is another
 * one. An account that was disabled since, or whose sessions were ended, was perhaps in the hands of another person (threats.md LNK-08).
 */
const FIND_MAKER = shared(
  `select r.user_id from roles as r join users as u on u.user_id = r.user_id
   where r.user_id = :madeBy and (r.access in ('write', 'users') or (r.access = 'support' and :mailed = 1))
     and (r.organization_id is null or :mailed = 1) and r.set_at = :roleSince
     and u.disabled_at is null and u.not_before = :notBefore`,
)
/** The copies on all machines are changed before the revocation is answered. */
const FIND_CREDENTIAL = shared(
  'select credential_id from admin_credentials where credential_id = :madeWith and revoked_at is null',
)
const USE = shared(
  'delete from links where user_id = :userId and link_hash = :hash and expires_at > :now returning created_at, mailed',
)
/** `:kept`: between spaces. */
const IS_OTHER = `user_id = :userId and :kept not like '% ' || identity_key || ' %'`
const REMOVE_OTHERS = shared(`delete from identities where ${eachOf('identities', IS_OTHER)} returning provider_id`)
const REMOVE_PASSKEYS = shared(
  `delete from passkeys where user_id = :userId and :kept not like '% ' || passkey_id || ' %'`,
)
/** Whatever revoked the user's sessions since the link was created also ended the link. */
const SET_PASSWORD = shared(
  `update users set password_hash = :passwordHash, not_before = greatest(not_before, :now)
   where user_id = :userId and not_before <= :createdAt returning user_id`,
)
const VERIFY_EMAIL = shared(
  `update users set email_verified_at = :now, updated_at = :now
   where user_id = :userId and email_verified_at is null and email is not null`,
)

const operations = {
  createLink: {
    account: ({ userId }) => userId,
    keys: ({ userId }) => [userId],
    cache: 'kept',
    event: when('created', ({ userId, clientId, purpose, isMailed }) => ({
      event: 'link.created',
      userId,
      clientId,
      details: { purpose, sent: isMailed },
    })),
    mails: 'created',
    *run(link) {
      const values = LINKS.values(link)
      const [user] = yield* rows(HOLD_LIVE, link)
      if (user === undefined || link.mails.some(({ address }) => address !== user['email'])) return 'unknown'
      if (link.unlessSentSince !== undefined && (yield* rows(FIND_SENT, link)).length > 0) return 'sent-lately'
      if (link.origin === 'operator') {
        const { userId, roleSince } = link
        if ((yield* rows(FIND_OTHER_ROLE, { userId, roleSince })).length > 0) return 'unknown'
        yield* rows(REMOVE, link)
      }
      yield* rows(CREATE, values)
      // No administrator sees a link that is mailed.
      if (!link.isMailed) yield* markPrepared(link, link.userId)
      return 'created'
    },
  },
  useLink: {
    keys: ({ userId }) => [userId],
    cache: ({ userId }) => [userId, belongingKey(userId)],
    event: when('used', ({ userId, origin }) => ({
      event: 'link.used',
      userId,
      ...(origin && { details: { ...origin } }),
    })),
    mails: 'used',
    *run(use) {
      if (!(yield* acceptLink({ ...use, providerId: undefined, adds: undefined, countsAsFactor: false })))
        return 'unknown'
      yield* endHits(use.buckets ?? [])
      // The app of an account would otherwise have no limit of codes in the browser of a reader of the mailbox (threats.md OTP-09).
      if (!(yield* hasSecondFactor(use.userId))) yield* meetBrowser(use)
      return 'used'
    },
  },
} satisfies NounOperations

const reads = {
  *listLinks(userId: UserId): Steps<readonly LinkRecord[]> {
    return (yield* rows(LIST, { userId })).map(LINKS.read)
  },
}

export const links = { operations, reads }

/**
 * Uses a link up, whichever way in its user chose: the password becomes another one or none, and everything else that could sign in, or
 * add a way to, ends (threats.md LNK-01), also another link. Where a sign-in with the password demands a second step, and the link was mailed,
 * passkeys stay, or else the identities that are second factors (ACC-17, ACC-20). false: the link is no longer valid, was not since the user changed, its maker has no longer the role
 * with which it was made, or it may not add a factor.
 */
export function* acceptLink(
  use: Omit<LinkUse, 'mails'> & {
    readonly passwordHash: string | undefined
    /** The browser of the user, which stays known if it was. undefined: no browser stays so. */
    readonly browserHash: SecretHash | undefined
    /** Where the user chose to sign in; undefined: at this server. The address may require no other provider (threats.md UP-19). */
    readonly providerId: ProviderId | undefined
    /** What is linked already; undefined: another way in. */
    readonly adds: IdentityKey | undefined
    /** Whether what the user adds takes the place of a second step. */
    readonly countsAsFactor: boolean
  },
): Steps<boolean> {
  const { userId, keep, providerId, adds, countsAsFactor, isSecondStepRequired } = use
  const [user] = yield* rows(HOLD_LIVE, use)
  if (user === undefined || (yield* isRequiredElsewhere(user['email'] as string | null, providerId))) return false
  const [found] = yield* rows(FIND_LINK, use)
  if (found !== undefined && !(yield* isMakerThere(found))) return false
  const hasApp = yield* hasSecondFactor(userId)
  const isNeeded = hasApp || isSecondStepRequired || (yield* roles.reads.isHolder(userId))
  const isDemanded = found?.['mailed'] === 1 && isNeeded
  const hasOwn = hasApp || (yield* hasPasskeys(userId))
  const strong = isDemanded && !hasOwn ? (yield* listStrongIdentities(userId)).filter((key) => key !== adds) : []
  if (countsAsFactor && (hasApp || (isDemanded && (hasOwn || strong.length > 0)))) return false
  const [link] = yield* rows(USE, use)
  if (link === undefined) return false
  if ((yield* rows(SET_PASSWORD, { ...use, createdAt: link['created_at'] })).length === 0) return false
  if (link['mailed'] === 1) yield* verifyEmail(use)
  yield* evictAll(userId, use.now, use.browserHash)
  const kept = ` ${[...keep, ...strong].join(' ')} `
  yield* leaveGroupsOfIdentities(userId, yield* rows(REMOVE_OTHERS, { userId, kept }))
  if (!isDemanded) yield* rows(REMOVE_PASSKEYS, { userId, kept })
  return true
}

/** The account and the role are on one shard, so their end is seen as soon as it is answered. */
function* isMakerThere(link: Row): Steps<boolean> {
  const { made_by: madeBy, role_since: roleSince, maker_not_before: notBefore, made_with: madeWith, mailed } = link
  if (madeWith !== null && (yield* rows(FIND_CREDENTIAL, { madeWith })).length === 0) return false
  return madeBy === null || (yield* rows(FIND_MAKER, { madeBy, mailed, roleSince, notBefore })).length > 0
}

/** Notes that the user proved the own e-mail address, unless it was proved before. */
export function* verifyEmail({ userId, now }: Pick<LinkUse, 'userId' | 'now'>): Steps<void> {
  yield* rows(VERIFY_EMAIL, { userId, now })
}
