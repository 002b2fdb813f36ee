import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDeviceConsent, poll, startDevice } from '../../../tools/device-flow.ts'
import { authorizeUrl, locationOf, PlainBrowser, redeem, refresh, type Tokens } from '../../../tools/flow.ts'
import { addApp } from '../../../tools/sign-in/app.ts'
import { knowApis } from '../../support/apis.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { lastLogged } from '../../support/error-answer.ts'
import { A, openExchanges } from '../../support/exchanges.ts'
import { codeIn, createPerson, openConsent } from '../../support/organizations.ts'
import { createDeviceClient, DEVICES_ON } from '../../support/sign-in/devices.ts'
import { perform, type Members } from '../../support/tasks.ts'
import { pageSays } from '../../texts/page-texts.ts'

/** Access rules on the way to a code: what the pages say, and what no page is shown for. */

const { server, ada, acme } = await openExchanges(WHOLE_FILE, { env: { ...DEVICES_ON } })
const { context } = server
// Created by the operator, so that errors are redirected and consents remembered.
const client = await perform<{ client_id: string; client_secret: string }>(context, 'client.create', {
  client_name: 'Board',
  redirect_uris: ['https://app.example/callback'],
})
await perform(context, 'group.create', { group_id: 'finance' })
const browser = new PlainBrowser(server)
const SENTENCE = 'Only <b>Finance</b>. Ask "finance-it"'

async function withRule(rule: Members, work: () => Promise<void>, organization?: string): Promise<void> {
  const noun = organization === undefined ? 'access-rule' : 'organization-access-rule'
  const place = organization === undefined ? {} : { organization_id: organization }
  await perform(context, `${noun}.create`, { ...place, rule_id: 'r', sentence: SENTENCE, ...rule })
  knowApis(server)
  await work()
  await perform(context, `${noun}.delete`, { ...place, rule_id: 'r' })
  knowApis(server)
}

const urlOf = (parameters: Readonly<Record<string, string>> = {}) =>
  authorizeUrl(client, { scope: 'a:read a:status', resource: A, ...parameters })
const open = (parameters?: Readonly<Record<string, string>>) => openConsent(browser, urlOf(parameters))
const scopeOf = async (code: string | undefined) =>
  (await redeem(server, client, code ?? assert.fail())).json<Tokens & { id_token?: string }>()

test('ACS-02: a scope that is left out is a line of the page with its sentence, and no reason to show one', async () => {
  await withRule({ scopes: [`${A}=a:status`] }, async () => {
    const page = await open({ prompt: 'consent' })
    assert.match(page.body, pageSays('notForYou'))
    assert.match(page.body, /Only &lt;b&gt;Finance&lt;\/b&gt;/)
    assert.doesNotMatch(page.body, /name="allow.a:status"/)
    const answer = await browser.submit(page, { decision: 'allow', organization: 'none', 'allow.a:status': 'on' })
    const tokens = await scopeOf(codeIn(answer))
    assert.equal(tokens.scope, 'a:read')
    // The client repeats the scope that it asked for.
    const repeated = await refresh(server, client, tokens.refresh_token ?? '')
    assert.equal(repeated.json<Tokens>().scope, 'a:read')
    const again = await open()
    assert.equal((await scopeOf(codeIn(again))).scope, 'a:read', 'the consent is remembered')
    assert.ok(codeIn(await open({ prompt: 'none' })))
  })
  assert.match((await open()).body, pageSays('consentTitle'))
})

test('what a rule takes of what was allowed earlier is a line of the connected apps, as on the consent page', async () => {
  const list = async () => (await browser.get('/account/apps')).body
  const whole = { decision: 'allow', organization: 'none', 'allow.a:read': 'on', 'allow.a:status': 'on' }
  assert.ok(codeIn(await browser.submit(await open({ prompt: 'consent' }), whole)))
  assert.doesNotMatch(await list(), pageSays('notForYou'))
  for (const rule of [{ scopes: [`${A}=a:status`] }, { apis: [A] }])
    await withRule(rule, async () => {
      const page = await list()
      assert.match(page, pageSays('notForYou'))
      assert.match(page, /Only &lt;b&gt;Finance&lt;\/b&gt;/)
    })
})

test('ACS-02: where nothing is left a page says why, and the client gets access_denied; without pages at once', async () => {
  await withRule({ apis: [A], except_groups: ['finance'] }, async () => {
    const page = await open()
    assert.match(page.body, pageSays('notAllowedText'))
    assert.match(page.body, /Only &lt;b&gt;Finance/)
    assert.doesNotMatch(page.body, /value="allow"|name="organization"/)
    const forced = await browser.submit(page, { decision: 'allow', organization: 'none' })
    assert.match(forced.body, pageSays('notAllowedText'))
    const back = locationOf(await browser.submit(forced, { decision: 'deny' }))
    assert.match(back, /error=access_denied&error_description=The%20user%20does%20not/)
    assert.match(locationOf(await browser.get(urlOf({ prompt: 'none' }))), /error=access_denied/)
    assert.equal(lastLogged(server)['reason'], 'access_rule')
    const waiting = await open({ prompt: 'consent' })
    await perform(context, 'group.add-member', { group_id: 'finance', user_id: ada })
    knowApis(server)
    // ACS-03: the newer state counts.
    const answer = await browser.submit(waiting, { decision: 'allow', organization: 'none' })
    assert.match(answer.body, pageSays('consentTitle'), 'it asks now')
    await perform(context, 'group.remove-member', { group_id: 'finance', user_id: ada })
    knowApis(server)
  })
})

