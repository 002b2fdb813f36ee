import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readOptions, string } from '../../tools/options.ts'
import { beginSession, openFolder } from '../../tools/process/session.ts'
import { openFindings, printReport } from '../findings.ts'
import { askQuestions, lookAtPages } from './in-browser.ts'
import { brokenLinks, hostsNamed } from './links.ts'
import { takePictures } from './pictures.ts'
import { QUESTIONS } from './questions.ts'
import { serveFolder } from './serve-folder.ts'

/** The site of the manual: two equal builds, links, search, accessibility, no other host, size. See docs/proofs.md. */

const SITE = 'site'
const BUILT = join(SITE, 'dist')
const SIZE_LIMIT = 12_000_000

const { pictures } = readOptions({
  pictures: string('folder', 'where pictures of the first screen of README.md and of the site are written'),
})
beginSession()
const findings = openFindings()

findings.progress('npm ci')
run('npm', 'ci', '--prefix', SITE)
const [first, second] = [build(), build()]
for (const [file, digest] of second) if (first.get(file) !== digest) findings.report(`Two builds differ in ${file}.`)
for (const file of first.keys()) if (!second.has(file)) findings.report(`The second build has no ${file}.`)

// The HTML of an example is a source that a page shows.
const pages = [...second.keys()].filter((file) => file.endsWith('.html') && !file.startsWith('examples/'))
const { broken, links } = brokenLinks(BUILT, pages)
for (const link of broken) findings.report(`A link leads nowhere: ${link}`)
for (const host of hostsNamed(BUILT, [...second.keys()]))
  findings.report(`The site takes something of another host: ${host}`)
const bytes = [...second.keys()].reduce((sum, file) => sum + statSync(join(BUILT, file)).size, 0)
if (bytes > SIZE_LIMIT) findings.report(`The site has ${bytes} bytes; the limit is ${SIZE_LIMIT}.`)

const kept = openFolder()
cpSync(BUILT, kept, { recursive: true })
const server = await serveFolder(kept)
findings.progress('search')
const answered = await askQuestions(server.origin, QUESTIONS, findings.report)
findings.progress('axe')
const looked = await lookAtPages(server.origin, findings.report)
if (pictures !== undefined) await takePictures(SITE, server.origin, pictures)
server.close()
printReport(
  `${pages.length} pages, built twice`,
  [
    `${links} links and anchors`,
    `${answered} of ${QUESTIONS.length} questions answered among the first three`,
    `${looked} pages in axe, light and dark, at 1280 and 390 px`,
    `${(bytes / 1e6).toFixed(1)} MB`,
  ],
  findings,
)

/** Builds the site. Returns the digest of each file. */
function build(): ReadonlyMap<string, string> {
  findings.progress('build')
  run(process.execPath, join(SITE, 'build.ts'), 'build')
  const files = globSync('**/*', { cwd: BUILT, withFileTypes: true }).filter((file) => file.isFile())
  return new Map(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name)
      return [path.slice(BUILT.length + 1), createHash('sha256').update(readFileSync(path)).digest('hex')]
    }),
  )
}

/** @throws Error with the output of a command that fails */
function run(program: string, ...words: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(program, words, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${words.join(' ')} failed:\n${stdout}${stderr}`)
}
