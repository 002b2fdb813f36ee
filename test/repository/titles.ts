import { globSync, readFileSync } from 'node:fs'

const CATALOGUE = readFileSync('test/threats.md', 'utf8')

/** The title of a test, which states what the test shows. */
export interface Claim {
  readonly title: string
  readonly file: string
}

/** The titles of all tests, read from the source. In a title that is composed at run time, `…` replaces the variable parts. */
export function listClaims(): readonly Claim[] {
  return [
    ...globSync('test/**/*.{test,long}.ts'),
    ...globSync('test/store/contract/**/*.ts', { exclude: ['**/*.test.ts'] }),
  ]
    .toSorted()
    .flatMap((file) => titlesOf(readFileSync(file, 'utf8')).map((title) => ({ title, file })))
}

/** A known failure of other servers, as test/threats.md describes it. */
export interface ThreatCase {
  readonly id: string
  /** The heading above the case. */
  readonly group: string
  readonly source: string
  readonly wentWrong: string
}

/** The catalogue of threats, in its order. Each case is a row of four cells that begins with the id. */
export function listThreatCases(): readonly ThreatCase[] {
  return CATALOGUE.split(/^### /m)
    .slice(1)
    .flatMap((section) =>
      [...section.matchAll(/^\| ([A-Z]+-\d{2}) \| ([^|]*) \| ([^|]*) \| [^\n]*\|$/gm)].map(
        ([, id = '', source = '', wentWrong = '']) => ({
          id,
          group: section.slice(0, section.indexOf('\n')),
          source: source.trim(),
          wentWrong: wentWrong.trim(),
        }),
      ),
    )
}

/** The cases for which the catalogue says why no test has their id. */
export function listUntestedCases(): readonly string[] {
  const section = CATALOGUE.split('## Cases without a test')[1]?.split('\n## ')[0] ?? ''
  return [...section.matchAll(/^\| ([A-Z]+-\d{2}) \|/gm)].map(([, id = '']) => id)
}

/** The ids at the start of a title, such as `REG-01:`, `REG-01, REG-08:` or `RFC 7636 §4.4.1, AUTH-06:`. */
export function casesOf(title: string): readonly string[] {
  return [...title.slice(0, title.indexOf(':') + 1).matchAll(/[A-Z]+-\d{2}/g)].map(([id]) => id)
}

/** The known attacks with their tests: a page for the site, with links as a page of docs/ has them. */
export function securityCasesPage(claims: readonly Claim[]): string {
  const cases = listThreatCases().map((threat) => ({
    ...threat,
    files: filesOf(claims.filter(({ title }) => casesOf(title).includes(threat.id))),
  }))
  const tested = cases.filter(({ files }) => files.length > 0)
  const groups = [...new Set(tested.map(({ group }) => group))]
  const section = (group: string): string =>
    `## ${group}

${tested.flatMap((threat) => (threat.group === group ? [caseItem(threat)] : [])).join('\n')}
`
  return `# Security cases

Known failures of other authorization servers, with their sources, and failures that an examination of this server looked for, without.
Each has the files of its tests, whose titles say what holds here: \`grep -rn REG-01 test\` lists those of one case. \`npm run evidence\` generates
this page from [test/threats.md](../test/threats.md) and the titles. The suite fails if a case has neither a test nor a reason for having none.

${groups.map(section).join('\n')}`
}

function caseItem({ id, source, wentWrong, files }: ThreatCase & { readonly files: readonly string[] }): string {
  const isOwn = ['', '–', 'own examination', '– (own examination)'].includes(source)
  const elsewhere = isOwn ? wentWrong : `${wentWrong} (${source})`
  const links = files.map((file) => `[${file.slice('test/'.length).replace(/(?:\.test)?\.ts$/, '')}](../${file})`)
  return `- **${id}** ${elsewhere}: ${links.join(', ')}`
}

function filesOf(claims: readonly Claim[]): readonly string[] {
  return [...new Set(claims.map(({ file }) => file))]
}

/** The sections of standards with their tests, likewise. */
export function rfcCoveragePage(claims: readonly Claim[]): string {
  const cited = claims
    .flatMap((claim) => citationsOf(claim.title).map((citation) => ({ ...citation, claim })))
    .toSorted(
      (left, right) => left.rfc - right.rfc || left.section.localeCompare(right.section, 'en', { numeric: true }),
    )
  const claimOf = ({ title, file }: Claim): string => `[${title.slice(title.indexOf(':') + 1).trim()}](../${file})`
  const item = ([section, items]: readonly [string, typeof cited]): string =>
    `- **${section}** ${items.map(({ claim }) => claimOf(claim)).join('; ')}`
  const part = ([rfc, items]: readonly [number, typeof cited]): string => {
    const sections = Map.groupBy(items, ({ section }) => (section === '' ? `RFC ${rfc}` : section))
    return `## RFC ${rfc}\n\n${[...sections].map(item).join('\n')}\n`
  }
  return `# RFC coverage

What the tests show of each standard, section by section. Each sentence leads to the file of its test. \`npm run evidence\` generates this page
from the titles of the tests that cite a standard.

${[...Map.groupBy(cited, ({ rfc }) => rfc)].map(part).join('\n')}`
}

function titlesOf(text: string): readonly string[] {
  const found = text.matchAll(/\b(?:test|check)\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/g)
  return [...found].map(([, single, double, template]) =>
    (single ?? double ?? template ?? '').replaceAll(/\$\{[^}]*\}/g, '…').replaceAll(/\\(['"`])/g, '$1'),
  )
}

function citationsOf(title: string): readonly { readonly rfc: number; readonly section: string }[] {
  return [...title.matchAll(/RFC (\d{4})(?:bis)?(?: (§[0-9A-Z.]*[0-9A-Z]|appendix [A-Z](?:\.\d+)?))?/g)].map(
    ([, rfc, section = '']) => ({ rfc: Number(rfc), section }),
  )
}
