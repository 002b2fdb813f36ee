import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import type { EpochMs } from '../../src/base/brand.ts'
import { chosenClientId, parseClientIdentifier } from '../../src/protocol/client/identifier.ts'
import { isChosenId, parseOrganizationId, parseUserId, type ClientId, type UserId } from '../../src/protocol/ids.ts'
import { IMPORTED } from '../../src/protocol/sign-in/account.ts'
import { PATHS } from '../../src/endpoints/paths.ts'
import {
  authorizeUrl,
  obtainTokens,
  PlainBrowser,
  postForm,
  REDIRECT_URI,
  refresh,
  requestToken,
  type RegisteredClient,
} from '../../tools/flow.ts'
import { createAda } from '../support/accounts.ts'
import { assertRefused } from '../admin/office.ts'
import { aUser } from '../support/records.ts'
import { openTestServer, type TestServer } from '../support/server.ts'
import { perform, type Members } from '../support/tasks.ts'
import { introspect } from '../support/token-questions.ts'
import { idTokenOf, tokensOf } from './openid/login.ts'

/** Ids as other servers have them: with each special character. */
const CLIENT_IDS = ['board', 'spa:acme/1', 'svc@project.iam', 'auth0|a~b.c_d-e=f', '0'] as const

const ORDERED = '01a200f2d7f1OGrZM2nOk7CWgjISwIxFbQ'

test('CID-01: a chosen id is no id of this server, URL, option, path, name of another actor or value of a form', () => {
  const rows: readonly (readonly [text: string, forClients: boolean, forUsers: boolean])[] = [
    ...['board', 'a', 'G', 'g', 'gc', 'gci', 'g1i_x', 'gci-x', 'auth0|6f', 'urn:x=y', 'a.b~c_d'].map(
      (text) => [text, true, true] as const,
    ),
    ...['spa/1', 'a@b', 'command-line', 'library', 'server', 'none', ORDERED, 'x'.repeat(65), 'x'.repeat(128)].map(
      (text) => [text, true, false] as const,
    ),
    ...['', '.', '..', '-x', '~', '=1', '/x', 'x'.repeat(129), 'a b', 'a+b', 'a%3Ab', 'é', 'a\n'].map(
      (text) => [text, false, false] as const,
    ),
    ...['gci_x', 'gus_x', 'gor_x', 'gap_x', 'GCI_x', 'gcc_', `gci_${ORDERED}`, `gcc_${ORDERED}`].map(
      (text) => [text, false, false] as const,
    ),
    ...['http://app.example', 'HTTPS://app.example', 'hTTp:/x'].map((text) => [text, false, false] as const),
  ]
  for (const [text, forClients, forUsers] of rows) {
    assert.equal(chosenClientId(text) !== undefined, forClients, `client ${text}`)
    assert.equal(isChosenId(text), forUsers, `user ${text}`)
  }
  // The id of a record is not a client_id, and other spellings are other ids.
  assert.equal(parseClientIdentifier(chosenClientId('board') ?? ''), undefined)
  assert.notEqual(chosenClientId('board'), chosenClientId('Board'))
  for (const prefix of ['gus_', 'gor_']) assert.equal(isChosenId(prefix + ORDERED), false)
  assert.deepEqual([parseUserId(`gor_${ORDERED}`), parseOrganizationId(`gus_${ORDERED}`)], [undefined, undefined])
})

