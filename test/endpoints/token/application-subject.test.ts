import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { normalizeEmail } from '../../../src/protocol/sign-in/email-address.ts'
import { requireApi, updateApi } from '../../../src/admin/api/api.ts'
import { newUser } from '../../../src/users/new-user.ts'
import { APPLICATION } from '../../../src/protocol/sign-in/authentication.ts'
import { subjectKey } from '../../../src/protocol/sign-in/interaction.ts'
import {
  EMAIL,
  obtainTokens,
  PASSWORD,
  redeem,
  refresh,
  registerClient,
  requestToken,
  type RegisteredClient,
} from '../../../tools/flow.ts'
import { declareApi, knowApis, obtainCodeFor } from '../../support/apis.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { openTestServer } from '../../support/server.ts'
import { tokensOf } from '../../support/token-answers.ts'
import { introspect } from '../../support/token-questions.ts'

const SUBJECT = 'u_4711'
/** The APIs that want the subject end with `yes`. */
const JWT = 'https://jwt.yes'
const JWT_TOO = 'https://jwt-too.yes'
const JWT_NO = 'https://jwt.no'
const OPAQUE = 'https://opaque.yes'
const OPAQUE_NO = 'https://opaque.no'

const server = await openTestServer(WHOLE_FILE)
const { context } = server
const apis = new Map<string, RegisteredClient>()
for (const resource of [JWT, JWT_TOO, JWT_NO, OPAQUE, OPAQUE_NO]) {
  const format = resource.includes('opaque') ? 'opaque' : 'jwt'
  apis.set(resource, await declareApi(server, resource, { format, applicationSubject: resource.endsWith('yes') }))
}
const now = context.clock()
const ada = newUser(context, now, {
  email: normalizeEmail(EMAIL),
  emailVerifiedAt: now,
  name: 'Ada',
  passwordHash: await context.passwords.hash(PASSWORD, undefined),
})
const identity = {
  key: subjectKey(SUBJECT),
  userId: ada.id,
  providerId: APPLICATION,
  subject: SUBJECT,
  email: undefined,
  linkedAt: now,
  usedAt: now,
}
assert.equal(await context.store.provisionUser({ user: ada, identity }), 'created')
knowApis(server)

/** What an access token says: its claims if it is a JWT, and what the API and the client learn by introspection. */
async function said(token: string, resource: string, client: RegisteredClient) {
  const { json } = await introspect(server, apis.get(resource) ?? client, token)
  const forApi = json<Readonly<Record<string, unknown>>>()
  const forClient = (await introspect(server, client, token)).json<Readonly<Record<string, unknown>>>()
  const claims = token.startsWith('gat_') ? forApi : decodeJwt(token)
  assert.equal(forApi['active'], true)
  assert.equal(forClient['application_subject'], undefined, 'A client has to read the JWT.')
  for (const one of [claims, forApi, forClient]) assert.notEqual(one['sub'], SUBJECT)
  assert.equal(claims['application_subject'], forApi['application_subject'])
  return forApi['application_subject']
}

for (const [resources, expected] of [
  [[JWT], SUBJECT],
  [[JWT_NO], undefined],
  [[JWT, JWT_TOO], SUBJECT],
  [[JWT, JWT_NO], undefined],
  [[OPAQUE], SUBJECT],
  [[OPAQUE_NO], undefined],
  [[OPAQUE, OPAQUE_NO], undefined],
] as const) {
  const what = `${expected === undefined ? 'not ' : ''}in tokens for ${resources.join(' and ')}`
  test(`the subject of the application is ${what}: of the code, of a refresh and of its repetition, by introspection`, async () => {
    const client = await registerClient(server, { scope: 'read write' })
    const tokens = tokensOf(await redeem(server, client, await obtainCodeFor(server, client, resources)))
    const [first] = resources
    assert.equal(await said(tokens.access_token, first, client), expected)
    const next = tokensOf(await refresh(server, client, tokens.refresh_token ?? ''))
    const repeated = tokensOf(await refresh(server, client, tokens.refresh_token ?? ''))
    for (const one of [next, repeated]) assert.equal(await said(one.access_token, first, client), expected)
  })
}

test('a token of a grant for several APIs that is requested for one of them has the subject if that one wants it', async () => {
  const client = await registerClient(server, { scope: 'read write' })
  const code = await obtainCodeFor(server, client, [JWT, JWT_NO])
  const tokens = tokensOf(await redeem(server, client, code, { resource: JWT }))
  assert.equal(await said(tokens.access_token, JWT, client), SUBJECT)
  const other = tokensOf(await refresh(server, client, tokens.refresh_token ?? '', { resource: JWT_NO }))
  assert.equal(await said(other.access_token, JWT_NO, client), undefined)
})

test('client credentials and tokens for the issuer have no subject of the application', async () => {
  const client = await registerClient(server, { scope: 'read openid' })
  for (const resource of [JWT, OPAQUE]) {
    const form = { grant_type: 'client_credentials', scope: 'read', resource }
    assert.equal(
      await said(tokensOf(await requestToken(server, client, form)).access_token, resource, client),
      undefined,
    )
  }
  const { access_token } = await obtainTokens(server, client, { scope: 'openid' })
  assert.equal(decodeJwt(access_token)['application_subject'], undefined)
})

test('only APIs with the option cause a read of the identities, and one read for a token', async () => {
  const client = await registerClient(server, { scope: 'read write' })
  let reads = 0
  const list = context.store.listIdentities
  Object.assign(context.store, {
    listIdentities: (...of: Parameters<typeof list>) => {
      reads += 1
      return list(...of)
    },
  })
  for (const [resource, expected] of [
    [JWT_NO, 0],
    [OPAQUE_NO, 0],
    [JWT, 1],
  ] as const) {
    const code = await obtainCodeFor(server, client, [resource])
    reads = 0
    const { refresh_token: token = '' } = tokensOf(await redeem(server, client, code))
    assert.equal(reads, expected, resource)
    await refresh(server, client, token)
    assert.equal(reads, 2 * expected, resource)
  }
  Object.assign(context.store, { listIdentities: list })
})

test('the option can be changed, and issued tokens keep what they have', async () => {
  const client = await registerClient(server, { scope: 'read write' })
  const before = tokensOf(await redeem(server, client, await obtainCodeFor(server, client, [JWT_TOO])))
  const api = await requireApi(context, JWT_TOO)
  await updateApi(context, api, { tokens: { ...api.tokens, applicationSubject: false } })
  knowApis(server)
  assert.equal(await said(before.access_token, JWT_TOO, client), SUBJECT)
  const after = tokensOf(await refresh(server, client, before.refresh_token ?? ''))
  assert.equal(await said(after.access_token, JWT_TOO, client), undefined)
})

test('no token has a subject of a user with two identities at the application, or whose identity was deleted', async () => {
  const subjectNow = async (): Promise<unknown> => {
    const client = await registerClient(server, { scope: 'read write' })
    const tokens = tokensOf(await redeem(server, client, await obtainCodeFor(server, client, [JWT])))
    return said(tokens.access_token, JWT, client)
  }
  const database = new DatabaseSync(join(server.folder, 'grantor.db'))
  database.exec(
    `insert into identities (identity_key, user_id, provider_id, subject, email, linked_at, used_at)
     select 'another', user_id, provider_id, 'another', email, linked_at, used_at from identities`,
  )
  assert.equal(await subjectNow(), undefined)
  database.exec(`delete from identities where identity_key = 'another'`)
  assert.equal(await subjectNow(), SUBJECT)
  database.exec('delete from identities')
  database.close()
  assert.equal(await subjectNow(), undefined)
})
