import assert from 'node:assert/strict'
import { coversAll } from '../../../../src/endpoints/sign-in/changing-session.ts'
import type { LogoutNoticeRecord, NotifiedClient } from '../../../../src/ports/records/logout-notice.ts'
import type { SessionRecord } from '../../../../src/ports/records/user.ts'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import { after, type EpochMs } from '../../../../src/base/brand.ts'
import type { ClientId } from '../../../../src/protocol/ids.ts'
import {
  aClient,
  aHash,
  aLink,
  anApproval,
  anAuthorization,
  aSession,
  aSessionStart,
  aUser,
  at,
  HOUR,
  NOW,
} from '../../../support/records.ts'
import { anIdentity, aProvider } from '../../../support/provider/provider-records.ts'
import { approved } from '../token/authorizations.ts'
import { perform, performAll, race, startSessions, tally, times, type Suite } from '../harness.ts'
import { END } from './sessions.ts'
import { aSweep } from '../server/sweep.ts'

/** A notice that is due at once. */
const AT_ONCE = 0 as EpochMs

export const logoutNoticeCases: Suite = (check) => {
  check('LO-12: an approval stores a notice, and the end of its session makes it due, once', async (stores) => {
    const { first, second } = stores
    const [session, other] = await signedIn(first, aSession(), aSession())
    const own = await approvedOf(first, notifiedOf(session))
    await approvedOf(first, notifiedOf(other))
    assert.deepEqual(await dueOf(second, session), [])
    const ends = times(4, () => ({ id: session.id, ...END }))
    assert.deepEqual(tally(await race(stores, 'endSession', ends)), { ended: 1, unknown: 3 })
    assert.deepEqual(await dueOf(second, session), [noticeOf(own)])
    assert.deepEqual(await dueOf(second, other), [])
  })

  check('LO-12: a client that the user signs in to again in one session has one notice', async ({ first }) => {
    const [session] = await signedIn(first, aSession())
    const notified = notifiedOf(session)
    await approvedOf(first, notified)
    await approvedOf(first, notified)
    await perform(first, 'endSession', { id: session.id, ...END })
    assert.deepEqual(await dueOf(first, session), [noticeOf(notified)])
  })

  for (const [claim, end] of ENDS) {
    check(`LO-12: the notices of a session are due in the operation that ends it: ${claim}`, async ({ first }) => {
      const session = aSession()
      const keep = aSession({ userId: session.userId })
      await signedIn(first, session, keep)
      const [notified, kept] = [notifiedOf(session), notifiedOf(keep)]
      for (const one of [notified, kept]) await approvedOf(first, one)
      const expected = (await end(first, session, keep)) === 'one-is-kept' ? [notified] : [notified, kept]
      assert.deepEqual(byClient(await dueOf(first, session)), byClient(expected.map(noticeOf)))
    })
  }

  check('LO-12: all sessions of the server end: the sweep makes their notices due, in slices', async ({ first }) => {
    const sessions = await signedIn(first, aSession(), aSession(), aSession({ createdAt: at(10) }))
    for (const session of sessions) await approvedOf(first, notifiedOf(session))
    await perform(first, 'revokeAllTokens', { now: at(5) })
    const sweep = () => perform(first, 'sweepExpired', aSweep({ limit: 1 }))
    const counts = [await sweep(), await sweep(), await sweep()].map(({ logoutNoticesEnded }) => logoutNoticesEnded)
    assert.deepEqual(counts, [1, 1, 0])
    const due = await Promise.all(sessions.map((session) => dueOf(first, session)))
    assert.deepEqual(
      due.map(({ length }) => length),
      [1, 1, 0],
    )
  })

  check('LO-16: a session that expires notifies no client, and its notices are removed', async ({ first }) => {
    const [session] = await signedIn(first, aSession({ expiresAt: at(HOUR) }))
    await approvedOf(first, notifiedOf(session))
    const early = await perform(first, 'sweepExpired', aSweep({ now: at(2 * HOUR), logoutNoticesBefore: at(HOUR) }))
    assert.equal(early.logoutNotices, 0)
    assert.deepEqual(await dueOf(first, session), [])
    const late = aSweep({ now: at(9 * HOUR), logoutNoticesBefore: at(2 * HOUR) })
    assert.equal((await perform(first, 'sweepExpired', late)).logoutNotices, 1)
  })

  check(
    'LO-15: the user signs in again: the notice belongs to the new session, and is kept with it',
    async (stores) => {
      const { first, second } = stores
      const { userId, ...one } = aSession({ expiresAt: at(HOUR) })
      const [before] = await signedIn(first, { ...one, userId })
      const notified = await approvedOf(first, notifiedOf(before))
      const next = aSession({ userId, createdAt: at(20), expiresAt: at(9 * HOUR) })
      await startSessions(second, aSessionStart({ session: next, replaces: before.id }))
      const sweep = aSweep({ logoutNoticesBefore: at(2 * HOUR) })
      assert.equal((await perform(first, 'sweepExpired', sweep)).logoutNotices, 0)
      assert.deepEqual(await dueOf(first, before), [])
      await perform(first, 'endSession', { id: next.id, ...END })
      const renewed = { ...noticeOf(notified), sessionStartedAt: at(20), expiresAt: at(9 * HOUR) }
      assert.deepEqual(await dueOf(second, before), [renewed])
    },
  )

  check(
    'LO-17: no approval succeeds in a session that has ended, with or without a notice',
    async ({ first, second }) => {
      const ends: readonly ((session: SessionRecord) => Promise<unknown>)[] = [
        ({ id }) => perform(second, 'endSession', { id, ...END }),
        ({ userId }) => perform(second, 'disableUser', { id: userId, now: at(1) }),
        ({ userId }) => perform(second, 'revokeUserTokens', { id: userId, now: at(1) }),
        ({ userId }) => perform(second, 'deleteUser', { id: userId }),
      ]
      for (const [end, isNotified] of ends.flatMap((one) => [[one, true] as const, [one, false] as const])) {
        const [session] = await signedIn(first, aSession())
        await end(session)
        const authorization = anAuthorization()
        await perform(first, 'startAuthorization', authorization)
        const notified = isNotified ? notifiedOf(session) : undefined
        const approval = anApproval(authorization, { userId: session.userId, session, notified })
        assert.equal(await perform(first, 'approveAuthorization', approval), 'unknown')
        assert.deepEqual((await second.findAuthorization(authorization.id))?.status, { kind: 'pending' })
        assert.deepEqual(await dueOf(second, session), [])
      }
    },
  )

  check('LO-17: a batch with an approval in an ended session approves the others', async ({ first }) => {
    const [session, other] = await signedIn(first, aSession(), aSession())
    await perform(first, 'endSession', { id: session.id, ...END })
    const approvals = [notifiedOf(session), notifiedOf(other), undefined].map((notified) =>
      anApproval(anAuthorization(), { userId: notified?.userId ?? session.userId, notified }),
    )
    await performAll(
      first,
      'startAuthorization',
      approvals.map(({ id }) => anAuthorization({ id })),
    )
    const outcomes = await performAll(first, 'approveAuthorization', approvals)
    assert.deepEqual(outcomes, ['unknown', 'approved', 'approved'])
  })

  check('LO-12: no session ends at the same time as an approval without the notice', async (stores) => {
    for (const [approving, ending] of [
      [stores.first, stores.second],
      [stores.second, stores.first],
    ] as const) {
      const sessions = await signedIn(approving, ...times(20, () => aSession()))
      await Promise.all(
        sessions.map(async (session, index) => {
          const authorization = anAuthorization()
          const notified = notifiedOf(session)
          await perform(approving, 'startAuthorization', authorization)
          const { id, userId } = session
          const [outcome] = await Promise.all([
            perform(approving, 'approveAuthorization', anApproval(authorization, { userId, notified })),
            index % 2 === 0
              ? perform(ending, 'endSession', { id, ...END })
              : perform(ending, 'disableUser', { id: userId, now: at(1) }),
          ])
          assert.equal((await dueOf(ending, session)).length, outcome === 'approved' ? 1 : 0)
        }),
      )
    }
  })

  check('LO-14: all clients of a session are notified, however many', async ({ first }) => {
    const [session] = await signedIn(first, aSession())
    const { userId } = session
    const approvals = times(60, () =>
      anApproval(anAuthorization(), { userId, remember: undefined, notified: notifiedOf(session) }),
    )
    await performAll(
      first,
      'startAuthorization',
      approvals.map(({ id }) => anAuthorization({ id })),
    )
    await performAll(first, 'approveAuthorization', approvals)
    await perform(first, 'endSession', { id: session.id, ...END })
    assert.equal((await dueOf(first, session)).length, 60)
  })

  check('LO-12: of concurrent nodes one postpones a notice, and only that one settles it', async (stores) => {
    const notice = await endedNotice(stores.first)
    const claim = { ...notice, until: at(30), attempts: 1 }
    const outcomes = await race(
      stores,
      'rescheduleLogoutNotice',
      times(6, () => claim),
    )
    assert.deepEqual(tally(outcomes), { rescheduled: 1, taken: 5 })
    const claimed = { ...notice, dueAt: at(30) }
    const settle = { failure: undefined }
    assert.equal(await perform(stores.first, 'settleLogoutNotice', { ...notice, ...settle }), 'taken')
    const settlements = await race(
      stores,
      'settleLogoutNotice',
      times(4, () => ({ ...claimed, ...settle })),
    )
    assert.deepEqual(tally(settlements), { delivered: 1, taken: 3 })
    assert.deepEqual(await perform(stores.second, 'rescheduleLogoutNotice', { ...claimed, ...claim }), 'taken')
  })

  check(
    'listDueLogoutNotices returns those whose time has come, the earliest first, and not of clients that are left out',
    async ({ first }) => {
      const [tried, again, fresh] = [await endedNotice(first), await endedNotice(first), await endedNotice(first)]
      await perform(first, 'rescheduleLogoutNotice', { ...tried, until: at(5), attempts: 1 })
      await perform(first, 'rescheduleLogoutNotice', { ...again, until: at(50), attempts: 1 })
      const list = async (now: EpochMs, limit: number, except: readonly ClientId[] = []) =>
        (await first.listDueLogoutNotices({ now, limit, except })).map(({ clientId }) => clientId)
      assert.deepEqual(await list(at(4), 9), [fresh.clientId])
      assert.deepEqual(await list(at(60), 9), [fresh.clientId, tried.clientId, again.clientId])
      assert.deepEqual(await list(at(60), 2), [fresh.clientId, tried.clientId])
      assert.deepEqual(await list(at(60), 9, [fresh.clientId, again.clientId]), [tried.clientId])
    },
  )
}

