import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Context } from '../../../src/ports/context.ts'
import { GROUP_CLAIM_NAMES } from '../../../src/protocol/access/group-claim.ts'
import { describeAccessToken } from '../../../src/endpoints/introspection/introspect.ts'
import {
  accessTokenClaims,
  parseAccessTokenClaims,
  type AccessTokenFacts,
} from '../../../src/protocol/token/access-token.ts'
import { ANSWER_MEMBERS } from '../../../src/protocol/token/introspection-answer.ts'
import type { EpochSeconds } from '../../../src/base/brand.ts'
import { A_KEY, aGrant, anOrganization } from '../../support/records.ts'

const { id: grantId, clientId, resources, scope, userId } = aGrant()
/** Facts of which each that a token states has a value. */
const WHOLE: AccessTokenFacts = {
  issuer: 'https://auth.example',
  resources,
  clientId,
  userId,
  organizationId: anOrganization().id,
  grantId,
  actors: resources,
  firstTokenId: undefined,
  scope,
  applicationSubject: 'person 1',
  keyThumbprint: A_KEY,
  authentication: { acr: 'phr', time: 1 as EpochSeconds },
  tokenId: 'id',
  issuedAt: 1 as EpochSeconds,
  expiresAt: 901 as EpochSeconds,
  issuedAfter: undefined,
}
/** `act` is in the token of a client that acts for a user who did not sign in. */
const AN_API = { kind: 'api', api: undefined } as const
const EACH = [WHOLE, { ...WHOLE, grantId: undefined, firstTokenId: 'first' }]

test('RFC 7662 §2.2: the answer about a token has each member that the page describes, and a JWT states the same', async () => {
  // An API reads the groups in one of them: groups.test.ts.
  const ofGroups: readonly string[] = GROUP_CLAIM_NAMES
  const context = { issuer: WHOLE.issuer } as Context
  const answers = await Promise.all(
    EACH.map((facts) => describeAccessToken(context, { kind: 'access', facts, owner: facts.clientId }, AN_API)),
  )
  const described = Object.entries(ANSWER_MEMBERS).flatMap(([name, { ofRefreshToken }]) =>
    ofRefreshToken === 'only' || ofGroups.includes(name) ? [] : [name],
  )
  assert.deepEqual(membersOf(answers), described.toSorted())
  const claims = EACH.map((facts) => JSON.parse(accessTokenClaims(facts, facts.clientId, undefined)) as object)
  const stated = described.filter((name) => name !== 'active' && name !== 'token_type')
  assert.deepEqual(membersOf(claims), [...stated, 'first_jti', 'grant_id'].toSorted())
})

test('RFC 9068 §2.2: the facts of a token are read back from its claims unchanged', () => {
  for (const facts of EACH)
    assert.deepEqual(parseAccessTokenClaims(accessTokenClaims(facts, facts.clientId, undefined), facts.issuer), facts)
})

function membersOf(documents: readonly object[]): readonly string[] {
  return [...new Set(documents.flatMap((document) => Object.keys(document)))].toSorted()
}
