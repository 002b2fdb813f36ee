import { execFile } from 'node:child_process'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from 'node:test'
import { inspect, parseArgs } from 'node:util'
import { ALL_CASES } from './support/runner/cases.ts'
import { bundleProgram } from './support/runner/bundled-program.ts'
import { COMPILE_CACHE } from './support/runner/compile-cache.ts'
import { longestFirst, rememberTimes } from './support/runner/group-times.ts'
import { END_OF_FILE, groupsOf, UNCAUGHT, writeEntry } from './support/runner/groups.ts'
import { openMemoryFolder } from './support/runner/memory-folder.ts'
import { COMPILER_ENVIRONMENT } from '../release/build.ts'
import { SHARED_CLUSTER, startPostgres } from '../tools/postgres/postgres.ts'
import { BUNDLED_PROGRAM } from '../tools/process/command-line.ts'
import { beginSession } from '../tools/process/session.ts'

/**
 * What the compiler has checked, so that it checks only files that changed since, and those that depend on them: a fifth of the time. Knip also
 * keeps what it has read of each file.
 */
const CHECKED = 'node_modules/.cache/grantor-types.json'
const CHECKED_BUILD = 'node_modules/.cache/grantor-build-types.json'

/**
 * `npm test` runs the compiler, the linter and the formatter, and in parallel the test files, those of a folder in one process.
 * The last line of the output is `N passed, N failed`, and above it are the names of the tests that failed. A skipped or unfinished
 * test counts as failed. All files share one PostgreSQL.
 *
 * With arguments only the test files run whose path contains one of them, and besides the same checks those of the layout and of
 * the pages: `npm test -- registration`. After `--only`, nothing else runs: `npm test -- --only registration`.
 *
 * With `--long` the files are those that `npm run prove long-tests` runs, and those of tables of cases, with all of them.
 */
const CHECKS: readonly (readonly [command: string, ...args: string[]])[] = [
  ['tsc', '-p', '.', '--singleThreaded', '--incremental', '--tsBuildInfoFile', CHECKED],
  ['tsc', '-p', 'tsconfig.browser.json', '--singleThreaded'],
  ['oxlint', '--deny-warnings', '--type-aware', '--threads=1'],
  ['oxfmt', '--check'],
  ['knip', '--cache', '--cache-location', 'node_modules/.cache/knip'],
]

/** The sources with the options of a release. In a run of all test files, test/release/artefact.test.ts compiles them. */
const BUILD_OPTIONS = ['-p', 'tsconfig.build.json', '--noEmit', '--incremental', '--tsBuildInfoFile', CHECKED_BUILD]
const BUILD_CHECK = ['tsc', '--singleThreaded', ...BUILD_OPTIONS] as const

/** Test files about the source files and pages themselves. They are fast, and any change can break their rules. */
const RULES = ['test/repository/docs.test.ts', 'test/repository/layout.test.ts']

/** Many tests spend half of their time waiting for a server, a browser or the clock. */
const GROUPS_PER_CORE = 2

/**
 * If no test begins or ends for so long, the first one that has not ended hangs. All tests of a folder together have no limit, because they
 * take many times as long on a machine that is busy with other work.
 */
const SILENCE_MS = 300_000

const OUTPUT_LIMIT_BYTES = 16 * 1024 * 1024

let passed = 0
const failed: string[] = []

const { values, positionals: wanted } = parseArgs({
  options: { only: { type: 'boolean' }, long: { type: 'boolean' } },
  allowPositionals: true,
})
const all = globSync(values.long === true ? ['test/**/*.long.ts', 'test/**/*-matrix.test.ts'] : 'test/**/*.test.ts')
if (values.long === true) process.env[ALL_CASES] = 'yes'
const matching = all.filter((file) => wanted.length === 0 || wanted.some((word) => file.includes(word)))
const files = values.only === true ? matching : [...new Set([...matching, ...RULES])]

