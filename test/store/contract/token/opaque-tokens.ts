import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { OpaqueTokenRecord } from '../../../../src/ports/records/api.ts'
import type { AccessTokenFacts } from '../../../../src/protocol/token/access-token.ts'
import { toSeconds, type EpochMs } from '../../../../src/base/brand.ts'
import {
  mintClientId,
  mintOrderedId,
  mintOrganizationId,
  mintUserId,
  type OpaqueTokenId,
} from '../../../../src/protocol/ids.ts'
import type { Resource } from '../../../../src/protocol/token/resource.ts'
import type { Scope } from '../../../../src/protocol/token/scope.ts'
import { perform, performAll, race, tally, times, type Suite } from '../harness.ts'
import { A_KEY, aGrant, aHash, at, HOUR, NOW } from '../../../support/records.ts'
import { aSweep } from '../server/sweep.ts'

export const opaqueTokenCases: Suite = (check) => {
  check('issueToken stores all members of the token, visible through both handles', async ({ first, second }) => {
    const token = anOpaqueToken()
    assert.equal(await perform(first, 'issueToken', token), 'issued')
    assert.deepEqual(await first.findOpaqueToken(token.id), token)
    assert.deepEqual(await second.findOpaqueToken(token.id), token)
  })

  check('issueToken stores a token without user, organization and grant', async ({ first }) => {
    const token = anOpaqueToken({ userId: undefined, organizationId: undefined, grantId: undefined, resources: [] })
    await perform(first, 'issueToken', token)
    assert.deepEqual(await first.findOpaqueToken(token.id), token)
  })

  check('a second issueToken with the same token changes nothing', async ({ first, second }) => {
    const token = anOpaqueToken()
    const again = { ...token, hash: aHash(), facts: { ...token.facts, scope: 'write' as Scope } }
    await perform(first, 'issueToken', token)
    assert.equal(await perform(second, 'issueToken', again), 'issued')
    assert.deepEqual(await second.findOpaqueToken(token.id), token)
  })

  check('a batch issues many tokens; of several with one id the first is stored', async ({ first, second }) => {
    const tokens = times(5, () => anOpaqueToken())
    const again = tokens.map((token) => ({ ...token, hash: aHash() }))
    const outcomes = await performAll(first, 'issueToken', [...tokens, ...again])
    assert.deepEqual(tally(outcomes), { issued: 10 })
    assert.deepEqual(await Promise.all(tokens.map(({ id }) => second.findOpaqueToken(id))), tokens)
  })

  check('of concurrent issueToken calls with one token all return issued, and one is stored', async (stores) => {
    const token = anOpaqueToken()
    const same = times(12, () => ({ ...token, hash: aHash() }))
    assert.deepEqual(tally(await race(stores, 'issueToken', same)), { issued: 12 })
    const kept = await stores.first.findOpaqueToken(token.id)
    assert.ok(same.some(({ hash }) => hash === kept?.hash))
    assert.deepEqual(await stores.second.findOpaqueToken(token.id), kept)
  })

  check('findOpaqueToken returns undefined for an id that does not exist', async ({ first }) => {
    await perform(first, 'issueToken', anOpaqueToken())
    assert.equal(await first.findOpaqueToken(anOpaqueToken().id), undefined)
    assert.equal(await first.findOpaqueToken('a\0b' as OpaqueTokenId), undefined)
  })

  check('a sweep removes expired opaque tokens, oldest first and at most its limit', async (stores) => {
    const { first } = stores
    const over = times(3, (index) => anOpaqueToken({}, at(-3 * HOUR + index)))
    const live = [anOpaqueToken({}, NOW), anOpaqueToken({}, at(HOUR))]
    await performAll(first, 'issueToken', [...live, ...over])
    assert.equal((await perform(first, 'sweepExpired', aSweep({ limit: 2 }))).opaqueTokens, 2)
    assert.deepEqual(await Promise.all(over.map(({ id }) => first.findOpaqueToken(id))), [
      undefined,
      undefined,
      over[2],
    ])
    assert.equal((await perform(first, 'sweepExpired', aSweep({ limit: 2 }))).opaqueTokens, 1)
    assert.equal((await perform(first, 'sweepExpired', aSweep({ limit: 2 }))).opaqueTokens, 0)
    assert.deepEqual(await Promise.all(live.map(({ id }) => stores.second.findOpaqueToken(id))), live)
  })
}

function anOpaqueToken(differing: Partial<AccessTokenFacts> = {}, expiresAt: EpochMs = at(HOUR)): OpaqueTokenRecord {
  const id = mintOrderedId(expiresAt, randomBytes) as OpaqueTokenId
  return {
    id,
    hash: aHash(),
    facts: {
      issuer: 'https://issuer.example',
      resources: ['https://api.example' as Resource, `https://other.example/a"b'c` as Resource],
      clientId: mintClientId(NOW, randomBytes),
      firstTokenId: 'first',
      userId: mintUserId(NOW, randomBytes),
      organizationId: mintOrganizationId(NOW, randomBytes),
      grantId: aGrant().id,
      actors: ['https://between.example' as Resource, 'https://first.example' as Resource],
      scope: 'read' as Scope,
      applicationSubject: 'u_4711',
      keyThumbprint: A_KEY,
      authentication: { acr: 'phr', time: toSeconds(NOW) },
      tokenId: id,
      issuedAt: toSeconds(NOW),
      expiresAt: toSeconds(expiresAt),
      issuedAfter: NOW,
      ...differing,
    },
  }
}
