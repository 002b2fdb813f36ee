import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { EpochMs } from '../../../../src/base/brand.ts'
import type { InitialTokenRecord } from '../../../../src/ports/records/initial-token.ts'
import { DEFAULT_TEMPLATE } from '../../../../src/protocol/client/registration-template.ts'
import { mintInitialTokenId, type InitialTokenId } from '../../../../src/protocol/ids.ts'
import type { Scope } from '../../../../src/protocol/token/scope.ts'
import { perform, performAll, race, tally, times, type Suite } from '../harness.ts'
import { aSweep } from '../server/sweep.ts'
import { aClient, aHash, at, HOUR, NOW } from '../../../support/records.ts'

/** A token that one client can register with. */
export function anInitialToken(differing: Partial<InitialTokenRecord> = {}, madeAt: EpochMs = NOW): InitialTokenRecord {
  return {
    id: mintInitialTokenId(madeAt, randomBytes),
    name: `A "pipeline's" \u{1f600}`,
    secretHash: aHash(),
    template: DEFAULT_TEMPLATE,
    uses: 1,
    usesLeft: 1,
    createdAt: madeAt,
    expiresAt: (madeAt + 720 * HOUR) as EpochMs,
    revokedAt: undefined,
    ...differing,
  }
}

export const initialTokenCases: Suite = (check) => {
  check('createInitialToken stores all members, listed newest first', async ({ first, second }) => {
    const tokens = [
      anInitialToken({}, at(1)),
      anInitialToken({ revokedAt: at(2), usesLeft: 0 }, at(2)),
      anInitialToken(
        { template: { trustLevel: 'verified', scope: '' as Scope, redirectHosts: ['*.a.example'], unused: 'sweep' } },
        at(3),
      ),
    ]
    assert.deepEqual(tally(await performAll(first, 'createInitialToken', tokens)), { created: 3 })
    for (const token of tokens) assert.deepEqual(await second.findInitialToken(token.id), token)
    const newestFirst = tokens.toReversed()
    assert.deepEqual(await second.listInitialTokens({ before: undefined, limit: 2 }), newestFirst.slice(0, 2))
    assert.deepEqual(await second.listInitialTokens({ before: tokens[1]?.id, limit: 2 }), newestFirst.slice(2))
    assert.equal(await first.findInitialToken('a\0b' as InitialTokenId), undefined)
  })

  check('revokeInitialToken stores the first time, for this token only', async (stores) => {
    const [gone, kept] = [anInitialToken(), anInitialToken()]
    await performAll(stores.first, 'createInitialToken', [gone, kept])
    assert.equal(await perform(stores.first, 'revokeInitialToken', { id: gone.id, now: at(1) }), 'changed')
    assert.equal(await perform(stores.second, 'revokeInitialToken', { id: gone.id, now: at(2) }), 'changed')
    assert.equal(await perform(stores.first, 'revokeInitialToken', { id: anInitialToken().id, now: at(1) }), 'unknown')
    assert.deepEqual(await stores.second.findInitialToken(gone.id), { ...gone, revokedAt: at(1) })
    assert.deepEqual(await stores.second.findInitialToken(kept.id), kept)
  })

  check('registerWithToken stores all members of the client, and counts the use', async ({ first, second }) => {
    const token = anInitialToken({ uses: 3, usesLeft: 3 })
    await perform(first, 'createInitialToken', token)
    const limits = { scope: 'read' as Scope, redirectHosts: ['app.example', '*.app.example'] }
    const clients = [
      aClient({ initialToken: { id: token.id, ...limits }, verifiedAt: at(1) }),
      aClient({ initialToken: { id: token.id, scope: undefined, redirectHosts: undefined }, secretHash: undefined }),
    ]
    for (const client of clients)
      assert.equal(await perform(first, 'registerWithToken', use(token, client)), 'registered')
    for (const client of clients) assert.deepEqual(await second.findClient(client.id), client)
    assert.deepEqual(await second.findInitialToken(token.id), { ...token, usesLeft: 1 })
  })

  check('IAT-01: of 100 registrations with a token for one client, one succeeds', async (stores) => {
    const token = anInitialToken()
    await perform(stores.first, 'createInitialToken', token)
    const uses = times(100, () => use(token))
    const outcomes = await race(stores, 'registerWithToken', uses)
    assert.deepEqual(tally(outcomes), { registered: 1, 'token-inactive': 99 })
    const stored = await Promise.all(uses.map(({ client }) => stores.second.findClient(client.id)))
    assert.deepEqual(
      stored.map((client) => client !== undefined),
      outcomes.map((outcome) => outcome === 'registered'),
    )
    assert.equal((await stores.first.findInitialToken(token.id))?.usesLeft, 0)
  })

  check('IAT-02: a token that is unknown, expired, revoked or used up registers no client', async ({ first }) => {
    const expiresAt = at(HOUR)
    const tokens = [
      anInitialToken({ expiresAt: NOW }),
      anInitialToken({ expiresAt, revokedAt: NOW }),
      anInitialToken({ expiresAt, usesLeft: 0 }),
    ]
    await performAll(first, 'createInitialToken', tokens)
    const uses = [...tokens, anInitialToken()].map((token) => use(token))
    for (const one of uses) assert.equal(await perform(first, 'registerWithToken', one), 'token-inactive')
    assert.deepEqual(await first.listClients({ before: undefined, limit: 10 }), [])
    const live = anInitialToken({ expiresAt })
    await perform(first, 'createInitialToken', live)
    assert.equal(await perform(first, 'registerWithToken', { ...use(live), now: expiresAt }), 'token-inactive')
    assert.equal(await perform(first, 'registerWithToken', { ...use(live), now: at(HOUR - 1) }), 'registered')
  })

  check('a client that cannot be stored does not use up its token', async ({ first }) => {
    const token = anInitialToken()
    const existing = aClient()
    await perform(first, 'createInitialToken', token)
    await perform(first, 'registerClient', existing)
    await assert.rejects(perform(first, 'registerWithToken', use(token, aClient({ id: existing.id }))))
    assert.deepEqual(await first.findInitialToken(token.id), token)
  })

  check('a client of a token is swept only if its template says so', async ({ first }) => {
    const token = anInitialToken({ uses: 2, usesLeft: 2 })
    await perform(first, 'createInitialToken', token)
    const [kept, gone] = [aClient({}, at(-25 * HOUR)), aClient({}, at(-25 * HOUR))]
    await perform(first, 'registerWithToken', use(token, kept))
    await perform(first, 'registerWithToken', { ...use(token, gone), isKept: false })
    assert.equal((await perform(first, 'sweepExpired', aSweep({ unusedSince: at(-24 * HOUR) }))).clients, 1)
    assert.equal(await first.findClient(gone.id), undefined)
    assert.notEqual(await first.findClient(kept.id), undefined)
  })

  check('sweepExpired removes tokens that expired before a time', async ({ first }) => {
    const [old, recent] = [anInitialToken({ expiresAt: at(-2) }), anInitialToken({ expiresAt: at(-1) })]
    await performAll(first, 'createInitialToken', [old, recent])
    const sweep = aSweep({ initialTokensBefore: at(-1) })
    assert.equal((await perform(first, 'sweepExpired', sweep)).initialTokens, 1)
    assert.deepEqual(await first.listInitialTokens({ before: undefined, limit: 10 }), [recent])
  })
}

function use({ id }: InitialTokenRecord, client = aClient()) {
  return { client, tokenId: id, now: NOW, isKept: true }
}
