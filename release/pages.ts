import { execFileSync } from 'node:child_process'
import { posix } from 'node:path'

/** A repository with a tag, on whose host a file has an address such as `https://git.example.com/grantor/blob/v0.1.0/LICENSE`. */
export interface Origin {
  readonly repository: string
  readonly tag: string
}

/** The pages that the published package has, so that the links of its README lead to files. */
export const PAGES = ['README.md', 'CHANGELOG.md', 'LICENSE', 'SECURITY.md', 'deploy', 'docs', 'examples'] as const

/** Pictures, evidence, and what only somebody with a checkout needs: a third of the package. */
const LEFT_OUT = [
  'docs/architecture.md',
  'docs/budget.json',
  'docs/real-clients.md',
  'docs/contributing/',
  'docs/decisions/',
  'docs/images/',
  'docs/performance.md',
  'docs/proofs.md',
]

/** Code has no links. */
const FENCED = /^(```[^]*?^```$)/gm
const LINK = /(?<image>!?)\[(?<text>[^\]]*)\]\((?<path>[^)\s#]*)(?<anchor>#[^)\s]*)?\)/g
/** A picture with a width. */
const PICTURE = /(?<before><img [^>]*src=")(?<path>[^"]*)(?<after>"[^>]*>)/g

/**
 * The pages of the published package. What git does not track, such as the secrets of the compose files, is not published.
 */
export function publishedPages(): readonly string[] {
  const tracked = execFileSync('git', ['ls-files', '-z', '--', ...PAGES], { encoding: 'utf8' })
  return tracked
    .split('\0')
    .slice(0, -1)
    .filter((page) => !LEFT_OUT.some((path) => page.startsWith(path)))
}

/**
 * Returns the text of a page in which no link leads to a file that is not published: it leads to the repository at the tag of the release
 * or, as long as no origin is known, becomes its text. `files`: what is published.
 */
export function publishedPage(
  page: string,
  text: string,
  files: readonly string[],
  origin: Origin | undefined,
): string {
  const address = (kind: 'blob' | 'raw', file: string): string | undefined =>
    origin && `${origin.repository}/${kind}/${origin.tag}/${file}`
  const missing = (path: string): string | undefined => {
    if (path === '' || /^[a-z]+:/.test(path)) return undefined
    const file = posix.join(posix.dirname(page), path).replace(/\/$/, '')
    return files.some((one) => one === file || one.startsWith(`${file}/`)) ? undefined : file
  }
  const withLinks = (prose: string): string =>
    prose
      .replaceAll(LINK, (link, image: string, words: string, path: string, anchor = '') => {
        const file = missing(path)
        if (file === undefined) return link
        const found = address(image === '' ? 'blob' : 'raw', file)
        if (found === undefined) return image === '' ? words : ''
        return `${image}[${words}](${found}${anchor})`
      })
      .replaceAll(PICTURE, (picture, before: string, path: string, after: string) => {
        const file = missing(path)
        if (file === undefined) return picture
        const found = address('raw', file)
        return found === undefined ? '' : `${before}${found}${after}`
      })
      // What a picture leaves.
      .replaceAll(/^(?:<p[^>]*><\/p>| +)\n+/gm, '')
      .replaceAll(/\n{3,}/g, '\n\n')
  return text
    .split(FENCED)
    .map((part, index) => (index % 2 === 0 ? withLinks(part) : part))
    .join('')
}
