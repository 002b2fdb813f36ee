import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SERVER_TOKENS } from '../../src/admin/api/api.ts'
import { createApi, createApiCredentials } from '../../src/admin/api/api.ts'
import type { AuthenticatedClient } from '../../src/endpoints/token/authenticate-client.ts'
import { clientCredentials } from '../../src/endpoints/token/grants/client-credentials.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import { parseForm } from '../../src/base/message.ts'
import {
  authorizeUrl,
  PlainBrowser,
  redeem,
  refresh,
  registerClient,
  requestToken,
  type RegisteredClient,
  type Tokens,
} from '../../tools/flow.ts'
import {
  addMember,
  clientId,
  codeIn,
  createOrganization,
  createPerson,
  install,
  openConsent,
} from '../support/organizations.ts'
import { openTestServer } from '../support/server.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { introspect } from '../support/token-questions.ts'
import { anApiDeclaration } from '../support/records.ts'

/** Each principal of a grant is disabled, deleted or invalidated between two steps of the flow. */

const server = await openTestServer(WHOLE_FILE)
const { store } = server.context
const NEWS_MS = 1001

/** Two APIs, one for each token format, that introspect the tokens they receive. */
const apis: readonly RegisteredClient[] = await Promise.all(
  (['jwt', 'opaque'] as const).map(async (format) => {
    const resource = `https://${format}.example`
    const scopes = [{ name: 'read', sentence: 'Read', grantedTo: 'users-and-machines' } as const]
    await createApi(server.context, anApiDeclaration(resource, { scopes, tokens: { ...SERVER_TOKENS, format } }))
    const { id, secret } = await createApiCredentials(server.context, resource)
    return { client_id: id, client_secret: secret, resource }
  }),
)
server.clock.advance(NEWS_MS)

interface Cast {
  readonly client: RegisteredClient
  readonly id: ReturnType<typeof clientId>
  readonly userId: Awaited<ReturnType<typeof createPerson>>
  readonly organizationId: Awaited<ReturnType<typeof createOrganization>>
  readonly email: string
}

interface Ending {
  readonly name: string
  readonly end: (cast: Cast, now: EpochMs) => Promise<unknown>
  /** The error of the token endpoint from then on. */
  readonly error: 'invalid_grant' | 'invalid_client'
  /** Whether the user may still submit a consent page that was open. */
  readonly mayAllow: boolean
  /** Whether the client may request new tokens without the user. */
  readonly mayAsk: boolean
}

const gone = { error: 'invalid_grant', mayAllow: false, mayAsk: false } as const
/** The user's session and what depends on it are invalid. */
const signedOut = { error: 'invalid_grant', mayAllow: false, mayAsk: true } as const
const invalidated = { error: 'invalid_grant', mayAllow: true, mayAsk: true } as const
const clientGone = { error: 'invalid_client', mayAllow: false, mayAsk: false } as const

const ENDINGS: readonly Ending[] = [
  { name: 'the user is disabled', end: ({ userId: id }, now) => store.disableUser({ id, now }), ...gone },
  { name: 'the user is disabled and enabled', end: disableAndEnableUser, ...signedOut },
  { name: 'the user is deleted', end: ({ userId }) => store.deleteUser({ id: userId }), ...gone },
  {
    name: 'all tokens of the user are revoked',
    end: ({ userId: id }, now) => store.revokeUserTokens({ id, now }),
    ...signedOut,
  },
  {
    name: 'the organization is disabled',
    end: ({ organizationId: id }, now) => store.disableOrganization({ id, now }),
    ...gone,
  },
  { name: 'the organization is disabled and enabled', end: disableAndEnableOrganization, ...invalidated },
  {
    name: 'the organization is deleted',
    end: ({ organizationId: id }, now) => store.deleteOrganization({ id, now }),
    ...gone,
  },
  {
    name: 'all tokens of the organization are revoked',
    end: ({ organizationId: id }, now) => store.revokeOrganizationTokens({ id, now }),
    ...invalidated,
  },
  { name: 'the member is disabled', end: (cast, now) => store.disableMember({ ...cast, now }), ...gone },
  { name: 'the member is disabled and enabled', end: disableAndEnableMember, ...invalidated },
  { name: 'the member is removed', end: (cast, now) => store.removeMember({ ...cast, now }), ...gone },
  { name: 'the member is removed and added', end: removeAndAddMember, ...invalidated },
  { name: 'the client is disabled', end: ({ id }, now) => store.disableClient({ id, now }), ...clientGone },
  { name: 'the client is deleted', end: ({ id }) => store.deleteClient(id), ...clientGone },
  {
    name: 'all tokens of the client are revoked',
    end: ({ id }, now) => store.revokeClientTokens({ id, now }),
    ...invalidated,
  },
  { name: 'all tokens of the server are revoked', end: (_, now) => store.revokeAllTokens({ now }), ...signedOut },
]

