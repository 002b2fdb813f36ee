import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startDevice, typeCode } from '../../../../tools/device-flow.ts'
import { locationOf, PlainBrowser } from '../../../../tools/flow.ts'
import { createDeviceClient, DEVICES_ON } from '../../../support/sign-in/devices.ts'
import { appOfPage, submitTo } from '../../../support/sign-in/apps.ts'
import { openProviderHost } from '../../../support/provider/provider-host.ts'
import { addProvider, signInAt } from '../../../support/provider/providers.ts'
import { openTestServer, type TestServer } from '../../../support/server.ts'
import { openMigratedDatabase } from '../../../support/store/migrated-database.ts'
import { perform } from '../../../support/tasks.ts'

const PERSON = { sub: 'ada', email: 'ada@idp.test', email_verified: true, groups: ['dev', 'unlisted'] }

/** Opens the sign-in page from the account, or from the page where a person enters the code of a device. */
const PAGES = {
  account: async (_: TestServer, browser: PlainBrowser) => browser.get(locationOf(await browser.get('/account'))),
  async device(server: TestServer, browser: PlainBrowser) {
    const device = await startDevice(server, await createDeviceClient(server), { scope: 'openid' })
    return browser.get(locationOf(await typeCode(browser, device)))
  },
} as const

/** The groups that the store has for the person, as the provider said them. */
async function groupsOf({ context: { store } }: TestServer): Promise<readonly string[]> {
  const id = (await store.findUserByEmail(PERSON.email))?.id ?? assert.fail()
  return (await store.findBelonging(id)).groups.map(({ groupId, source }) => `${source} ${groupId}`)
}

async function openServer(t: TestContext, env: Readonly<Record<string, string>>): Promise<TestServer> {
  const server = await openTestServer(t, { env: { ...DEVICES_ON, ...env } })
  await perform(server.context, 'group.create', { group_id: 'dev' })
  return server
}

for (const [store, page] of [
  ['SQLite', 'device'],
  ['PostgreSQL', 'account'],
  ['PostgreSQL', 'device'],
] as const)
  test(`GRP-04: a sign-in from the ${page} page puts the user into the groups of the provider, on ${store}`, async (t) => {
    const host = await openProviderHost(t)
    const secret = { GRANTOR_SECRET: 'b'.repeat(43) }
    const server = await openServer(
      t,
      store === 'SQLite' ? {} : { ...secret, DATABASE_URL: await openMigratedDatabase(t) },
    )
    await addProvider(server, host, { signUp: 'anybody', groupClaim: 'groups', groups: ['dev=dev'] })
    server.clock.advance(1001)
    const browser = new PlainBrowser(server)
    const answer = await signInAt({ browser, page: await PAGES[page](server, browser), host }, PERSON)
    assert.equal(answer.statusCode, 303, answer.body)
    assert.deepEqual(await groupsOf(server), ['provider:idp dev'])
  })

test('GRP-04: where two factors are required, the groups count after the factor is set up, and not before', async (t) => {
  const host = await openProviderHost(t)
  const server = await openServer(t, { GRANTOR_SECOND_FACTOR: 'required' })
  await addProvider(server, host, { signUp: 'anybody', groupClaim: 'groups', groups: ['dev=dev'] })
  server.clock.advance(1001)
  const browser = new PlainBrowser(server)
  const page = await signInAt({ browser, page: await PAGES.account(server, browser), host }, PERSON)
  assert.deepEqual(await groupsOf(server), [])
  const codes = await submitTo(browser, page, '/sign-in/app', { code: appOfPage(server, page).code() })
  assert.deepEqual(await groupsOf(server), [])
  assert.equal((await browser.submit(codes, {})).statusCode, 303)
  assert.deepEqual(await groupsOf(server), ['provider:idp dev'])
})
