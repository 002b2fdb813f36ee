import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { MeasuredSignIn, SignInResult } from '../../bench/sign-in/report.ts'
import type { StartResult } from '../../bench/start/report.ts'
import type { Report } from '../../bench/throughput/report.ts'
import type { ProofRun } from '../../prove/findings.ts'
import { median } from '../../tools/statistics.ts'
import { fixed } from '../../tools/table.ts'
import type { GeneratedPart } from '../../src/cli/docs/generated-parts.ts'

/** The pages that name one of `figures`. */
export const PAGES_WITH_FIGURES = globSync('docs/**/*.md').filter((page) =>
  /<!-- (?:idle memory|password|sign-ins) -->/.test(readFileSync(page, 'utf8')),
)

/** The table of docs/performance.md, made from the newest result of bench/results. */
export function resultParts(): readonly GeneratedPart[] {
  return [{ page: 'docs/performance.md', name: 'cost of a request', text: costRows() }]
}

/** The newest runs of prove/results: a page for the site, with links as a page of docs/ has them. */
export function proofResultsPage(): string {
  return `# Results of the proofs

The newest runs of the commands of [proofs](proofs.md), from \`prove/results/\`. Each ran on 2 cores, which clients, nodes and databases
shared, often with other work.

${proofRows()}`
}

/** Figures that several pages name in their text, each once measured: `<!-- idle memory -->131 MB<!-- -->`. */
export function withFigures(text: string): string {
  return Object.entries(figures()).reduce(
    (page, [name, figure]) => page.replaceAll(new RegExp(`(<!-- ${name} -->).*?(<!-- -->)`, 'g'), `$1${figure}$2`),
    text,
  )
}

/** From the newest kept run of `npm run bench start` and of `npm run bench sign-in`. */
function figures(): Readonly<Record<string, string>> {
  const starts = (newest('start') as StartResult).rows.find(({ size }) => size === 0)
  const signIns = (newest('sign-in') as SignInResult).rows
  const passwordMs = signIns.find(({ method }) => method === 'password')?.cpuMs ?? Number.NaN
  const all = (of: (one: MeasuredSignIn) => number | undefined, digits: number): string =>
    signIns.map((one) => fixed(of(one), digits)).join(', ')
  return {
    'idle memory': `${fixed(median(starts?.idleMegabytes ?? []), 0)} MB`,
    password: `${fixed(passwordMs, 0)} ms`,
    'cores for 11': fixed((11 * passwordMs) / 1000, 1),
    // A million sign-ins on four cores.
    'hours for all': fixed((1e6 * passwordMs) / 4 / 3_600_000, 1),
    'sign-ins': `${all(({ perSecond }) => perSecond, 0)} a second; ${all(({ cpuMs }) => cpuMs, 1)} ms of CPU; p99 ${all(({ p99Ms }) => p99Ms, 0)} ms`,
  }
}

function newest(kind: 'sign-in' | 'start'): unknown {
  const file = globSync(`bench/results/*-${kind}.json`).toSorted().at(-1)
  return JSON.parse(readFileSync(file ?? '', 'utf8'))
}

/** The newest run of each proof with each set of options. */
function proofRows(): string {
  const rows = globSync('prove/results/*.jsonl')
    .toSorted()
    .flatMap((file) => {
      const runs = readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line): ProofRun => JSON.parse(line))
      return [...new Map(runs.map((run) => [run.options, run])).values()].map((run) => proofRow(file, run))
    })
  return `| Proof | Run | Found | Violations |
|---|---|---|--:|
${rows.join('\n')}
`
}

function proofRow(file: string, { date, options, ran, found, violations, seconds }: ProofRun): string {
  const name = basename(file, '.jsonl')
  const command = options === '' ? '' : `, \`${options}\``
  const took = seconds === undefined ? '' : ` (${seconds} s)`
  const cells = [`${name}, ${date}${command}`, `${ran}${took}`, found === '' ? '–' : found, String(violations)]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

/** The endpoints that the page compares, by their names in a report. */
const ENDPOINTS: Readonly<Record<string, string>> = {
  register: 'register',
  client_credentials: 'client_credentials, JWT',
  opaque: 'client_credentials, opaque',
  code: 'code',
  refresh: 'refresh',
  introspect: 'introspection of a JWT',
}

/** The newest run of `npm run bench throughput -- --store postgres` that was kept. */
function costRows(): string {
  const [file = ''] = globSync('bench/results/*-postgres.json', { exclude: ['**/*-growth-*', '**/*-search-*'] })
    .toSorted()
    .toReversed()
  const { date, machine, endpoints }: Report = JSON.parse(readFileSync(file, 'utf8'))
  const rows = Object.entries(ENDPOINTS).map(([endpoint, name]) => {
    const of = (server: string) => endpoints.find((one) => one.endpoint === endpoint && one.server === server)
    const [sqlite, postgres] = [of('SQLite'), of('PostgreSQL')]
    if (sqlite === undefined || postgres === undefined) throw new Error(`${file} lacks ${endpoint}.`)
    const cells = [sqlite, postgres].flatMap(({ subject, ratio, cpuRatio, p50Ms, p99Ms, ...measured }) => [
      subject.best.toLocaleString('en'),
      `${fixed(ratio, 2)}, ${fixed(cpuRatio, 2)}`,
      `${fixed(p50Ms, 1)}, ${fixed(p99Ms, 0)}`,
      [measured.cpuMicrosPerRequest?.subject, measured.database?.cpuMicrosPerRequest]
        .flatMap((micros) => (micros === undefined ? [] : [fixed(micros, 0)]))
        .join(' + '),
    ])
    return `| ${[name, ...cells, fixed(sqlite.gate, 2)].join(' | ')} |`
  })
  return `${date}, ${machine.cores} cores of ${machine.processor}, PostgreSQL ${machine.postgres ?? ''} on the core of the load:

| | SQLite req/s | ratio, by CPU | p50, p99 ms | CPU µs | PostgreSQL req/s | ratio, by CPU | p50, p99 ms | CPU µs | Gate |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|
${rows.join('\n')}
`
}
