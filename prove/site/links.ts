import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The links of built pages that lead to no file or no anchor. `pages`: paths in the folder. */
export function brokenLinks(
  folder: string,
  pages: readonly string[],
): { readonly broken: readonly string[]; readonly links: number } {
  const broken: string[] = []
  let links = 0
  const anchors = new Map<string, ReadonlySet<string>>()
  const anchorsOf = (page: string): ReadonlySet<string> => {
    const known = anchors.get(page) ?? new Set(attributes(readFileSync(join(folder, page), 'utf8'), 'id'))
    anchors.set(page, known)
    return known
  }
  for (const page of pages) {
    const html = readFileSync(join(folder, page), 'utf8')
    for (const link of [...attributes(html, 'href'), ...attributes(html, 'src')]) {
      const { origin, pathname, hash } = new URL(link, `http://site/${page.replace(/index\.html$/, '')}`)
      if (origin !== 'http://site') continue
      links += 1
      const file = fileOf(folder, decodeURIComponent(pathname))
      if (file === undefined) broken.push(`${page}: ${link}`)
      else if (hash.length > 1 && !anchorsOf(file).has(decodeURIComponent(hash.slice(1))))
        broken.push(`${page}: ${link}`)
    }
  }
  return { broken, links }
}

/** What built files load from elsewhere. A link that a reader follows is none of it. */
export function hostsNamed(folder: string, files: readonly string[]): readonly string[] {
  const LOADED =
    /<(?:script|img|iframe|source|video|audio)\b[^>]*\ssrc="(https?:[^"]+)"|<link\b[^>]*\srel="(?:stylesheet|preload|modulepreload|icon|shortcut icon)"[^>]*\shref="(https?:[^"]+)"/g
  const STYLED = /url\(["']?(https?:[^)"']+)|@import\s+["'](https?:[^"']+)/g
  return files.flatMap((file) => {
    const pattern = file.endsWith('.html') ? LOADED : file.endsWith('.css') ? STYLED : undefined
    if (pattern === undefined) return []
    return [...readFileSync(join(folder, file), 'utf8').matchAll(pattern)].map(
      ([, one, other]) => `${file}: ${one ?? other}`,
    )
  })
}

/** Of tags: the text of a program that a page shows has attributes too. */
function attributes(html: string, name: 'href' | 'id' | 'src'): readonly string[] {
  return [...html.matchAll(new RegExp(`<[a-zA-Z][^<>]*?\\s${name}="([^"]*)"`, 'g'))].map(([, value = '']) =>
    value.replaceAll('&amp;', '&').replaceAll('&#x26;', '&'),
  )
}

/** The file that a server sends for an address. */
function fileOf(folder: string, path: string): string | undefined {
  const file = path.endsWith('/') ? `${path}index.html` : path
  return statSync(join(folder, file), { throwIfNoEntry: false })?.isFile() === true ? file.slice(1) : undefined
}
