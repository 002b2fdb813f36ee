import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page as Tab } from 'playwright-core'
import { registerClient } from '../../tools/flow.ts'
import { after } from '../../src/base/brand.ts'
import { mintClientId } from '../../src/protocol/ids.ts'
import { sharedBrowser } from '../support/browser.ts'
import { giveRole } from '../../tools/console-browser.ts'
import { fillConsole } from '../support/console/samples.ts'
import { aClient } from '../support/records.ts'
import { perform, type Members, said, saidOf } from '../support/tasks.ts'
import { axeFindings, openIssuer, openTab, press, signIn } from './tab.ts'

/** The console in a real browser: accessible in each state, with hostile names, by keys alone, and without script. */

const browser = await sharedBrowser()

/** What a hostile client may call itself. */
const HOSTILE = `"><script>alert(1)</script><img src=x onerror=alert(1)>\u202e${'W'.repeat(60)}`

/** Everything that the browser did although a page must not cause it. Its own files are no complaint. */
function faults(complaints: readonly string[]): readonly string[] {
  return complaints.filter((one) => !/^loads: \S+\/console\/a\/[0-9a-f]{16}\.(css|js)$/.test(one))
}

async function open(t: Parameters<typeof openTab>[0], origins: readonly string[], options: object = {}) {
  const { tab, complaints } = await openTab(t, browser, [...origins, 'data:'], options)
  await tab.goto(`${origins[1] ?? ''}/console`)
  await signIn(tab)
  await arriveAt(tab, 'Overview')
  return { tab, complaints }
}

/** Waits for the page with this heading, and for its script, which takes the keys. */
async function arriveAt(tab: Tab, heading: string | RegExp): Promise<void> {
  await tab.getByRole('heading', { name: heading, exact: true }).waitFor()
  await tab.waitForLoadState('load')
}

async function look(tab: Tab, address: string): Promise<void> {
  await tab.goto(address)
  assert.deepEqual(await axeFindings(tab), [], address)
}

