import assert from 'node:assert/strict'
import { test } from 'node:test'
import { modelGrant, type GrantOperation, type GrantOutput } from '../../prove/cluster/grant-model.ts'
import { isLinearizable } from '../../prove/cluster/linearizable.ts'

const RETRY_MS = 1000

const issued = (refreshToken: string, tokenId = `jti of ${refreshToken}`): GrantOutput => ({
  kind: 'issued',
  refreshToken,
  tokenId,
})
const REFUSED: GrantOutput = { kind: 'refused' }
const redeem = (output: GrantOutput | undefined, invokedAt: number, returnedAt = invokedAt + 1): GrantOperation => ({
  input: { kind: 'redeem' },
  output,
  invokedAt,
  returnedAt,
})
const refresh = (
  presented: string,
  output: GrantOutput | undefined,
  invokedAt: number,
  returnedAt = invokedAt + 1,
): GrantOperation => ({ input: { kind: 'refresh', presented }, output, invokedAt, returnedAt })

/** The code was redeemed, and its refresh token used once. */
const FAMILY = [redeem(issued('r0'), 0), refresh('r0', issued('r1'), 2)]

const ACCEPTED: Readonly<Record<string, readonly GrantOperation[]>> = {
  'one of a hundred concurrent redemptions succeeds': Array.from({ length: 100 }, (_, index) =>
    redeem(index === 63 ? issued('r0') : REFUSED, index / 1000, 5 + index / 1000),
  ),
  'a hundred concurrent refreshes get one successor': [
    redeem(issued('r0'), 0),
    ...Array.from({ length: 100 }, (_, index) => refresh('r0', issued('r1'), 2 + index / 1000, 9)),
    refresh('r1', issued('r2'), 10),
  ],
  'the previous token gets the same answer again': [...FAMILY, refresh('r0', issued('r1'), 4)],
  'the previous token revokes the family after the retry window': [
    ...FAMILY,
    refresh('r0', REFUSED, 2000),
    refresh('r1', REFUSED, 2002),
  ],
  'at the end of the retry window both answers are right': [...FAMILY, refresh('r0', REFUSED, 1001.5, 1002.5)],
  'an old token revokes the family for later requests and not for earlier ones': [
    ...FAMILY,
    refresh('r1', issued('r2'), 4),
    refresh('r0', REFUSED, 6, 20),
    refresh('r2', issued('r3'), 7, 19),
    refresh('r2', REFUSED, 8, 18),
    refresh('r3', REFUSED, 21),
  ],
  'a replayed code revokes the family': [...FAMILY, redeem(REFUSED, 4), refresh('r1', REFUSED, 6)],
  'a refresh without an answer had no effect': [...FAMILY, refresh('r1', undefined, 4), refresh('r1', issued('r2'), 6)],
  'a refresh without an answer had its effect, and the retry shows which': [
    ...FAMILY,
    refresh('r1', undefined, 4),
    refresh('r1', issued('r2'), 900),
    refresh('r2', issued('r3'), 902),
  ],
  'a redemption without an answer used the code': [redeem(undefined, 0), redeem(REFUSED, 2)],
  'a redemption without an answer did not use the code': [redeem(undefined, 0), redeem(issued('r0'), 2)],
}
const REJECTED: Readonly<Record<string, readonly GrantOperation[]>> = {
  'a code gives tokens twice': [redeem(issued('r0'), 0, 5), redeem(issued('q0'), 1, 6)],
  'a code gives the same tokens twice': [redeem(issued('r0'), 0, 5), redeem(issued('r0'), 1, 6)],
  'a code is refused to all requests': [redeem(REFUSED, 0, 5), redeem(REFUSED, 1, 6)],
  'a code is refused before it was redeemed': [redeem(REFUSED, 0), redeem(issued('r0'), 2)],
  'two of a hundred redemptions succeed': Array.from({ length: 100 }, (_, index) =>
    redeem(index % 50 === 7 ? issued(`r${index}`) : REFUSED, index / 1000, 5),
  ),
  'two successors of one token': [
    redeem(issued('r0'), 0),
    refresh('r0', issued('r1'), 2, 9),
    refresh('r0', issued('q1'), 3, 8),
  ],
  'one of a hundred refreshes gets another successor': [
    redeem(issued('r0'), 0),
    ...Array.from({ length: 100 }, (_, index) => refresh('r0', issued(index === 50 ? 'q1' : 'r1'), 2, 9)),
  ],
  'the same successor with another access token': [
    redeem(issued('r0'), 0),
    refresh('r0', issued('r1', 'a'), 2, 9),
    refresh('r0', issued('r1', 'b'), 3, 8),
  ],
  'a live token is refused': [...FAMILY, refresh('r1', REFUSED, 4)],
  'an old token works again': [...FAMILY, refresh('r1', issued('r2'), 4), refresh('r0', issued('r1'), 6)],
  'the previous token works after the retry window': [...FAMILY, refresh('r0', issued('r1'), 2000)],
  'the previous token is refused within the retry window': [...FAMILY, refresh('r0', REFUSED, 4)],
  'a token of a revoked family works': [
    ...FAMILY,
    refresh('r1', issued('r2'), 4),
    refresh('r0', REFUSED, 6),
    refresh('r2', issued('r3'), 8),
  ],
  'the tokens of a replayed code still work': [...FAMILY, redeem(REFUSED, 4), refresh('r1', issued('r2'), 6)],
  'a rotation is forgotten': [
    ...FAMILY,
    refresh('r1', issued('r2'), 4),
    refresh('r2', REFUSED, 6),
    refresh('r1', issued('r2'), 8),
  ],
  'a redeemed code works again after a lost answer': [
    redeem(undefined, 0),
    redeem(issued('r0'), 2),
    redeem(issued('r0'), 4),
  ],
}

for (const [name, history] of Object.entries(ACCEPTED))
  test(`accepted: ${name}`, () => assert.ok(isLinearizable(history, modelGrant(history, RETRY_MS))))
for (const [name, history] of Object.entries(REJECTED))
  test(`rejected: ${name}`, () => assert.ok(!isLinearizable(history, modelGrant(history, RETRY_MS))))

test('a family with five thousand refreshes, some of them without an answer, is checked quickly', () => {
  const history: GrantOperation[] = [redeem(issued('r0'), 0)]
  for (let generation = 0; generation < 5000; generation += 1) {
    const at = 2 + generation * 4
    if (generation % 50 === 0) history.push(refresh(`r${generation}`, undefined, at))
    history.push(refresh(`r${generation}`, issued(`r${generation + 1}`), at + 2))
  }
  assert.ok(isLinearizable(history, modelGrant(history, RETRY_MS)))
  const spoilt = [...history, refresh('r4990', issued('r4991'), 90_000)]
  assert.ok(!isLinearizable(spoilt, modelGrant(spoilt, RETRY_MS)))
})