for (const [index, { name, end, error, mayAllow }] of ENDINGS.entries()) {
  test(`TOK-18, RT-11, UI-13, INT-06, INT-08, ADM-09: ${name}: no code and no tokens are issued, and earlier ones are inactive`, async () => {
    const cast = await openCast(index)
    const browser = new PlainBrowser(server)
    const codes = []
    for (const api of apis) codes.push(await allow(browser, cast, { resource: String(api['resource']) }))
    const grants = []
    for (const code of codes) grants.push((await redeem(server, cast.client, code)).json<Tokens>())
    const unspent = await allow(browser, cast, {})
    const page = await openConsent(browser, consentUrl(cast, {}), cast.email)
    assert.deepEqual(await activity(grants), [true, true])

    server.clock.advance(10)
    await end(cast, server.clock.now())
    server.clock.advance(NEWS_MS)

    assert.deepEqual(await activity(grants), [false, false])
    for (const { refresh_token } of grants) {
      const refreshed = await refresh(server, cast.client, refresh_token ?? '')
      assert.equal(refreshed.json().error, error, refreshed.body)
    }
    const redeemed = await redeem(server, cast.client, unspent)
    assert.equal(redeemed.json().error, error, redeemed.body)
    const answer = await browser.submit(page, { decision: 'allow', organization: cast.organizationId })
    assert.equal(codeIn(answer) !== undefined, mayAllow, answer.body.slice(0, 300))
    if (mayAllow) assert.equal((await redeem(server, cast.client, codeIn(answer) ?? '')).statusCode, 200)
  })
}

/** Events that invalidate a token without a user: those above, and those of the installation. */
const UNATTENDED: readonly Pick<Ending, 'name' | 'end' | 'mayAsk'>[] = [
  ...ENDINGS,
  {
    name: 'the installation is disabled',
    end: ({ id, organizationId }, now) => store.disableInstallation({ clientId: id, organizationId, now }),
    mayAsk: false,
  },
  {
    name: 'the installation is disabled and enabled',
    async end({ id, organizationId }, now) {
      await store.disableInstallation({ clientId: id, organizationId, now })
      await store.enableInstallation({ clientId: id, organizationId, now })
    },
    mayAsk: true,
  },
  {
    name: 'the client is uninstalled',
    end: ({ id, organizationId }) => store.uninstall({ clientId: id, organizationId }),
    mayAsk: false,
  },
  {
    name: 'the client is installed with another scope',
    end: ({ client, organizationId }) => install(server, client, organizationId, { actsForMembers: true }),
    mayAsk: true,
  },
]

for (const [index, { name, end, mayAsk }] of UNATTENDED.entries()) {
  test(`TOK-18, INT-06, INT-08, ADM-09: ${name}: tokens that the client got without a user are inactive`, async () => {
    const cast = await openCast(1000 + index)
    await install(server, cast.client, cast.organizationId, { actsForMembers: true })
    const form = { org_id: cast.organizationId, user_id: cast.userId }
    const tokens = await machineTokens(cast, form)
    assert.deepEqual(await activity(tokens), [true, true])

    server.clock.advance(10)
    await end(cast, server.clock.now())
    server.clock.advance(NEWS_MS)

    assert.deepEqual(await activity(tokens), [false, false])
    const again = await askAsMachine(cast, form)
    assert.equal(again.statusCode === 200, mayAsk, again.body)
  })
}

