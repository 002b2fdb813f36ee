import { globSync, readFileSync } from 'node:fs'

/** The title of a test, which states what the test shows. */
export interface Claim {
  readonly title: string
  readonly file: string
}

/** The titles of all tests, read from the source. In a title that is composed at run time, `…` replaces the variable parts. */
export function listClaims(): readonly Claim[] {
  return [...globSync('test/**/*.test.ts'), ...globSync('test/store/contract/*.ts', { exclude: ['**/*.test.ts'] })]
    .toSorted()
    .flatMap((file) => titlesOf(readFileSync(file, 'utf8')).map((title) => ({ title, file })))
}

/** The threat cases of this release: each id must begin the title of a test. */
export const SECURITY_CASES: readonly string[] = [
  ...ids('REG', '01-12 15 21-28'),
  ...ids('AUTH', '01-12 16 18-26'),
  ...ids('UI', '01-08 10-13 17'),
  ...ids('TOK', '01-20'),
  ...ids('CODE', '01-13'),
  ...ids('CC', '01-07'),
  ...ids('RT', '01-11 13 15-16 18-20'),
  ...ids('MET', '01-07'),
  ...ids('REV', '01-05 08-09'),
  ...ids('INT', '01-08 10'),
  ...ids('ADM', '01-10'),
  ...ids('STO', '01 03 08-09 11 17'),
  ...ids('NET', '01 03-10 12 14-18'),
  ...ids('BND', '01-05'),
]

/** docs/security-cases.md. */
export function securityCasesPage(claims: readonly Claim[]): string {
  const known = claims.flatMap((claim) => casesOf(claim.title).map((id) => ({ id, claim })))
  const all = [...new Set([...SECURITY_CASES, ...known.map(({ id }) => id)])].toSorted(byId)
  const rows = all.flatMap((id) =>
    known.filter((one) => one.id === id).map(({ claim }) => `| ${id} | ${cell(claim.title)} | ${link(claim.file)} |`),
  )
  return `# Security cases

Known failures of other authorization servers, described in [threats.md](threats.md), each with a test of this server.
\`npm run docs\` generates this page from the titles of the tests. The suite fails if the page is out of date or a case has no test.

| Case | Claim | Test |
|---|---|---|
${rows.join('\n')}
`
}

/** docs/rfc-coverage.md. */
export function rfcCoveragePage(claims: readonly Claim[]): string {
  const cited = claims.flatMap((claim) => citationsOf(claim.title).map((citation) => ({ ...citation, claim })))
  const rows = cited
    .toSorted(
      (left, right) => left.rfc - right.rfc || left.section.localeCompare(right.section, 'en', { numeric: true }),
    )
    .map(
      ({ rfc, section, claim }) =>
        `| RFC ${rfc} | ${section === '' ? '' : `§${section}`} | ${cell(claim.title)} | ${link(claim.file)} |`,
    )
  return `# RFC coverage

Titles of tests that cite a standard. \`npm run docs\` generates this page from the titles of the tests. The suite fails if the
page is out of date.

| Standard | Section | Claim | Test |
|---|---|---|---|
${rows.join('\n')}
`
}

function titlesOf(text: string): readonly string[] {
  const found = text.matchAll(/\b(?:test|it)\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/g)
  return [...found].map(([, single, double, template]) =>
    (single ?? double ?? template ?? '').replaceAll(/\$\{[^}]*\}/g, '…').replaceAll(/\\(['"`])/g, '$1'),
  )
}

/** The ids at the start of a title, such as `REG-01:` or `REG-01, REG-08:`. */
function casesOf(title: string): readonly string[] {
  const head = /^(?:[A-Z]+-\d{2}[, /]*)+/.exec(title)?.[0] ?? ''
  return [...head.matchAll(/[A-Z]+-\d{2}/g)].map(([id]) => id)
}

function citationsOf(title: string): readonly { readonly rfc: number; readonly section: string }[] {
  return [...title.matchAll(/RFC (\d{4})(?: §([0-9A-Z.]*[0-9A-Z]))?/g)].map(([, rfc, section]) => ({
    rfc: Number(rfc),
    section: section ?? '',
  }))
}

function ids(group: string, ranges: string): readonly string[] {
  return ranges.split(' ').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => `${group}-${String(first + index).padStart(2, '0')}`)
  })
}

const GROUPS = [...new Set(SECURITY_CASES.map(groupOf))]

function byId(left: string, right: string): number {
  const order = (id: string): number => {
    const place = GROUPS.indexOf(groupOf(id))
    return (place === -1 ? GROUPS.length : place) * 100 + Number(id.slice(-2))
  }
  return order(left) - order(right)
}

/** `REG` of `REG-01`. */
function groupOf(id: string): string {
  return id.slice(0, id.indexOf('-'))
}

function link(file: string): string {
  return `[${file.slice('test/'.length)}](../${file})`
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
}
