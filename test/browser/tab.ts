import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import axe from 'axe-core'
import type { Browser, BrowserContextOptions, Page as Tab } from 'playwright-core'
import { authorizeUrl, EMAIL, PASSWORD, registerClient, type RegisteredClient } from '../../tools/flow.ts'
import { createAda } from '../support/accounts.ts'
import { openTestServer, type TestServer } from '../support/server.ts'

/** A client's listener on this computer, as native applications open one for the answer. */
export interface Listener {
  readonly port: number
  /** The address of the next answer that has not been returned yet. Waits for it if necessary. */
  readonly next: () => Promise<URL>
}

/** A tab, and everything that the browser did although the server's pages must not cause it. */
export interface WatchedTab {
  readonly tab: Tab
  /** Policy violations, console messages, script errors, dialogs, and requests to other origins. */
  readonly complaints: readonly string[]
}

/** Longer than a busy machine needs for a page, and short enough to fail before the suite does. */
const TIMEOUT_MS = 15_000

/** Listens on both addresses of `localhost`, because browsers try either. */
export async function openListener(t: Pick<TestContext, 'after'>): Promise<Listener> {
  const arrived: URL[] = []
  const waiting: ((url: URL) => void)[] = []
  const answer = (host: string): Server =>
    createServer((request, response) => {
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>Done</title><p>You may close this.')
      if (request.url?.startsWith('/callback') !== true) return
      const url = new URL(request.url, `http://${host}`)
      const taker = waiting.shift()
      if (taker === undefined) arrived.push(url)
      else taker(url)
    })
  const four = answer('127.0.0.1')
  const six = answer('[::1]')
  const port = await listenOnBoth(four, six)
  t.after(() => {
    for (const server of [four, six]) {
      server.closeAllConnections()
      server.close()
    }
  })
  return {
    port,
    next() {
      const url = arrived.shift()
      return url === undefined ? new Promise((resolve) => void waiting.push(resolve)) : Promise.resolve(url)
    },
  }
}

/**
 * Finds a port that is free on both addresses. A port that is free on one may be taken on the other, so this tries several.
 */
async function listenOnBoth(four: Server, six: Server): Promise<number> {
  for (let attempt = 0; ; attempt++) {
    await listen(four, '127.0.0.1', 0)
    const { port } = four.address() as AddressInfo
    try {
      await listen(six, '::1', port)
      return port
    } catch (cause) {
      if (attempt === 5) throw cause
      await new Promise((resolve) => four.close(resolve))
    }
  }
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
}

/** Starts a server with Ada's account. */
export async function openIssuer(
  t: Pick<TestContext, 'after'>,
  env: Readonly<Record<string, string>>,
): Promise<TestServer> {
  const server = await openTestServer(t, { listen: true, env })
  await createAda(server)
  return server
}

/**
 * Opens a tab with a new profile. Its pages may only request the `allowed` origins and schemes of apps, such as `cursor:`.
 */
export async function openTab(
  t: Pick<TestContext, 'after'>,
  browser: Browser,
  allowed: readonly string[],
  options: BrowserContextOptions,
): Promise<WatchedTab> {
  const context = await browser.newContext({ locale: 'en-GB', ...options })
  t.after(() => context.close())
  context.setDefaultTimeout(TIMEOUT_MS)
  const tab = await context.newPage()
  return { tab, complaints: watch(tab, allowed) }
}

/**
 * Messages of Chromium that are no mistake of the page. It logs the first for every answer with a status of 400 or above, and
 * the second when the test focuses a field before Chromium has focused the field with `autofocus`.
 */
const EXPECTED_MESSAGES = ['Failed to load resource', 'Autofocus processing was blocked']

/** Collects everything that the tab does from now on although it must not. */
function watch(tab: Tab, allowed: readonly string[]): readonly string[] {
  const complaints: string[] = []
  tab.on('console', (message) => {
    const text = message.text()
    if (!EXPECTED_MESSAGES.some((expected) => text.startsWith(expected))) complaints.push(text)
  })
  tab.on('pageerror', (error) => complaints.push(error.message))
  tab.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  tab.on('request', (request) => {
    const { origin, protocol, href } = new URL(request.url())
    // The address of an app has no origin, so its scheme is checked instead.
    if (!allowed.includes(origin === 'null' ? protocol : origin)) complaints.push(`request: ${href}`)
    else if (!request.isNavigationRequest()) complaints.push(`loads: ${href}`)
  })
  tab.on('popup', () => complaints.push('popup'))
  return complaints
}

/** Registers a client on this computer and returns the link that it opens in the browser. */
export async function startClient(
  server: TestServer,
  redirectUri: string,
  parameters: Readonly<Record<string, string>>,
  metadata: object,
): Promise<{ client: RegisteredClient; link: string }> {
  const client = await registerClient(server, {
    client_name: 'Cursor',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
    ...metadata,
  })
  return { client, link: server.origin + authorizeUrl(client, { redirect_uri: redirectUri, ...parameters }) }
}

/** Types Ada's email and password by their labels and presses the button. */
export async function signIn(tab: Tab): Promise<void> {
  await tab.getByLabel('Email', { exact: true }).fill(EMAIL)
  await tab.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await tab.getByRole('button', { name: 'Sign in', exact: true }).click()
}

export function press(tab: Tab, name: string): Promise<void> {
  return tab.getByRole('button', { name, exact: true }).click()
}

/**
 * A function of the page: a violation as text. All results of axe are long, and taking them out of the browser takes more time than
 * finding them.
 */
export const DESCRIBE_FINDING = "({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`"

/** What axe finds on the page: a rule and its elements a line. */
export async function axeFindings(tab: Tab): Promise<readonly string[]> {
  await tab.evaluate(axe.source)
  return tab.evaluate<readonly string[]>(
    `axe.run({ preload: false }).then(({ violations }) => violations.map(${DESCRIBE_FINDING}))`,
  )
}
