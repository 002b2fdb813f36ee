import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { SCREENS } from '../../src/console/screens.ts'
import { CONSOLE_CLIENT_ID } from '../../src/protocol/client/console.ts'
import { closedFirst } from '../support/closed-first.ts'
import { openMigratedDatabase } from '../support/store/migrated-database.ts'
import { openTestServer, type TestServer } from '../support/server.ts'
import { createAda } from '../support/accounts.ts'
import { ConsoleBrowser, filledIn, formOf, giveRole, leadsTo } from '../../tools/console-browser.ts'
import { fillConsole } from '../support/console/samples.ts'
import { perform } from '../support/tasks.ts'
import { anOrganization } from '../support/records.ts'
import { hiddenFields } from '../../tools/flow.ts'

/** Two nodes, to which a balancer gives the requests of one browser in turns. */
function inTurns(nodes: readonly [TestServer, TestServer]): Pick<TestServer, 'inject' | 'injectAdmin'> {
  let count = 0
  const next = (): TestServer => nodes[(count += 1) % 2 === 0 ? 0 : 1]
  return { inject: (options) => next().inject(options), injectAdmin: (options) => next().injectAdmin(options) }
}

async function openNodes(t: TestContext): Promise<readonly [TestServer, TestServer]> {
  const closed = closedFirst(t)
  const env = { DATABASE_URL: await openMigratedDatabase(t), GRANTOR_SECRET: 's'.repeat(40) }
  const a = closed(await openTestServer(t, { env }))
  const b = closed(await openTestServer(t, { env, clock: a.clock }))
  await createAda(a)
  return [a, b]
}

test('CON-10: on PostgreSQL each screen is shown by any node, searched, and a link of one is not made again by the other', async (t) => {
  const [a, b] = await openNodes(t)
  await giveRole(a)
  const { client: client_id, user: user_id, grant: grant_id } = await fillConsole(a)
  const organization = anOrganization({ name: 'Acme' }, a.clock.now())
  await a.context.store.createOrganization(organization)
  const issuer = 'http://127.0.0.1:9'
  const own = { template: 'oidc', name: 'Idp', issuer, client_id: 'grantor', client_secret: 's3cr3t' }
  await perform(a.context, 'provider.create', { provider_id: 'idp', ...own })
  const { group_id } = await perform<{ group_id: string }>(a.context, 'organization-group.create', {
    organization_id: organization.id,
    group_id: 'finance',
  })
  const rule = { rule_id: 'own', clients: [client_id] }
  await perform(a.context, 'access-rule.create', rule)
  await perform(a.context, 'organization-access-rule.create', { organization_id: organization.id, ...rule })
  const objects = {
    client_id,
    rule_id: rule.rule_id,
    user_id,
    grant_id,
    organization_id: organization.id,
    resource: 'https://builds.acme.test/mcp',
    provider_id: 'idp',
    group_id,
  }
  const browser = new ConsoleBrowser(inTurns([a, b]))
  await browser.open()
  const filled = SCREENS.map(({ path }) =>
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(objects[name as keyof typeof objects])),
  ).filter((path) => !path.endsWith(`/organizations/${organization.id}/grants/${grant_id}`))
  const searches = ['clients?text=CURSOR', 'clients?host=claude.ai', 'users?text=GRACE', 'users?text=hopper']
  for (const path of [...filled, ...searches.map((search) => `/console/${search}`)]) {
    const { statusCode, body } = await browser.console.get(path)
    assert.equal(statusCode, 200, `${path}: ${body}`)
    assert.doesNotMatch(body, /Nothing matches/, path)
  }
  const purge = await browser.console.get('/console/clients?text=zed&ask=client.purge')
  assert.match(purge.body, /Delete all that match/)
  const asked = await browser.console.get(`/console/users/${user_id}?ask=user.create-link`)
  const made = await browser.press(asked, 'user.create-link')
  assert.match(made.body, /class="secret"/)
  for (const _ of [a, b]) assert.equal((await browser.press(asked, 'user.create-link')).statusCode, 409)
})

