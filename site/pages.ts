import { execFileSync } from 'node:child_process'
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, posix } from 'node:path'
import { originOf, type Manifest } from '../release/manifest.ts'
import { publishedPage, publishedPages } from '../release/pages.ts'
import { palette } from '../src/web/stylesheet.ts'
import { frontPage } from './front.ts'
import { EVIDENCE, isSearched, NAVIGATION, sitePages, slugsOf } from './navigation.ts'

/**
 * Writes what Starlight builds the site of: each page of the manual, its Markdown beside it, the front page, `llms.txt`, `security.txt`
 * and the colours of the sign-in pages. Run: node site/pages.ts
 */

const SITE = import.meta.dirname
const ROOT = join(SITE, '..')
const CONTENT = join(SITE, 'src', 'content', 'docs')
const PUBLIC = join(SITE, 'public')
/** The default of GRANTOR_ACCENT. */
const ACCENT = '#2456c9'
/** RFC 9116 §2.5.5 recommends less than a year. */
const SECURITY_TXT_DAYS = 180
const DAY_MS = 86_400_000

/** Code has no links. */
const FENCED = /^(```[^]*?^```$)/gm
const LINK = /(?<before>\]\(|src=")(?<path>[^)\s"#]*)(?<anchor>#[^)\s"]*)?(?=[)"])/g

const evidence = join(SITE, '.astro', 'evidence')
execFileSync(process.execPath, ['test/repository/write-evidence.ts', evidence], { cwd: ROOT })

const manifest = JSON.parse(read('package.json')) as Manifest & { readonly homepage?: string }
const pages = sitePages()
const slugs = [...pages.values()]
/** The programs that pages name; what starts and describes an example is beside them in the repository. */
const examples = publishedPages().filter((file) =>
  /^examples\/.*\.(?:conf|cs|go|html|java|js|mjs|py|sql|ts|tsx|yaml)$/.test(file),
)
const pictures = globSync('docs/images/*', { cwd: ROOT })
const origin = originOf(manifest)
/** The sidebar has the short names of docs/README.md, and without one what is before the colon of a heading. */
const labels = new Map(
  [...read('docs/README.md').matchAll(/\[([A-Z][^\]]*)\]\(([^)#]+)\)/g)].map(([, name = '', path = '']) => [
    pages.get(posix.join('docs', path)),
    name,
  ]),
)

for (const folder of [CONTENT, PUBLIC]) rmSync(folder, { recursive: true, force: true })
for (const [file, slug] of pages) writePage(file, slug)
for (const picture of pictures) {
  mkdirSync(join(PUBLIC, 'images'), { recursive: true })
  copyFileSync(join(ROOT, picture), join(PUBLIC, 'images', basename(picture)))
}
copyFileSync(join(SITE, 'favicon.svg'), join(PUBLIC, 'favicon.svg'))
for (const program of examples) write(join(PUBLIC, program), read(program))
write(join(CONTENT, 'index.md'), front())
write(join(PUBLIC, 'llms.txt'), llms())
write(join(PUBLIC, '.well-known', 'security.txt'), securityText())
write(join(SITE, 'src', 'styles', 'palette.css'), themed(palette(ACCENT)))

function read(file: string): string {
  const isEvidence = EVIDENCE.some((name) => file === `docs/${name}.md`)
  return readFileSync(isEvidence ? join(evidence, basename(file)) : join(ROOT, file), 'utf8')
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/** A page of the site, and its Markdown. Starlight writes the title as the heading, so the text begins after it. */
function writePage(file: string, slug: string): void {
  const text = published(file)
  const [, heading = '', rest = ''] = /^(?:<!--[^]*?-->\s*)?# ([^\n]+)\n([^]*)$/.exec(text) ?? []
  if (heading === '') throw new Error(`${file} does not begin with a heading.`)
  const title = heading.replaceAll('`', '')
  const head = {
    title,
    sidebar: { label: labels.get(slug) ?? title.replace(/: .*/, '') },
    ...(isSearched(slug, slugs) ? {} : { pagefind: false }),
    head: [{ tag: 'link', attrs: { rel: 'alternate', type: 'text/markdown', href: `/${slug}.md` } }],
  }
  // JSON is YAML.
  const programs = new Set<string>()
  const body = withAddresses(
    file,
    rest,
    (one) => `/${one}/`,
    (some) => {
      for (const program of some) programs.add(program)
      return `#${anchorOf(some[0] ?? '')}`
    },
  )
  const shown = programs.size === 0 ? '' : `\n## Programs\n\n${[...programs].map(showProgram).join('\n')}`
  write(join(CONTENT, `${slug}.md`), `---\n${JSON.stringify(head)}\n---\n${body}${shown}`)
  write(
    join(PUBLIC, `${slug}.md`),
    withAddresses(
      file,
      text,
      (one) => `/${one}.md`,
      ([program]) => `/${program}`,
    ),
  )
}

/** A page without links to what the site does not have. */
function published(file: string): string {
  return publishedPage(file, read(file), [...pages.keys(), ...pictures, ...examples, 'README.md'], origin)
}

/** The anchor of a heading, as Starlight and GitHub make it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

/** A file that a page names, as a part of the page. */
function showProgram(file: string): string {
  const ending = posix.extname(file).slice(1)
  const language = { conf: 'nginx', cs: 'csharp' }[ending] ?? ending
  return `### \`${file}\`\n\n\`\`\`\`${language}\n${read(file).trimEnd()}\n\`\`\`\`\n`
}

/** A page whose links to other pages and to programs lead to their addresses. `programAddress`: for the files of a link. */
function withAddresses(
  page: string,
  text: string,
  addressOf: (slug: string) => string,
  programAddress: (files: readonly string[]) => string,
): string {
  const target = (path: string): string => {
    const file = posix.join(posix.dirname(page), path).replace(/\/$/, '')
    const slug = pages.get(file) ?? pages.get(`${file}/README.md`)
    if (slug !== undefined) return addressOf(slug)
    const programs = examples.filter((one) => one === file || one.startsWith(`${file}/`))
    if (programs.length > 0) return programAddress(programs)
    return file === 'README.md' ? '/' : file.replace(/^docs/, '')
  }
  return text
    .split(FENCED)
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part.replaceAll(LINK, (link, before: string, path: string, anchor = '') =>
            path === '' || /^[a-z]+:/.test(path) ? link : `${before}${target(path)}${anchor}`,
          ),
    )
    .join('')
}

function front(): string {
  return frontPage(readFileSync(join(SITE, 'front.md'), 'utf8'), {
    version: manifest.version,
    readme: withAddresses(
      'README.md',
      published('README.md'),
      (slug) => `/${slug}/`,
      ([file]) => `/${file}`,
    ),
    threats: read('test/threats.md'),
    requirements: read('test/mcp.md'),
    restarts: read('prove/results/restarts.jsonl'),
  })
}

/** https://llmstxt.org: the pages by group, as Markdown. */
function llms(): string {
  const titles = new Map([...pages].map(([file, slug]) => [slug, /^# ([^\n]+)$/m.exec(read(file))?.[1] ?? slug]))
  const groups = NAVIGATION.map(
    (group) =>
      `## ${group.label}\n\n${slugsOf(group, slugs)
        .map((slug) => `- [${titles.get(slug)}](/${slug}.md)`)
        .join('\n')}`,
  )
  return `# Grantor\n\n> ${String(manifest['description'])}\n\n${groups.join('\n\n')}\n`
}

/** RFC 9116. Without a home page it names the address at which the site is tried. */
function securityText(): string {
  const { homepage = 'https://localhost' } = manifest
  const builtAt = Number(process.env['SOURCE_DATE_EPOCH'] ?? Date.now() / 1000) * 1000
  const expires = new Date((Math.floor(builtAt / DAY_MS) + SECURITY_TXT_DAYS) * DAY_MS).toISOString()
  const advisories = origin === undefined ? [] : [`Contact: ${origin.repository}/security/advisories/new`]
  return [
    ...advisories,
    `Contact: ${homepage}/security/#reporting`,
    `Expires: ${expires.replace('.000', '')}`,
    `Canonical: ${homepage}/.well-known/security.txt`,
    `Policy: ${homepage}/security/`,
    'Preferred-Languages: en',
    '',
  ].join('\n')
}

/** The colours by the theme that a reader chose, which Starlight keeps in an attribute. */
function themed(colours: string): string {
  const [light = '', dark = ''] = colours.split('@media (prefers-color-scheme: dark)')
  const declarations = (text: string): string => /:root \{([^}]*)\}/.exec(text)?.[1] ?? ''
  return `:root {${declarations(dark)}}\n:root[data-theme='light'] {${declarations(light)}}\n`
}