test('CID-01: an id that a client, an organization, a user or an API has is refused', async (t) => {
  const server = await openTestServer(t)
  const { context } = server
  const create = (client_id: string) => perform(context, 'client.create', { client_name: 'Board', client_id })
  await create('board')
  await assertRefused(create('board'), 'conflict', /already a client board/)
  await createUser(server, 'ada')
  await assertRefused(create('ada'), 'conflict', /user ada/)
  await perform(context, 'api.create', { resource: 'urn:api:x', name: 'X' })
  await assertRefused(create('urn:api:x'), 'conflict', /API urn:api:x/)
  await create('urn:api:y')
  await assertRefused(
    perform(context, 'api.create', { resource: 'urn:api:y', name: 'Y' }),
    'conflict',
    /client urn:api:y/,
  )
  for (const text of ['gci_x', 'https://app.example', '-x', 'a+b'])
    await assertRefused(create(text), 'refused', /chosen client_id/)
  await perform(context, 'organization.create', { name: 'Acme', organization_id: 'acme' })
  const again = perform(context, 'organization.create', { name: 'Other', organization_id: 'acme' })
  await assertRefused(again, 'conflict', /already an organization acme/)
})

for (const id of CLIENT_IDS)
  test(`CID-02: the client ${id} gets, uses and loses tokens under its id`, async (t) => {
    const server = await openTestServer(t)
    const { context } = server
    await createAda(server)
    const client = await createChosen(server, id)
    const codeTokens = await obtainTokens(server, client, { scope: 'openid' })
    const claims = decodeJwt(codeTokens.access_token)
    assert.equal(claims['client_id'], id)
    assert.equal(idTokenOf(codeTokens).aud, id)
    const renewed = tokensOf(await refresh(server, client, codeTokens.refresh_token ?? ''))
    const secret = client.client_secret ?? ''
    const own = { grant_type: 'client_credentials' }
    const encoded = `Basic ${Buffer.from(`${encodeURIComponent(id)}:${secret}`).toString('base64')}`
    const raw = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`
    for (const [how, authorization, isRight] of [
      ['encoded', encoded, true],
      ['raw', raw, !id.includes(':')],
    ] as const) {
      const answer = await postForm(server, PATHS.token, own, { authorization })
      assert.equal(answer.statusCode, isRight ? 200 : 401, `${how} ${answer.body}`)
    }
    const { access_token: token } = tokensOf(await requestToken(server, client, own))
    assert.deepEqual([decodeJwt(token).sub, decodeJwt(token)['client_id']], [id, id])
    const asked = await ask(server, client, token)
    assert.deepEqual([asked['active'], asked['sub'], asked['client_id']], [true, id, id])
    const pushed = await postForm(server, PATHS.par, {
      ...Object.fromEntries(new URL(authorizeUrl(client), 'http://x').searchParams),
      client_secret: secret,
    })
    assert.equal(pushed.statusCode, 201, pushed.body)
    const page = await new PlainBrowser(server).get(
      `${PATHS.endSession}?${new URLSearchParams({ client_id: id, post_logout_redirect_uri: 'https://app.example/out' }).toString()}`,
    )
    assert.ok(page.statusCode < 400, page.body)
    const revoked = await postForm(server, PATHS.revoke, { client_id: id, client_secret: secret, token })
    assert.equal(revoked.statusCode, 200)
    assert.equal((await ask(server, client, token))['active'], false)
    // The record of a client that is created again knows nothing of the first one.
    const { access_token: old } = tokensOf(await requestToken(server, client, own))
    const shown = await perform(context, 'client.show', { client_id: id })
    assert.equal(shown['client_id'], id)
    await perform(context, 'client.delete', { client_id: id })
    const next = await createChosen(server, id)
    assert.equal((await ask(server, next, old))['active'], false)
    assert.equal((await refresh(server, next, renewed.refresh_token ?? '')).statusCode, 400)
  })

test('CID-02: a given secret is accepted in the form and by Basic, encoded and raw, whatever its characters', async (t) => {
  const server = await openTestServer(t, { env: { GRANTOR_CLIENT_FAILURE_RATE: '1000000' } })
  const client = await createChosen(server, 'kept')
  const set = (client_secret: string, overlap_seconds = 0) =>
    perform(server.context, 'client.set-secret', { client_id: 'kept', client_secret, overlap_seconds })
  for (const given of ['100%:plain+secret/=&', '%41%42%43:abcdefgh+', 'a'.repeat(8) + 'bcdefghij']) {
    assert.equal((await set(given))['outcome'], 'set')
    assert.equal((await set(given))['outcome'], 'unchanged')
    const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(`kept:${text}`).toString('base64')}` })
    const own = { grant_type: 'client_credentials' }
    const ways: readonly (readonly [string, Promise<{ statusCode: number; body: string }>, number])[] = [
      ['form', requestToken(server, { ...client, client_secret: given }, own), 200],
      ['encoded', postForm(server, PATHS.token, own, basic(encodeURIComponent(given))), 200],
      ['raw', postForm(server, PATHS.token, own, basic(given)), 200],
      ['wrong', postForm(server, PATHS.token, own, basic(`${given}x`)), 401],
      ['the first', requestToken(server, client, own), 401],
    ]
    for (const [how, answer, status] of ways) assert.equal((await answer).statusCode, status, `${how} ${given}`)
  }
  for (const [bad, says] of [
    ['short', /16 to 256/],
    ['ababababababababab', /fewer than eight/],
    ['with a space in the text', /no spaces/],
  ] as const)
    await assert.rejects(set(bad), (cause) => says.test(String(cause)) && !String(cause).includes(bad))
  const rows = await server.context.store.findClient(chosenClientId('kept') as ClientId)
  assert.match(rows?.secretHash ?? '', /^given:[A-Za-z0-9_-]{43}$/)
  // A rotation follows, and both are valid during the overlap.
  const rotated = await perform(server.context, 'client.rotate-secret', { client_id: 'kept' })
  for (const secret of ['aaaaaaaabcdefghij', String(rotated['client_secret'])])
    assert.equal(
      (await requestToken(server, { ...client, client_secret: secret }, { grant_type: 'client_credentials' }))
        .statusCode,
      200,
    )
})

