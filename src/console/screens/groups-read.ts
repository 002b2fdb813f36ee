import { code, html, type Markup } from '../../web/markup.ts'

/** Which groups of users a client or an API reads, and in which claim. */
export function groupsOf(claim: string, words: readonly string[]): Markup {
  const which = words.map((word, place) => html`${place === 0 ? '' : ', '}${code(word)}`)
  return html`${words.length === 0 ? 'all groups' : which} in the claim ${code(claim)}`
}