type End = (store: StoreDriver, session: SessionRecord, keep: SessionRecord) => Promise<unknown>

/** Every operation that ends sessions; those that keep one return `one-is-kept`. */
const ENDS: readonly (readonly [claim: string, end: End])[] = [
  [
    'endOtherSessions',
    async (store, { userId }, { id: keep }) => {
      assert.deepEqual(await perform(store, 'endOtherSessions', { userId, keep, ...END }), { ended: 1 })
      return 'one-is-kept'
    },
  ],
  [
    'changePassword',
    async (store, { userId: id }, kept) => {
      const change = { id, session: coversAll(kept), passwordHash: 'mine', previousHash: aUser().passwordHash }
      assert.equal(await perform(store, 'changePassword', change), 'changed')
      return 'one-is-kept'
    },
  ],
  ['setPassword', (store, { userId: id }) => perform(store, 'setPassword', { id, passwordHash: 'new', now: at(9) })],
  ['disableUser', (store, { userId: id }) => perform(store, 'disableUser', { id, now: at(9) })],
  ['revokeUserTokens', (store, { userId: id }) => perform(store, 'revokeUserTokens', { id, now: at(9) })],
  ['deleteUser', (store, { userId: id }) => perform(store, 'deleteUser', { id })],
  [
    'linkIdentity by a link',
    async (store, { userId }) => {
      const provider = aProvider()
      const link = aLink({ userId })
      await perform(store, 'createProvider', provider)
      await perform(store, 'createLink', link)
      const identity = anIdentity({ userId, providerId: provider.id })
      const reason = {
        kind: 'link',
        hash: link.hash,
        keep: [],
        isMultiFactor: false,
        isSecondStepRequired: false,
      } as const
      assert.equal(await perform(store, 'linkIdentity', { identity, reason, now: at(9) }), 'linked')
    },
  ],
  [
    'unlinkIdentity',
    async (store, { userId, authentication: { providerId } }, kept) => {
      const session = coversAll(kept)
      const provider = { ...aProvider(), id: providerId ?? assert.fail() }
      await perform(store, 'createProvider', provider)
      const identity = anIdentity({ userId, providerId: provider.id })
      const reason = { kind: 'session', session } as const
      assert.equal(await perform(store, 'linkIdentity', { identity, reason, now: at(9) }), 'linked')
      assert.equal(
        await perform(store, 'unlinkIdentity', {
          ...identity,
          passwordCounts: true,
          factors: undefined,
          passkeysCount: false,
          session,
          now: at(9),
        }),
        'unlinked',
      )
      return 'one-is-kept'
    },
  ],
  [
    'useLink',
    async (store, { userId }) => {
      const link = aLink({ userId })
      await perform(store, 'createLink', link)
      const use = {
        userId,
        hash: link.hash,
        passwordHash: 'new',
        keep: [],
        isSecondStepRequired: false,
        browserHash: aHash(),
        now: at(9),
      }
      assert.equal(await perform(store, 'useLink', use), 'used')
    },
  ],
]