test('an account with a chosen id that was imported counts as one that never signed in, and its link works', async (t) => {
  const server = await openTestServer(t)
  const { context } = server
  await createUser(server, 'auth0|ada', { firstSignedInAt: IMPORTED })
  const shown = await perform(context, 'user.show', { user_id: 'auth0|ada' })
  assert.deepEqual([shown['user_id'], shown['first_signed_in_at']], ['auth0|ada', null])
  const link = await perform(context, 'user.create-link', { user_id: 'auth0|ada' })
  const { pathname, search, searchParams } = new URL(String(link['link']))
  assert.match(searchParams.get('token') ?? '', /^gln_\S+\.auth0\|ada$/)
  const browser = new PlainBrowser(server)
  const page = await browser.get(pathname + search)
  assert.equal(page.statusCode, 200, page.body)
  assert.equal(
    (await browser.get(`${pathname}?token=${searchParams.get('token')?.replace('ada', 'bob')}`)).statusCode,
    400,
  )
})

async function ask(server: TestServer, client: RegisteredClient, token: string): Promise<Members> {
  return (await introspect(server, client, token)).json<Members>()
}

async function createChosen(server: TestServer, id: string): Promise<RegisteredClient> {
  const created = await perform(server.context, 'client.create', {
    client_id: id,
    client_name: 'Board',
    redirect_uris: [REDIRECT_URI],
    post_logout_redirect_uris: ['https://app.example/out'],
    grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
  })
  assert.equal(created['client_id'], id)
  return { client_id: id, client_secret: String(created['client_secret']) }
}

async function createUser(
  server: TestServer,
  id: string,
  differing: { firstSignedInAt?: EpochMs } = {},
): Promise<void> {
  const now = server.context.clock()
  const unused = { emailVerifiedAt: undefined, passwordHash: undefined, firstSignedInAt: undefined }
  const email = `${id.replaceAll('|', '.')}@acme.test`
  await server.context.store.createUser(
    aUser({ id: id as UserId, email, createdAt: now, notBefore: now, ...unused, ...differing }),
  )
}
