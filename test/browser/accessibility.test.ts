import assert from 'node:assert/strict'
import { test } from 'node:test'
import axe from 'axe-core'
import type { RunOptions } from 'axe-core'
import type { BrowserContextOptions, Page as Tab } from 'playwright-core'
import { languages, samples } from '../web/samples.ts'
import { servePages } from './served-pages.ts'
import { DESCRIBE_FINDING } from './tab.ts'

const names = [...samples.keys()]

const axeOptions: RunOptions = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  preload: false,
  resultTypes: ['violations'],
}

const pages = await servePages()

test('these checks find the mistakes of a page that breaks the rules', async () => {
  const options = { viewport: { width: 320, height: 800 } }
  const { tab, complaints } = await pages.openTab(options)
  const axeTab = await openTabWithAxe(options)
  await tab.goto(pages.address('broken', 'en'))
  assert.ok((await contentWidth(tab)) > 320)
  for (const directive of ['style-src-attr', 'script-src-attr', 'img-src']) {
    assert.ok(complaints.includes(`CSP: ${directive}`), `${directive} in ${complaints.join(' | ')}`)
  }
  assert.equal((await smallTargets(tab)).length, 1)
  // The page before leaves nothing behind that hides a mistake of the next one.
  for (const name of ['login', 'broken']) {
    await tab.goto(pages.address(name, 'en'))
    const rules = (await axeFindings(axeTab, tab)).map((finding) => finding.split(':')[0])
    for (const rule of ['color-contrast', 'document-title', 'html-has-lang', 'image-alt', 'label', 'region'])
      assert.equal(rules.includes(rule), name === 'broken', `${name}: ${rule}`)
  }
  for (const one of [tab, axeTab]) await one.context().close()
})

/** CSS pixels. A page that fits here fits wherever there is more room, so the wide pass looks at one page of each markup. */
const NARROW = 320

/**
 * Colors do not depend on the width, so two passes see each color scheme and each width, and most pages in two languages. Axe costs most
 * of their time. It sees one page of each markup, another one in each pass.
 */
const PASSES = [
  { colorScheme: 'light', width: 1000, from: 0, pick: 'first' },
  { colorScheme: 'dark', width: NARROW, from: 1, pick: 'last' },
] as const

for (const { colorScheme, width, from, pick } of PASSES) {
  test(`axe finds nothing, nothing overflows and every target has 44 by 44 px: every page, ${colorScheme}, ${width} px`, async () => {
    const options: BrowserContextOptions = { colorScheme, viewport: { width, height: 800 } }
    const axeTab = await openTabWithAxe(options)
    const { tab, complaints } = await pages.openTab(options)
    const examples = examplesOfMarkup(pick)
    for (const [index, name] of names.entries()) {
      if (width > NARROW && !examples.has(name)) continue
      const language = languages[(index + from) % languages.length] ?? 'en'
      await tab.goto(pages.address(name, language))
      if (examples.has(name)) assert.deepEqual(await axeFindings(axeTab, tab), [], `${name} (${language})`)
      const content = await contentWidth(tab)
      assert.ok(content <= width, `${name} (${language}) is ${content} px wide`)
      assert.deepEqual(await smallTargets(tab), [], `${name} (${language})`)
    }
    assert.deepEqual(complaints, [])
    for (const one of [tab, axeTab]) await one.context().close()
  })
}

test('axe sees each markup in both passes: pages share an example only if nothing but their texts differs', () => {
  const all = new Set(names.map(markupOf))
  for (const { pick } of PASSES) assert.deepEqual(new Set([...examplesOfMarkup(pick)].map(markupOf)), all)
  assert.equal(textless('<p id="a">one</p><i>two</i>'), textless('<p id="a">three</p><i>four</i>'))
  for (const other of ['<p id="b">one</p><i>two</i>', '<p id="a"></p><i>two</i>', '<p id="a">one</p><i>one</i>'])
    assert.notEqual(textless(other), textless('<p id="a">one</p><i>two</i>'), other)
})

test('WCAG 2.2 §1.4.4: at 200 % text size nothing overflows', async () => {
  const { tab } = await pages.openTab({ viewport: { width: 640, height: 800 } })
  const session = await tab.context().newCDPSession(tab)
  await session.send('Emulation.setDeviceMetricsOverride', {
    width: 320,
    height: 400,
    deviceScaleFactor: 2,
    mobile: false,
  })
  for (const [index, name] of names.entries()) {
    // The narrow pass has measured the same width of the others in German, whose words are longer.
    if (index % 2 === 0) continue
    await tab.goto(pages.address(name, 'de'))
    assert.ok((await contentWidth(tab)) <= 320, name)
  }
  await tab.context().close()
})

test('a browser that prefers reduced motion gets no transitions', async () => {
  const { tab } = await pages.openTab({ reducedMotion: 'reduce' })
  await tab.goto(pages.address('consent', 'en'))
  const moving = await tab.evaluate<number>(
    `[...document.querySelectorAll('*')].filter((element) => getComputedStyle(element).transitionDuration !== '0s').length`,
  )
  assert.equal(moving, 0)
  await tab.context().close()
})

/** The first or the last page of each markup. */
function examplesOfMarkup(pick: 'first' | 'last'): ReadonlySet<string> {
  const ordered = pick === 'first' ? names.toReversed() : names
  return new Set(new Map(ordered.map((name) => [markupOf(name), name])).values())
}

function markupOf(name: string): string {
  return textless(pages.html(name, 'en'))
}

/** HTML with a number instead of each text. Equal texts have the same number, because some rules of axe compare texts. */
function textless(html: string): string {
  const texts = new Map<string, number>()
  return html.replaceAll(/>([^<]+)</g, (between, text: string) => {
    if (text.trim() === '') return between
    if (!texts.has(text)) texts.set(text, texts.size)
    return `>${texts.get(text)}<`
  })
}

/**
 * A tab for `axeFindings`, of one document whose content is replaced. A page of its own would load axe once more, and run it while the
 * browser has compiled nothing of it yet: both take longer than all of its rules.
 */
async function openTabWithAxe(options: BrowserContextOptions): Promise<Tab> {
  const { tab } = await pages.openTab(options)
  await tab.goto('data:text/html,<!doctype html>')
  await tab.evaluate(axe.source)
  return tab
}

/** The findings of axe on the page that another tab shows, as its scripts have left it: each rule with the elements that break it. */
async function axeFindings(axeTab: Tab, shown: Tab): Promise<readonly string[]> {
  const html = await shown.evaluate<string>('document.documentElement.outerHTML')
  return axeTab.evaluate<readonly string[]>(`(async () => {
    const page = new DOMParser().parseFromString(${JSON.stringify(html)}, 'text/html')
    document.documentElement.replaceWith(document.adoptNode(page.documentElement))
    const { violations } = await axe.run(${JSON.stringify(axeOptions)})
    return violations.map(${DESCRIBE_FINDING})
  })()`)
}

/** The links, buttons and fields smaller than a finger. One call for all, because each call takes a round trip. */
async function smallTargets(tab: Tab): Promise<readonly string[]> {
  return tab.evaluate<readonly string[]>(`
    [...document.querySelectorAll('a, button, select, input:not([type=hidden])')].filter((target) => {
      const { width, height } = target.getBoundingClientRect()
      return width < 44 || height < 44
    }).map((target) => target.outerHTML)`)
}

async function contentWidth(tab: Tab): Promise<number> {
  return tab.evaluate<number>('document.documentElement.scrollWidth')
}