for (const [index, { name, end }] of UNATTENDED.entries()) {
  test(`STO-13: ${name}: an opaque token without a user that was issued by a clock ahead is inactive, also at its own time`, async () => {
    const cast = await openCast(6000 + index)
    await install(server, cast.client, cast.organizationId, { actsForMembers: true })
    const rightTime = (server.clock.now() + 10) as EpochMs
    server.clock.advance(20 * 60_000)
    const tokens = await machineTokens(cast, { org_id: cast.organizationId, user_id: cast.userId })
    assert.deepEqual(await activity(tokens), [true, true])
    await end(cast, rightTime)
    server.clock.advance(NEWS_MS)
    assert.equal((await activity(tokens))[1], false)
  })
}

test('INT-06: a revocation between the consent and the exchange applies, even if the node did not know of it at the exchange', async () => {
  const cast = await openCast(3000)
  const code = await allow(new PlainBrowser(server), cast, { resource: 'https://jwt.example' })
  server.clock.advance(10)
  const between = server.clock.now()
  server.clock.advance(10)
  const tokens = (await redeem(server, cast.client, code)).json<Tokens>()
  assert.deepEqual(await activity([tokens]), [true])
  // As on a node that learns of it later.
  await store.revokeOrganizationTokens({ id: cast.organizationId, now: between })
  assert.deepEqual(await activity([tokens]), [false])
  assert.equal((await refresh(server, cast.client, tokens.refresh_token ?? '')).json().error, 'invalid_grant')
})

/** Principals that are disabled before tokens are issued, and enabled afterwards. */
const LATE_NEWS: readonly (Pick<Ending, 'name'> & {
  readonly disable: Ending['end']
  readonly enable: Ending['end']
  /** Whether tokens of the user are invalid, and tokens that the client got without the user. */
  readonly ends: readonly [family: boolean, alone: boolean]
})[] = [
  {
    name: 'a user',
    disable: ({ userId: id }, now) => store.disableUser({ id, now }),
    enable: ({ userId: id }, now) => store.enableUser({ id, now }),
    ends: [true, true],
  },
  {
    name: 'an organization',
    disable: ({ organizationId: id }, now) => store.disableOrganization({ id, now }),
    enable: ({ organizationId: id }, now) => store.enableOrganization({ id, now }),
    ends: [true, true],
  },
  {
    name: 'a member',
    disable: (cast, now) => store.disableMember({ ...cast, now }),
    enable: (cast, now) => store.enableMember({ ...cast, now }),
    ends: [true, true],
  },
  {
    name: 'an installation',
    disable: ({ id, organizationId }, now) => store.disableInstallation({ clientId: id, organizationId, now }),
    enable: ({ id, organizationId }, now) => store.enableInstallation({ clientId: id, organizationId, now }),
    ends: [false, true],
  },
]

for (const [index, { name, disable, enable, ends }] of LATE_NEWS.entries()) {
  test(`INT-06, ADM-09: a token that a node issued before it knew that ${name} was disabled remains inactive after enabling`, async () => {
    const cast = await openCast(5000 + index)
    await install(server, cast.client, cast.organizationId, { actsForMembers: true })
    const disabledAt = server.clock.now()
    server.clock.advance(10)
    const code = await allow(new PlainBrowser(server), cast, { resource: 'https://jwt.example' })
    const family = (await redeem(server, cast.client, code)).json<Tokens>()
    const form = { org_id: cast.organizationId, user_id: cast.userId }
    const alone = await machineTokens(cast, form)
    // As on a node that learns of it later.
    await disable(cast, disabledAt)
    server.clock.advance(10)
    await enable(cast, server.clock.now())
    server.clock.advance(NEWS_MS)
    assert.deepEqual(await activity([family]), [!ends[0]])
    assert.deepEqual(await activity(alone), [!ends[1], !ends[1]])
    const refreshed = await refresh(server, cast.client, family.refresh_token ?? '')
    assert.equal(refreshed.statusCode, ends[0] ? 400 : 200, refreshed.body)
    const again = await askAsMachine(cast, form)
    assert.equal(again.statusCode, 200, again.body)
  })
}

