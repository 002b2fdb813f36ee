import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { launchBrowser } from '../../tools/browser.ts'

type Report = (what: string) => void

/** Of each kind of page one: the front page, text, tables, code, generated tables, evidence, a record. */
const LOOKED_AT = [
  '/',
  '/mcp/',
  '/configuration/',
  '/resource-servers/',
  '/errors/',
  '/proofs/',
  '/decisions/',
  '/404.html',
]
const WIDTHS = [1280, 390] as const
const AMONG = 3

/** Asks the search of the site each question. Returns how many it answers. */
export async function askQuestions(
  origin: string,
  questions: readonly (readonly [question: string, ...pages: string[]])[],
  report: Report,
): Promise<number> {
  const browser = await launchBrowser()
  const tab = await browser.newPage()
  await tab.goto(`${origin}/install/`)
  await tab.locator('button[data-open-modal]').click()
  let answered = 0
  for (const [question, ...wanted] of questions) {
    await tab.locator('dialog input').fill(question)
    // Before the count the message is "Searching for …".
    const message = tab.locator('dialog .pagefind-ui__message', { hasText: new RegExp(`results? for ${question}`) })
    await message.waitFor()
    const count = Number.parseInt((await message.textContent()) ?? '', 10) || 0
    const links = tab.locator('dialog .pagefind-ui__result-inner > .pagefind-ui__result-title a')
    if (count > 0) await links.nth(Math.min(count, AMONG) - 1).waitFor()
    const found = await links.evaluateAll((some) => some.map((one) => one.getAttribute('href') ?? ''))
    if (found.slice(0, AMONG).some((page) => wanted.includes(page))) answered += 1
    else report(`"${question}" finds ${found.slice(0, AMONG).join(', ')}, and not ${wanted.join(' or ')}.`)
  }
  await browser.close()
  return answered
}

/** Opens pages in both colour schemes and widths: axe, overflow, complaints of the browser, other hosts. Returns how many pages. */
export async function lookAtPages(origin: string, report: Report): Promise<number> {
  const browser = await launchBrowser()
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of WIDTHS) {
      const context = await browser.newContext({ colorScheme, viewport: { width, height: 800 } })
      const tab = await context.newPage()
      const at = (what: string): void => report(`${new URL(tab.url()).pathname}, ${colorScheme}, ${width} px: ${what}`)
      tab.on('request', (request) => {
        if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== origin)
          at(`requests ${request.url()}`)
      })
      tab.on('console', (message) => {
        if (['error', 'warning'].includes(message.type()) && !message.text().includes('404')) at(message.text())
      })
      for (const path of LOOKED_AT) {
        await tab.goto(`${origin}${path}`)
        const content = await tab.evaluate<number>('document.documentElement.scrollWidth')
        if (content > width) at(`the content is ${content} px wide`)
        // A script of the page looks which code can be scrolled.
        await tab.waitForTimeout(400)
        for (const finding of await axeFindings(tab)) at(finding)
      }
      await tab.goto(`${origin}/install/`)
      await tab.locator('button[data-open-modal]').click()
      await tab.locator('dialog input').fill('backup')
      await tab.locator('dialog .pagefind-ui__result').first().waitFor()
      for (const finding of await axeFindings(tab)) {
        // Pagefind names its field by the placeholder and the title alone.
        if (!finding.startsWith('label-title-only')) at(`the search: ${finding}`)
      }
      await context.close()
    }
  }
  await browser.close()
  return LOOKED_AT.length
}

/** The debugger of the browser runs axe, which the policy of the page does not allow as a script. */
async function axeFindings(tab: Page): Promise<readonly string[]> {
  await tab.evaluate(axe.source)
  const { violations } = await tab.evaluate<axe.AxeResults>(
    "axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], resultTypes: ['violations'] })",
  )
  return violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .map(({ target }) => target.join(' '))
        .slice(0, 3)
        .join(', ')}`,
  )
}
