import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { Resource } from '../../src/protocol/token/resource.ts'
import { requestToken, VERIFIER } from '../../tools/flow.ts'
import { launchBrowser, packagedFonts } from '../../tools/browser.ts'
import { takeConsolePictures } from './screenshot-console.ts'
import { openIssuer, openTab, signIn, startClient } from './tab.ts'
import { addProvider } from '../support/provider/providers.ts'
import { anApi } from '../support/records.ts'

/** Takes the screenshots of the documentation, with a real server, client and browser. */

const RESOURCE = 'https://builds.acme.test/mcp'
const REDIRECT_URI = 'http://127.0.0.1:43110/callback'
const IMAGES = join(import.meta.dirname, '..', '..', 'docs', 'images')
/** CSS pixels of background beside the card and above it. Below it is the foot of the page. */
const MARGIN = 32

const endings: (() => unknown)[] = []
const after = (ending: () => unknown): void => void endings.unshift(ending)
try {
  await takePictures()
  await takeConsolePictures(after, IMAGES)
} finally {
  for (const end of endings) await end()
}

async function takePictures(): Promise<void> {
  const server = await openIssuer({ after }, { GRANTOR_NAME: 'Acme Cloud' })
  const api = anApi({
    resource: RESOURCE as Resource,
    name: 'Builds',
    scopes: [
      { name: 'projects:read', sentence: 'Read your projects', grantedTo: 'users' },
      { name: 'builds:start', sentence: 'Start builds in your name', grantedTo: 'users' },
    ],
  })
  await server.context.store.declareApi(api)
  await addProvider(server, { issuer: 'https://login.acme.example' }, {}, { id: 'acme', name: 'Acme' })
  await addProvider(server, { issuer: 'https://accounts.google.com' }, {}, { template: 'google', name: 'Google' })
  const scope = 'projects:read builds:start'
  const { client, link } = await startClient(
    server,
    REDIRECT_URI,
    { scope, resource: RESOURCE },
    { client_name: 'Cursor', scope },
  )
  server.clock.advance(3 * 60 * 1000)
  process.env['FONTCONFIG_PATH'] = await packagedFonts()
  const browser = await launchBrowser()
  after(() => browser.close())
  const viewport = { width: 640, height: 1000 }
  const { tab } = await openTab({ after }, browser, [server.origin], { viewport, deviceScaleFactor: 1.5 })
  await tab.goto(link)
  await takePicture(tab, 'sign-in')
  await signIn(tab)
  const allow = tab.getByRole('button', { name: 'Allow', exact: true })
  await allow.waitFor()
  await takePicture(tab, 'consent')
  // Nothing listens at the redirect URI.
  const [answer] = await Promise.all([tab.waitForEvent('requestfailed'), allow.click()])
  const code = new URL(answer.url()).searchParams.get('code') ?? ''
  const redemption = { grant_type: 'authorization_code', code, code_verifier: VERIFIER, redirect_uri: REDIRECT_URI }
  await requestToken(server, client, { ...redemption, resource: RESOURCE })
  const account = await tab.context().newPage()
  await account.goto(`${server.origin}/account/apps`)
  await takePicture(account, 'connected-apps')
}

async function takePicture(tab: Page, name: string): Promise<void> {
  const box = await tab.locator('.card').boundingBox()
  const foot = await tab.locator('.languages').boundingBox()
  if (box === null || foot === null) throw new Error('There is no card on the page, or no foot.')
  mkdirSync(IMAGES, { recursive: true })
  const path = join(IMAGES, `${name}.png`)
  await tab.screenshot({
    path,
    clip: {
      x: box.x - MARGIN,
      y: Math.max(0, box.y - MARGIN),
      width: box.width + 2 * MARGIN,
      height: foot.y + foot.height - Math.max(0, box.y - MARGIN),
    },
  })
  console.log(`${path}: ${statSync(path).size} bytes`)
}
