import type { Input, Outcome } from '../../../ports/operations/index.ts'
import type { SourceGroups } from '../../../ports/operations/group.ts'
import type { SessionStart, SignInGroups } from '../../../ports/operations/session.ts'
import type { SessionRecord } from '../../../ports/records/user.ts'
import type { Page } from '../../../ports/store.ts'
import type { EpochMs } from '../../../base/brand.ts'
import { isSameJson } from '../../../base/json.ts'
import { MAXIMA } from '../../../base/maxima.ts'
import { sourceOfProvider } from '../../../protocol/access/group.ts'
import { originOf } from '../../../protocol/audit/origin.ts'
import type { SessionId, UserId } from '../../../protocol/ids.ts'
import type { SecretHash } from '../../../protocol/secrets.ts'
import type { Authentication, AuthenticationMethod, ProviderId } from '../../../protocol/sign-in/authentication.ts'
import { type NounOperations, when } from '../../noun.ts'
import { aboutChanges, belongingKey, replaceGroups } from '../organization/group-members.ts'
import { linkProven, identityLinked } from './identity-proofs.ts'
import { providers } from './providers.ts'
import { useInteraction, interactions } from './interactions.ts'
import { continueLogoutNotices, endLogoutNotices, endLogoutNoticesOfUser, holdSession } from './logout-notices.ts'
import { idBefore } from '../../rows.ts'
import { forgiveGuesses } from '../../shared/sign-in/covered-factors.ts'
import { holdSignIn, type HeldSignIn } from '../../shared/sign-in/held-sign-in.ts'
import { eachOf, idKey, rows, shared, type SharedStatement, type Steps } from '../../shared/statement.ts'
import { bigint, group, optionalGroup, table, text } from '../../table.ts'

export const SESSIONS = table<SessionRecord>({
  id: text('session_id'),
  hash: text('session_hash'),
  userId: text('user_id'),
  rootId: text('root_id'),
  authentication: group<Authentication>({
    methods: {
      columns: [{ name: 'methods', type: 'text', write: (methods) => methods.join(' ') }],
      read: (row) => (row['methods'] as string).split(' ') as readonly AuthenticationMethod[],
    },
    at: bigint('authenticated_at'),
    providerId: text('provider_id'),
  }),
  agent: optionalGroup('agent_browser', { browser: text('agent_browser'), system: text('agent_system') }),
  network: text('network'),
  seenAt: bigint('seen_at'),
  createdAt: bigint('created_at'),
  expiresAt: bigint('expires_at'),
})

/** The browsers that are remembered for each user. Beyond it the one seen longest ago is removed. */
const BROWSER_LIMIT = MAXIMA.browsers.most

/** The sessions of a user. Beyond it the oldest is removed, as if it had expired. */
const SESSION_LIMIT = MAXIMA.sessions.most

/** The id of no session: all sessions of the user are other ones. */
export const NO_SESSION = '' as SessionId

