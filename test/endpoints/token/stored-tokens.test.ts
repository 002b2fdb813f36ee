import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { sweep, SWEEP_START } from '../../../src/server/background/sweep.ts'
import type { AuthenticatedClient } from '../../../src/endpoints/token/authenticate-client.ts'
import { authorizationCode } from '../../../src/endpoints/token/grants/authorization-code.ts'
import type { ClientId } from '../../../src/protocol/ids.ts'
import { parseForm } from '../../../src/base/message.ts'
import {
  obtainCode,
  obtainTokens,
  redeem,
  refresh,
  registerClient,
  requestToken,
  VERIFIER,
  type RegisteredClient,
  type Tokens,
} from '../../../tools/flow.ts'
import { databasePath, dumpStore, selectAll } from '../../support/store/dump.ts'
import { openWithOpaqueApis, obtainCodeFor, JWT_API, OPAQUE_API, OTHER_OPAQUE_API } from '../../support/apis.ts'
import { assertInvalidGrant, tokensOf } from '../../support/token-answers.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { mutantsOf } from './mutants.ts'
import { introspect, isActive, revoke } from '../../support/token-questions.ts'

const MACHINE = { grant_type: 'client_credentials' }
const OPAQUE = /^gat_[A-Za-z0-9_-]{99}$/
const INACTIVE = '{"active":false}'

const { server, jwtApi, api, otherApi } = await openWithOpaqueApis(WHOLE_FILE)

async function aGrantFor(resource: string): Promise<{ client: RegisteredClient; tokens: Tokens; again: string }> {
  const client = await registerClient(server, { scope: 'read write' })
  const tokens = await obtainTokens(server, client, { scope: 'read write', resource })
  return { client, tokens, again: tokens.refresh_token ?? '' }
}

async function machineToken(client: RegisteredClient, form: Record<string, string> = {}): Promise<Tokens> {
  return tokensOf(await requestToken(server, client, { ...MACHINE, resource: OPAQUE_API, ...form }))
}

test('an API with opaque tokens gets them by all three grant types, with its lifetime', async () => {
  const { client, tokens, again } = await aGrantFor(OPAQUE_API)
  const refreshed = tokensOf(await refresh(server, client, again))
  const machine = await machineToken(client)
  for (const one of [tokens, refreshed, machine]) {
    assert.match(one.access_token, OPAQUE)
    assert.equal(one.expires_in, 300)
    const about = (await introspect(server, api, one.access_token)).json()
    assert.equal(about.active, true)
    assert.equal(about.aud, OPAQUE_API)
    assert.equal(about.client_id, client.client_id)
    assert.equal(about.exp - about.iat, 300)
    assert.equal(about.scope, 'read write')
    assert.equal(about.sub, one === machine ? client.client_id : about.sub)
    assert.equal(one.access_token.slice(4, 38), about.jti)
  }
})

test('an opaque token reveals only its expiry time, and the store has only its hash', async () => {
  const { client, tokens } = await aGrantFor(OPAQUE_API)
  const about = (await introspect(server, client, tokens.access_token)).json()
  assert.equal(Number.parseInt(about.jti.slice(0, 12), 16), about.exp * 1000)
  const [grant] = selectAll(server, 'select grant_id from grants where client_id = ?', client.client_id)
  for (const id of [String(grant?.['grant_id']), client.client_id, about.sub])
    assert.ok(!tokens.access_token.includes(id.slice(-22)), 'the token has an id in it')
  const stored = JSON.stringify(dumpStore(server))
  assert.ok(stored.includes(about.jti))
  assert.ok(!stored.includes(tokens.access_token.slice(38)), 'the store has the secret of a token')
})

test('a token for the issuer is a JWT with the server’s lifetime, whatever APIs are declared', async () => {
  const client = await registerClient(server, { scope: 'read' })
  const { access_token: token, expires_in: seconds } = tokensOf(await requestToken(server, client, MACHINE))
  assert.equal(decodeJwt(token).aud, server.origin)
  assert.equal(seconds, 900)
})