test('CON-05: what ends a session of the console on one node has ended it on the other with the next request', async (t) => {
  const [a, b] = await openNodes(t)
  const ada = await giveRole(a)
  const { id: organization_id, ...organization } = anOrganization({ name: 'Acme' }, a.clock.now())
  await a.context.store.createOrganization({ id: organization_id, ...organization })
  const within = `/console/organizations/${organization_id}/grants`
  const both = inTurns([a, b])
  const user_id = ada
  const grantOf = async (): Promise<string> => {
    const asked = { userId: ada, clientId: CONSOLE_CLIENT_ID, now: a.clock.now(), limit: 1 }
    return (await a.context.store.listLiveGrants(asked))[0]?.id ?? ''
  }
  const nothing = async (): Promise<void> => undefined
  // With a change of its own a node drops what it cached: the next sign-in may be at either (decision 0005).
  const onBoth = async (task: string, input: Readonly<Record<string, string>>): Promise<void> => {
    for (const { context } of [a, b]) await perform(context, task, input)
  }
  const rows: readonly (readonly [
    what: string,
    end: (browser: ConsoleBrowser) => Promise<unknown>,
    again: () => Promise<unknown>,
  ])[] = [
    ['the role is removed', () => perform(a.context, 'role.remove', { user_id }), () => giveRole(a)],
    [
      'the user is disabled',
      () => perform(a.context, 'user.disable', { user_id }),
      () => onBoth('user.enable', { user_id }),
    ],
    ['the grant is revoked', async () => perform(a.context, 'grant.revoke', { grant_id: await grantOf() }), nothing],
    ['all tokens are revoked', () => perform(a.context, 'user.revoke-tokens', { user_id }), nothing],
    ['signed out of Grantor', async ({ issuer }) => issuer.submit(await issuer.get('/v2/oauth/sign-out'), {}), nothing],
    ['signed out of the console', async (browser) => signOut(browser), nothing],
    [
      'the client is disabled',
      () => perform(a.context, 'client.disable', { client_id: CONSOLE_CLIENT_ID }),
      () => onBoth('client.enable', { client_id: CONSOLE_CLIENT_ID }),
    ],
    [
      'the role becomes one that reads',
      () => giveRole(a, 'read'),
      () => giveRole(a, 'write', undefined, organization_id),
    ],
    ['the organization is disabled', () => perform(a.context, 'organization.disable', { organization_id }), nothing],
  ]
  for (const [what, end, again] of rows) {
    const browser = new ConsoleBrowser(both)
    const isWithin = what.startsWith('the organization')
    const path = isWithin ? within : '/console/clients'
    const page = await browser.open(path)
    assert.equal(page.statusCode, 200, `${what}: ${page.body}`)
    const cookie = browser.console.cookieHeader
    const ask = (node: TestServer) => node.injectAdmin({ method: 'GET', url: path, headers: { cookie } })
    // Both nodes have just read what they cache.
    for (const node of [a, b]) assert.equal((await ask(node)).statusCode, 200, what)
    await end(browser)
    for (const node of [b, a]) {
      const answer = await ask(node)
      if (what.endsWith('reads')) assert.doesNotMatch(answer.body, /name="task"/, what)
      else {
        assert.ok(answer.statusCode === 403 || leadsTo(answer) !== undefined, `${what}: ${answer.statusCode}`)
        assert.doesNotMatch(answer.body, /<table/, what)
      }
    }
    await again()
    a.clock.advance(1000)
  }
})

test('CON-35: of two changes of one object at two nodes at once one wins, the other is refused or follows, and nothing is mixed', async (t) => {
  const [a, b] = await openNodes(t)
  await giveRole(a)
  const made = { client_name: 'Board', scope: 'openid', redirect_uris: ['https://board.example/cb'] }
  const { client_id: client } = await perform(a.context, 'client.create', made)
  const resource = 'https://builds.acme.test/mcp'
  await perform(a.context, 'api.create', { resource, name: 'Builds' })
  const at = {
    template: 'oidc',
    name: 'Idp',
    issuer: 'http://127.0.0.1:9',
    client_id: 'grantor',
    client_secret: 's3cr3t',
  }
  await perform(a.context, 'provider.create', { provider_id: 'idp', ...at })
  const browsers = [new ConsoleBrowser(a), new ConsoleBrowser(b)] as const
  for (const browser of browsers) await browser.open()
  const renamed = { client_name: 'Other', grant_types: 'authorization_code refresh_token' }
  const ofClient = `clients/${String(client)}`
  type Form = readonly [task: string, typed: Readonly<Record<string, string>>]
  const races: readonly (readonly [path: string, id: Readonly<Record<string, unknown>>, one: Form, other: Form])[] = [
    [ofClient, { client_id: client }, ['client.update', renamed], ['client.set-rules', { consent: 'implied' }]],
    [
      ofClient,
      { client_id: client },
      ['client.set-rules', { claims: 'userinfo' }],
      ['client.set-rules', { pkce: 'required' }],
    ],
    [
      `apis/${encodeURIComponent(resource)}`,
      { resource },
      ['api.update', { 'name.default': 'One' }],
      ['api.update', { 'name.default': 'Two' }],
    ],
    [
      'providers/idp',
      { provider_id: 'idp' },
      ['provider.update', { name: 'One' }],
      ['provider.update', { name: 'Two' }],
    ],
  ]
  for (const [path, id, ...forms] of races) {
    const show = async (): Promise<Readonly<Record<string, unknown>>> => {
      const { rules, ...shown } = await perform(a.context, forms[0][0].replace(/\..*/, '.show'), id)
      return { ...shown, ...(rules as object | undefined) }
    }
    const before = await show()
    const asked = await Promise.all(
      browsers.map((browser, index) => browser.console.get(`/console/${path}?ask=${forms[index]?.[0]}`)),
    )
    const answers = await Promise.all(
      browsers.map((browser, index) => {
        const [task, typed] = forms[index] as Form
        const page = asked[index] as (typeof asked)[number]
        return browser.press(page, task, { ...filledIn(page, task), ...typed })
      }),
    )
    const statuses = answers.map(({ statusCode }) => statusCode)
    // One form does not show what another one changes. If one change ended before the other began, both are whole.
    const mayFollow = forms[0][0] !== forms[1][0]
    const won = forms.filter((_, index) => statuses[index] === 200)
    const outcome = statuses.toSorted((one, other) => one - other).join()
    assert.ok(outcome === '200,409' || (mayFollow && outcome === '200,200'), `${path}: ${outcome}`)
    const after = await show()
    const changed = Object.keys(after).filter((name) => JSON.stringify(after[name]) !== JSON.stringify(before[name]))
    const typed = won.map(([, values]) => Object.keys(values).map((name) => name.replace('.default', '')))
    assert.deepEqual(
      changed.filter((name) => !typed.flat().includes(name)),
      [],
      `${path}: ${changed.join()}`,
    )
    for (const names of typed) assert.ok(names.some((name) => changed.includes(name)))
  }
})

async function signOut({ console }: ConsoleBrowser): Promise<void> {
  const page = await console.get('/console/clients')
  const csrf =
    hiddenFields({ body: formOf({ body: page.body.replaceAll('Sign out', 'value="out"') }, 'out') })['csrf'] ?? ''
  assert.equal((await console.post('/console/sign-out', { csrf })).statusCode, 200)
}