test('INT-06: a revocation during a client credentials request applies to the token of that request', async () => {
  const cast = await openCast(4000)
  await install(server, cast.client, cast.organizationId)
  const client = await store.findClient(cast.id)
  const form = parseForm(`org_id=${cast.organizationId}`)
  assert.ok(client !== undefined && form !== undefined)
  const findInstallation: typeof store.findInstallation = async (key) => {
    const installation = await store.findInstallation(key)
    server.clock.advance(10)
    await store.revokeOrganizationTokens({ id: cast.organizationId, now: server.clock.now() })
    server.clock.advance(10)
    return installation
  }
  const context = { ...server.context, store: { ...store, findInstallation } }
  const requester = {
    client: client as AuthenticatedClient,
    key: undefined,
    network: '192.0.2.1',
    requestId: 'req',
    callerNetwork: '192.0.2.1',
  }
  const { response } = await clientCredentials(context, requester, form)
  assert.equal((await introspect(server, cast.client, response.access_token)).json().active, false)
})

test('INT-08: disabling a member does not affect tokens of the organization itself or of other organizations', async () => {
  const cast = await openCast(2000)
  await install(server, cast.client, cast.organizationId, { actsForMembers: true })
  const own = await machineTokens(cast, { org_id: cast.organizationId })
  const other = await createOrganization(server, 'Other')
  await addMember(server, cast.userId, other)
  const browser = new PlainBrowser(server)
  const page = await openConsent(
    browser,
    consentUrl(cast, { org_id: other, resource: 'https://jwt.example' }),
    cast.email,
  )
  const code = codeIn(await browser.submit(page, { decision: 'allow' })) ?? ''
  const elsewhere = (await redeem(server, cast.client, code)).json<Tokens>()
  server.clock.advance(10)
  await store.removeMember({ ...cast, now: server.clock.now() })
  server.clock.advance(NEWS_MS)
  assert.deepEqual(await activity(own), [true, true])
  assert.deepEqual(await activity([elsewhere]), [true])
  assert.equal((await refresh(server, cast.client, elsewhere.refresh_token ?? '')).statusCode, 200)
})

async function openCast(index: number): Promise<Cast> {
  const email = `person-${index}@acme.test`
  const userId = await createPerson(server, email)
  const organizationId = await createOrganization(server, 'Acme')
  await addMember(server, userId, organizationId)
  const client = await registerClient(server)
  return { client, id: clientId(client), userId, organizationId, email }
}

function consentUrl({ client }: Cast, parameters: Readonly<Record<string, string>>): string {
  return authorizeUrl(client, { prompt: 'consent', ...parameters })
}

async function allow(browser: PlainBrowser, cast: Cast, parameters: Readonly<Record<string, string>>): Promise<string> {
  const page = await openConsent(browser, consentUrl(cast, parameters), cast.email)
  const code = codeIn(await browser.submit(page, { decision: 'allow', organization: cast.organizationId }))
  assert.ok(code)
  return code
}

/** Whether each API sees its token as active. */
function activity(tokens: readonly Tokens[]): Promise<readonly unknown[]> {
  return Promise.all(
    tokens.map(async ({ access_token }, index) => {
      const asker = apis[index]
      assert.ok(asker)
      return (await introspect(server, asker, access_token)).json().active
    }),
  )
}

function askAsMachine({ client }: Cast, form: Readonly<Record<string, string>>) {
  return requestToken(server, client, { grant_type: 'client_credentials', ...form })
}

/** A token for each API. */
function machineTokens(cast: Cast, form: Readonly<Record<string, string>>): Promise<readonly Tokens[]> {
  return Promise.all(
    apis.map(async (api) => {
      const answer = await askAsMachine(cast, { ...form, resource: String(api['resource']) })
      assert.equal(answer.statusCode, 200, answer.body)
      return answer.json<Tokens>()
    }),
  )
}

async function disableAndEnableUser({ userId: id }: Cast, now: EpochMs): Promise<void> {
  await store.disableUser({ id, now })
  await store.enableUser({ id, now })
}

async function disableAndEnableOrganization({ organizationId: id }: Cast, now: EpochMs): Promise<void> {
  await store.disableOrganization({ id, now })
  await store.enableOrganization({ id, now })
}

async function disableAndEnableMember(cast: Cast, now: EpochMs): Promise<void> {
  await store.disableMember({ ...cast, now })
  await store.enableMember({ ...cast, now })
}

async function removeAndAddMember(cast: Cast): Promise<void> {
  await store.removeMember({ ...cast, now: server.clock.now() })
  await addMember(server, cast.userId, cast.organizationId)
}
