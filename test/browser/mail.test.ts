import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page as Tab } from 'playwright-core'
import { sendLink } from '../../src/admin/user/link.ts'
import { COMMAND_LINE } from '../../src/admin/administrators.ts'
import type { ClientId } from '../../src/protocol/ids.ts'
import { PASSWORD, registerClient } from '../../tools/flow.ts'
import { perform } from '../support/tasks.ts'
import { createAccount } from '../support/accounts.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { sharedBrowser } from '../support/browser.ts'
import { deliver, mailedCodeTo, mailedLinkTo, openMailHost } from '../support/hosts/mail-host.ts'
import { axeFindings, openIssuer, openListener, openTab, press, startClient } from './tab.ts'
import { sentence } from '../texts/page-texts.ts'

/** What is mailed to a user, in a real browser. */

const browser = await sharedBrowser()
const host = await openMailHost(WHOLE_FILE)
const server = await openIssuer(WHOLE_FILE, { ...host.env, GRANTOR_NAME: 'Acme Cloud' })
const NEW = 'another long horse'

test('a user who forgot the password in a request of an application chooses a new one, and ends in the application', async (t) => {
  const email = 'forgetful@acme.test'
  await createAccount(server, { email, isVerified: true, password: PASSWORD, name: 'Ida' })
  const { port, next } = await openListener(t)
  const app = `http://127.0.0.1:${port}`
  const { link } = await startClient(server, `${app}/callback`, {}, {})
  const { tab, complaints } = await openTab(t, browser, [server.origin, app], { viewport: { width: 360, height: 740 } })
  await tab.goto(link)
  await tab.locator('#email').fill(email)
  await tab.locator('#password').fill('some guess')
  await press(tab, sentence('forgot'))
  await tab.getByRole('heading', { name: sentence('forgotHeading') }).waitFor()
  assert.equal(await tab.locator('#email').inputValue(), email)
  await press(tab, sentence('forgotSend'))
  await tab.getByRole('heading', { name: sentence('forgotDoneHeading') }).waitFor()
  assert.deepEqual(await findingsOf(tab), [])
  await arrive(email)
  await tab.goto(mailedLinkTo(host, email))
  await choosePassword(tab)
  assert.deepEqual(await findingsOf(tab), [])
  await tab.getByRole('link', { name: /Cursor/ }).click()
  await signInAs(tab, email, NEW)
  await press(tab, 'Allow')
  assert.ok((await next()).searchParams.has('code'))
  assert.deepEqual(complaints, [])
})

test('an invitation to an application says who invites and for which address, confirms the address, and ends there', async (t) => {
  const email = 'new@acme.test'
  await createAccount(server, { email, password: undefined, name: undefined })
  const { port } = await openListener(t)
  const app = `http://127.0.0.1:${port}`
  const invited = { client_name: 'Build Board', initiate_login_uri: `${app}/login`, client_uri: app }
  const { client_id } = await registerClient(server, invited)
  await perform(server.context, 'client.verify', { client_id })
  await sendLink(server.context, email, { ...COMMAND_LINE, clientId: client_id as ClientId })
  await arrive(email)
  const { tab, complaints } = await openTab(t, browser, [server.origin, app], {})
  await tab.goto(mailedLinkTo(host, email))
  assert.match(await tab.locator('main').innerText(), /Acme Cloud has made an account for new@acme\.test/)
  assert.deepEqual(await findingsOf(tab), [])
  await choosePassword(tab)
  const account = (await tab.getByRole('link', { name: sentence('account.see') }).getAttribute('href')) ?? ''
  await tab.getByRole('link', { name: /Build Board/ }).click()
  await tab.waitForURL(`${app}/login?iss=${encodeURIComponent(server.context.issuer)}`)
  await tab.goto(account)
  await signInAs(tab, email, NEW)
  await tab.getByText('new@acme.test verified').waitFor()
  assert.deepEqual(complaints, [])
})

test('in German, a user changes the own address with the code from the new mailbox', async (t) => {
  const [email, later] = ['old@acme.test', 'later@acme.test']
  await createAccount(server, { email, isVerified: true, password: PASSWORD, name: 'Ida' })
  const options = { locale: 'de-DE', colorScheme: 'dark', viewport: { width: 360, height: 740 } } as const
  const { tab, complaints } = await openTab(t, browser, [server.origin], options)
  await tab.goto(`${server.origin}/account`)
  await signInAs(tab, email, PASSWORD)
  await tab.getByRole('link', { name: 'Ändern E-Mail' }).click()
  await tab.locator('#email:focus').fill(later)
  await press(tab, 'Senden')
  await tab.getByText(`Geben Sie den Code ein, der an ${later} geschickt wurde.`).waitFor()
  assert.deepEqual(await findingsOf(tab), [])
  await tab.locator('#code:focus').fill('1234 5678')
  await press(tab, 'Weiter')
  await tab.getByText('Dieser Code stimmt nicht').waitFor()
  await arrive(later)
  await tab.locator('#code:focus').fill(mailedCodeTo(host, later))
  await press(tab, 'Weiter')
  await tab.getByText('Ihre E-Mail-Adresse wurde geändert').waitFor()
  await tab.getByText(`${later} bestätigt`).waitFor()
  assert.deepEqual(await findingsOf(tab), [])
  await arrive(email)
  assert.match(host.mails.findLast(({ to }) => to.includes(email))?.text ?? '', /Die E-Mail-Adresse Ihres Kontos/)
  assert.deepEqual(complaints, [])
})

/** Sends what is due, and waits for what the server has begun to send by itself. */
async function arrive(address: string): Promise<void> {
  await deliver(server)
  await host.arrival(address)
}

async function findingsOf(tab: Tab): Promise<readonly unknown[]> {
  const isWide = await tab.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')
  return [...(await axeFindings(tab)), ...(isWide ? ['wider than the window'] : [])]
}

async function choosePassword(tab: Tab): Promise<void> {
  await tab.locator('#password').fill(NEW)
  await tab.locator('#repeated').fill(NEW)
  await press(tab, 'Set password')
  await tab.getByRole('heading', { name: sentence('account.linkUsedHeading') }).waitFor()
}

async function signInAs(tab: Tab, email: string, password: string): Promise<void> {
  await tab.locator('#email').fill(email)
  await tab.locator('#password').fill(password)
  await tab.locator('#password').press('Enter')
}
