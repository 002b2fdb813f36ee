import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AdminError, TokenRefused, type TokenDemand } from '../../src/library/grantor.ts'
import { makeClientKey } from '../../tools/client-assertion.ts'
import { walkWithClient } from '../../tools/client-walk.ts'
import { makeProof } from '../../tools/dpop-proof.ts'
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
  const { protocol, host, pathname } = new URL(`${RESOURCE}/v1`)
  await grantor.verify(accessToken, { resource: `${protocol.toUpperCase()}//${host.toUpperCase()}${pathname}` })
  for (const demand of [undefined, {}, { resource: undefined }, { resource: null }, { resource: [`${RESOURCE}/v1`] }]) {
    await assert.rejects(grantor.verify(accessToken, demand as unknown as TokenDemand), TypeError)
  }
  const demand = { resource: `${RESOURCE}/v1`, scope: ['notes:read'] } as unknown as TokenDemand
  await assert.rejects(grantor.verify(accessToken, demand), TypeError)
  for (const token of [undefined, null, [accessToken], {}]) {
    await assert.rejects(grantor.verify(token as never, { resource: RESOURCE }), refusal('invalid_token', /^unknown$/))
  }
})

test('DP-11: a token that is bound to a key is verified only with a proof for this request, each of which is accepted once', async (t) => {
  const { grantor, issuer, port } = await openGrantor(t)
  await serveHost(t, port, grantor.handler)
  await grantor.tasks['api.create']({
    resource: RESOURCE,
    scopes: [{ name: 'notes:read', sentence: 'Notes', granted_to: 'users-and-machines' }],
  })
  const { client_id: id, client_secret: secret } = await grantor.tasks['client.create']({ client_name: 'Robot' })
  const key = makeClientKey('ES256')
  const request = async (): Promise<string> => {
    const proof = makeProof(key, { method: 'POST', address: `${issuer}/v2/oauth/token`, nowMs: Date.now() })
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      resource: RESOURCE,
      client_id: id,
      client_secret: secret ?? '',
    })
    const answer = await fetch(`${issuer}/v2/oauth/token`, { method: 'POST', headers: { dpop: proof }, body })
    return ((await answer.json()) as { access_token: string }).access_token
  }
  const [accessToken, another] = [await request(), await request()]
  const url = 'https://notes.example/notes?page=2'
  const sent = { method: 'GET', address: 'https://notes.example/notes', nowMs: Date.now() } as const
  const verify = (dpop: string | undefined) =>
    grantor.verify(accessToken, { resource: RESOURCE, proof: { dpop, method: 'GET', url } })
  const good = makeProof(key, { ...sent, accessToken })
  const claims = await verify(good)
  assert.deepEqual([claims.token_type, claims.sub], ['DPoP', id])
  assert.match(claims.cnf?.jkt ?? '', /^[\w-]{43}$/)
  const table = [
    [good, /^proof-replayed$/],
    [undefined, /^proof-missing$/],
    ['x', /^proof-malformed$/],
    [makeProof(key, sent), /^proof-of-another-token$/],
    [makeProof(key, { ...sent, accessToken: another }), /^proof-of-another-token$/],
    [makeProof(makeClientKey('ES256'), { ...sent, accessToken }), /^proof-of-another-key$/],
    [makeProof(key, { ...sent, method: 'POST', accessToken }), /^proof-for-another-request$/],
    [makeProof(key, { ...sent, address: `${RESOURCE}/other`, accessToken }), /^proof-for-another-request$/],
    [makeProof(key, { ...sent, nowMs: 0, accessToken }), /^proof-not-fresh$/],
  ] as const
  for (const [dpop, reason] of table) await assert.rejects(verify(dpop), refusal('invalid_token', reason))
  // A host that passes only the token, as for bearer tokens.
  await assert.rejects(grantor.verify(accessToken, { resource: RESOURCE }), refusal('invalid_token', /^proof-missing$/))
  for (const proof of [{ dpop: good }, { dpop: good, method: 'GET', url: '/notes' }]) {
    const demand = { resource: RESOURCE, proof } as unknown as TokenDemand
    await assert.rejects(grantor.verify(accessToken, demand), TypeError)
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
