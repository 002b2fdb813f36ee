import assert from 'node:assert/strict'
import type { SessionStart } from '../../../../src/ports/operations/session.ts'
import type { InteractionRecord } from '../../../../src/ports/records/interaction.ts'
import type { UserRecord } from '../../../../src/ports/records/user.ts'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import type { GroupId } from '../../../../src/protocol/access/group.ts'
import type { SessionId } from '../../../../src/protocol/ids.ts'
import type { InteractionAnswer } from '../../../../src/protocol/sign-in/interaction.ts'
import { perform, performAll, race, tally, times, type Suite } from '../harness.ts'
import {
  anInteraction,
  anOrganization,
  aSession,
  aSessionStart,
  at,
  aUserOfProvider,
  NOW,
} from '../../../support/records.ts'

const ACCEPTED: InteractionAnswer = {
  kind: 'accepted',
  subject: 'u_4711',
  decision: 'allow',
  email: 'ada@acme.test',
  isEmailVerified: true,
  name: 'Ada "the" \u{1f600}',
  groups: ['acme/ops', 'finance'] as GroupId[],
  organizationId: anOrganization().id,
  scope: undefined,
  authenticatedAt: at(-1),
  isMultiFactor: true,
  rememberSeconds: 3600,
}
const REJECTED: InteractionAnswer = { kind: 'rejected', error: 'login_required' }

export const interactionCases: Suite = (check) => {
  check('an interaction is stored, answered and used once, and read as it is', async ({ first, second }) => {
    const interaction = anInteraction()
    const { id } = interaction
    assert.equal(await perform(first, 'startInteraction', interaction), 'started')
    assert.deepEqual(await second.findInteraction(id), interaction)
    const given = { id, answer: ACCEPTED, now: at(2) }
    const outcomes = await performAll(first, 'answerInteraction', [given, { ...given, now: at(3) }])
    assert.deepEqual(outcomes, ['answered', 'repeated'])
    assert.equal(await perform(second, 'answerInteraction', { id, answer: REJECTED, now: at(3) }), 'conflict')
    assert.deepEqual(await second.findInteraction(id), { ...interaction, answer: ACCEPTED, answeredAt: at(2) })
    const start = startOf(interaction, 4, await createUser(first))
    const started = { kind: 'started', rootId: sessionOf(id), isLinked: false }
    assert.deepEqual(await performAll(first, 'startSession', [start]), [started])
    assert.equal((await second.findInteraction(id))?.usedAt, at(4))
  })

  check(
    'an answer whose members are absent is read with undefined, and an organization may be null',
    async (stores) => {
      const { first } = stores
      const interactions = [anInteraction({ uiLocales: undefined, signInAfter: undefined }), anInteraction()]
      const answers: readonly InteractionAnswer[] = [
        {
          ...ACCEPTED,
          email: undefined,
          name: undefined,
          groups: undefined,
          organizationId: null,
          authenticatedAt: undefined,
          isMultiFactor: false,
        },
        REJECTED,
      ]
      for (const [index, interaction] of interactions.entries()) {
        const answer: InteractionAnswer = answers[index] ?? REJECTED
        await perform(first, 'startInteraction', interaction)
        await perform(first, 'answerInteraction', { id: interaction.id, answer, now: at(1) })
        assert.deepEqual(await first.findInteraction(interaction.id), { ...interaction, answer, answeredAt: at(1) })
      }
    },
  )

  check(
    'an unknown and an expired interaction can neither be answered nor start a session; one without an answer cannot either',
    async ({ first }) => {
      const { id } = anInteraction()
      const expired = anInteraction()
      const answered = anInteraction()
      await performAll(first, 'startInteraction', [expired, answered])
      const now = expired.expiresAt
      await perform(first, 'answerInteraction', { id: answered.id, answer: ACCEPTED, now: at(1) })
      const answers = [id, expired.id].map((one) => ({ id: one, answer: ACCEPTED, now }))
      assert.deepEqual(await performAll(first, 'answerInteraction', answers), ['unknown', 'unknown'])
      const user = await createUser(first)
      const starts = [{ id }, expired, answered].map((one) => startOf(one, now - NOW, user))
      const open = anInteraction()
      await perform(first, 'startInteraction', open)
      const outcomes = await performAll(first, 'startSession', [...starts, startOf(open, 1, user)])
      assert.deepEqual(
        outcomes,
        times(4, () => ({ kind: 'interaction-used' })),
      )
      assert.deepEqual(await first.findInteraction(expired.id), expired)
      assert.deepEqual(await first.listSessions({ before: undefined, limit: 10 }), [])
    },
  )

  check('DEL-12: an answer from before the tokens of the user were revoked starts no session', async ({ first }) => {
    const [before, after] = [anInteraction(), anInteraction()]
    const user = await createUser(first)
    await performAll(first, 'startInteraction', [before, after])
    await perform(first, 'answerInteraction', { id: before.id, answer: ACCEPTED, now: at(1) })
    await perform(first, 'revokeUserTokens', { id: user.id, now: at(2) })
    await perform(first, 'answerInteraction', { id: after.id, answer: ACCEPTED, now: at(2) })
    const outcomes = await performAll(
      first,
      'startSession',
      [before, after].map((one) => startOf(one, 3, user)),
    )
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['user-changed', 'started'],
    )
    assert.equal((await first.findInteraction(before.id))?.usedAt, undefined)
  })

  check(
    'DEL-03: of concurrent answers one is stored, and of concurrent returns one starts the session',
    async (stores) => {
      const interaction = anInteraction()
      const { id } = interaction
      await perform(stores.first, 'startInteraction', interaction)
      const answers = times(40, (index) => ({ id, answer: index % 2 === 0 ? ACCEPTED : REJECTED, now: at(1) }))
      assert.deepEqual(tally(await race(stores, 'answerInteraction', answers)), {
        answered: 1,
        repeated: 19,
        conflict: 20,
      })
      const other = anInteraction()
      await perform(stores.first, 'startInteraction', other)
      await perform(stores.first, 'answerInteraction', { id: other.id, answer: ACCEPTED, now: at(1) })
      const user = await createUser(stores.first)
      const starts = times(40, (index) => startOf(index % 4 < 2 ? interaction : other, 2, user))
      const outcomes = await race(stores, 'startSession', starts)
      assert.equal(outcomes.filter(({ kind }) => kind === 'interaction-used').length, 38)
      assert.equal((await stores.second.listSessions({ before: undefined, limit: 10 })).length, 2)
    },
  )
}

/** The return with the answer to an interaction, by a user without a password. */
function startOf({ id }: Pick<InteractionRecord, 'id'>, ms: number, { id: userId }: UserRecord): SessionStart {
  const session = aSession({ id: sessionOf(id), userId, createdAt: at(ms) })
  return aSessionStart({ session, passwordHash: undefined, interactionId: id })
}

async function createUser(store: StoreDriver): Promise<UserRecord> {
  const user = aUserOfProvider()
  await perform(store, 'createUser', user)
  return user
}

/** The session that follows from an interaction has its id. */
function sessionOf(id: InteractionRecord['id']): SessionId {
  return id as string as SessionId
}
