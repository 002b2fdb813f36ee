import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SERVER_TOKENS } from '../../../src/admin/api/api.ts'
import { createApi } from '../../../src/admin/api/api.ts'
import { obtainTokens, refresh, requestToken } from '../../../tools/flow.ts'
import { openAdminServer, type AdminServer } from '../../support/admin-server.ts'
import { type Members } from '../../support/tasks.ts'
import { anApiDeclaration } from '../../support/records.ts'

interface Inspection {
  readonly kind: string
  readonly active: boolean
  readonly ended_by: string | null
  readonly client_id: string | null
  readonly user_id: string | null
  readonly grant_id: string | null
  readonly token_id: string | null
}

async function openWithAdministrator(t: Parameters<typeof openAdminServer>[0]) {
  const stage = await openAdminServer(t)
  const { token: admin } = await stage.issue('write')
  const perform = (name: string, input: Members) => stage.performByName(name, input, admin)
  const inspect = async (token: string) => (await perform('token.inspect', { token })).json<Inspection>()
  return { stage, perform, inspect }
}

async function machineToken(stage: AdminServer, form: Readonly<Record<string, string>> = {}): Promise<string> {
  const answer = await requestToken(stage.server, await stage.makeClient(), {
    grant_type: 'client_credentials',
    ...form,
  })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<{ access_token: string }>().access_token
}

test('inspecting an access token shows its owner, and revoking it affects no other token', async (t) => {
  const { stage, perform, inspect } = await openWithAdministrator(t)
  const client = await stage.makeClient()
  const { access_token: first, refresh_token: family = '' } = await obtainTokens(stage.server, client)
  const found = await inspect(first)
  assert.deepEqual([found.kind, found.active, found.client_id], ['access', true, client.client_id])
  assert.match(found.user_id ?? '', /^gus_/)
  const revoked = await perform('token.revoke', { token: first })
  assert.partialDeepStrictEqual(revoked.json(), { revoked: 'access', token_id: found.token_id, grant_id: null })
  assert.equal((await inspect(first)).active, false)
  assert.equal((await inspect(family)).active, true)
})

test('LNK-09: a link that was made with credentials opens nothing after their revocation, and others do', async (t) => {
  const stage = await openAdminServer(t)
  const [gone, kept] = [await stage.issue('write'), await stage.issue('write')]
  const linkBy = async ({ token }: typeof gone) => {
    const { id: user_id } = await stage.makeUser()
    const made = await stage.performByName('user.create-link', { user_id }, token)
    return { user_id, url: made.json<{ link: string }>().link.replace('http://localhost:3000', '') }
  }
  const links = [await linkBy(gone), await linkBy(kept)]
  const states = () =>
    Promise.all(
      links.map(async ({ user_id, url }) => {
        const { link } = (await stage.performByName('user.show', { user_id }, kept.token)).json<Members>()
        return [(await stage.server.inject({ method: 'GET', url })).statusCode, link !== null]
      }),
    )
  const open = [200, true]
  assert.deepEqual(await states(), [open, open])
  await stage.performByName('admin.revoke', { credential_id: gone.id }, kept.token)
  assert.deepEqual(await states(), [[400, false], open])
})

test('revoking a refresh token, or an access token with its family, revokes the grant', async (t) => {
  const { stage, perform, inspect } = await openWithAdministrator(t)
  for (const way of ['refresh', 'access'] as const) {
    const client = await stage.makeClient()
    const { access_token: access, refresh_token: family = '' } = await obtainTokens(stage.server, client)
    const { grant_id } = await inspect(family)
    const input = way === 'refresh' ? { token: family } : { token: access, family: true }
    const revoked = await perform('token.revoke', input)
    assert.partialDeepStrictEqual(revoked.json(), { revoked: 'family', token_id: null, grant_id })
    assert.equal((await inspect(access)).active, false)
    assert.equal((await inspect(family)).active, false)
    assert.equal((await refresh(stage.server, client, family)).statusCode, 400)
  }
})

