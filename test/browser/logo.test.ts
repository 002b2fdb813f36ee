import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { sharedBrowser } from '../support/browser.ts'
import { openIssuer } from './tab.ts'

const HOSTILE = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20" onload="document.documentElement.id = 'run'">
  <style>rect { fill: rgb(1, 2, 3) }</style>
  <rect width="40" height="20" />
  <image href="/version" />
  <a href="javascript:document.documentElement.id = 'run'"><text y="9">press</text></a>
  <script>document.documentElement.id = 'run'; fetch('/account')</script>
</svg>`

test('UI-18: pages show the logo, and an SVG with scripts that is opened by its address runs none and loads nothing', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'grantor-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'logo.png')
  writeFileSync(file, HOSTILE)
  const server = await openIssuer(t, { GRANTOR_LOGO: file })
  const context = await (await sharedBrowser()).newContext()
  t.after(() => context.close())
  const tab = await context.newPage()
  const loaded: string[] = []
  tab.on('response', (response) => loaded.push(response.url()))
  await tab.goto(`${server.origin}/account`)
  const width = await tab.evaluate<number>(
    `document.querySelector('img.logo').decode().then(() => document.querySelector('img.logo').naturalWidth)`,
  )
  assert.ok(width > 0)
  const address = await tab.evaluate<string>(`document.querySelector('img.logo').src`)
  assert.equal(await tab.evaluate<string>(`document.querySelector('link[rel=icon]').href`), address)
  assert.match(address, /\/v2\/oauth\/pictures\/[\w-]{22}$/)
  loaded.length = 0
  const answer = await tab.goto(address)
  assert.equal(await tab.evaluate(`getComputedStyle(document.querySelector('rect')).fill`), 'rgb(1, 2, 3)')
  await tab.evaluate(
    `document.querySelector('a').dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }))`,
  )
  assert.equal(await tab.evaluate(`document.documentElement.id`), '')
  assert.deepEqual(loaded, [address])
  assert.deepEqual(
    ['content-type', 'x-content-type-options', 'content-security-policy', 'cache-control'].map(
      (name) => answer?.headers()[name],
    ),
    [
      'image/svg+xml',
      'nosniff',
      "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      'public, max-age=31536000, immutable',
    ],
  )
  // An address of another node, which may have another logo, is kept for an hour.
  for (const path of ['/favicon.ico', '/v2/oauth/pictures/another']) {
    const other = await context.request.get(server.origin + path)
    assert.deepEqual([other.status(), other.headers()['cache-control']], [200, 'public, max-age=3600'])
    assert.equal(await other.text(), HOSTILE)
  }
})
