import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Resource } from '../../src/protocol/resource.ts'
import { launchBrowser, packagedFonts } from '../support/browser.ts'
import { openIssuer, openTab, signIn, startClient } from './tab.ts'
import { anApi } from '../support/records.ts'

/** Takes the screenshot of the consent page for the README, with a real server, client and browser. */

const RESOURCE = 'https://builds.acme.test/mcp'
const IMAGE = join(import.meta.dirname, '..', '..', 'docs', 'images', 'consent.png')
/** CSS pixels of background around the card. */
const MARGIN = 32

const endings: (() => unknown)[] = []
const after = (ending: () => unknown): void => void endings.unshift(ending)
try {
  await takePicture()
  console.log(`${IMAGE}: ${statSync(IMAGE).size} bytes`)
} finally {
  for (const end of endings) await end()
}

async function takePicture(): Promise<void> {
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
  const scope = 'projects:read builds:start'
  const { link } = await startClient(
    server,
    'http://127.0.0.1:43110/callback',
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
  await signIn(tab)
  await tab.getByRole('button', { name: 'Allow', exact: true }).waitFor()
  const box = await tab.locator('.card').boundingBox()
  if (box === null) throw new Error('There is no card on the page.')
  mkdirSync(join(IMAGE, '..'), { recursive: true })
  await tab.screenshot({
    path: IMAGE,
    clip: {
      x: box.x - MARGIN,
      y: Math.max(0, box.y - MARGIN),
      width: box.width + 2 * MARGIN,
      height: box.height + 2 * MARGIN,
    },
  })
}
