import { createHash } from 'node:crypto'
import type { Branding, Picture } from '../ports/pages/pages.ts'
import { accentColours } from './accent.ts'
import { html } from './markup.ts'

/** Characters that no character after them changes, and of which no letter has several. */
const PLAIN = /^[!-~](?=[ -~]|$)/

/** The picture of the operator: the logo, or the first letter of the name on a tile in the accent colour. */
export function pictureOf(branding: Branding): Picture {
  return branding.logo ?? letterTile(branding)
}

/** The name of a picture changes with its content, so that caches may keep it without end. */
export function nameOf({ body }: Picture): string {
  return createHash('sha256').update(body).digest('base64url').slice(0, 22)
}

function letterTile({ name, accent }: Branding): Picture {
  const { fill, fillText } = accentColours(accent, { backgrounds: ['#ffffff'], ink: '#000000', distinct: 1.2 })
  const text = html`<text x="16" y="23" text-anchor="middle" font-family="sans-serif" font-size="20" fill="${fillText}"
    >${initial(name)}</text
  >`
  const picture = html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
    <rect width="32" height="32" rx="8" fill="${fill}" />
    ${text}
  </svg>`
  return { mediaType: 'image/svg+xml', body: Buffer.from(picture.toString()) }
}

/** The first letter of a name, as the pages show it in a tile. */
export function initial(name: string): string {
  const [plain] = PLAIN.exec(name.trim()) ?? []
  // The first segmenter of a process takes 18 ms of each start.
  if (plain !== undefined) return plain.toLocaleUpperCase('en')
  const [first] = new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(name.trim())
  return (first?.segment ?? '').toLocaleUpperCase('en')
}
