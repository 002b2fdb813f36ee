import type { Case } from '../case.ts'
import { CLIENT_CASES } from './client.ts'
import { CRASH_CASES } from './crash.ts'
import { LOST_ANSWER_CASES } from './lost-answer.ts'
import { RACE_CASES } from './race.ts'
import { TOKEN_CASES } from './token.ts'

/** In the order of a run. What is killed comes last. */
export const ALL_CASES: readonly Case[] = [
  ...RACE_CASES,
  ...LOST_ANSWER_CASES,
  ...CLIENT_CASES,
  ...TOKEN_CASES,
  ...CRASH_CASES,
]