const REPLACE_SESSION = shared(
  `delete from sessions where session_id = :replaces and user_id = :userId
   returning root_id`,
)
const START_SESSION = shared(`insert into sessions (${SESSIONS.names}) values (${SESSIONS.parameters})`)
const LIST_EARLIER = shared(
  `select session_id from sessions where user_id = :userId and session_id < :id order by session_id desc limit :limit`,
)
const END_OLDEST = shared(
  `delete from sessions where ${eachOf('sessions', 'user_id = :userId and session_id <= :last')}`,
)
const NOTE_SIGN_IN = shared(
  `update users set last_signed_in_at = :now,
     first_signed_in_at = case when coalesce(first_signed_in_at, 0) <= 0 then :now else first_signed_in_at end
   where user_id = :userId`,
)
/** After the row of the user is locked: an app that is set up at the same time is seen, or ends this session. */
const FIND_SECOND_FACTOR = shared('select created_at from second_factors where user_id = :userId')
const FIND_PASSKEY = shared('select passkey_id from passkeys where user_id = :userId and passkey_id = :passkey')
const NOTE_SESSION = shared('update sessions set seen_at = :at where session_id = :id and seen_at < :at')
const MEET_BROWSER = shared(
  `insert into browsers (user_id, browser_hash, seen_at) values (:userId, :browserHash, :now)
   on conflict (user_id, browser_hash) do update set seen_at = excluded.seen_at`,
)
const FORGET_BROWSERS = shared(
  `delete from browsers where user_id = :userId and browser_hash not in (
     select browser_hash from browsers where user_id = :userId order by seen_at desc limit :limit)`,
)
const LIST_BROWSERS = shared('select browser_hash from browsers where user_id = :userId')
const KNOWS_BROWSER = shared('select seen_at from browsers where user_id = :userId and browser_hash = :hash')
const END = shared('delete from sessions where session_id = :id returning user_id, root_id')
const FIND_ROOT = shared('select root_id from sessions where session_id = :id and user_id = :userId')
const END_OTHERS = shared(
  `delete from sessions where ${eachOf('sessions', 'user_id = :userId and session_id <> :keep')} returning session_id`,
)
const END_OF_PROVIDER = shared(
  `delete from sessions
   where ${eachOf('sessions', 'user_id = :userId and session_id <> :keep and provider_id = :providerId')}
   returning root_id`,
)
/** Back-Channel Logout 1.0 §2.7: grants with `offline_access` are not revoked. */
const WHILE_ONLINE = `user_id = :userId and revoked_at is null and (' ' || scope || ' ') not like '% offline_access %'`
const OF_LOGIN = `${WHILE_ONLINE} and openid like :root`
const OF_OTHER_LOGINS = `${WHILE_ONLINE} and openid like :any and openid not like :root`
const REVOKE_LOGINS = shared(
  `update grants set revoked_at = :now where ${eachOf('grants', OF_LOGIN)} returning grant_id`,
)
const REVOKE_OTHER_LOGINS = shared(
  `update grants set revoked_at = :now where ${eachOf('grants', OF_OTHER_LOGINS)} returning grant_id`,
)
const APPROVED_LATELY = `authorization_id >= :startedAfter and user_id = :userId and status = 'approved'`
const CODES_OF_LOGIN = `${APPROVED_LATELY} and request like :root`
const CODES_OF_OTHER_LOGINS = `${APPROVED_LATELY} and request like :any and request not like :root`
const BURN_LOGINS = shared(
  `update authorizations set status = 'burned' where ${eachOf('authorizations', CODES_OF_LOGIN, 'startedAfter')}`,
)
const BURN_OTHER_LOGINS = shared(
  `update authorizations set status = 'burned' where ${eachOf('authorizations', CODES_OF_OTHER_LOGINS, 'startedAfter')}`,
)
const ANY_ROOT = '%"rootId":"%'
const LIST = shared('select * from sessions where session_id < :before order by session_id desc limit :limit')
const LIST_OF_USER = shared(
  `select * from sessions where ${eachOf('sessions', 'user_id = :userId and session_id < :before')}
   order by session_id desc limit :limit`,
)

const operations = {
  startSession: {
    keys: ({ session, replaces, interactionId, link }) =>
      [session.id, session.userId, replaces, interactionId, link?.identity.key].filter((key) => key !== undefined),
    // A sign-in changes the record of the user.
    cache: ({ session: { userId }, groups }) => (groups === undefined ? userId : [userId, belongingKey(userId)]),
    event: ({ session: { userId, authentication, agent, network }, link }, outcome) => {
      if (outcome.kind !== 'started') return undefined
      const { methods, providerId } = authentication
      const provider = providerId === undefined ? {} : { provider: providerId }
      const started = {
        event: 'session.started',
        userId,
        details: { methods: methods.join(' '), ...provider, ...originOf(agent, network) },
      } as const
      const { isLinked, groups } = outcome
      return [
        ...(isLinked && link !== undefined ? [identityLinked(link.identity, 'proof')] : []),
        started,
        ...(groups !== undefined && groups !== 'too-many' && providerId !== undefined
          ? aboutChanges({ userId, source: sourceOfProvider(providerId) }, groups)
          : []),
      ]
    },
    run: (start) => startSession(start, LIST_EARLIER),
  },
  noteSessions: {
    keys: (sessions) => sessions.map(({ id }) => id),
    // No decision depends on when a session was last seen.
    cache: 'kept',
    event: 'no-event',
    *run(sessions) {
      for (const session of sessions) yield* rows(NOTE_SESSION, session)
      return 'noted'
    },
  },
  endSession: {
    account: ({ about }) => about?.userId,
    keys: idKey,
    isAlone: true,
    cache: 'kept',
    event: when('ended', ({ id, about }) => ({ event: 'session.ended', ...about, details: { session: id } })),
    run: endSession,
  },
  endOtherSessions: {
    account: ({ userId }) => userId,
    keys: ({ userId }) => [userId],
    isAlone: true,
    cache: 'kept',
    event: ({ userId }, { ended }) =>
      ended === 0 ? undefined : { event: 'session.ended', userId, details: { sessions: ended } },
    run: endOtherLogins,
  },
} satisfies NounOperations

