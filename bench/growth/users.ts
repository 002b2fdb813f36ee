import { randomBytes } from 'node:crypto'
import type { EpochMs } from '../../src/base/brand.ts'
import { mintUserId } from '../../src/protocol/ids.ts'

/** Users with names and addresses as people have them, each from a number. */

export const FIRST_NAMES =
  'Greta Hans Otto Zoë Anna Łukasz Søren José Chloé Emma Liam Noah Olivia Mia Jürgen Ivan Wei Yuki Omar Fatima'.split(
    ' ',
  )
const SYLLABLES = 'ka lo mi ra ne to su vi pe do gra bel hin mar tes fol wen sch bur zak'.split(' ')
const SPAN_MS = 30 * 24 * 60 * 60 * 1000
const YOUNGEST_MS = 120_000
const ROWS_OF_STATEMENT = 1000

/** The statements that store so many users, older than the index leaves out. */
export function* fillUsers(users: number): Generator<string> {
  const now = Date.now() - YOUNGEST_MS - SPAN_MS
  for (let from = 0; from < users; from += ROWS_OF_STATEMENT) {
    const rows = Array.from({ length: Math.min(ROWS_OF_STATEMENT, users - from) }, (_, row) => {
      const index = from + row
      const time = Math.floor(now + (index * SPAN_MS) / users) as EpochMs
      return `('${mintUserId(time, randomBytes)}', '${emailOf(index)}', '${nameOf(index)}', ${time}, ${time}, ${time})`
    })
    yield `insert into users (user_id, email, name, updated_at, created_at, not_before) values ${rows.join(', ')}`
  }
}

export function nameOf(index: number): string {
  const word = wordOf(index, 3)
  return `${FIRST_NAMES[index % 20]} ${word.charAt(0).toUpperCase()}${word.slice(1)}`
}

export function emailOf(index: number): string {
  return `${wordOf(index * 7, 2)}.${wordOf(index, 3)}${index}@${wordOf(index % 1000, 2)}.example`
}

/** Syllables that follow from a number. */
export function wordOf(index: number, length: number): string {
  let rest = (Math.imul(index + 1, 0x9e3779b1) >>> 0) % 3_200_000
  let word = ''
  for (let place = 0; place < length; place += 1) {
    word += SYLLABLES[rest % SYLLABLES.length] ?? ''
    rest = Math.floor(rest / SYLLABLES.length)
  }
  return word
}
