import { readFileSync, statSync } from 'node:fs'
import type { Picture } from '../ports/pages/pages.ts'

export const LOGO_BYTES = 64 * 1024

/** The root element of an SVG document, after what may be before it: a declaration, comments and a document type without entities. */
const SVG_START = /^\uFEFF?\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--[^]*?-->\s*|<!DOCTYPE\s+svg[^[>]*>\s*)*<svg[\s>]/
const SVG_NAMESPACE = /\sxmlns=(["'])http:\/\/www\.w3\.org\/2000\/svg\1/
const SVG_END = /<\/svg\s*>\s*(?:<!--[^]*?-->\s*)*$/
/** The signature, and a first chunk that is IHDR (PNG Third Edition §5.2 and §5.6). */
const PNG_START = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
/** The last chunk, IEND, which is empty. */
const PNG_END = Buffer.from('0000000049454e44ae426082', 'hex')

/** Reads the logo of the pages. Its content says what it is, and not its name. */
export function readLogo(path: string): { readonly logo: Picture } | { readonly mistake: string } {
  try {
    const file = statSync(path)
    // Reading a pipe or a device would never end.
    if (!file.isFile()) throw new Error('it is not a regular file')
    if (file.size > LOGO_BYTES)
      return { mistake: `GRANTOR_LOGO names ${path}, which has more than ${LOGO_BYTES} bytes` }
    const body = readFileSync(path)
    const mediaType = mediaTypeOf(body)
    return mediaType === undefined
      ? { mistake: `GRANTOR_LOGO names ${path}, which is neither a PNG image nor an SVG document` }
      : { logo: { mediaType, body } }
  } catch (cause) {
    return { mistake: `GRANTOR_LOGO names ${path}, which cannot be read: ${(cause as Error).message}` }
  }
}

function mediaTypeOf(body: Buffer): Picture['mediaType'] | undefined {
  if (body.subarray(0, PNG_START.length).equals(PNG_START)) {
    return body.subarray(-PNG_END.length).equals(PNG_END) ? 'image/png' : undefined
  }
  const text = textOf(body)
  const isSvg = text !== undefined && SVG_START.test(text) && SVG_NAMESPACE.test(text) && SVG_END.test(text)
  return isSvg ? 'image/svg+xml' : undefined
}

function textOf(body: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    return undefined
  }
}
