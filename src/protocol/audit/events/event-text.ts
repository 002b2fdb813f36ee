import type { Icon, Sentence, EventWords, Tone } from '../sentence.ts'

/** What docs/audit.md says about an event, in Markdown, and what a person reads of one that happened. */
export interface EventText {
  /** Without it, the name says it all. */
  readonly when?: string
  /** The members of `details`. */
  readonly details?: string
  readonly icon: Icon
  readonly tone: Tone
  readonly says: (event: EventWords) => Sentence
}
