import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { renderGrowth, type GrowthResult } from './growth-report.ts'
import { plotRatios } from './plot.ts'
import { renderReport, type Report } from './report.ts'
import { renderSoak, type SoakResult } from './soak-report.ts'

/** `npm run bench:render` generates docs/performance-results.md and its plots from the results of runs with --save. */

const RESULTS = new URL('./results/', import.meta.url)
const DOCS = new URL('../docs/', import.meta.url)

const sections = readdirSync(RESULTS)
  .filter((file) => file.endsWith('.json'))
  .toSorted()
  .toReversed()
  .map(renderResult)
const intro = `# Results of the bench

Made by \`npm run bench:render\` from the files of [bench/results](../bench/results). How to read them: [performance.md](performance.md).
`
writeFileSync(new URL('performance-results.md', DOCS), [intro, ...sections].join('\n'))

type Result = GrowthResult | SoakResult | (Report & { readonly kind?: undefined })

function renderResult(file: string): string {
  const result = JSON.parse(readFileSync(new URL(file, RESULTS), 'utf8')) as Result
  const name = file.replace(/\.json$/, '')
  return `## ${name}\n\n${renderKind(result, name)}\n`
}

function renderKind(result: Result, name: string): string {
  switch (result.kind) {
    case 'growth':
      return renderGrowth(result)
    case 'soak':
      return renderSoak(result)
    case undefined:
      return `${plot(result, name)}\n\n${renderReport(result)}`
  }
}

/** Writes the plot, and returns the Markdown that shows it. */
function plot({ machine, date, rounds, seconds, endpoints }: Report, name: string): string {
  const title = `Ratio to a bare node:http server: ${name.slice(11).replaceAll('-', ' ')}`
  const caption = `${date} · ${machine.processor}, ${machine.cores} cores · Node.js ${machine.node} · Grantor ${machine.grantor} · best of ${rounds} rounds of ${seconds} s`
  mkdirSync(new URL('images/', DOCS), { recursive: true })
  writeFileSync(new URL(`images/bench-${name}.svg`, DOCS), plotRatios(title, caption, endpoints))
  return `![${title}](images/bench-${name}.svg)`
}
