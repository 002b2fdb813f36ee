import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page as Tab } from 'playwright-core'
import { createUser } from '../../src/admin/user/user.ts'
import { launchBrowser, packagedFonts } from '../../tools/browser.ts'
import { giveRole } from '../../tools/console-browser.ts'
import { EMAIL, PASSWORD } from '../../tools/flow.ts'
import { readOptions, string } from '../../tools/options.ts'
import { startPostgres } from '../../tools/postgres/postgres.ts'
import { freePorts } from '../../tools/process/free-ports.ts'
import { beginSession } from '../../tools/process/session.ts'
import { openFindings, printReport } from '../findings.ts'
import { openGrantor } from '../resource-servers/grantor.ts'
import { examine, openExaminedTab } from './checks.ts'
import { at, chartStates, fillStates, firstStates, organizationStates, readOnlyStates, type State } from './states.ts'

/** Each screen of the console in each of its states is accessible, in each width and colour. Zoomed and printed as well. See docs/proofs.md. */

const BROKEN = `<html><body><div class="scroll" style="overflow:auto"><p style="width: 2000px; color: #ddd">faint</p></div>
  <input><button style="width: 9px; height: 9px"></button><img src="data:,"></body></html>`

const READER = 'reader@acme.test'
/** Has a role for one organization. */
const OFFICER = 'officer@acme.test'

const RECENT_MS = 3 * 60_000
const signedIn = new WeakMap<Tab, { readonly email: string; readonly at: number }>()

const { only = '', pictures } = readOptions({
  only: string('texts', 'only the states whose name contains one of the texts, between |'),
  pictures: string('folder', 'write a picture of each state to this folder'),
})

beginSession(60 * 60_000)
if (pictures !== undefined) mkdirSync(pictures, { recursive: true })
const findings = openFindings()
const postgres = await startPostgres({})
const [adminPort = 0] = await freePorts(1)
const grantor = await openGrantor({
  DATABASE_URL: (await postgres.createDatabase()).url,
  GRANTOR_ADMIN_PORT: String(adminPort),
  GRANTOR_NAME: 'Acme Cloud',
})
const { context } = grantor
const address = `http://localhost:${adminPort}/console`
await createUser(context, { email: READER, password: PASSWORD, name: undefined })
await giveRole({ context })
process.env['FONTCONFIG_PATH'] = await packagedFonts()
const browser = await launchBrowser()
let states = 0
try {
  await proveChecks()
  const tab = await openTab(EMAIL)
  for (const state of firstStates(address)) await prove(tab, state)
  for (const state of chartStates(grantor, address)) await prove(tab, state)
  const filled = await fillStates(grantor, address)
  for (const state of filled) await prove(tab, state)
  await prove(await openTab(READER, { consents: true }), {
    name: 'no role',
    show: (one) => one.getByRole('heading', { name: 'No role' }).waitFor(),
  })
  await giveRole({ context }, 'read', READER)
  const reader = await openTab(READER)
  for (const state of readOnlyStates(filled)) await prove(reader, state)
  const member = await context.store.findUserByEmail('ada@acme.test')
  const [membership] = member === undefined ? [] : await context.store.listMemberships(member.id)
  if (membership === undefined) throw new Error('No organization has a member.')
  await createUser(context, { email: OFFICER, password: PASSWORD, name: undefined })
  await giveRole({ context }, 'write', OFFICER, membership.organizationId)
  const officer = await openTab(OFFICER)
  for (const state of organizationStates(address, membership.organizationId)) await prove(officer, state)
  await prove(tab, { name: 'another host', show: (one) => one.goto(address.replace('localhost', '127.0.0.1')) })
  await postgres.stop('immediate')
  await prove(tab, at(address, 'the store is away', '/clients'))
  await postgres.start()
} finally {
  await browser.close()
  await grantor.close()
  await postgres.remove()
}
printReport(`${states} states, each in 3 widths and 3 sets of colours, at 400 % and printed`, [], findings)

async function prove(tab: Tab, { name, show }: State): Promise<void> {
  if (!only.split('|').some((text) => name.includes(text))) return
  states += 1
  await stayRecent(tab)
  await show(tab)
  const found = await examine(tab, async ({ name: look, width }) => {
    findings.operations += 1
    if (pictures === undefined || look === 'forced colours') return
    const file = `${name} ${width} ${look}`.replaceAll(/[^\w.]+/g, '-')
    await tab.screenshot({ path: join(pictures, `${file}.png`), fullPage: true })
  })
  for (const fault of found) findings.report(`${name}: ${fault}`)
}

/** A page with every kind of mistake shows that the checks find them. */
async function proveChecks(): Promise<void> {
  const tab = await openExaminedTab(browser)
  await tab.goto(`data:text/html,${encodeURIComponent(BROKEN)}`)
  const found = (await examine(tab, async () => undefined)).join('\n')
  for (const mistake of [
    'label',
    'html-has-lang',
    'image-alt',
    'color-contrast',
    'a target is small',
    'scroll is 2',
    'is printed',
    'is cut',
  ])
    if (!found.includes(mistake)) findings.report(`The checks do not find "${mistake}".`)
  await tab.close()
}

/** `consents`: the person has no role yet, so the consent page comes first. */
async function openTab(email: string, { consents = false } = {}): Promise<Tab> {
  const tab = await openExaminedTab(browser)
  await signIn(tab, email, consents)
  return tab
}

async function signIn(tab: Tab, email: string, consents = false): Promise<void> {
  await tab.goto(address)
  await tab.getByLabel('Email', { exact: true }).fill(email)
  const password = tab.getByLabel('Password', { exact: true })
  // A provider that addresses of its domains require is found by the address.
  if (!(await password.isVisible())) await tab.getByRole('button', { name: 'Continue', exact: true }).click()
  await password.fill(PASSWORD)
  await tab.getByRole('button', { name: 'Sign in', exact: true }).click()
  if (consents) await tab.getByRole('button', { name: 'Allow' }).click()
  await tab.waitForURL((url) => url.href.startsWith(address))
  signedIn.set(tab, { email, at: performance.now() })
}

/** Signs in again in time, beside the page of the tab: some forms ask for it after five minutes. */
async function stayRecent(tab: Tab): Promise<void> {
  const last = signedIn.get(tab)
  if (last === undefined || performance.now() - last.at < RECENT_MS) return
  const other = await tab.context().newPage()
  await tab.context().clearCookies()
  await signIn(other, last.email)
  await other.close()
  signedIn.set(tab, { ...last, at: performance.now() })
}
