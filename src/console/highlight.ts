import { fold, wordsOf } from '../base/fold.ts'
import { html, type Fragment, type Markup } from '../web/markup.ts'
import { visible } from '../web/visible.ts'

/** Untrusted text with what a search found in it in bold, as the search compares: in any case and without accents. */
export function highlighted(text: string | null | undefined, sought: string, none: string): Markup {
  const shown = visible(text ?? '').trim()
  return shown === '' ? html`<span class="muted">${none}</span>` : html`<bdi>${parts(shown, wordsOf(sought))}</bdi>`
}

/** A character may fold into several letters, or none: each letter remembers the character that it is from. */
function parts(text: string, words: readonly string[]): readonly Fragment[] {
  const characters = [...text]
  const letters = characters.flatMap((character, index) => [...fold(character)].map((letter) => ({ letter, index })))
  const folded = letters.map(({ letter }) => letter)
  const isFound = characters.map(() => false)
  for (const word of words) {
    const wanted = [...word]
    for (let at = 0; at + wanted.length <= folded.length; at += 1)
      if (wanted.every((letter, place) => folded[at + place] === letter))
        for (const { index } of letters.slice(at, at + wanted.length)) isFound[index] = true
  }
  return runsOf(characters, isFound).map(({ run, isMarked }) => (isMarked ? html`<b>${run}</b>` : run))
}

function runsOf(characters: readonly string[], isFound: readonly boolean[]) {
  const runs: { run: string; readonly isMarked: boolean }[] = []
  for (const [index, character] of characters.entries()) {
    const isMarked = isFound[index] === true
    const last = runs.at(-1)
    if (last?.isMarked === isMarked) last.run += character
    else runs.push({ run: character, isMarked })
  }
  return runs
}