const reads = {
  *knowsBrowser(userId: UserId, hash: SecretHash): Steps<boolean> {
    return (yield* rows(KNOWS_BROWSER, { userId, hash })).length > 0
  },
  *listBrowsers(userId: UserId): Steps<readonly SecretHash[]> {
    return (yield* rows(LIST_BROWSERS, { userId })).map((row) => row['browser_hash'] as SecretHash)
  },
  *listSessions(page: Page<SessionId> & { readonly userId?: UserId | undefined }): Steps<readonly SessionRecord[]> {
    const statement = page.userId === undefined ? LIST : LIST_OF_USER
    return (yield* rows(statement, { ...page, before: page.before ?? '~' })).map(SESSIONS.read)
  },
}

export const sessions = { operations, reads }

/** `listEarlier`: lists the newest sessions of the user that are older than this one. */
export function* startSession(start: SessionStart, listEarlier: SharedStatement): Steps<Outcome<'startSession'>> {
  const { session, browserHash, replaces, interactionId, link, passkey } = start
  const { id, userId, createdAt: now, expiresAt } = session
  const held = yield* holdStart(start)
  const said = start.groups === undefined ? undefined : yield* findSaid(start, start.groups)
  if (held === undefined || said === 'otherwise') return { kind: 'user-changed' }
  const isLinked = link !== undefined && (yield* linkProven(link, held, now))
  if (held.mustLink && !isLinked) return { kind: 'user-changed' }
  if (interactionId !== undefined && !(yield* useInteraction(interactionId, now))) return { kind: 'interaction-used' }
  yield* rows(NOTE_SIGN_IN, { userId, now })
  // A passkey is not guessed.
  if (passkey !== undefined) yield* forgiveGuesses(userId)
  const [replaced] = replaces === undefined ? [] : yield* rows(REPLACE_SESSION, { replaces, userId })
  const rootId = (replaced?.['root_id'] ?? id) as SessionId
  yield* rows(START_SESSION, SESSIONS.values({ ...session, rootId }))
  // A caller who knows the password could store any number of sessions otherwise.
  const earlier = yield* rows(listEarlier, { userId, id, limit: SESSION_LIMIT })
  const last = earlier[SESSION_LIMIT - 1]?.['session_id']
  if (last !== undefined) yield* rows(END_OLDEST, { userId, last })
  if (replaced !== undefined) yield* continueLogoutNotices({ userId, rootId, startedAt: now, expiresAt })
  yield* meetBrowser({ userId, browserHash, now })
  const groups = said === undefined ? undefined : yield* replaceGroups(said)
  return { kind: 'started', rootId, isLinked, ...(groups !== undefined && { groups }) }
}

/** Holds all that a session is started by. undefined: something of it is no longer so. */
function* holdStart(start: SessionStart): Steps<HeldSignIn | undefined> {
  const { session, interactionId, link, stepUp, passkey, app, isSecondStepDone } = start
  const { userId, createdAt: now } = session
  // The answer of the operator's application is as old as it is, however late the browser returns with it.
  const answered = interactionId === undefined ? undefined : yield* interactions.reads.findInteraction(interactionId)
  const since = Math.min(answered?.answeredAt ?? now, start.notBefore) as EpochMs
  const { providerId } = session.authentication
  const held = yield* holdSignIn(userId, { ...start, since, providerId, proof: link?.hash }, now)
  if (held === undefined || (stepUp !== undefined && !(yield* holdSession(userId, stepUp)))) return undefined
  const hasPasskey = passkey === undefined || (yield* rows(FIND_PASSKEY, { userId, passkey })).length === 1
  if (!hasPasskey) return undefined
  if (isSecondStepDone && app === undefined) return held
  const [factor] = yield* rows(FIND_SECOND_FACTOR, { userId })
  return factor?.['created_at'] === app ? held : undefined
}

