import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { plotRatios } from './plot.ts'
import { renderReport, type Report } from './report.ts'

/** `npm run bench:render`: docs/performance-results.md and its plots, from what runs with --save left in bench/results. */

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

function renderResult(file: string): string {
  const report = JSON.parse(readFileSync(new URL(file, RESULTS), 'utf8')) as Report
  const name = file.replace(/\.json$/, '')
  const title = `Ratio to a bare node:http server: ${name.slice(11).replaceAll('-', ' ')}`
  const { machine, date, rounds, seconds } = report
  const caption = `${date} · ${machine.processor}, ${machine.cores} cores · Node.js ${machine.node} · Grantor ${machine.grantor} · best of ${rounds} rounds of ${seconds} s`
  mkdirSync(new URL('images/', DOCS), { recursive: true })
  writeFileSync(new URL(`images/bench-${name}.svg`, DOCS), plotRatios(title, caption, report.endpoints))
  return `## ${name}\n\n![${title}](images/bench-${name}.svg)\n\n${renderReport(report)}\n`
}
