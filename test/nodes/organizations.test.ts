import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { EpochMs } from '../../src/base/brand.ts'
import type { ClientId, OrganizationId, UserId } from '../../src/protocol/ids.ts'
import type { Store } from '../../src/ports/store.ts'
import { introspect } from '../support/token-questions.ts'
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
import { openMigratedDatabase } from '../support/store/migrated-database.ts'
import { openTestServer, type TestServer } from '../support/server.ts'
import { perform } from '../support/tasks.ts'

/** Two servers on one PostgreSQL: what an operator disables on one is rejected on the other. */

/** Decision 0005: other nodes see a node's changes within this time. */
const NEWS_MS = 1000

interface Cast {
  readonly client: RegisteredClient
  readonly ids: { readonly clientId: ClientId; readonly organizationId: OrganizationId; readonly userId: UserId }
  /** Issued with a user. */
  readonly family: Tokens
  /** Issued without a user. */
  readonly alone: Tokens
}

type Ending = (store: Store, ids: Cast['ids'], now: EpochMs) => Promise<unknown>

/** What ends the tokens with a user, and those without. Each case has its own cast. */
const ENDINGS: Readonly<Record<string, { readonly end: Ending; readonly family: boolean; readonly alone: boolean }>> = {
  'the organization is disabled': both((store, { organizationId: id }, now) => store.disableOrganization({ id, now })),
  'the organization is deleted': both((store, { organizationId: id }, now) => store.deleteOrganization({ id, now })),
  'what it had is ended': both((store, { organizationId: id }, now) => store.revokeOrganizationTokens({ id, now })),
  'the member is disabled': both((store, ids, now) => store.disableMember({ ...ids, now })),
  'the member is removed': both((store, ids) => store.removeMember({ ...ids, now: Date.now() as EpochMs })),
  'the user is deleted': both((store, { userId }) => store.deleteUser({ id: userId })),
  'what the user had is ended': both((store, { userId: id }, now) => store.revokeUserTokens({ id, now })),
  'what the client had is ended': both((store, { clientId: id }, now) => store.revokeClientTokens({ id, now })),
  'the installation is disabled': {
    end: (store, ids, now) => store.disableInstallation({ ...ids, now }),
    family: false,
    alone: true,
  },
  'the client is uninstalled': { end: (store, ids) => store.uninstall(ids), family: false, alone: true },
}

test('TOK-18, RT-11, INT-08, ADM-09: tokens of a principal that one node disables are inactive on the other within a second', async (t) => {
  const { a, b } = await openNodes(t)
  const casts = []
  for (const [name, ending] of Object.entries(ENDINGS)) casts.push({ name, ending, cast: await openCast(a, b) })
  // Now the other node has cached all of them.
  for (const { name, cast } of casts) assert.deepEqual(await activity(b, cast), [true, true], name)
  a.clock.advance(10)
  for (const { ending, cast } of casts) await ending.end(a.context.store, cast.ids, a.clock.now())
  await delay(NEWS_MS)
  for (const { name, ending, cast } of casts) {
    assert.deepEqual(await activity(b, cast), [!ending.family, !ending.alone], name)
    const refreshed = await refresh(b, cast.client, cast.family.refresh_token ?? '')
    assert.equal(refreshed.statusCode, ending.family ? 400 : 200, `${name}: ${refreshed.body}`)
  }
})

test('INT-06: tokens that are all revoked on one node are inactive on the other within a second', async (t) => {
  const { a, b } = await openNodes(t)
  const cast = await openCast(a, b)
  assert.deepEqual(await activity(b, cast), [true, true])
  a.clock.advance(10)
  await a.context.store.revokeAllTokens({ now: a.clock.now() })
  a.clock.advance(NEWS_MS)
  assert.deepEqual(await activity(b, cast), [false, false])
  const refreshed = await refresh(b, cast.client, cast.family.refresh_token ?? '')
  assert.equal(refreshed.json<{ readonly error: string }>().error, 'invalid_grant')
  const again = await askAlone(b, cast)
  assert.equal(again.statusCode, 200, again.body)
  assert.equal((await introspect(b, cast.client, again.json<Tokens>().access_token)).json().active, true)
})

test('GRP-03: another node sees within a second who is in a group, and who is no longer', async (t) => {
  const { a, b } = await openNodes(t)
  const userId = await createPerson(a, 'grouped@acme.test')
  const groupsAt = async ({ context: { store } }: TestServer) =>
    (await store.findBelonging(userId)).groups.map(({ groupId }) => groupId)
  await perform(a.context, 'group.create', { group_id: 'dev' })
  for (const expected of [['dev'], []]) {
    const before = await groupsAt(b)
    assert.notDeepEqual(before, expected)
    const verb = expected.length === 0 ? 'remove' : 'add'
    await perform(a.context, `group.${verb}-member`, { group_id: 'dev', user_id: userId })
    assert.deepEqual(await groupsAt(a), expected)
    await delay(NEWS_MS)
    assert.deepEqual(await groupsAt(b), expected)
  }
})

test('an organization is chosen on one node, and the code for it redeemed on the other', async (t) => {
  const { a, b } = await openNodes(t)
  const cast = await openCast(a, b)
  const { active, org_id } = (await introspect(b, cast.client, cast.family.access_token)).json()
  assert.deepEqual([active, org_id], [true, cast.ids.organizationId])
})

function both(end: Ending): (typeof ENDINGS)[string] {
  return { end, family: true, alone: true }
}

async function openNodes(t: TestContext): Promise<{ a: TestServer; b: TestServer }> {
  const env = { DATABASE_URL: await openMigratedDatabase(t), GRANTOR_SECRET: 'b'.repeat(43) }
  const a = await openTestServer(t, { env })
  return { a, b: await openTestServer(t, { env, clock: a.clock }) }
}

let people = 0

/** A member and an installed client, with tokens of both kinds that one node issued for a code of the other. */
async function openCast(a: TestServer, b: TestServer): Promise<Cast> {
  people += 1
  const email = `person-${people}@acme.test`
  const userId = await createPerson(a, email)
  const organizationId = await createOrganization(a, 'Acme')
  await addMember(a, userId, organizationId)
  const client = await registerClient(a)
  await install(a, client, organizationId, { actsForMembers: true })
  const browser = new PlainBrowser(a)
  const page = await openConsent(browser, authorizeUrl(client), email)
  const code = codeIn(await browser.submit(page, { decision: 'allow', organization: organizationId }))
  const redeemed = await redeem(b, client, code ?? '')
  assert.equal(redeemed.statusCode, 200, redeemed.body)
  const cast = { client, ids: { clientId: clientId(client), organizationId, userId } }
  const answer = await askAlone(b, cast)
  assert.equal(answer.statusCode, 200, answer.body)
  return { ...cast, family: redeemed.json<Tokens>(), alone: answer.json<Tokens>() }
}

function askAlone(server: TestServer, { client, ids }: Pick<Cast, 'client' | 'ids'>) {
  const form = { grant_type: 'client_credentials', org_id: ids.organizationId, user_id: ids.userId }
  return requestToken(server, client, form)
}

async function activity(server: TestServer, { client, family, alone }: Cast): Promise<readonly unknown[]> {
  const answers = await Promise.all([family, alone].map(({ access_token }) => introspect(server, client, access_token)))
  return answers.map((answer) => answer.json().active)
}