test('inspecting an inactive token shows the reason', async (t) => {
  const { stage, perform, inspect } = await openWithAdministrator(t)
  const client = await stage.makeClient()
  const { access_token: access, refresh_token: first = '' } = await obtainTokens(stage.server, client)
  assert.deepEqual([(await inspect(access)).ended_by, (await inspect(first)).ended_by], [null, null])
  const { refresh_token: second = '' } = (await refresh(stage.server, client, first)).json<{ refresh_token?: string }>()
  assert.equal((await inspect(first)).ended_by, 'replaced')
  await perform('client.disable', { client_id: client.client_id })
  assert.deepEqual([(await inspect(access)).ended_by, (await inspect(second)).ended_by], ['client', 'client'])
  await perform('client.enable', { client_id: client.client_id })
  await perform('token.revoke', { token: second })
  assert.deepEqual([(await inspect(access)).ended_by, (await inspect(second)).ended_by], ['revoked', 'revoked'])
  stage.server.clock.advance(901_000)
  assert.equal((await inspect(access)).ended_by, 'expired')
})

test('a token that a client got without a user has no grant to revoke', async (t) => {
  const { stage, perform, inspect } = await openWithAdministrator(t)
  const token = await machineToken(stage)
  assert.equal((await perform('token.revoke', { token, family: true })).statusCode, 404)
  assert.equal((await inspect(token)).active, true)
  assert.equal((await perform('token.revoke', { token })).statusCode, 200)
  assert.equal((await inspect(token)).active, false)
})

test('inspecting an opaque token shows the same as inspecting a JWT', async (t) => {
  const { stage, perform, inspect } = await openWithAdministrator(t)
  const resource = 'https://opaque.example'
  const tokens = { ...SERVER_TOKENS, format: 'opaque' } as const
  await createApi(
    stage.server.context,
    anApiDeclaration(resource, {
      scopes: [{ name: 'read', sentence: 'Read', grantedTo: 'users-and-machines' }],
      tokens,
    }),
  )
  stage.server.clock.advance(2000)
  const token = await machineToken(stage, { resource })
  assert.match(token, /^gat_/)
  const found = await inspect(token)
  assert.deepEqual([found.kind, found.active], ['access', true])
  assert.equal((await perform('token.revoke', { token })).statusCode, 200)
  assert.equal((await inspect(token)).active, false)
})

test('a token that this server did not issue is unknown and cannot be revoked', async (t) => {
  const { perform, inspect } = await openWithAdministrator(t)
  for (const token of ['nothing-of-ours', 'eyJhbGciOiJub25lIn0.e30.', 'grt_made-up', 'gat_made-up']) {
    const found = await inspect(token)
    assert.deepEqual([found.kind, found.active, found.client_id], ['unknown', false, null])
    const refused = await perform('token.revoke', { token })
    assert.equal(refused.statusCode, 404)
    assert.ok(!refused.body.includes(token), 'the response contains the token')
  }
  for (const [secret, kind] of [
    ['gad_made-up', 'admin token'],
    ['gcs_made-up', 'client secret'],
  ] as const) {
    const refused = await perform('token.inspect', { token: secret })
    assert.deepEqual([refused.statusCode, refused.body.includes(`another secret: ${kind}`)], [422, true])
    assert.ok(!refused.body.includes(secret), 'the response contains the secret')
  }
})

test('token.revoke-all revokes all earlier tokens, and later tokens are active', async (t) => {
  const { stage, perform, inspect } = await openWithAdministrator(t)
  const { access_token: before, refresh_token: family = '' } = await stage.makeTokens()
  assert.equal((await perform('token.revoke-all', {})).statusCode, 422)
  assert.equal((await inspect(before)).active, true)
  stage.server.clock.advance(1000)
  assert.equal((await perform('token.revoke-all', { confirm: 'everything' })).statusCode, 200)
  stage.server.clock.advance(1000)
  assert.deepEqual([(await inspect(before)).active, (await inspect(family)).active], [false, false])
  const { access_token: after } = await stage.makeTokens()
  assert.equal((await inspect(after)).active, true)
})