test('ACS-02: a device gets access_denied once the person has read why', async () => {
  const cli = await createDeviceClient(server)
  await withRule({ clients: [cli.client_id] }, async () => {
    const device = await startDevice(server, cli, { scope: 'a:read', resource: A })
    const page = await openDeviceConsent(new PlainBrowser(server), device)
    assert.match(page.body, pageSays('notAllowedText'))
    assert.equal((await poll(server, cli, device)).json<{ error: string }>().error, 'authorization_pending')
  })
})

test('ACS-02, ACS-04: a device and an implied consent get what a rule leaves, and an implied one no code where nothing is left', async () => {
  const first = await perform<typeof client>(context, 'client.create', {
    client_name: 'Own',
    redirect_uris: ['https://app.example/callback'],
    scope: 'a:read a:status',
    rules: { consent: 'implied' },
  })
  const cli = await createDeviceClient(server)
  // Without an organization to choose.
  await createPerson(server, 'grace@acme.test')
  const grace = new PlainBrowser(server)
  const url = authorizeUrl(first, { scope: 'a:read a:status', resource: A })
  const own = () => openConsent(grace, url, 'grace@acme.test')
  await withRule({ scopes: [`${A}=a:status`] }, async () => {
    const tokens = await redeem(server, first, codeIn(await own()) ?? assert.fail())
    assert.equal(tokens.json<Tokens>().scope, 'a:read')
    const device = await startDevice(server, cli, { scope: 'a:read a:status', resource: A })
    const walker = new PlainBrowser(server)
    const page = await openDeviceConsent(walker, device)
    assert.match(page.body, pageSays('notForYou'))
    await walker.submit(page, { decision: 'allow', organization: 'none', 'allow.a:read': 'on' })
    assert.equal((await poll(server, cli, device)).json<Tokens>().scope, 'a:read')
  })
  await withRule({ apis: [A] }, async () => assert.match((await own()).body, pageSays('notAllowedText')))
})

test('ACS-02: sign-in that is left out beside an API gives a code without an ID token', async () => {
  await withRule({ sign_in: true }, async () => {
    const page = await open({ scope: 'openid a:read', prompt: 'consent' })
    const tokens = await scopeOf(codeIn(await browser.submit(page, { decision: 'allow', organization: 'none' })))
    assert.deepEqual([tokens.scope, tokens.id_token], ['a:read', undefined])
  })
})

test('the rules of the organization that a person chooses narrow the approval, and nothing left is said on a page', async () => {
  const choose = async (organization: string) => {
    const page = await open({ prompt: 'consent' })
    return browser.submit(page, { decision: 'allow', organization })
  }
  await withRule(
    { scopes: [`${A}=a:status`] },
    async () => {
      assert.equal((await scopeOf(codeIn(await choose(acme)))).scope, 'a:read')
      assert.equal((await scopeOf(codeIn(await choose('none')))).scope, 'a:read a:status')
    },
    acme,
  )
  await withRule(
    { apis: [A] },
    async () => {
      assert.match((await choose(acme)).body, pageSays('notAllowedText'))
      assert.match((await open({ org_id: acme })).body, pageSays('notAllowedText'))
      assert.ok(codeIn(await choose('none')))
    },
    acme,
  )
})

test('ACS-02: a level that a rule demands of a group is asked for, and counts at each refresh', async () => {
  await perform(context, 'group.add-member', { group_id: 'finance', user_id: ada })
  await withRule({ groups: ['finance'], apis: [A], require: '2fa' }, async () => {
    assert.match((await open({ prompt: 'consent' })).body, pageSays('setUpSecondStep'))
    assert.match(locationOf(await browser.get(urlOf({ prompt: 'none' }))), /error=/)
    const app = await addApp(server)
    const step = await open({ prompt: 'consent' })
    assert.match(step.body, pageSays('secondStep'))
    const page = await browser.get(locationOf(await browser.submit(step, { code: app.code() })))
    const tokens = await scopeOf(codeIn(await browser.submit(page, { decision: 'allow', organization: 'none' })))
    assert.equal(tokens.scope, 'a:read a:status')
    const next = (await refresh(server, client, tokens.refresh_token ?? '')).json<Tokens>()
    assert.equal(next.scope, 'a:read a:status')
  })
})
