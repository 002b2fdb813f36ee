import type { SourceFile } from './layout.ts'

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
  { pattern: /\bstands? in\b/i, instead: 'is in, appears in, is stored in' },
  { pattern: /\b(is|are|was|were) told\b/i, instead: 'is reported, logged, returned' },
  { pattern: /\/\*\* Answers (whether|how|what|every|all|the)\b/, instead: 'Returns' },
  { pattern: /\bvouch(es|ed)? for\b/i, instead: 'verify' },
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
