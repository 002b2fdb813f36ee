import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { after as later } from '../../../src/base/brand.ts'
import { FIGURE_SPANS, type FigureCounts, type FigureSpan } from '../../../src/ports/records/figures.ts'
import { mintOrderedId } from '../../../src/protocol/ids.ts'
import { ConsoleBrowser, giveRole } from '../../../tools/console-browser.ts'
import { fillFigures } from '../../../tools/figures.ts'
import { createAda } from '../../support/accounts.ts'
import { openSteadyClock } from '../../support/clocks.ts'
import { fillConsole } from '../../support/console/samples.ts'
import { NOW } from '../../support/records.ts'
import { openTestServer, type TestServer } from '../../support/server.ts'
import { execute } from '../../support/store/dump.ts'

/** The charts and the four numbers in each of their states: on the Overview, and on the page of all figures. */

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

async function plant(offset: number, counts: FigureCounts, span: FigureSpan = '5m'): Promise<void> {
  const endedAt = later(NOW, offset)
  const beganAt = later(endedAt, -FIGURE_SPANS[span].ms)
  const id = mintOrderedId(beganAt, randomBytes)
  await server.context.store.writeFigures({ id, node: 'a', span, beganAt, endedAt, counts })
}

async function overview(query = '', path = '/console'): Promise<string> {
  const { statusCode, body } = await browser.console.get(`${path}${query}`)
  assert.equal(statusCode, 200, body)
  return body
}

function allFigures(query = ''): Promise<string> {
  return overview(query, '/console/figures')
}

/** The chart with an id. */
function figureOf(body: string, id: string): string {
  return body.split('<figure id="').find((one) => one.startsWith(`${id}"`)) ?? assert.fail(`no chart ${id}`)
}

/** The number of a tile and what is below it. */
function tileOf(body: string, title: string): readonly string[] {
  const [, number = '', remark = ''] = new RegExp(`>${title}<b>([^<]*)</b>([^<]*)`).exec(body) ?? []
  return [number, remark.replace('&nbsp;', '')]
}

/** The key of a chart: the colour and the words of each series. */
function keyOf(figure: string): readonly string[] {
  return [...figure.matchAll(/<span class="k(\d)"><bdi>([^<]+)<\/bdi> ([^<]+)<\/span>/g)].map(
    ([, colour, label, total]) => `${colour} ${label} ${total}`,
  )
}

