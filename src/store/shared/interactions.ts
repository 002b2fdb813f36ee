import type { InteractionRecord } from '../../ports/records/interaction.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { InteractionId } from '../../protocol/ids.ts'
import { answerText } from '../../protocol/sign-in/interaction.ts'
import { INTERACTIONS } from '../tables/session.ts'
import { idKey, rows, shared, type SharedHandlers, type Steps } from './statement.ts'

const START = shared(`insert into interactions (${INTERACTIONS.names}) values (${INTERACTIONS.parameters})`)
const ANSWER = shared(
  `update interactions set answer = :text, answered_at = :now
   where interaction_id = :id and answer is null and expires_at > :now returning interaction_id`,
)
const USE = shared(
  `update interactions set used_at = :now
   where interaction_id = :id and answer is not null and used_at is null and expires_at > :now returning interaction_id`,
)
const FIND = shared('select * from interactions where interaction_id = :id')

export const interactionHandlers = {
  startInteraction: {
    keys: idKey,
    *run(interaction) {
      yield* rows(START, INTERACTIONS.values(interaction))
      return 'started'
    },
  },
  answerInteraction: {
    keys: idKey,
    *run({ id, answer, now }) {
      const given = answerText(answer)
      if ((yield* rows(ANSWER, { id, text: given, now })).length === 1) return 'answered'
      const found = yield* find(id)
      if (found?.answer === undefined) return 'unknown'
      return answerText(found.answer) === given ? 'repeated' : 'conflict'
    },
  },
} satisfies SharedHandlers

export const interactionReads = { findInteraction: find }

function* find(id: InteractionId): Steps<InteractionRecord | undefined> {
  const [row] = yield* rows(FIND, { id })
  return row === undefined ? undefined : INTERACTIONS.read(row)
}

/** Uses an interaction up. Returns whether it was answered, and not used before. */
export function* useInteraction(id: InteractionId, now: EpochMs): Steps<boolean> {
  return (yield* rows(USE, { id, now })).length === 1
}
