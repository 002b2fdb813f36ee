import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { LANGUAGES, type Language } from '../../src/base/language.ts'
import type { Page } from '../../src/ports/pages/pages.ts'
import { createRenderer } from '../../src/web/render.ts'
import { sharedBrowser } from '../support/browser.ts'
import { branding, samples } from '../web/samples.ts'
import type { WatchedTab } from './tab.ts'

/** The samples with their real Content-Security-Policy, and a real browser, until the process ends. */
export interface Served {
  /** The address of a sample, of `broken`, or of the page that was last passed to show(). */
  readonly address: (name: string, language: Language) => string
  readonly html: (name: string, language: Language) => string
  /** Serves a page of the test under the name `shown`. */
  readonly show: (page: Page) => void
  /** The last form that the server received. */
  readonly posted: () => Readonly<Record<string, string>>
  readonly openTab: (options: BrowserContextOptions) => Promise<WatchedTab>
}

/** A page with every kind of mistake that the tests look for. It shows that the tests find them. */
const broken = `<!doctype html><html><body onload="alert(1)"><p style="color: red">red</p><pre>${'wide '.repeat(99)}</pre>
  <input><font color="#dddddd">faint</font><img src="http://other.invalid/image.png"></body></html>`

/** Each page has links to itself in other languages. */
const LINKS = { query: new URLSearchParams({ authorization: 'az_1' }), isChosen: false }

const LEAVES = /<meta http-equiv="refresh"[^>]*>|<script>document\.forms[^<]*<\/script>/

export async function servePages(): Promise<Served> {
  const renderer = createRenderer(branding, '/pictures/')
  const policyOf = (page: Page): string =>
    `default-src 'none'; style-src ${renderer.styleSource}; img-src 'self'; script-src ${renderer.scriptSource(page) ?? "'none'"}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`
  let shown: Page = { kind: 'signed-out', back: undefined }
  const pageOf = (name: string): Page => samples.get(name) ?? shown
  // Two pages would leave at once, before a test could look at them.
  const htmlOf = (name: string, language: Language): string =>
    renderer.render(pageOf(name), language, 'abcd', LINKS).replace(LEAVES, '')
  let posted: Readonly<Record<string, string>> = {}
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method === 'POST') posted = Object.fromEntries(new URLSearchParams(await body(request)))
    const [, language, name = ''] = decodeURIComponent(request.url ?? '').split('/')
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.setHeader('content-security-policy', policyOf(pageOf(name)))
    response.end(name === 'broken' ? broken : htmlOf(name, LANGUAGES.find((one) => one === language) ?? 'en'))
  }
  const server = createServer((request, response) => void answer(request, response))
  after(() => server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const browser = await sharedBrowser()
  return {
    address: (name, language) => `${origin}/${language}/${encodeURIComponent(name)}`,
    html: htmlOf,
    show: (page) => (shown = page),
    posted: () => posted,
    openTab: (options) => openTab(browser, options),
  }
}

async function openTab(browser: Browser, options: BrowserContextOptions): Promise<WatchedTab> {
  const tab = await browser.newPage(options)
  const complaints: string[] = []
  tab.on('console', (message) => complaints.push(message.text()))
  tab.on('pageerror', (error) => complaints.push(error.message))
  tab.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  tab.on('request', (request) => {
    if (!request.isNavigationRequest()) complaints.push(`request: ${request.url()}`)
  })
  await tab.addInitScript(
    `addEventListener('securitypolicyviolation', (event) => console.error('CSP: ' + event.effectiveDirective))`,
  )
  return { tab, complaints }
}

async function body(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}
