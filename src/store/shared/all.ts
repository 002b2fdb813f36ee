import { sharedOf } from '../noun.ts'
import { NOUN_OPERATIONS, NOUN_READS } from '../nouns.ts'
import type { Steps } from './statement.ts'

/** The operations that both stores apply with the same statements. Those of token and registration requests are in each store. */
export const SHARED_HANDLERS = {
  ...sharedOf(NOUN_OPERATIONS),
}

/** The reads that both stores answer with the same statements. */
export const SHARED_READS = {
  ...NOUN_READS,
}

/** The same functions, with the result of their steps. */
export type Promised<Reads> = {
  readonly [Name in keyof Reads]: Reads[Name] extends (...asked: infer Asked) => Steps<infer Found>
    ? (...asked: Asked) => Promise<Found>
    : never
}
