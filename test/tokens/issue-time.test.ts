import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EpochMs, EpochSeconds } from '../../src/base/brand.ts'
import { mintOrderedId } from '../../src/protocol/ids.ts'
import { issueTime } from '../../src/tokens/inactive-reason.ts'
import type { AccessTokenFacts } from '../../src/protocol/token/access-token.ts'

const ISSUED_AT = 1_795_200_000
const LIFETIME = 900

for (const [title, tokenId, expected] of [
  ['a JWT’s jti begins with the moment of issue', idOf(ISSUED_AT * 1000 + 337), ISSUED_AT * 1000 + 337],
  ['an opaque token’s with that of expiry', idOf((ISSUED_AT + LIFETIME) * 1000 + 999), ISSUED_AT * 1000 + 999],
  ['the second itself', idOf(ISSUED_AT * 1000), ISSUED_AT * 1000],
  ['a moment of another second counts for nothing', idOf((ISSUED_AT + 1) * 1000 + 337), ISSUED_AT * 1000],
  ['a digest has no moment', 'x'.repeat(43), ISSUED_AT * 1000],
  ['a digest that looks like one', `ffffffffffff${'x'.repeat(31)}`, ISSUED_AT * 1000],
  ['nothing', '', ISSUED_AT * 1000],
] as const) {
  test(`INT-06: when a token was issued, never too late: ${title}`, () => {
    const facts = {
      tokenId,
      issuedAt: ISSUED_AT as EpochSeconds,
      expiresAt: (ISSUED_AT + LIFETIME) as EpochSeconds,
    } as AccessTokenFacts
    assert.equal(issueTime(facts), expected)
  })
}

function idOf(moment: number): string {
  return mintOrderedId(moment as EpochMs, (bytes) => Buffer.alloc(bytes))
}