test('RT-02: a retry after a lost response returns the same opaque token, even after a restart', async (t) => {
  const stage = await openWithOpaqueApis(t)
  const client = await registerClient(stage.server)
  const { refresh_token: token = '' } = await obtainTokens(stage.server, client, { resource: OPAQUE_API })
  const first = tokensOf(await refresh(stage.server, client, token))
  stage.server.clock.advance(10_000)
  const before = dumpStore(stage.server)
  const second = tokensOf(await refresh(stage.server, client, token))
  assert.deepEqual(dumpStore(stage.server), before)
  const counted = { expires_in: 0, refresh_token_timeout: 0, authorization_expires_in: 0 }
  assert.deepEqual({ ...second, ...counted }, { ...first, ...counted })
  assert.ok([289, 290].includes(second.expires_in), String(second.expires_in))
  const third = tokensOf(await refresh(await stage.server.reopen(), client, token))
  assert.equal(third.access_token, first.access_token)
})

test('RT-03: within the window a narrower scope gets its own opaque token with the same successor', async () => {
  const { client, again } = await aGrantFor(OPAQUE_API)
  const all = tokensOf(await refresh(server, client, again))
  const narrow = tokensOf(await refresh(server, client, again, { scope: 'read' }))
  assert.equal(narrow.refresh_token, all.refresh_token)
  assert.notEqual(narrow.access_token, all.access_token)
  assert.equal((await introspect(server, api, narrow.access_token)).json().scope, 'read')
  assert.equal((await introspect(server, api, all.access_token)).json().scope, 'read write')
})

test('an opaque token is returned only if it is stored', async (t) => {
  const stage = await openWithOpaqueApis(t)
  const client = await registerClient(stage.server, { scope: 'read' })
  await requestToken(stage.server, client, MACHINE)
  const database = new DatabaseSync(databasePath(stage.server), { timeout: 5000 })
  t.after(() => database.close())
  database.exec(`create trigger full before insert on opaque_tokens begin select raise(abort, 'full'); end`)
  const refused = await requestToken(stage.server, client, { ...MACHINE, resource: OPAQUE_API })
  assert.ok(refused.statusCode >= 500, refused.body)
  assert.ok(!refused.body.includes('gat_'))
  database.exec('drop trigger full')
  assert.equal((await requestToken(stage.server, client, { ...MACHINE, resource: OPAQUE_API })).statusCode, 200)
})

test('CODE-12: a code is redeemed and its opaque token stored in one commit, even if the store fails right after', async () => {
  const client = await registerClient(server, { scope: 'read' })
  const code = await obtainCode(server, client, { scope: 'read', resource: OPAQUE_API })
  const { context } = server
  const record = await context.store.findClient(client.client_id as ClientId)
  const form = parseForm(`code=${code}&code_verifier=${VERIFIER}`)
  assert.ok(record !== undefined && form !== undefined)
  let isAway = false
  const store: typeof context.store = {
    ...context.store,
    async redeemCode(redemption) {
      const outcome = await context.store.redeemCode(redemption)
      isAway = true
      return outcome
    },
    issueToken: (token) => (isAway ? Promise.reject(new Error('away')) : context.store.issueToken(token)),
  }
  const requester = {
    client: record as AuthenticatedClient,
    key: undefined,
    network: '192.0.2.1',
    requestId: 'req',
    callerNetwork: '192.0.2.1',
  }
  const { response } = await authorizationCode({ ...context, store }, requester, form)
  assert.equal(isAway, true)
  assert.equal(await isActive(server, api, response.access_token), true)
})

test('INT-04: an opaque token is inactive to an API that is not its audience and to another client', async () => {
  const { tokens } = await aGrantFor(OPAQUE_API)
  const stranger = await registerClient(server)
  for (const asker of [jwtApi, otherApi, stranger])
    assert.equal((await introspect(server, asker, tokens.access_token)).body, INACTIVE)
  assert.equal(await isActive(server, api, tokens.access_token), true)
})

test('INT-05: a refresh token is inactive to an API with opaque tokens', async () => {
  const { again } = await aGrantFor(OPAQUE_API)
  for (const hint of ['refresh_token', 'access_token'])
    assert.equal((await introspect(server, api, again, { token_type_hint: hint })).body, INACTIVE)
})

test('INT-07: an opaque token that is forged, or whose row is missing or of another token, is inactive', async () => {
  const client = await registerClient(server, { scope: 'read' })
  const { access_token: token } = await machineToken(client)
  const { context } = server
  const forged = [
    `gat_${'A'.repeat(99)}`,
    context.secrets.mint('access-token', 'f'.repeat(34), context.random).token,
    // The tag and id are right, but the secret is not the stored one.
    context.secrets.mint('access-token', token.slice(4, 38), context.random).token,
    context.secrets.mint('session', token.slice(4, 38), context.random).token,
  ]
  for (const one of forged) assert.equal((await introspect(server, api, one)).body, INACTIVE)
  assert.equal(await isActive(server, api, token), true)
})

