import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { after as later } from '../../src/base/brand.ts'
import { FIGURE_SPANS, type FigureCounts } from '../../src/ports/records/figures.ts'
import { mintOrderedId } from '../../src/protocol/ids.ts'
import { ConsoleBrowser, giveRole } from '../../tools/console-browser.ts'
import { fillFigures } from '../../tools/figures.ts'
import { createAda } from '../support/accounts.ts'
import { openSteadyClock } from '../support/clocks.ts'
import { fillConsole } from '../support/console/samples.ts'
import { NOW } from '../support/records.ts'
import { openTestServer, type TestServer } from '../support/server.ts'
import { execute } from '../support/store/dump.ts'

/** The charts of the Overview in each of their states. */

const HOUR = 60 * 60 * 1000

const ends: (() => unknown)[] = []
let server: TestServer
let browser: ConsoleBrowser

before(async () => {
  server = await openTestServer({ after: (end) => void ends.push(end as () => unknown) }, { clock: openSteadyClock() })
  await createAda(server)
  await giveRole(server)
  browser = new ConsoleBrowser(server)
  await browser.open()
})

beforeEach(async () => {
  await plant(0, {})
  execute(server, 'delete from figures')
})

after(async () => {
  for (const end of ends.toReversed()) await end()
})

async function plant(offset: number, counts: FigureCounts): Promise<void> {
  const endedAt = later(NOW, offset)
  const beganAt = later(endedAt, -FIGURE_SPANS['5m'].ms)
  const id = mintOrderedId(beganAt, randomBytes)
  await server.context.store.writeFigures({ id, node: 'a', span: '5m', beganAt, endedAt, counts })
}

async function overview(query = ''): Promise<string> {
  const { statusCode, body } = await browser.console.get(`/console${query}`)
  assert.equal(statusCode, 200, body)
  return body
}

/** The chart of a title. */
function figureOf(body: string, title: string): string {
  return body.split('<figure>').find((one) => one.includes(`<h3>${title}</h3>`)) ?? assert.fail(`no chart ${title}`)
}

test('without figures the Overview says when there will be charts', async () => {
  const body = await overview()
  assert.match(body, /Charts appear here when the server has counted for five minutes/)
  assert.doesNotMatch(body, /<figure>/)
})

test('one row is one bar and a short line, and what did not happen is said in a word', async () => {
  await plant(-HOUR / 2, { tokens: { refresh_token: 4 }, events: { token_reused: 2 }, p99_ms: { token: 7 } })
  const body = await overview()
  const tokens = figureOf(body, 'Tokens')
  assert.match(tokens, /<svg class="chart" viewBox="[^"]+" role="img">\s*<title>Tokens: 4\. At most 4 at a time, from /)
  assert.match(tokens, /<path class="c1" fill="currentColor" d="M416 120V0h14V120z" \/>/)
  assert.match(tokens, /not counted/)
  assert.match(figureOf(body, 'Time of requests (p99)'), /d="M\d+ 0h8"/)
  assert.match(figureOf(body, 'New clients'), /None\./)
  assert.match(
    body,
    /<a href="\/console\/audit\?event=refresh-token\.reused&amp;since=\d{4}-\d\d-\d\dT[\d:.]+Z">\s*Refresh token reused<\/a\s*>\s*<b>2<\/b>/,
  )
})

test('N11: what failed is red and never green, and times are said only where there are some', async () => {
  const refusals = { code_unknown: 9, code_expired: 8, code_replayed: 7, scope_refused: 6 }
  await plant(-HOUR / 2, { sign_ins: { password: 9, passkey: 8 }, events: { sign_in_failed: 7 }, refusals })
  const body = await overview()
  const seriesOf = (title: string) =>
    [
      ...figureOf(body, title).matchAll(
        /<path class="c(\d)" fill="[^"]+" d="M1 1h14v14h-14z" \/><\/svg><bdi>([^<]+)</g,
      ),
    ].map(([, colour, label]) => `${colour} ${label}`)
  assert.deepEqual(seriesOf('Sign-ins'), ['1 Password', '2 Passkey', '4 Failed'])
  assert.deepEqual(
    seriesOf('Refused requests').map(([colour]) => colour),
    ['4', '2', '5', '6'],
  )
  const times = figureOf(body, 'Time of requests (p99)')
  assert.match(times, /None\./)
  assert.doesNotMatch(times, /highest/)
})

