import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { PushedRequestRecord } from '../../../../src/ports/records/authorization.ts'
import { mintClientId, mintPushedRequestId } from '../../../../src/protocol/ids.ts'
import { perform, performAll, race, tally, times, type Suite } from '../harness.ts'
import { anAuthorization, at, HOUR, MINUTE, NOW } from '../../../support/records.ts'
import { aSweep } from '../server/sweep.ts'

export const pushedRequestCases: Suite = (check) => {
  check('RFC 9126 §2: a pushed request is stored, and read as it is', async ({ first, second }) => {
    const pushed = aPushedRequest()
    assert.equal(await perform(first, 'pushRequest', pushed), 'pushed')
    assert.deepEqual(await second.findPushedRequest(pushed.id), pushed)
    assert.equal(await second.findPushedRequest(aPushedRequest().id), undefined)
  })

  check('PAR-05: a pushed request is used for one authorization, which may use it again', async ({ first, second }) => {
    const pushed = aPushedRequest()
    await perform(first, 'pushRequest', pushed)
    const [winner, other] = times(2, () => ({ id: pushed.id, authorizationId: anAuthorization().id, now: at(1) }))
    assert.ok(winner && other)
    const batch = await performAll(first, 'usePushedRequest', [winner, winner, other])
    assert.deepEqual(batch, ['used', 'used', 'taken'])
    assert.equal(await perform(second, 'usePushedRequest', other), 'taken')
    assert.deepEqual(await second.findPushedRequest(pushed.id), { ...pushed, usedBy: winner.authorizationId })
  })

  check('PAR-04: it can be used after it has expired, until it is no longer kept', async ({ first }) => {
    const pushed = aPushedRequest({ expiresAt: at(MINUTE), keptUntil: at(HOUR) })
    await perform(first, 'pushRequest', pushed)
    const authorizationId = anAuthorization().id
    const use = (id: typeof pushed.id, now: number) =>
      perform(first, 'usePushedRequest', { id, authorizationId, now: at(now) })
    assert.equal(await use(aPushedRequest().id, 0), 'unknown')
    assert.equal(await use(pushed.id, HOUR), 'unknown')
    assert.equal(await use(pushed.id, HOUR - 1), 'used')
    assert.equal(await use(pushed.id, HOUR), 'unknown')
  })

  check('PAR-06: of concurrent authorizations of one pushed request exactly one uses it', async (stores) => {
    const pushed = aPushedRequest()
    await perform(stores.first, 'pushRequest', pushed)
    const uses = times(20, () => ({ id: pushed.id, authorizationId: anAuthorization().id, now: at(1) }))
    const outcomes = await race(stores, 'usePushedRequest', uses)
    assert.deepEqual(tally(outcomes), { used: 1, taken: 19 })
    const winner = uses[outcomes.indexOf('used')]?.authorizationId
    assert.equal((await stores.second.findPushedRequest(pushed.id))?.usedBy, winner)
  })

  check('PAR-10: the sweep removes pushed requests that are no longer kept, and no others', async ({ first }) => {
    const [gone, kept] = [
      aPushedRequest({ keptUntil: at(-1) }),
      aPushedRequest({ expiresAt: at(-1), keptUntil: at(1) }),
    ]
    await performAll(first, 'pushRequest', [gone, kept])
    assert.equal((await perform(first, 'sweepExpired', aSweep())).pushedRequests, 1)
    assert.equal(await first.findPushedRequest(gone.id), undefined)
    assert.deepEqual(await first.findPushedRequest(kept.id), kept)
  })
}

export function aPushedRequest(differing: Partial<PushedRequestRecord> = {}): PushedRequestRecord {
  return {
    id: mintPushedRequestId(NOW, randomBytes),
    clientId: mintClientId(NOW, randomBytes),
    parameters: 'response_type=code&state=%22%5C%27+%F0%9F%98%80',
    usedBy: undefined,
    expiresAt: at(MINUTE),
    keptUntil: at(11 * MINUTE),
    ...differing,
  }
}