/** Starts the sessions, and returns them as they are stored. */
async function signedIn<Sessions extends readonly SessionRecord[]>(
  store: StoreDriver,
  ...sessions: Sessions
): Promise<Sessions> {
  await startSessions(store, ...sessions.map((session) => aSessionStart({ session })))
  return sessions
}

function notifiedOf(session: SessionRecord): NotifiedClient {
  return { userId: session.userId, clientId: aClient().id, sid: aHash(), session }
}

async function approvedOf(store: StoreDriver, notified: NotifiedClient): Promise<NotifiedClient> {
  const { userId, clientId } = notified
  await approved(store, { userId, remember: undefined, notified }, anAuthorization({ clientId }))
  return notified
}

/** The stored notice of a session that has ended. */
async function endedNotice(store: StoreDriver): Promise<LogoutNoticeRecord & { readonly dueAt: EpochMs }> {
  const [session] = await signedIn(store, aSession())
  const notified = await approvedOf(store, notifiedOf(session))
  await perform(store, 'endSession', { id: session.id, ...END })
  return noticeOf(notified)
}

function noticeOf({ userId, clientId, sid, session }: NotifiedClient) {
  const { rootId, createdAt: sessionStartedAt, expiresAt } = session
  return { userId, rootId, clientId, sid, sessionStartedAt, expiresAt, dueAt: AT_ONCE, attempts: 0 }
}

async function dueOf(store: StoreDriver, { userId }: Pick<SessionRecord, 'userId'>) {
  const due = await store.listDueLogoutNotices({ now: after(NOW, HOUR), limit: 1000, except: [] })
  return due.filter((notice) => notice.userId === userId)
}

function byClient(notices: readonly LogoutNoticeRecord[]): readonly LogoutNoticeRecord[] {
  return notices.toSorted((one, other) => (one.clientId < other.clientId ? -1 : 1))
}
