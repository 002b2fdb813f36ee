import type { InteractionRecord } from '../../../ports/records/interaction.ts'
import type { EpochMs } from '../../../base/brand.ts'
import type { InteractionId } from '../../../protocol/ids.ts'
import { answerText, readAnswer } from '../../../protocol/sign-in/interaction.ts'
import { type NounOperations, when } from '../../noun.ts'
import { findBy, idKey, rows, shared, type Steps } from '../../shared/statement.ts'
import { bigint, table, text } from '../../table.ts'

const INTERACTIONS = table<InteractionRecord>({
  id: text('interaction_id'),
  hash: text('interaction_hash'),
  target: text('target'),
  browserHash: text('browser_hash'),
  uiLocales: text('ui_locales'),
  signInAfter: bigint('sign_in_after'),
  createdAt: bigint('created_at'),
  expiresAt: bigint('expires_at'),
  answer: {
    columns: [{ name: 'answer', type: 'text', write: (answer) => (answer === undefined ? null : answerText(answer)) }],
    read: ({ answer }) => (typeof answer === 'string' ? readAnswer(answer) : undefined),
  },
  answeredAt: bigint('answered_at'),
  usedAt: bigint('used_at'),
})

const START = shared(`insert into interactions (${INTERACTIONS.names}) values (${INTERACTIONS.parameters})`)
const ANSWER = shared(
  `update interactions set answer = :text, answered_at = :now
   where interaction_id = :id and answer is null and expires_at > :now returning interaction_id`,
)
const USE = shared(
  `update interactions set used_at = :now
   where interaction_id = :id and answer is not null and used_at is null and expires_at > :now returning interaction_id`,
)
const find = findBy(INTERACTIONS, shared('select * from interactions where interaction_id = :id'))

const operations = {
  startInteraction: {
    keys: idKey,
    cache: 'kept',
    event: 'no-event',
    *run(interaction) {
      yield* rows(START, INTERACTIONS.values(interaction))
      return 'started'
    },
  },
  answerInteraction: {
    keys: idKey,
    cache: 'kept',
    event: when('answered', ({ id, answer, about }) => ({
      event: 'interaction.answered',
      ...about,
      details: { interaction: id, answer: answer.kind === 'accepted' ? answer.decision : answer.error },
    })),
    *run({ id, answer, now }) {
      const given = answerText(answer)
      if ((yield* rows(ANSWER, { id, text: given, now })).length === 1) return 'answered'
      const found = yield* find(id)
      if (found?.answer === undefined) return 'unknown'
      return answerText(found.answer) === given ? 'repeated' : 'conflict'
    },
  },
} satisfies NounOperations

const reads = {
  findInteraction: find,
}

export const interactions = { operations, reads }

/** Uses an interaction up. Returns whether it was answered, and not used before. */
export function* useInteraction(id: InteractionId, now: EpochMs): Steps<boolean> {
  return (yield* rows(USE, { id, now })).length === 1
}
