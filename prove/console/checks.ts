import axe, { type AxeResults, type RunOptions } from 'axe-core'
import type { Browser, Page as Tab } from 'playwright-core'

/** What is looked for on a page, in each width and colour, without loading the page again. */

const AXE: RunOptions = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  preload: false,
  resultTypes: ['violations'],
}

const WIDTHS = [360, 768, 1440] as const
const COLOURS = [
  { name: 'light', colorScheme: 'light', forcedColors: 'none' },
  { name: 'dark', colorScheme: 'dark', forcedColors: 'none' },
  { name: 'forced colours', colorScheme: 'light', forcedColors: 'active' },
] as const
/** 1280 px at 400 % (WCAG 2.2 §1.4.10). */
const ZOOMED = { width: 320, height: 256 } as const
/** A sheet of A4. */
const SHEET = { width: 794, height: 1123 } as const
const HEIGHT = 900

/** Opens a tab that has axe on each page. */
export async function openExaminedTab(browser: Browser): Promise<Tab> {
  const tab = await (await browser.newContext({ locale: 'en-GB' })).newPage()
  await tab.addInitScript(axe.source)
  return tab
}

/** A page in one width and colour. */
export interface Look {
  readonly name: string
  readonly width: number
}

/**
 * Shows the page in each width and colour, zoomed and as it is printed. Returns what is wrong, each with where. `onLook` is called for each
 * width and colour.
 */
export async function examine(tab: Tab, onLook: (look: Look) => Promise<void>): Promise<readonly string[]> {
  const faults = new Map<string, string[]>()
  const note = (where: string, found: readonly string[]): void => {
    for (const fault of new Set(found)) faults.set(fault, [...(faults.get(fault) ?? []), where])
  }
  for (const width of WIDTHS) {
    await tab.setViewportSize({ width, height: HEIGHT })
    for (const { name, ...colours } of COLOURS) {
      await tab.emulateMedia({ media: 'screen', ...colours })
      const where = `${width} px, ${name}`
      note(where, await axeFindings(tab))
      note(where, await tab.evaluate<readonly string[]>(LAYOUT))
      await onLook({ name, width })
    }
  }
  await tab.emulateMedia({ media: 'screen', colorScheme: 'light', forcedColors: 'none' })
  await tab.setViewportSize(ZOOMED)
  note('400 %', await tab.evaluate<readonly string[]>(LAYOUT))
  await tab.setViewportSize(SHEET)
  await tab.emulateMedia({ media: 'print' })
  note('printed', await tab.evaluate<readonly string[]>(PRINTED))
  await onLook({ name: 'printed', width: SHEET.width })
  await tab.emulateMedia({ media: 'screen' })
  return [...faults].map(([fault, where]) => `${fault} (${where.join('; ')})`)
}

async function axeFindings(tab: Tab): Promise<readonly string[]> {
  const { violations } = await tab.evaluate<AxeResults>(`axe.run(${JSON.stringify(AXE)})`)
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(' ')}`)
}

/** Nothing is wider than the window, lists scroll in no direction, and each target has 24 by 24 px. */
const LAYOUT = `(() => {
  const wide = [document.documentElement, ...document.querySelectorAll('.scroll, main, section')]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
    .map((element) => (element.className || element.tagName) + ' is ' + element.scrollWidth + ' px wide in ' + element.clientWidth)
  const small = [...document.querySelectorAll('button, select, summary, input:not([type=hidden]), nav a, .button, .set a, .pages a')]
    .filter((target) => {
      const { width, height } = (target.closest('label') ?? target).getBoundingClientRect()
      return width > 0 && (width < 24 || height < 24)
    })
    .map((target) => 'a target is small: ' + target.outerHTML.slice(0, 160))
  return [...wide, ...small]
})()`

/** The content alone, all of it, in dark letters. */
const PRINTED = `(() => {
  const isSeen = (element) => element.getClientRects().length > 0
  const left = [...document.querySelectorAll('.side, .top, button, .filters, .pick')].filter((one) => isSeen(one) && one.closest('.ask') === null)
    .map((element) => 'is printed: ' + element.outerHTML.slice(0, 80))
  const cut = [...document.querySelectorAll('.scroll, main')]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
    .map(({ className, scrollWidth, clientWidth }) => className + ' is cut: ' + scrollWidth + ' px in ' + clientWidth)
  return [...left, ...cut]
})()`
