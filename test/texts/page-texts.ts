import assert from 'node:assert/strict'
import { TEXTS } from '../../src/texts/generated.ts'
import { cut, type TextId } from '../../src/texts/texts.ts'
import { escapeText } from '../../src/web/markup.ts'

/** An English text of the pages that has no slots. A changed sentence is then a change of src/texts/en.json alone. */
export function sentence(id: TextId): string {
  const { strings, slots } = cut(TEXTS.en[id] ?? '')
  assert.equal(slots.length, 0, `${id} has slots`)
  return strings.join('')
}

/** Matches a page that has this English text, with any values in its slots. */
export function pageSays(id: TextId): RegExp {
  const parts = cut(TEXTS.en[id] ?? '').strings.map(escapeText)
  return new RegExp(parts.map((part) => RegExp.escape(part)).join('[^]*?'))
}

/** Matches a page whose heading is this text. */
export function pageTitled(id: TextId): RegExp {
  return new RegExp(`<h1>${pageSays(id).source}</h1>`)
}