test('CON-07: each screen is accessible in each of its states, and no name runs, hides or widens anything', async (t) => {
  const server = await openIssuer(t, {})
  await giveRole(server)
  const { tab, complaints } = await open(t, [server.origin, server.adminOrigin])
  const at = (path: string): string => `${server.adminOrigin}/console${path}`
  const lists = ['', '/clients', '/users', '/grants', '/audit', '/roles', '/credentials', '/keys', '/token', '/server']
  lists.push('/apis', '/providers')
  for (const path of ['/clients?text=zzz', '/grants?client_id=x', '/clients/gci_x', '/users?ask=user.create'])
    await look(tab, at(path))
  const { client, user, grant } = await fillConsole(server)
  const hostile = await registerClient(server, {
    client_name: HOSTILE,
    client_uri: 'https://evil.example/"><b>',
    redirect_uris: [`https://${'long-label.'.repeat(20)}example/cb`],
    scope: 'a'.repeat(200),
  })
  await perform(server.context, 'user.update', { user_id: user, name: '<b>Ada</b> "><img src=x onerror=alert(1)>' })
  await perform(server.context, 'api.create', {
    resource: 'https://hostile.example/"><script>alert(1)</script>'.replaceAll(/["<>]/g, encodeURIComponent),
    name: '<b>Api</b> "><img src=x onerror=alert(1)>',
    scopes: [{ name: 'a'.repeat(90), sentence: '</textarea><script>alert(1)</script>', granted_to: 'users' }],
  })
  await perform(server.context, 'provider.create', {
    provider_id: 'hostile',
    template: 'oidc',
    issuer: 'http://127.0.0.1:9',
    name: '<b>Idp</b> "><img src=x onerror=alert(1)>',
    client_id: '"><script>alert(1)</script>',
    client_secret: 's3cr3t',
  })
  const { apis } = await perform<{ apis: readonly Members[] }>(server.context, 'api.list', {})
  const api = `/apis/${encodeURIComponent(String(apis.find(({ resource }) => String(resource).includes('hostile'))?.['resource']))}`
  const { client_id: own } = await perform(server.context, 'client.create', {
    client_name: HOSTILE.replace('\u202e', ''),
    redirect_uris: ['https://own.example/"><b>'.replaceAll(/["<>]/g, encodeURIComponent)],
  })
  const setUp = [
    api,
    `${api}/scopes?ask=api.update`,
    '/providers/hostile',
    '/providers?ask=provider.create&template=oidc&provider_id=new',
    '/providers/hostile?ask=provider.update',
    `/clients/${String(own)}?ask=client.update`,
  ]
  const { organization_id: organization } = await perform(server.context, 'organization.create', {
    name: '"><img src=x onerror=alert(1)>',
  })
  await perform(server.context, 'member.add', { organization_id: organization, user_id: user })
  await perform(server.context, 'domain.block', { pattern: `${'long-label.'.repeat(20)}example`, note: '<b>x</b>' })
  const one = `/organizations/${String(organization)}`
  const objects = [one, `${one}/members`, '/domains', '/initial-tokens?ask=initial-token.create']
  objects.push(`/clients/${client}`, `/clients/${hostile.client_id}`, `/users/${user}`, `/grants/${grant}`)
  const asking = [
    ...setUp,
    `/users/${user}?ask=user.create-link`,
    `/clients?ask=client.delete&row=${hostile.client_id}`,
  ]
  for (const path of [...lists, ...objects, ...asking]) await look(tab, at(path))
  // The consent page is one of the pages of people, in a sandbox where axe cannot run.
  await tab.goto(at(`/clients/${hostile.client_id}/consent`))
  await tab.getByRole('button', { name: 'Allow' }).waitFor()
  await tab.getByRole('link', { name: 'Back' }).click()
  await tab.waitForURL(at(`/clients/${hostile.client_id}`))
  await tab.getByRole('link', { name: 'Consent page' }).waitFor()
  await tab.setViewportSize({ width: 360, height: 740 })
  for (const path of [...lists, ...objects, ...asking]) {
    await tab.goto(at(path))
    assert.equal(
      await tab.evaluate('document.documentElement.scrollWidth <= innerWidth'),
      true,
      `${path} scrolls sideways.`,
    )
  }
  assert.deepEqual(faults(complaints), [])
})

test('a search reads on until it is through, with a count, or by a link without script', async (t) => {
  const server = await openIssuer(t, {})
  await giveRole(server)
  const { store, clock, random } = server.context
  const add = async (name: string, ageMs: number): Promise<void> => {
    const at = after(clock(), -ageMs)
    const base = aClient({ id: mintClientId(at, random) }, at)
    await store.registerClient({ ...base, metadata: { ...base.metadata, client_name: name } })
  }
  // A request for the list examines 2,000 clients, and one that counts what a deletion hits 5,000.
  await Promise.all(Array.from({ length: 5001 }, (_, index) => add('Flood', index)))
  await add('Needle one', 10_000)
  await add('Needle two', -1)
  const { tab, complaints } = await open(t, [server.origin, server.adminOrigin])
  const search = `${server.adminOrigin}/console/clients?text=needle`
  await tab.goto(search)
  await tab.getByRole('status').getByText('2 found.').waitFor()
  assert.deepEqual(await tab.locator('[data-row] th').allInnerTexts(), ['Needle two', 'Needle one'])
  for (const name of ['Needle one', 'Needle two']) await tab.getByRole('checkbox', { name }).check()
  await tab.getByText('2 selected').waitFor()
  const isNextPart = (complaint: string) => complaint.startsWith(`loads: ${search}&before=gci_`)
  assert.deepEqual(faults(complaints).map(isNextPart), [true, true, true])

  let letOn: () => void = () => undefined
  const isStopped = new Promise<void>((resolve) => (letOn = resolve))
  await tab.route(/before=/, async (route) => {
    await isStopped
    await route.continue()
  })
  await tab.reload()
  await press(tab, 'Stop')
  letOn()
  await tab.getByRole('status').getByText('1 found so far.', { exact: true }).waitFor()
  await tab.getByRole('link', { name: 'Continue' }).waitFor()

  const plain = await open(t, [server.origin, server.adminOrigin], { javaScriptEnabled: false })
  await plain.tab.goto(search)
  await plain.tab.getByText('1 found so far.').waitFor()
  await plain.tab.getByRole('link', { name: 'Continue' }).click()
  await plain.tab.getByText('0 found so far.').waitFor()
  await plain.tab.getByRole('link', { name: 'Continue' }).click()
  await plain.tab.getByRole('link', { name: 'Needle one' }).waitFor()
  await plain.tab.goto(`${search}%20two&ask=client.purge`)
  await plain.tab.getByText('None so far.').getByRole('link', { name: 'Continue' }).click()
  await plain.tab.getByText('1 match.').waitFor()
  await press(plain.tab, 'Delete all that match')
  await plain.tab
    .getByRole('status')
    .getByText(new RegExp(saidOf('client.purge', '1')))
    .waitFor()
})

test('a person verifies and undoes, searches and moves by keys alone, and all but that works without script', async (t) => {
  const server = await openIssuer(t, {})
  await giveRole(server)
  const { client } = await fillConsole(server)
  const { tab, complaints } = await open(t, [server.origin, server.adminOrigin])
  const { keyboard } = tab
  await keyboard.press('g')
  await keyboard.press('c')
  await arriveAt(tab, 'Clients')
  const every = tab.getByRole('checkbox', { name: 'Choose all rows' })
  await every.check()
  // All but the client of the console.
  const boxes = await tab.getByRole('checkbox').count()
  await tab.getByText(`${boxes - 1} selected`).waitFor()
  await keyboard.press('b')
  assert.equal(await tab.evaluate('document.activeElement.value'), 'client.verify')
  await every.uncheck()
  await tab.getByText('Choose rows to change them').waitFor()
  for (const key of ['j', 'x', 'j', 'x']) await keyboard.press(key)
  await tab.getByText('2 selected').waitFor()
  await keyboard.press('k')
  await keyboard.press('Enter')
  await arriveAt(tab, /^Cursor Unverified$/)
  await tab.goBack()
  await arriveAt(tab, 'Clients')
  await tab.getByText('2 selected').waitFor()
  await tab.goForward()
  await arriveAt(tab, /^Cursor Unverified$/)
  await keyboard.press('/')
  await keyboard.type('claude.ai')
  await keyboard.press('Enter')
  await tab.getByRole('link', { name: 'Claude', exact: true }).waitFor()
  assert.match(tab.url(), /\/console\/found\?text=claude\.ai$/)
  await arriveAt(tab, 'Search: claude.ai')
  await keyboard.press('Escape')
  await tab.getByRole('heading', { name: 'Search' }).click()
  await keyboard.press('?')
  await tab.getByRole('heading', { name: 'Shortcuts' }).waitFor()
  await tab.getByRole('definition').getByText('What is this token?').waitFor()
  await press(tab, 'Close')

  await tab.goto(`${server.adminOrigin}/console/clients/${client}`)
  await press(tab, 'Verify')
  await tab
    .getByRole('status')
    .getByText(new RegExp(said('client.verify')))
    .waitFor()
  // The script of the page, which runs after its text is there, takes the message from the address: a reload does not say it again.
  await tab.waitForURL(`${server.adminOrigin}/console/clients/${client}`)
  await press(tab, 'Undo')
  await tab
    .getByRole('status')
    .getByText(new RegExp(said('client.unverify')))
    .waitFor()
  assert.deepEqual(faults(complaints), [])

  const plain = await open(t, [server.origin, server.adminOrigin], { javaScriptEnabled: false })
  await plain.tab.goto(`${server.adminOrigin}/console/clients`)
  assert.equal(await plain.tab.locator('thead input').count(), 0, 'Without script there is no box for all rows.')
  await plain.tab.getByRole('checkbox', { name: 'Zed' }).check()
  await press(plain.tab, 'Verify')
  await plain.tab
    .getByRole('status')
    .getByText(new RegExp(said('client.verify')))
    .waitFor()
  await plain.tab.locator('.me summary').click()
  await press(plain.tab, 'Sign out')
  await plain.tab.getByRole('heading', { name: /Sign out/ }).waitFor()
  await plain.tab.goto(`${server.adminOrigin}/console/clients`)
  // Who signed out of the console signs in again, whatever session the issuer has.
  await plain.tab.getByRole('heading', { name: 'Sign in' }).waitFor()
})
