import { parseGroupWord } from '../../../protocol/access/group-claim.ts'
import { code, html, type Fragment, type Markup } from '../../../web/markup.ts'
import type { Frame } from '../../engine/form.ts'
import { groupLink } from './group.ts'

/** Which groups of users a client or an API reads, in which claim and under which words. undefined: none. */
export function claimOf(frame: Frame, claim: string, words: readonly string[]): Markup | undefined {
  if (claim === 'off') return undefined
  if (words.length === 0) return html`All, by their ids, in the claim ${code(claim)}`
  return html`In the claim ${code(claim)}
    <ul>
      ${words.map((text) => html`<li>${pairOf(frame, text)}</li>`)}
    </ul>`
}

function pairOf(frame: Frame, text: string): Fragment {
  const pair = parseGroupWord(text)
  if (pair === undefined) return code(text)
  const { group, word } = pair
  const as = word === group ? undefined : html` <span class="muted">as</span> <bdi>${word}</bdi>`
  return html`${groupLink(frame, group)}${as}`
}
