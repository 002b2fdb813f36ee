import { readFileSync } from 'node:fs'

/**
 * Reads the list beside this file, which names its source and licence: words between spaces, each of at least 8 characters, in lower
 * case. In the single executable file, release/single.ts replaces this module by its result.
 */
export function readCommonPasswords(): string {
  const text = readFileSync(new URL('./common-passwords.txt', import.meta.url), 'utf8')
  return text.replaceAll(/^#.*$/gm, '').replaceAll(/\s+/g, ' ')
}