test('INT-07: an expired token is inactive, and the sweep removes expired tokens and no others', async (t) => {
  const stage = await openWithOpaqueApis(t)
  const client = await registerClient(stage.server, { scope: 'read' })
  const ask = async (resource: string) =>
    tokensOf(await requestToken(stage.server, client, { ...MACHINE, resource })).access_token
  const [long, short] = [await ask(OPAQUE_API), await ask(OTHER_OPAQUE_API)]
  stage.server.clock.advance(119_000 - 1000)
  assert.equal(await isActive(stage.server, stage.otherApi, short), true)
  stage.server.clock.advance(3000)
  assert.equal(await isActive(stage.server, stage.otherApi, short), false)
  assert.equal((await sweep(stage.server.context, SWEEP_START)).opaqueTokens, 1)
  assert.equal(await isActive(stage.server, stage.api, long), true)
  assert.equal(selectAll(stage.server, 'select * from opaque_tokens').length, 1)
})

test('REV-03: revoking a refresh token revokes the opaque tokens of its grant, and an opaque token only itself', async () => {
  const { client, tokens, again } = await aGrantFor(OPAQUE_API)
  const refreshed = tokensOf(await refresh(server, client, again))
  assert.equal((await revoke(server, client, tokens.access_token)).statusCode, 200)
  assert.equal(await isActive(server, api, tokens.access_token), false)
  assert.equal(await isActive(server, api, refreshed.access_token), true)
  const next = tokensOf(await refresh(server, client, refreshed.refresh_token ?? ''))
  assert.equal((await revoke(server, client, next.refresh_token ?? '')).statusCode, 200)
  for (const { access_token: inactive } of [tokens, refreshed, next])
    assert.equal(await isActive(server, api, inactive), false)
})

test('REV-02: only the client of an opaque token can revoke it', async () => {
  const { client, tokens } = await aGrantFor(OPAQUE_API)
  assert.equal((await revoke(server, await registerClient(server), tokens.access_token)).statusCode, 200)
  assert.equal(await isActive(server, api, tokens.access_token), true)
  assert.equal(await isActive(server, client, tokens.access_token), true)
})

test('CODE-01: a replayed code revokes its opaque token', async () => {
  const client = await registerClient(server)
  const code = await obtainCode(server, client, { resource: OPAQUE_API })
  const { access_token: token } = tokensOf(await redeem(server, client, code))
  assert.equal(await isActive(server, api, token), true)
  assertInvalidGrant(await redeem(server, client, code))
  assert.equal(await isActive(server, api, token), false)
})

test('a grant for several opaque APIs gives a token for all, with the shortest lifetime, or for one', async () => {
  const client = await registerClient(server)
  const code = await obtainCodeFor(server, client, [OPAQUE_API, OTHER_OPAQUE_API])
  const both = tokensOf(await redeem(server, client, code))
  assert.equal(both.expires_in, 120)
  for (const asker of [api, otherApi]) {
    const about = (await introspect(server, asker, both.access_token)).json()
    assert.deepEqual([about.client_id, about.aud], [client.client_id, [OPAQUE_API, OTHER_OPAQUE_API]])
  }
  const one = tokensOf(await refresh(server, client, both.refresh_token ?? '', { resource: OPAQUE_API }))
  assert.equal(one.expires_in, 300)
  assert.equal(await isActive(server, otherApi, one.access_token), false)
})

test('TOK-20: an edited opaque token is rejected by introspection and revocation', async () => {
  const client = await registerClient(server, { scope: 'read' })
  const { access_token: token } = await machineToken(client)
  for (const mutant of mutantsOf(token)) {
    assert.equal((await introspect(server, client, mutant)).body, INACTIVE, mutant)
    assert.equal((await revoke(server, client, mutant)).statusCode, 200, mutant)
  }
  assert.equal(await isActive(server, api, token), true)
})

test('an opaque token without a grant is one row in the store, and a JWT has no row', async () => {
  const client = await registerClient(server, { scope: 'read' })
  await machineToken(client)
  const rows = (): number => selectAll(server, 'select * from opaque_tokens').length
  const before = rows()
  await requestToken(server, client, { ...MACHINE, resource: JWT_API })
  assert.equal(rows(), before)
  await Promise.all([machineToken(client), machineToken(client)])
  assert.equal(rows(), before + 2)
})
