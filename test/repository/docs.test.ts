import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { isKnown } from '../../src/config/config.ts'
import { generatedParts, withParts } from '../../src/cli/docs/generated-parts.ts'
import { FORM_REFUSALS, PAGE_REFUSALS } from '../../src/protocol/authorization/page-refusals.ts'
import { REFUSALS } from '../../src/protocol/refusals.ts'
import { overBudget, type Budget } from './budget.ts'
import { PAGES_WITH_FIGURES, resultParts, withFigures } from './results.ts'
import {
  casesOf,
  listClaims,
  listThreatCases,
  listUntestedCases,
  rfcCoveragePage,
  securityCasesPage,
} from './titles.ts'

const PARTS = [...generatedParts(), ...resultParts()]
const REMEDY = 'Run: npm run docs'
const read = (path: string): string => readFileSync(path, 'utf8')
const BUDGET: Budget = JSON.parse(read('docs/budget.json'))

for (const page of new Set(PARTS.map((part) => part.page))) {
  test(`${page} has the tables that "npm run docs" makes`, () => {
    assert.equal(read(page), withParts(page, PARTS), REMEDY)
  })
}

test('pages name the idle memory and the cost of a password as the newest kept runs of the benchmark have them', () => {
  assert.ok(PAGES_WITH_FIGURES.length >= 5)
  for (const page of PAGES_WITH_FIGURES) assert.equal(read(page), withFigures(read(page)), `${page}: ${REMEDY}`)
})

test('every reason is used by the code', () => {
  const texts = globSync('src/**/*.ts')
    .filter((path) => !/protocol\/(?:page-)?refusals\.ts$/.test(path))
    .map(read)
  const used = new Set(texts.flatMap((text) => [...text.matchAll(/'([a-z0-9_-]+)'/g)].map(([, word]) => word)))
  const tables = [
    ...Object.values(REFUSALS).map(({ reasons }) => reasons),
    ...Object.values(PAGE_REFUSALS),
    FORM_REFUSALS,
  ]
  for (const reasons of tables) for (const reason of Object.keys(reasons)) assert.ok(used.has(reason), reason)
})

test('every case of test/threats.md has a test, or a reason for having none', () => {
  const ids = listThreatCases().map(({ id }) => id)
  const tested = listClaims().flatMap(({ title }) => casesOf(title))
  const untested = listUntestedCases()
  assert.equal(new Set(ids).size, ids.length)
  assert.deepEqual(
    ids.filter((id) => !tested.includes(id)),
    ids.filter((id) => untested.includes(id)),
  )
  assert.deepEqual(
    [...tested, ...untested].filter((id) => !ids.includes(id)),
    [],
  )
})

test('the pages of evidence have each case with a test, and each standard that a title cites', () => {
  const claims = listClaims()
  const [cases, coverage] = [securityCasesPage(claims), rfcCoveragePage(claims)]
  for (const id of claims.flatMap(({ title }) => casesOf(title))) assert.ok(cases.includes(`- **${id}** `), id)
  const cited = claims.flatMap(({ title }) => [...title.matchAll(/RFC (\d{4})/g)].map(([, rfc = '']) => rfc))
  assert.ok(cited.length > 100)
  for (const rfc of cited) assert.ok(coverage.includes(`## RFC ${rfc}\n`), rfc)
})

test('every decision that is cited has a record, and docs/decisions/README.md lists each record', () => {
  const records = globSync('docs/decisions/[0-9]*.md').map((path) => path.slice('docs/decisions/'.length))
  const texts = globSync(['{src,test,prove,bench,docs}/**/*.{ts,md,sql}', '*.md'], { exclude: ['**/node_modules/**'] })
  const cited = texts.map(read).flatMap((text) => [...text.matchAll(/\bdecisions? (\d{4})(?:(?:, | and )(\d{4}))?/gi)])
  assert.ok(cited.length > 50)
  const numbers = new Set(records.map((name) => name.slice(0, 4)))
  for (const [citation, ...cites] of cited)
    for (const number of cites) assert.ok(number === undefined || numbers.has(number), citation)
  const index = [...read('docs/decisions/README.md').matchAll(/\]\((\d{4}[^)]*)\)/g)].map(([, name = '']) => name)
  assert.deepEqual(index.toSorted(), records.toSorted())
})

