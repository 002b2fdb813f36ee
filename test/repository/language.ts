import type { SourceFile } from './layout.ts'
import type { Claim } from './titles.ts'

interface Phrase {
  readonly pattern: RegExp
  /** What to write instead. */
  readonly instead: string
}

/** Phrases that are wrong English or that a reader has to decode. They are looked for in all prose and code. */
const BANNED: readonly Phrase[] = [
  { pattern: /\bbelongs? into\b/i, instead: 'belongs in' },
  { pattern: /\bneeds not\b/i, instead: 'need not' },
  { pattern: /\bstops? to listen\b/i, instead: 'stops listening' },
  { pattern: /\bhas not the form\b/i, instead: 'is malformed' },
  { pattern: /\banew\b/i, instead: 'again' },
  { pattern: /\bwhoever\b/i, instead: 'the client that, the caller that' },
  { pattern: /\b(for|of|by|from|to) who\b/i, instead: 'the client that, the caller that' },
  { pattern: /(?<!there )\bis none\b(?! of| that| this)/, instead: 'is invalid, is not one' },
  { pattern: /\bstands?\b(?!-)/i, instead: 'is in, appears in, is stored in' },
  { pattern: /\btold\b/i, instead: 'reported, logged, returned' },
  { pattern: /\/\*\* Answers (whether|how|what|every|all|the)\b/, instead: 'Returns' },
  { pattern: /\bvouch(es|ed)?\b/i, instead: 'verify' },
  { pattern: /\bany more\b/i, instead: 'no longer' },
  { pattern: /\bfor ever\b/i, instead: 'without limit, without end' },
  { pattern: /\binside of\b/i, instead: 'in, within' },
  { pattern: /\bwhere alone\b/i, instead: 'the only … where' },
  { pattern: /\bone of the operator\b(?!['’])/i, instead: 'created by an operator' },
  { pattern: /\b(nobody|somebody|everybody) (?=[a-z])/i, instead: 'no user, another person, all callers' },
  { pattern: /\bdead\b/i, instead: 'inactive, expired, revoked, ended' },
]

/** Every banned phrase, a line each, with what to write instead. */
export function findBannedPhrases(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) =>
      BANNED.flatMap(({ pattern, instead }) => {
        const found = pattern.exec(line)?.[0]
        return found === undefined ? [] : [`${path}:${index + 1}: "${found}"; write: ${instead}.`]
      }),
    ),
  )
}

const TITLE_LIMIT = 120
/** What a title cites: a standard, a decision, the id of a threat, or the names of a conformance suite. */
const CITATION = /^[^:]*(RFC \d|OpenID|decision \d|[A-Z]+-\d\d|oidcc-|The spec|threats\.md)[^:]*: /

/** Every title of a test that is too long, a line each. What it cites does not count. */
export function findLongTitles(claims: readonly Claim[]): readonly string[] {
  return claims.flatMap(({ title, file }) => {
    const { length } = title.replace(CITATION, '')
    return length > TITLE_LIMIT ? [`${file}: ${length} characters; the limit is ${TITLE_LIMIT}: ${title}`] : []
  })
}