/** What the provider of the sign-in says about groups. `otherwise`: it does not read them as the sign-in did. */
function* findSaid(
  { session: { userId, createdAt: now, authentication } }: SessionStart,
  { groups, expiresAt, readBy }: SignInGroups,
): Steps<SourceGroups | 'otherwise'> {
  const { providerId } = authentication
  const provider = providerId === undefined ? undefined : yield* providers.reads.findProvider(providerId)
  if (provider === undefined) return 'otherwise'
  const { groupClaim, groups: list } = provider.settings
  if (groupClaim !== readBy.groupClaim || !isSameJson(list, readBy.groups)) return 'otherwise'
  return { userId, source: sourceOfProvider(provider.id), groups, expiresAt, since: provider.createdAt, now }
}

/** Remembers that a browser is one of the user. */
export function* meetBrowser({
  userId,
  browserHash,
  now,
}: Pick<SessionStart, 'browserHash'> & { readonly userId: UserId; readonly now: EpochMs }): Steps<void> {
  yield* rows(MEET_BROWSER, { userId, browserHash, now })
  yield* rows(FORGET_BROWSERS, { userId, limit: BROWSER_LIMIT })
}

function* endSession({ id, now, codesSince }: Input<'endSession'>): Steps<Outcome<'endSession'>> {
  const [ended] = yield* rows(END, { id })
  if (ended === undefined) return 'unknown'
  const [userId, rootId] = [ended['user_id'] as UserId, ended['root_id'] as SessionId]
  const logins = { userId, now, startedAfter: idBefore(codesSince, ''), root: withRoot(rootId) }
  // A code that another node is redeeming has a grant afterwards, which the next statement sees.
  yield* rows(BURN_LOGINS, logins)
  yield* rows(REVOKE_LOGINS, logins)
  yield* endLogoutNotices(userId, rootId)
  return 'ended'
}

function* endOtherLogins({
  userId,
  keep = NO_SESSION,
  now,
  codesSince,
}: Input<'endOtherSessions'>): Steps<Outcome<'endOtherSessions'>> {
  const { ended, keptRoot } = yield* endOtherSessions(userId, keep)
  const root = keptRoot === undefined ? '' : withRoot(keptRoot)
  const logins = { userId, now, startedAfter: idBefore(codesSince, ''), any: ANY_ROOT, root }
  yield* rows(BURN_OTHER_LOGINS, logins)
  yield* rows(REVOKE_OTHER_LOGINS, logins)
  return { ended }
}

/**
 * The pattern of the JSON of a grant or code with `openid`, which names its session. In a text of the client the quotation marks would
 * be escaped.
 */
function withRoot(rootId: SessionId): string {
  return `%"rootId":"${rootId}"%`
}

/** Ends the sessions of a user but one. Returns how many, and the root of the one that is kept; undefined: it has ended. */
export function* endOtherSessions(
  userId: UserId,
  keep: SessionId,
): Steps<{ readonly ended: number; readonly keptRoot: SessionId | undefined }> {
  const [kept] = yield* rows(FIND_ROOT, { id: keep, userId })
  const keptRoot = kept?.['root_id'] as SessionId | undefined
  const ended = (yield* rows(END_OTHERS, { userId, keep })).length
  yield* endLogoutNoticesOfUser(userId, keptRoot)
  return { ended, keptRoot }
}

/** Ends the sessions that a user started at a provider, but one. */
export function* endSessionsOfProvider(userId: UserId, providerId: ProviderId, keep: SessionId): Steps<void> {
  for (const ended of yield* rows(END_OF_PROVIDER, { userId, providerId, keep })) {
    yield* endLogoutNotices(userId, ended['root_id'] as SessionId)
  }
}