test('every GRANTOR_ variable in docs, examples and deploy is a setting, because Grantor rejects any other', () => {
  const paths = globSync(['*.md', '{docs,examples,deploy}/**/*'], {
    withFileTypes: true,
    exclude: (file) => file.name === 'node_modules',
  }).flatMap((file) => (file.isFile() && file.name !== 'CHANGELOG.md' ? [join(file.parentPath, file.name)] : []))
  const unknown = paths.flatMap((path) =>
    [...read(path).matchAll(/\bGRANTOR_[A-Z0-9_]*[A-Z0-9]\b(?![*…]|_[*…])/g)].flatMap(([name]) =>
      isKnown(name) ? [] : [`${path}: ${name}`],
    ),
  )
  assert.ok(paths.length > 60)
  assert.deepEqual(unknown, [])
})

test('every relative link in a page leads to a file, and to a heading if it names one', () => {
  const pages = globSync(['*.md', '{docs,test,bench}/**/*.md'], { exclude: ['**/node_modules/**'] })
  const broken = pages.flatMap((page) =>
    [...proseOf(read(page)).matchAll(/(?:\]\(|src=")((?!https?:|mailto:)[^)\s"#]*)(?:#([^)\s"]*))?[)"]/g)].flatMap(
      ([link, path = '', anchor]) => {
        const target = path === '' ? page : join(dirname(page), path)
        if (!existsSync(target)) return [`${page}: ${link}`]
        return anchor === undefined || anchorsOf(read(target)).includes(anchor) ? [] : [`${page}: ${link}`]
      },
    ),
  )
  assert.deepEqual(broken, [])
})

test('every file of the repository that a page names exists', () => {
  const pages = globSync(['*.md', '{docs,test,bench}/**/*.md'], { exclude: ['**/node_modules/**', 'CHANGELOG.md'] })
  const missing = pages.flatMap((page) =>
    [...read(page).matchAll(/`((?:src|test|prove|bench|bin|deploy)\/[\w./-]+)`/g)].flatMap(([, path = '']) =>
      existsSync(path) || path.includes('NNNN') ? [] : [`${page}: ${path}`],
    ),
  )
  assert.deepEqual(missing, [])
})

test('pages write "grantor": only the index and the page on installing say how each installation starts the command', () => {
  const pages = globSync('docs/**/*.md').filter((page) => /npm run -s grantor|command of your/.test(read(page)))
  assert.deepEqual(pages.toSorted(), ['docs/README.md', 'docs/install.md'])
})

test('an entry of the changelog has at most two lines', () => {
  const entries = read('CHANGELOG.md').split(/^- /m).slice(1)
  assert.ok(entries.length > 10)
  const long = entries.filter((entry) => (entry.split(/\n(?:\n|#)/)[0] ?? '').trim().split('\n').length > 2)
  assert.deepEqual(long, [])
})

test('no page of docs/ has more words than docs/budget.json allows', () => {
  const pages = new Map(globSync('docs/**/*.md').map((path) => [path, read(path)]))
  assert.deepEqual(overBudget(BUDGET, pages), [])
})

test('README.md has no more lines than docs/budget.json allows', () => {
  const lines = read('README.md').trimEnd().split('\n').length
  assert.ok(lines <= BUDGET.readmeLines, `It has ${lines}, and ${BUDGET.readmeLines} are allowed.`)
})

test('the budget reports a page that is too long, new, removed or no short page, and a sum that is exceeded', () => {
  const budget = {
    sum: 1900,
    readmeLines: 1,
    pages: { 'docs/a.md': 50, 'docs/b.md': 950 },
    longPages: { 'docs/c.md': 950 },
    generatedPages: { 'docs/made.md': 5000 },
  }
  const pages = new Map([
    ['docs/a.md', 'word '.repeat(51)],
    ['docs/b.md', '# B'],
    ['docs/made.md', '# Made'],
    ['docs/new.md', '# A new\n\npage'],
  ])
  assert.deepEqual(overBudget(budget, pages), [
    'docs/a.md has 51 words, and 50 are allowed: shorten it, or write "docs/a.md": 100.',
    'docs/new.md has no row: write "docs/new.md": 50 below "pages" of docs/budget.json, at most 900.',
    'docs/c.md does not exist: remove its row.',
    'The row of docs/b.md allows 950 words: at most 900, or below "longPages".',
    'The rows have 1950 words together, and "sum" allows 1900: shorten a page.',
  ])
})

/** A page without its code. */
function proseOf(page: string): string {
  return page
    .replaceAll(/^```[\s\S]*?^```$/gm, '')
    .replaceAll(/`[^`\n]*`/g, (code) => (code.includes('](') ? '' : code))
}

/** The anchors that GitHub gives the headings of a page. */
function anchorsOf(page: string): readonly string[] {
  return [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}
