import assert from 'node:assert/strict'
import { test } from 'node:test'
import { modelGrant, type GrantOperation, type GrantOutput } from '../../prove/cluster/grant-model.ts'
import { isLinearizable } from '../../prove/cluster/linearizable.ts'

const RULES = { retryMs: 1000, generationOf: (token: string) => Number(token.slice(1)) }
const [HOME, AWAY] = ['203.0.113.1', '203.0.113.2'] as const

const issued = (refreshToken: string, tokenId = `jti of ${refreshToken}`): GrantOutput => ({
  kind: 'issued',
  refreshToken,
  tokenId,
})
const REFUSED: GrantOutput = { kind: 'refused' }
const redeem = (output: GrantOutput | undefined, invokedAt: number, returnedAt = invokedAt + 1): GrantOperation => ({
  input: { kind: 'redeem', network: HOME },
  output,
  invokedAt,
  returnedAt,
})
const refresh = (
  presented: string,
  output: GrantOutput | undefined,
  invokedAt: number,
  returnedAt = invokedAt + 1,
  network: string = HOME,
): GrantOperation => ({ input: { kind: 'refresh', presented, network }, output, invokedAt, returnedAt })
/** The same from another network. */
const refreshAway = (
  presented: string,
  output: GrantOutput | undefined,
  invokedAt: number,
  returnedAt = invokedAt + 1,
) => refresh(presented, output, invokedAt, returnedAt, AWAY)

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
  'an earlier token gets the newest one in its network, with another access token': [
    ...FAMILY,
    refresh('r1', issued('r2'), 4),
    refresh('r0', issued('r2', 'another'), 6),
    refresh('r1', issued('r2', 'and another'), 2000),
  ],
  'three generations at once in one network give the newest token and its successor': [
    ...FAMILY,
    refresh('r1', issued('r2'), 4),
    ...Array.from({ length: 99 }, (_, index) =>
      index % 3 === 0
        ? refresh('r0', issued(index < 50 ? 'r2' : 'r3', `jti ${index}`), 6 + index / 1000, 20)
        : refresh('r2', issued('r3'), 6 + index / 1000, 20),
    ),
  ],
  'an earlier token from another network holds the family, and the newest ends the hold there': [
    ...FAMILY,
    refreshAway('r0', REFUSED, 2000),
    refresh('r0', REFUSED, 2002),
    refreshAway('r1', issued('r2'), 2004),
    refreshAway('r0', issued('r2', 'another'), 2006),
    refresh('r1', REFUSED, 4000),
  ],
  'the newest token revokes a family that is held for another network': [
    ...FAMILY,
    refreshAway('r0', REFUSED, 2000),
    refresh('r1', REFUSED, 2002),
    refreshAway('r1', REFUSED, 2004),
  ],
  'at the end of the retry window both answers are right elsewhere': [
    ...FAMILY,
    refreshAway('r0', REFUSED, 1001.5, 1002.5),
  ],
  'a parting has its effect for later requests and not for earlier ones': [
    ...FAMILY,
    refresh('r1', issued('r2'), 4),
    refreshAway('r0', REFUSED, 6, 20),
    refresh('r2', issued('r3'), 7, 19),
    refresh('r2', REFUSED, 8, 18),
    refresh('r3', REFUSED, 21),
    refreshAway('r3', REFUSED, 23),
  ],
  'a parting among a hundred refreshes holds the family, in the network that it is presented from': [
    ...FAMILY,
    refresh('r1', issued('r2'), 4),
    ...Array.from({ length: 99 }, (_, index) =>
      refresh('r2', index % 2 === 0 ? issued('r3') : REFUSED, 6 + index / 1000, 20 - index / 1000),
    ),
    refreshAway('r0', REFUSED, 6.5, 19.5),
    refresh('r2', REFUSED, 30),
    refresh('r3', REFUSED, 32),
  ],
  'a parting without an answer held the family': [
    ...FAMILY,
    refreshAway('r0', undefined, 2000),
    refresh('r1', REFUSED, 2002),
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
  'an old token gets its old successor again': [
    ...FAMILY,
    refresh('r1', issued('r2'), 4),
    refresh('r0', issued('r1'), 6),
  ],
  'an old token is refused in the network of the newest': [
    ...FAMILY,
    refresh('r1', issued('r2'), 4),
    refresh('r0', REFUSED, 6),
  ],
  'an old token works elsewhere': [...FAMILY, refresh('r1', issued('r2'), 4), refreshAway('r0', issued('r2'), 6)],
  'a family is held for two networks': [
    ...FAMILY,
    refreshAway('r0', REFUSED, 2000),
    refresh('r0', REFUSED, 2002),
    refresh('r1', issued('r2'), 2004),
  ],
  'a family that is held gives tokens where the newest one was': [
    ...FAMILY,
    refreshAway('r0', REFUSED, 2000),
    refresh('r1', issued('r2'), 2002),
  ],
  'a family that is held gives an earlier token something': [
    ...FAMILY,
    refreshAway('r0', REFUSED, 2000),
    refreshAway('r0', issued('r1', 'another'), 2002),
  ],
  'the previous token is refused within the retry window': [...FAMILY, refresh('r0', REFUSED, 4)],
  'a token of a revoked family works': [
    ...FAMILY,
    refreshAway('r0', REFUSED, 2000),
    refresh('r1', REFUSED, 2002),
    refreshAway('r1', issued('r2'), 2004),
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
  test(`accepted: ${name}`, () => assert.ok(isLinearizable(history, modelGrant(history, RULES))))
for (const [name, history] of Object.entries(REJECTED))
  test(`rejected: ${name}`, () => assert.ok(!isLinearizable(history, modelGrant(history, RULES))))

test('a family with five thousand refreshes, some of them without an answer, is checked quickly', () => {
  const history: GrantOperation[] = [redeem(issued('r0'), 0)]
  for (let generation = 0; generation < 5000; generation += 1) {
    const at = 2 + generation * 4
    if (generation % 50 === 0) history.push(refresh(`r${generation}`, undefined, at))
    history.push(refresh(`r${generation}`, issued(`r${generation + 1}`), at + 2))
  }
  assert.ok(isLinearizable(history, modelGrant(history, RULES)))
  const spoilt = [...history, refresh('r4990', issued('r4991'), 90_000)]
  assert.ok(!isLinearizable(spoilt, modelGrant(spoilt, RULES)))
})