test('a link to the audit begins where the figures begin, and the page says what else differs', async () => {
  await plant(-HOUR / 2, { events: { sign_in_failed: 2 } })
  const body = await overview()
  assert.match(body, /the last whole five minutes[^]*one of them\s+may\s+count\s+several\s+attempts/)
  const [, to = ''] = /href="(\/console\/audit\?event=sign-in\.failed[^"]*)"/.exec(body) ?? []
  const listed = await browser.console.get(to.replaceAll('&amp;', '&'))
  assert.deepEqual([listed.statusCode, /Since<\/span> <bdi>\d+ \w+, \d\d:\d\d</.test(listed.body)], [200, true])
})

test('a time without a process is a gap: no bar, an interrupted line, and a dash in the table', async () => {
  for (const hours of [5, 4, 1]) await plant(-hours * HOUR, { tokens: { refresh_token: 1 }, p99_ms: { token: 5 } })
  await plant(-3 * HOUR, {})
  const body = await overview()
  const tokens = figureOf(body, 'Tokens')
  const cells = [...tokens.matchAll(/<td>([^<]+)<\/td>/g)].map(([, cell]) => cell)
  assert.deepEqual(cells, [...Array(18).fill('–'), '1', '1', '0', '–', '1', '–'])
  assert.equal(tokens.match(/h14V/g)?.length, 3)
  assert.match(figureOf(body, 'Time of requests (p99)'), /d="M\d+ 0L\d+ 0M\d+ 0h8"/)
})

test('CON-07: hostile names of a row are in no chart, and a chart has no script, no style and no address', async () => {
  const hostile = '"><script>alert(1)</script>'
  await plant(-HOUR, { refusals: { [hostile]: 3, grant_unknown: 1 }, tokens: { [hostile]: 2 } })
  const body = await overview()
  assert.ok(!body.includes('alert(1)'))
  const refused = figureOf(body, 'Refused requests')
  assert.match(refused, /<bdi>Grant unknown<\/bdi>/)
  assert.match(refused, /<bdi>Other<\/bdi>/)
  assert.doesNotMatch(
    body.slice(body.indexOf('<figure>'), body.lastIndexOf('</figure>')),
    /<script| style=|https?:|href/,
  )
})

test('a page of any period has at most 64 kB, also beside full lists and after 600 steps of busy processes', async () => {
  await fillConsole(server)
  await fillFigures(server.context.store, NOW, { span: '5m', rows: 600 })
  await fillFigures(server.context.store, NOW, { span: '1h', rows: 8 * 24, isGap: (row) => row % 60 < 25 })
  await fillFigures(server.context.store, NOW, { span: '1d', rows: 91, isGap: (row) => row % 20 < 9 })
  const pages = await Promise.all(['', '?period=7d', '?period=90d'].map(overview))
  for (const body of pages) {
    assert.ok(Buffer.byteLength(body) < 64_000, `${Buffer.byteLength(body)} bytes`)
    assert.equal(body.match(/<figure>/g)?.length, 6)
    const ids = [...body.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
    assert.equal(new Set(ids).size, ids.length, 'each id is there once')
  }
  assert.match(pages[1] ?? '', /<a href="\/console\?period=7d"\s+aria-current="true"/)
  assert.equal((await browser.console.get('/console?period=2d')).statusCode, 422)
})

test('a span that is not over is marked and said, and one that has just begun is left out', async () => {
  const rowsOf = (body: string) =>
    [...figureOf(body, 'Tokens').matchAll(/<th scope="row">([^<]+)</g)].map(([, time]) => time)
  const tokens = { tokens: { refresh_token: 4, client_credentials: 1 } }
  await plant(-HOUR, tokens)
  server.clock.advance(2 * 60 * 1000)
  const begun = await overview()
  assert.match(rowsOf(begun).at(-1) ?? '', /^\d+ \w+ \d\d:00$/)
  assert.doesNotMatch(begun, /not over yet/)
  server.clock.advance(20 * 60 * 1000)
  await plant(20 * 60 * 1000, tokens)
  const body = await overview()
  const figure = figureOf(body, 'Tokens')
  assert.deepEqual(
    [rowsOf(body).length, rowsOf(body).at(-1)?.endsWith(' (not over yet)')],
    [rowsOf(begun).length + 1, true],
  )
  assert.match(figure, /<title>Tokens: 10\.[^<]*, which is not over yet\.<[^]*<path class="open"[^]*not over yet/)
  assert.match(figure, /<bdi>Refreshed<[^]*<bdi>Without a user</)
  assert.match(body, /may not be over: it has a dashed\s+outline/)
})
