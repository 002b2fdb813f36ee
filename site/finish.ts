import { createHash } from 'node:crypto'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const INLINE = /<script(?![^>]*\ssrc=)(?![^>]*type="application\/(?:ld\+)?json")[^>]*>([^]*?)<\/script>/g

/** What Starlight writes, as WCAG wants it. */
const CORRECTIONS: readonly (readonly [from: RegExp, to: string])[] = [
  // A cell without text is no heading.
  [/<th([^>]*)><\/th>/g, '<td$1></td>'],
  // What can be scrolled can have the focus. A script takes it from code that has no need of it.
  [/<pre data-language=/g, '<pre tabindex="0" data-language='],
  [/<table>/g, '<table tabindex="0">'],
]

/**
 * A policy in each page of a folder: scripts of the site itself and the inline ones by their digests, `wasm-unsafe-eval` for the search,
 * and no other host; and the corrections. Styles are inline, because the colours of code are attributes.
 */
export function finishPages(folder: string): void {
  for (const page of globSync('**/*.html', { cwd: folder })) {
    const file = join(folder, page)
    const html = CORRECTIONS.reduce((text, [from, to]) => text.replaceAll(from, to), readFileSync(file, 'utf8'))
    const digests = [...html.matchAll(INLINE)].map(
      ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
    )
    const policy = [
      "default-src 'none'",
      `script-src 'self' 'wasm-unsafe-eval' ${[...new Set(digests)].toSorted().join(' ')}`,
      "style-src 'self' 'unsafe-inline'",
      "img-src 'self' data:",
      "font-src 'self'",
      "connect-src 'self'",
      "worker-src 'self'",
      "form-action 'self'",
      "base-uri 'none'",
    ].join('; ')
    // Before the first script, to which it applies.
    const meta = `<meta http-equiv="Content-Security-Policy" content="${policy}">`
    writeFileSync(
      file,
      html.replace(/<head>(<meta charset="?utf-8"?\/?>)?/, (head) => `${head}${meta}`),
    )
  }
}