test('without figures each chart is one plate that says when there will be numbers, and no tile has a bar', async () => {
  const body = await overview()
  assert.equal(body.match(/The first numbers are here five minutes after the start\./g)?.length, 2)
  assert.deepEqual(tileOf(body, 'Sign-ins'), ['0', ''])
  assert.deepEqual(tileOf(body, 'Slowest 1 % of requests'), ['–', ''])
  assert.doesNotMatch(body, /<path class="k[1-6]/)
})

test('one row is one bar and a short line, beside a plate that says since when the server has counted, to five minutes', async () => {
  await plant(-HOUR / 2, { tokens: { refresh_token: 4 }, events: { token_reused: 2 }, p99_ms: { token: 7 } })
  const body = await allFigures()
  const tokens = figureOf(body, 'tokens')
  assert.match(tokens, /<svg class="chart" viewBox="[^"]+" role="img"\s*>\s*<title>Access tokens by hour, from /)
  assert.match(tokens, /<path class="k1" d="M\d+ 142V12h\d+V142z" \/>/)
  const [, since] =
    /class="k0" d="M44 12h\d+v130h-\d+z" \/><text class="m"[^>]*>Counted since (\d\d:\d\d)</.exec(tokens) ?? []
  assert.equal(since, new Date(NOW - HOUR / 2 - FIGURE_SPANS['5m'].ms).toISOString().slice(11, 16))
  assert.match(figureOf(body, 'times'), /class="k1 l" d="M\d+ \d+h8"/)
  assert.match(figureOf(body, 'clients'), /No new clients in this period\./)
  assert.match(
    body,
    /Refresh token reused<\/dt>\s*<dd>\s*2\s*<a href="\/console\/audit\?event=refresh-token\.reused&amp;since=[\d%A-Z.:T-]+Z"/,
  )
})

test('N11: what failed is red and never green, and the highest time is that of what is drawn', async () => {
  const refusals = { code_unknown: 9, code_expired: 8, code_replayed: 7, scope_refused: 6 }
  await plant(-HOUR / 2, { sign_ins: { password: 9, passkey: 8 }, events: { sign_in_failed: 7 }, refusals })
  const body = await allFigures()
  assert.deepEqual(keyOf(figureOf(body, 'sign-ins')), ['1 Password 9', '2 Passkey 8', '4 Failed 7'])
  const colours = keyOf(figureOf(body, 'refusals')).map(([colour]) => colour)
  assert.deepEqual(colours, ['4', '2', '5', '6'])
  assert.match(figureOf(body, 'times'), /No requests in this period\./)
  assert.match(await overview(), /<path class="k4" d="M\d+ 28v-27h7V28z"/, 'the failures beside their number')
})

test('an axis has 0, a half and a round top, and below it four or five times that a person reads on a clock', async () => {
  const labelsOf = (figure: string) =>
    [...figure.matchAll(/<text (?:class="y" )?x="[^>]*>([^<]*)</g)].map(([, text]) => text)
  const cases: readonly (readonly [count: number, top: string, half: string])[] = [
    [1, '2', '1'],
    [3, '4', '2'],
    [5, '6', '3'],
    [7, '8', '4'],
    [11, '20', '10'],
    [251, '300', '150'],
    [2400, '3k', '1.5k'],
    [1_200_000, '2M', '1M'],
  ]
  for (const [count, top, half] of cases) {
    await plant(-HOUR, { sign_ins: { password: count } })
    const [zero, middle, highest, ...times] = labelsOf(figureOf(await overview(), 'sign-ins'))
    assert.deepEqual([zero, middle, highest], ['0', half, top], String(count))
    assert.ok(times.length >= 4 && times.length <= 5 && times.at(-1) === 'now', times.join(' '))
    assert.ok(
      times.slice(0, -1).every((time) => /^(00|06|12|18):00$/.test(time ?? '')),
      times.join(' '),
    )
    execute(server, 'delete from figures')
  }
  await plant(-HOUR, { p99_ms: { token: 41 } })
  assert.ok(labelsOf(figureOf(await allFigures(), 'times')).includes('50 ms'))
})

test('the numbers are compared with the time before, of which all was counted, and failures with the shares of earlier days', async () => {
  const DAY = 24 * HOUR
  await plant(-HOUR, { sign_ins: { password: 96 }, events: { sign_in_failed: 4 }, tokens: { refresh_token: 5 } })
  const alone = await overview()
  assert.deepEqual(tileOf(alone, 'Sign-ins'), ['96', ''], 'nothing is known of the day before')
  assert.deepEqual(tileOf(alone, 'Sign-ins that failed'), ['4', '4 %'])
  for (let hour = 24; hour < 49; hour++)
    await plant(-hour * HOUR, { sign_ins: { password: 3 }, tokens: { refresh_token: 1 } })
  const compared = await overview()
  assert.match(tileOf(compared, 'Sign-ins')[1] ?? '', /^\+(28|33) % to the day before$/)
  assert.match(tileOf(compared, 'Access tokens')[1] ?? '', /^−(79|80) % to the day before$/)
  for (let day = 1; day < 7; day++)
    await plant(-day * DAY, { sign_ins: { password: 100 - day }, events: { sign_in_failed: day } }, '1d')
  assert.deepEqual(tileOf(await overview(), 'Sign-ins that failed'), ['4', '4 % · usual: 1 to 6 %'])
})

test('a link to the audit begins where the figures begin, and the page says what else differs', async () => {
  await plant(-HOUR / 2, { events: { sign_in_failed: 2 } })
  const body = await allFigures()
  assert.match(body, /One event may count several attempts/)
  assert.match(figureOf(body, 'sign-ins'), /Counted up to the last whole five minutes/)
  const [, to = ''] = /href="(\/console\/audit\?event=sign-in\.failed[^"]*)"/.exec(body) ?? []
  const listed = await browser.console.get(to.replaceAll('&amp;', '&'))
  assert.deepEqual([listed.statusCode, /Since<\/span> <bdi>\d+ \w+, \d\d:\d\d</.test(listed.body)], [200, true])
})

test('a time without a process is a gap: no bar, an interrupted line, and a dash in the table', async () => {
  for (const hours of [5, 4, 1]) await plant(-hours * HOUR, { tokens: { refresh_token: 1 }, p99_ms: { token: 5 } })
  await plant(-3 * HOUR, {})
  const body = await allFigures()
  const tokens = figureOf(body, 'tokens')
  const cells = [...tokens.matchAll(/<td>([^<]+)<\/td>/g)].map(([, cell]) => cell)
  assert.deepEqual(cells, [...Array(18).fill('–'), '1', '1', '0', '–', '1', '–'])
  assert.match(tokens, /<span class="k0">Not counted<[^]*Counted since \d\d:\d\d</)
  assert.equal(tokens.match(/V\d+h\d+V142z/g)?.length, 3)
  assert.match(figureOf(body, 'times'), /class="k1 l" d="M\d+ \d+L\d+ \d+M\d+ \d+h8"/)
})

test('CON-07: hostile names of a row are in no chart, and a chart has no script, no style and no address', async () => {
  const hostile = '"><script>alert(1)</script>'
  await plant(-HOUR, { refusals: { [hostile]: 3, grant_unknown: 1 }, tokens: { [hostile]: 2 } })
  const body = await allFigures()
  assert.ok(!body.includes('alert(1)'))
  const refused = figureOf(body, 'refusals')
  assert.match(refused, /<bdi>Grant unknown<\/bdi>/)
  assert.match(refused, /<bdi>Other<\/bdi>/)
  assert.doesNotMatch(
    body.slice(body.indexOf('<figure'), body.lastIndexOf('</figure>')),
    /<script| style=|https?:|href/,
  )
})

test('a page of any period has at most 64 kB, also beside full lists and after 600 steps of busy processes', async () => {
  await fillConsole(server)
  await fillFigures(server.context.store, NOW, { span: '5m', rows: 600 })
  await fillFigures(server.context.store, NOW, { span: '1h', rows: 8 * 24, isGap: (row) => row % 60 < 25 })
  await fillFigures(server.context.store, NOW, { span: '1d', rows: 91, isGap: (row) => row % 20 < 9 })
  const queries = ['', '?period=7d', '?period=90d']
  const pages = await Promise.all(queries.map((query) => overview(query)))
  const others = await Promise.all(queries.map(allFigures))
  for (const [index, body] of [...pages, ...others].entries()) {
    assert.ok(Buffer.byteLength(body) < 64_000, `${Buffer.byteLength(body)} bytes`)
    assert.equal(body.match(/<figure /g)?.length, index < 3 ? 2 : 6)
    const ids = [...body.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
    assert.equal(new Set(ids).size, ids.length, 'each id is there once')
  }
  assert.match(pages[1] ?? '', /<a href="\/console\?period=7d"\s+aria-current="true"/)
  assert.equal((await browser.console.get('/console?period=2d')).statusCode, 422)
})

test('a span that is not over is marked and said, and one that has just begun is left out', async () => {
  const rowsOf = (body: string) =>
    [...figureOf(body, 'tokens').matchAll(/<th scope="row">([^<]+)</g)].map(([, time]) => time)
  const tokens = { tokens: { refresh_token: 4, client_credentials: 1 } }
  await plant(-HOUR, tokens)
  server.clock.advance(2 * 60 * 1000)
  const begun = await allFigures()
  assert.match(rowsOf(begun).at(-1) ?? '', /^\d+ \w+ \d\d:00$/)
  assert.doesNotMatch(begun, /not over yet/)
  server.clock.advance(20 * 60 * 1000)
  await plant(20 * 60 * 1000, tokens)
  const body = await allFigures()
  const figure = figureOf(body, 'tokens')
  assert.deepEqual(
    [rowsOf(body).length, rowsOf(body).at(-1)?.endsWith(' (not over yet)')],
    [rowsOf(begun).length + 1, true],
  )
  assert.match(figure, /Counted up to the last whole five minutes, so the last span is not over\./)
  assert.deepEqual(keyOf(figure), ['1 Refreshed 8', '2 Without a user 2'])
})