const checking = values.only === true ? Promise.resolve() : checkAll()
for (const word of wanted) {
  if (!all.some((file) => file.includes(word)))
    report('no test file matches', `No path of a test file contains ${word}.`)
}

// All processes of this run put their temporary files there.
process.env['TMPDIR'] = openMemoryFolder() ?? tmpdir()
beginSession()
// The cluster ends with this process, however it ends.
const cluster = await startPostgres({ settings: { max_connections: String(100 + 50 * availableParallelism()) } })
process.env['NODE_COMPILE_CACHE'] = COMPILE_CACHE
process.env[SHARED_CLUSTER] = cluster.adminUrl()
process.env[BUNDLED_PROGRAM] = await bundleProgram()
const groups = longestFirst(groupsOf(files))
const entries = mkdtempSync(join(tmpdir(), 'grantor-test-'))
const groupOf = new Map(groups.map((group) => [writeEntry(entries, group), group]))
const hanging = new AbortController()
const events = run({
  files: [...groupOf.keys()],
  concurrency: GROUPS_PER_CORE * availableParallelism(),
  signal: hanging.signal,
})
const silence = setTimeout(() => hanging.abort(), SILENCE_MS)
let ended = 0
/** The last test that began. */
let begun = ''
const times = new Map<string, number>()
for await (const event of events) {
  silence.refresh()
  if (event.type === 'test:dequeue') begun = event.data.name
  if (event.type === 'test:pass' && event.data.name === END_OF_FILE) ended += 1
  else if (event.type === 'test:pass' && event.data.details.type !== 'suite') {
    if (event.data.skip !== undefined || event.data.todo !== undefined) report(event.data.name, 'It was skipped.')
    else passed += 1
  }
  if (event.type === 'test:fail' && event.data.details.type !== 'suite') {
    report(`${event.data.name} (${event.data.file ?? ''})`, describe(event.data.details.error))
  }
  if (event.type === 'test:summary') {
    const group = groupOf.get(event.data.file ?? '')
    if (group !== undefined) times.set(group.name, event.data.duration_ms)
  }
  if (event.type === 'test:stderr') {
    const { file, message } = event.data
    if (message.startsWith(UNCAUGHT))
      report(groupOf.get(file)?.name ?? file, `${UNCAUGHT}${JSON.parse(message.slice(UNCAUGHT.length)) as string}`)
    else if (wanted.length > 0) process.stderr.write(message)
  }
}

clearTimeout(silence)
if (hanging.signal.aborted)
  report(
    'a test that hangs',
    `No test began or ended for ${SILENCE_MS / 1000} seconds. The last one that began: ${begun}`,
  )
if (ended < files.length) report('test files that did not end', `${files.length - ended} of ${files.length}`)
rememberTimes(times)
await cluster.remove()
rmSync(entries, { recursive: true })
await checking

for (const name of failed) console.log(`✖ ${name}`)
console.log(`${passed} passed, ${failed.length} failed`)
process.exitCode = failed.length === 0 ? 0 : 1

/** Runs the checks: all at once besides a few test files, and one after the other besides all of them, which take longer anyway. */
async function checkAll(): Promise<void> {
  if (wanted.length > 0) await Promise.all([...CHECKS, BUILD_CHECK].map(([command, ...args]) => check(command, args)))
  else for (const [command, ...args] of CHECKS) await check(command, args)
}

function check(command: string, args: readonly string[]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const env = { ...process.env, ...COMPILER_ENVIRONMENT }
  execFile(command, args, { encoding: 'utf8', maxBuffer: OUTPUT_LIMIT_BYTES, env }, (error, stdout, stderr) => {
    if (error === null) passed += 1
    else report([command, ...args].join(' '), `${stdout}${stderr}` || error.message)
    resolve()
  })
  return promise
}

function report(name: string, why: string): void {
  failed.push(name)
  console.log(`✖ ${name}\n${why.replaceAll(/^/gm, '    ')}\n`)
}

function describe(error: Error): string {
  return inspect(error.cause instanceof Error ? error.cause : error)
}
