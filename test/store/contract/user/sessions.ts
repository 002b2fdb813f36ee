import assert from 'node:assert/strict'
import { IMPORTED } from '../../../../src/protocol/sign-in/account.ts'
import { randomBytes } from 'node:crypto'
import { coversAll } from '../../../../src/endpoints/sign-in/changing-session.ts'
import { mintSessionId, type ClientId, type SessionId, type UserId } from '../../../../src/protocol/ids.ts'
import { perform, performAll, race, startSessions, tally, times, type Suite } from '../harness.ts'
import type { UserRecord } from '../../../../src/ports/records/user.ts'
import {
  aGrant,
  aHash,
  anAuthorization,
  aRedemption,
  aSession,
  aSessionStart,
  aUser,
  aUserOfProvider,
  at,
} from '../../../support/records.ts'
import type { SessionStart } from '../../../../src/ports/operations/session.ts'
import type { Approval } from '../../../../src/ports/operations/authorization.ts'
import type { GrantRecord, OpenidGrant } from '../../../../src/ports/records/grant.ts'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import type { Scope } from '../../../../src/protocol/token/scope.ts'
import { approved } from '../token/authorizations.ts'
import { redeemed } from '../token/grant-lists.ts'

/** The times with which sessions end. Records are older than `at(1)`. */
export const END = { now: at(99), codesSince: at(-1) } as const

type Ending = (store: StoreDriver, userId: UserId, clientId: ClientId) => Promise<unknown>
/** What ends the codes and grants of a user. The not-before times are older than the approvals, so each row is from after them. */
const ENDINGS: readonly (readonly [name: string, end: Ending])[] = [
  ['disableUser', (store, id) => perform(store, 'disableUser', { id, now: at(-1) })],
  ['deleteUser', (store, id) => perform(store, 'deleteUser', { id })],
  ['revokeUserTokens', (store, id) => perform(store, 'revokeUserTokens', { id, now: at(-1) })],
  [
    'removeApp',
    (store, userId, clientId) => perform(store, 'removeApp', { userId, clientId, organizationId: undefined, ...END }),
  ],
]

