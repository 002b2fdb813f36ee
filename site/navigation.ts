import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

/** The groups of the sidebar, as Starlight reads them: a page is named by its slug. */
export interface Group {
  readonly label?: string
  readonly collapsed?: boolean
  readonly items?: readonly (string | Group)[]
  /** All pages of a folder. */
  readonly autogenerate?: { readonly directory: string }
}

const ROOT = join(import.meta.dirname, '..')
export const NAVIGATION: readonly Group[] = JSON.parse(
  readFileSync(join(import.meta.dirname, 'navigation.json'), 'utf8'),
)

/** What `npm run evidence` writes, with links as if it were in docs/. */
export const EVIDENCE = ['security-cases', 'rfc-coverage', 'proof-results'] as const

/** The pages of the repository that are pages of the site, besides those of docs/, with their slugs. */
const OTHERS: Readonly<Record<string, string>> = {
  'docs/README.md': 'docs',
  'test/mcp.md': 'mcp-requirements',
  'SECURITY.md': 'security',
  'CHANGELOG.md': 'changelog',
  'CONTRIBUTING.md': 'contribute',
}
/** Groups and pages for readers who come from elsewhere: the search does not find them. */
const UNSEARCHED = ['Evidence', 'Contribute', 'changelog', 'docs']

/** The pages of the site: the file of each, relative to the repository, with its slug, from which its address `/<slug>/` follows. */
export function sitePages(): ReadonlyMap<string, string> {
  const docs = globSync('docs/**/*.md', { cwd: ROOT }).toSorted()
  return new Map([
    ...docs.map((file) => [file, slugOf(file)] as const),
    ...EVIDENCE.map((name) => [`docs/${name}.md`, name] as const),
    ...Object.entries(OTHERS),
  ])
}

function slugOf(file: string): string {
  const { dir, name } = posix.parse(file.slice('docs/'.length))
  return name === 'README' ? dir : posix.join(dir, name)
}

/** The slugs that a group names, in its order. `slugs`: those of all pages. */
export function slugsOf(group: Group, slugs: readonly string[]): readonly string[] {
  const { items = [], autogenerate } = group
  const ofFolder =
    autogenerate === undefined ? [] : slugs.filter((slug) => `${slug}/`.startsWith(`${autogenerate.directory}/`))
  return [...items.flatMap((item) => (typeof item === 'string' ? [item] : slugsOf(item, slugs))), ...ofFolder]
}

/** Whether the search finds a page. */
export function isSearched(slug: string, slugs: readonly string[]): boolean {
  const group = NAVIGATION.find((one) => slugsOf(one, slugs).includes(slug))
  return !UNSEARCHED.includes(slug) && !UNSEARCHED.includes(group?.label ?? '')
}
