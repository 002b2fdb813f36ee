import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AdminError, TokenRefused, type TokenDemand } from '../../src/library/grantor.ts'
import { walkWithClient } from '../../tools/client-walk.ts'
import { openGrantor, serveHost } from './host.ts'

const RESOURCE = 'https://notes.example'

function refusal(code: string, reason: RegExp) {
  return (cause: unknown): boolean =>
    cause instanceof TokenRefused &&
    cause.code === code &&
    cause.status === (code === 'invalid_token' ? 401 : 403) &&
    reason.test(cause.reason)
}

for (const format of ['jwt', 'opaque'] as const) {
  test(`RFC 6750 §3.1: an API in the process verifies a token (${format}), its API and scope, and sees a revocation at once`, async (t) => {
    const { grantor, issuer, port } = await openGrantor(t)
    await serveHost(t, port, grantor.handler)
    const scopes = ['notes:read', 'notes:write'].map((name) => ({
      name,
      sentence: 'Notes',
      granted_to: 'users' as const,
    }))
    await grantor.tasks['api.create']({ resource: RESOURCE, scopes, tokens: { format } })
    const scope = 'openid offline_access notes:read'
    const { accessToken, subject } = await walkWithClient(issuer, { scope, resource: RESOURCE })
    const claims = await grantor.verify(accessToken, { resource: RESOURCE, scope: 'notes:read' })
    assert.deepEqual([claims.sub, claims.iss, claims.aud], [subject, issuer, RESOURCE])
    await assert.rejects(
      grantor.verify(accessToken, { resource: RESOURCE, scope: 'notes:read notes:write' }),
      refusal('insufficient_scope', /notes:write$/),
    )
    await assert.rejects(grantor.verify(accessToken, { resource: issuer }), refusal('invalid_token', /^for-another$/))
    await assert.rejects(grantor.verify('made-up', { resource: RESOURCE }), refusal('invalid_token', /^unknown$/))
    await grantor.tasks['user.revoke-tokens']({ user_id: subject })
    await assert.rejects(grantor.verify(accessToken, { resource: RESOURCE }), refusal('invalid_token', /^user$/))
  })
}

test('LIB-09: without the API of the token no token is accepted, and a value that is no text is no token', async (t) => {
  const { grantor, issuer, port } = await openGrantor(t)
  await serveHost(t, port, grantor.handler)
  const { accessToken } = await walkWithClient(issuer, { resource: `${RESOURCE}/v1` })
  await grantor.verify(accessToken, { resource: `${RESOURCE}/v1` })
  for (const demand of [undefined, {}, { resource: undefined }, { resource: null }, { resource: [`${RESOURCE}/v1`] }]) {
    await assert.rejects(grantor.verify(accessToken, demand as unknown as TokenDemand), TypeError)
  }
  const demand = { resource: `${RESOURCE}/v1`, scope: ['notes:read'] } as unknown as TokenDemand
  await assert.rejects(grantor.verify(accessToken, demand), TypeError)
  for (const token of [undefined, null, [accessToken], {}]) {
    await assert.rejects(grantor.verify(token as never, { resource: RESOURCE }), refusal('invalid_token', /^unknown$/))
  }
})

test('the audit names the library as the actor of a task, and a task throws AdminError with every problem', async (t) => {
  const { grantor } = await openGrantor(t)
  const { events } = await grantor.tasks['audit.list']({ event: 'user.created' })
  assert.deepEqual(
    events.map(({ actor }) => actor),
    ['library'],
  )
  const wrong = { email: 1, name: 2 } as never
  await assert.rejects(grantor.tasks['user.create'](wrong), (cause: unknown) => {
    assert.ok(cause instanceof AdminError)
    assert.equal(cause.problems.length, 2)
    return true
  })
})