export const sessionCases: Suite = (check) => {
  check('startSession stores the session and remembers the browser for this user', async ({ first, second }) => {
    const [session, browserHash] = [aSession(), aHash()]
    const start = aSessionStart({ session, browserHash })
    assert.deepEqual(await startSessions(first, start), [{ kind: 'started', rootId: session.id, isLinked: false }])
    assert.deepEqual(await second.findSession(session.id), session)
    assert.equal(await second.knowsBrowser(session.userId, browserHash), true)
    assert.equal(await second.knowsBrowser(session.userId, aHash()), false)
    assert.deepEqual(await second.listBrowsers(session.userId), [browserHash])
    assert.equal(await second.knowsBrowser(aSession().userId, browserHash), false)
  })

  check('UP-24: a session whose time of authentication is unknown stays so', async ({ first, second }) => {
    const session = aSession({ authentication: { ...aSession().authentication, at: undefined } })
    await startSessions(first, aSessionStart({ session }))
    assert.deepEqual(await second.findSession(session.id), session)
  })

  check('a browser can start any number of sessions', async ({ first }) => {
    const browserHash = aHash()
    const one = aSession()
    const two = aSession({ userId: one.userId })
    await startSessions(
      first,
      aSessionStart({ session: one, browserHash }),
      aSessionStart({ session: two, browserHash }),
    )
    assert.deepEqual(await first.findSession(two.id), two)
    assert.equal(await first.knowsBrowser(one.userId, browserHash), true)
  })

  check('BND-06: a user has at most 200 sessions: the oldest is removed, and no other user’s', async ({ first }) => {
    const [{ userId }, other] = [aSession(), aSession({ id: mintSessionId(at(0), randomBytes) })]
    const ids = Array.from({ length: 201 }, (_, index) => mintSessionId(at(index), randomBytes))
    const browserHash = aHash()
    const sessions = [other, ...ids.map((id) => aSession({ userId, id, rootId: id }))]
    const starts = sessions.map((session) => aSessionStart({ session, browserHash }))
    // A batch has a time limit.
    for (let start = 0; start < starts.length; start += 20)
      await startSessions(first, ...starts.slice(start, start + 20))
    const found = await Promise.all([other.id, ...ids].map((id) => first.findSession(id)))
    const missing = [other.id, ...ids].filter((_, index) => found[index] === undefined)
    assert.deepEqual(missing, [ids[0]])
  })

  check('twenty browsers are remembered for each user: those seen last', async ({ first }) => {
    const { userId } = aSession()
    const browsers = Array.from({ length: 22 }, aHash)
    for (const [index, browserHash] of browsers.entries())
      await startSessions(first, aSessionStart({ session: aSession({ userId, createdAt: at(index) }), browserHash }))
    const known = await Promise.all(browsers.map((browserHash) => first.knowsBrowser(userId, browserHash)))
    assert.deepEqual(known, [false, false, ...Array.from({ length: 20 }, () => true)])
  })

  check(
    'PK-10: a revocation between the reading of the user and the session refuses it, also in its millisecond',
    async ({ first, second }) => {
      const user = aUser({ notBefore: at(-2) })
      const start = (): SessionStart =>
        aSessionStart({ session: aSession({ userId: user.id }), notBefore: user.notBefore })
      await perform(first, 'createUser', user)
      assert.equal((await perform(first, 'startSession', start())).kind, 'started')
      await perform(second, 'revokeUserTokens', { id: user.id, now: at(-1) })
      assert.equal((await perform(first, 'startSession', start())).kind, 'user-changed')
      const later = { ...start(), notBefore: at(-1) }
      assert.equal((await perform(first, 'startSession', later)).kind, 'started')
    },
  )

  check('UI-13: a user who was changed after authenticating gets no session', async ({ first, second }) => {
    const changes: readonly ((user: UserRecord) => Promise<unknown>)[] = [
      ({ id }) => perform(second, 'disableUser', { id, now: at(1) }),
      ({ id }) => perform(second, 'deleteUser', { id }),
      ({ id }) => perform(second, 'setPassword', { id, passwordHash: 'another', now: at(1) }),
    ]
    for (const change of changes) {
      const [user, browserHash] = [aUser({ firstSignedInAt: at(0) }), aHash()]
      const [session, next] = times(2, () => aSession({ userId: user.id }))
      assert.ok(session && next)
      await perform(first, 'createUser', user)
      await startSessions(first, aSessionStart({ session }))
      await change(user)
      const start = aSessionStart({ session: next, browserHash, replaces: session.id })
      assert.deepEqual(await perform(first, 'startSession', start), { kind: 'user-changed' })
      assert.equal(await first.findSession(next.id), undefined)
      assert.equal(await first.knowsBrowser(user.id, browserHash), false)
    }
    const { id, passwordHash } = aUserOfProvider()
    await perform(first, 'createUser', aUserOfProvider({ id }))
    const start = { session: aSession({ userId: id }) }
    assert.deepEqual(await perform(first, 'startSession', aSessionStart(start)), { kind: 'user-changed' })
    assert.equal((await perform(first, 'startSession', aSessionStart({ ...start, passwordHash }))).kind, 'started')
  })

  check('UI-13: no session with the old password survives a concurrent change of the password', async (stores) => {
    const user = aUser()
    const own = aSession({ userId: user.id })
    await perform(stores.first, 'createUser', user)
    await startSessions(stores.first, aSessionStart({ session: own }))
    const starts = times(12, () => aSessionStart({ session: aSession({ userId: user.id }) }))
    const change = { id: user.id, passwordHash: 'mine', previousHash: user.passwordHash, session: coversAll(own) }
    const [outcome] = await Promise.all([
      perform(stores.second, 'changePassword', change),
      race(stores, 'startSession', starts),
    ])
    assert.equal(outcome, 'changed')
    const left = await stores.first.listSessions({ userId: user.id, before: undefined, limit: 100 })
    assert.deepEqual(left, [own])
  })

  check('endSession ends one session, once', async (stores) => {
    const [session, other] = [aSession(), aSession()]
    for (const one of [session, other]) await startSessions(stores.first, aSessionStart({ session: one }))
    const outcomes = await race(
      stores,
      'endSession',
      times(6, () => ({ id: session.id, ...END })),
    )
    assert.deepEqual(tally(outcomes), { ended: 1, unknown: 5 })
    assert.equal(await stores.second.findSession(session.id), undefined)
    assert.deepEqual(await stores.second.findSession(other.id), other)
  })

  check('a session that replaces another of the same user has its root, however often', async ({ first, second }) => {
    const { userId, ...one } = aSession()
    const [two, three] = [aSession({ userId }), aSession({ userId })]
    await startSessions(first, aSessionStart({ session: { ...one, userId } }))
    for (const [replaces, session] of [
      [one.id, two],
      [two.id, three],
    ] as const) {
      const outcome = await perform(first, 'startSession', aSessionStart({ session, replaces }))
      assert.deepEqual(outcome, { kind: 'started', rootId: one.id, isLinked: false })
      assert.equal(await second.findSession(replaces), undefined)
      assert.deepEqual(await second.findSession(session.id), { ...session, rootId: one.id })
    }
  })

  check(
    "a session that would replace another user's, or one that has ended, has a root of its own",
    async ({ first }) => {
      const [other, session, next] = [aSession(), aSession(), aSession()]
      await startSessions(first, aSessionStart({ session: other }))
      const starts = [
        aSessionStart({ session, replaces: other.id }),
        aSessionStart({ session: next, replaces: aSession().id }),
      ]
      assert.deepEqual(
        (await startSessions(first, ...starts)).map((outcome) => 'rootId' in outcome && outcome.rootId),
        [session.id, next.id],
      )
      assert.deepEqual(await first.findSession(other.id), other)
    },
  )

  check('of concurrent sessions that replace one session exactly one has its root', async (stores) => {
    const { userId, ...one } = aSession()
    await startSessions(stores.first, aSessionStart({ session: { ...one, userId } }))
    const starts = times(6, () => aSessionStart({ session: aSession({ userId }), replaces: one.id }))
    const outcomes = await race(stores, 'startSession', starts)
    assert.equal(outcomes.filter((outcome) => outcome.kind === 'started' && outcome.rootId === one.id).length, 1)
    assert.equal(await stores.second.findSession(one.id), undefined)
  })

  check('a session sets the times of the first and the last sign-in, also of an imported user', async ({ first }) => {
    for (const firstSignedInAt of [undefined, IMPORTED]) {
      const user = { ...aUserOfProvider(), firstSignedInAt }
      await perform(first, 'createUser', user)
      assert.deepEqual(await first.findUser(user.id), user)
      for (const createdAt of [at(5), at(9)]) {
        const session = aSession({ userId: user.id, createdAt })
        await startSessions(first, aSessionStart({ session, passwordHash: undefined }))
      }
      assert.deepEqual(await first.findUser(user.id), { ...user, firstSignedInAt: at(5), lastSignedInAt: at(9) })
    }
  })

  check('listSessions pages newest first, of one user or of all', async ({ first, second }) => {
    const { userId } = aSession()
    const own = times(3, (index) => aSession({ id: mintSessionId(at(index), randomBytes), userId }))
    const other = aSession({ id: mintSessionId(at(5), randomBytes) })
    for (const session of [...own, other]) await startSessions(first, aSessionStart({ session: { ...session } }))
    const expected = own.toReversed().map((session) => ({ ...session, rootId: session.id }))
    const page = await second.listSessions({ userId, before: undefined, limit: 2 })
    assert.deepEqual(page, expected.slice(0, 2))
    assert.deepEqual(await second.listSessions({ userId, before: page[1]?.id, limit: 2 }), expected.slice(2))
    const all = await second.listSessions({ before: undefined, limit: 100 })
    assert.deepEqual(
      all.filter(({ id }) => [...own, other].some((one) => one.id === id)).map(({ id }) => id),
      [other, ...own.toReversed()].map(({ id }) => id),
    )
  })

  check('endOtherSessions ends the sessions of the user but one, and returns how many', async ({ first }) => {
    const { userId } = aSession()
    const own = times(3, () => aSession({ userId }))
    const other = aSession()
    for (const session of [...own, other]) await startSessions(first, aSessionStart({ session }))
    const keep = own[1]?.id as SessionId
    assert.deepEqual(
      await performAll(
        first,
        'endOtherSessions',
        times(2, () => ({ userId, keep, ...END })),
      ),
      [{ ended: 2 }, { ended: 0 }],
    )
    const found = await Promise.all([...own, other].map(({ id }) => first.findSession(id)))
    assert.deepEqual(found, [undefined, own[1], undefined, other])
  })

  check(
    'LO-13: endSession revokes the logins of the session and of those that it continues, and no other grant',
    async ({ first, second }) => {
      const { userId, ...one } = aSession()
      const [two, elsewhere] = [aSession({ userId }), aSession({ userId })]
      await startSessions(first, aSessionStart({ session: { ...one, userId } }))
      await startSessions(
        first,
        aSessionStart({ session: two, replaces: one.id }),
        aSessionStart({ session: elsewhere }),
      )
      const openid = loginOf(one.id)
      const grants = await redeemed(first, [
        { userId, openid, scope: 'openid' as Scope },
        { userId, openid, scope: 'read openid' as Scope },
        { userId, openid, scope: 'openid offline_access' as Scope },
        { userId, openid: undefined },
        { userId, openid: loginOf(elsewhere.id), scope: 'openid' as Scope },
      ])
      const end = { id: two.id, ...END }
      assert.deepEqual(await performAll(first, 'endSession', [end, end]), ['ended', 'unknown'])
      assert.deepEqual(await revocationsOf(second, grants), [at(99), at(99), undefined, undefined, undefined])
    },
  )

  check(
    'LO-13: a session that has expired, or whose user signs in again, revokes nothing',
    async ({ first, second }) => {
      const { userId, ...one } = aSession()
      await startSessions(first, aSessionStart({ session: { ...one, userId } }))
      const grants = await redeemed(first, [{ userId, openid: loginOf(one.id), scope: 'openid' as Scope }])
      await startSessions(first, aSessionStart({ session: aSession({ userId }), replaces: one.id }))
      assert.deepEqual(await revocationsOf(second, grants), [undefined])
    },
  )

  check('LO-13: endOtherSessions revokes the logins of all sessions but one', async ({ first, second }) => {
    const { userId, ...one } = aSession()
    const [kept, other] = [aSession({ userId }), aSession({ userId })]
    await startSessions(first, aSessionStart({ session: { ...one, userId } }))
    await startSessions(first, aSessionStart({ session: kept, replaces: one.id }), aSessionStart({ session: other }))
    const grants = await redeemed(first, [
      { userId, openid: loginOf(one.id), scope: 'openid' as Scope },
      { userId, openid: loginOf(other.id), scope: 'openid' as Scope },
      { userId, openid: loginOf(aSession().id), scope: 'openid' as Scope },
      { userId, openid: loginOf(other.id), scope: 'openid offline_access' as Scope },
      { userId, openid: undefined },
      { openid: loginOf(other.id), scope: 'openid' as Scope },
    ])
    assert.deepEqual(await perform(first, 'endOtherSessions', { userId, keep: kept.id, ...END }), {
      ended: 1,
    })
    const rest = [at(99), at(99), undefined, undefined, undefined]
    assert.deepEqual(await revocationsOf(second, grants), [undefined, ...rest])
    // The session to keep has ended meanwhile.
    await perform(first, 'endOtherSessions', { userId, keep: aSession().id, ...END })
    assert.deepEqual(await revocationsOf(second, grants), [at(99), ...rest])
  })

  check('LO-17: endSession burns the codes of the session that are not redeemed yet', async ({ first, second }) => {
    const session = aSession()
    await startSessions(first, aSessionStart({ session }))
    const codes = await Promise.all(
      [session.id, aSession().id, undefined].map((rootId) => approvedIn(first, session.userId, rootId)),
    )
    await perform(first, 'endSession', { id: session.id, ...END })
    const outcomes = await Promise.all(codes.map((approval) => perform(second, 'redeemCode', aRedemption(approval))))
    assert.equal(outcomes[0], 'unknown')
    assert.deepEqual(
      outcomes.slice(1).map((outcome) => outcome !== 'unknown'),
      [true, true],
    )
  })

  check('LO-17: no login survives an end of its session at the same time as the code is redeemed', async (stores) => {
    const { first, second } = stores
    for (const [ending, redeeming] of [
      [first, second],
      [second, first],
    ] as const) {
      const sessions = times(20, () => aSession())
      await startSessions(first, ...sessions.map((session) => aSessionStart({ session })))
      const ends = sessions.map(async (session) => {
        const approval = await approvedIn(first, session.userId, session.id)
        const { userId } = session
        const grant = aGrant({ userId, openid: loginOf(session.id), scope: 'openid' as Scope })
        const redemption = aRedemption(approval, { grant })
        await Promise.all([
          perform(ending, 'endSession', { id: session.id, ...END }),
          perform(redeeming, 'redeemCode', redemption),
        ])
        return second.findGrant(redemption.grant.id)
      })
      for (const grant of await Promise.all(ends)) assert.ok(grant === undefined || grant.revokedAt === at(99))
    }
  })

  for (const [name, end] of ENDINGS) {
    check(`no grant survives ${name} at the same time as its code is redeemed`, async ({ first, second }) => {
      for (const [ending, redeeming] of [
        [first, second],
        [second, first],
      ] as const) {
        const users = times(20, () => aUser())
        await performAll(first, 'createUser', users)
        const ends = users.map(async ({ id: userId }) => {
          const authorization = anAuthorization()
          const { clientId } = authorization
          const { approval } = await approved(first, { userId }, authorization)
          const redemption = aRedemption(approval, { grant: aGrant({ userId, clientId }) })
          await Promise.all([end(ending, userId, clientId), perform(redeeming, 'redeemCode', redemption)])
          return second.findGrant(redemption.grant.id)
        })
        for (const grant of await Promise.all(ends)) assert.ok(grant === undefined || grant.revokedAt !== undefined)
      }
    })
  }

  check('noteSessions moves the time forward, and ignores sessions that have ended', async ({ first, second }) => {
    const [one, two] = [aSession(), aSession()]
    await startSessions(first, aSessionStart({ session: one }), aSessionStart({ session: two }))
    const sessions = [
      { id: one.id, at: at(50) },
      { id: two.id, at: at(-50) },
      { id: aSession().id, at: at(50) },
    ]
    assert.equal(await perform(first, 'noteSessions', sessions), 'noted')
    assert.deepEqual(await second.findSession(one.id), { ...one, seenAt: at(50) })
    assert.deepEqual(await second.findSession(two.id), two)
  })
}

function loginOf(rootId: SessionId): OpenidGrant {
  return { session: { rootId, methods: ['pwd'], at: at(0) }, idTokenClaims: [] }
}

/** Stores an authorization that the user approved in the session; undefined: one without `openid`. */
async function approvedIn(store: StoreDriver, userId: UserId, rootId: SessionId | undefined): Promise<Approval> {
  const authorization = anAuthorization()
  const openid = rootId === undefined ? undefined : { ...loginOf(rootId), nonce: undefined }
  const { approval } = await approved(store, { userId, decided: { ...authorization, openid } }, authorization)
  return approval
}

async function revocationsOf(store: StoreDriver, grants: readonly GrantRecord[]) {
  const found = await Promise.all(grants.map(({ id }) => store.findGrant(id)))
  return found.map((grant) => grant?.revokedAt)
}
