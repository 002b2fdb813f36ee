import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLinearizable, type Model, type Operation } from '../../prove/cluster/linearizable.ts'

/** A register that holds a number, the usual first test object of such a checker. */
type Input = { readonly write: number } | 'read'
const REGISTER: Model<number, Input, number> = {
  initial: 0,
  step(state, { input, output }) {
    if (input !== 'read') return input.write
    return output === state ? state : undefined
  },
  isIdleForGood: ({ input }) => input === 'read',
  describe: String,
}

const write = (value: number, invokedAt: number, returnedAt: number): Operation<Input, number> => ({
  input: { write: value },
  output: value,
  invokedAt,
  returnedAt,
})
const read = (output: number, invokedAt: number, returnedAt: number): Operation<Input, number> => ({
  input: 'read',
  output,
  invokedAt,
  returnedAt,
})
const lost = (value: number, invokedAt: number): Operation<Input, number> => ({
  ...write(value, invokedAt, invokedAt),
  output: undefined,
})

const ACCEPTED: Readonly<Record<string, readonly Operation<Input, number>[]>> = {
  'nothing happened': [],
  'operations follow one another': [write(1, 0, 1), read(1, 2, 3), write(2, 4, 5), read(2, 6, 7)],
  'a read during a write sees the old value': [write(1, 0, 9), read(0, 1, 2)],
  'a read during a write sees the new value': [write(1, 0, 9), read(1, 1, 2)],
  'two reads during a write see first the old and then the new value': [write(1, 0, 9), read(0, 1, 2), read(1, 3, 4)],
  'of two concurrent writes the one that began first takes effect last': [
    write(1, 0, 9),
    write(2, 0.5, 8),
    read(1, 10, 11),
  ],
  'a write without an answer is seen much later': [lost(1, 0), read(0, 1, 2), read(0, 3, 4), read(1, 5, 6)],
  'a write without an answer is never seen': [lost(1, 0), read(0, 1, 2), read(0, 3, 4)],
  'the order of the history does not matter': [read(1, 2, 3), write(1, 0, 1)],
  'an operation begins at the time at which another ends': [write(1, 0, 1), read(0, 1, 2)],
}
const REJECTED: Readonly<Record<string, readonly Operation<Input, number>[]>> = {
  'a value that was never written': [read(1, 0, 1)],
  'a read after a write sees the old value': [write(1, 0, 1), read(0, 2, 3)],
  'two reads during a write see first the new and then the old value': [write(1, 0, 9), read(1, 1, 2), read(0, 3, 4)],
  'a later value is seen before an earlier one': [write(1, 0, 1), write(2, 2, 3), read(2, 4, 5), read(1, 6, 7)],
  'a write without an answer is seen before it was called': [read(1, 0, 1), lost(1, 2)],
  'a write without an answer is seen and then not seen': [lost(1, 0), read(1, 1, 2), read(0, 3, 4)],
}

for (const [name, history] of Object.entries(ACCEPTED))
  test(`accepted: ${name}`, () => assert.ok(isLinearizable(history, REGISTER)))
for (const [name, history] of Object.entries(REJECTED))
  test(`rejected: ${name}`, () => assert.ok(!isLinearizable(history, REGISTER)))

test('ten thousand histories of a real register are accepted, and none of them with a foreign value', () => {
  const random = seeded(7)
  for (let round = 0; round < 10_000; round += 1) {
    const history = play(random)
    assert.ok(isLinearizable(history, REGISTER), JSON.stringify(history))
    const reads = history.filter(({ input }) => input === 'read')
    const chosen = reads[Math.floor(random() * reads.length)]
    if (chosen === undefined) continue
    const spoilt = history.map((one) => (one === chosen ? { ...one, output: 99 } : one))
    assert.ok(!isLinearizable(spoilt, REGISTER), JSON.stringify(spoilt))
  }
})

test('the verdict is that of trying every order', () => {
  const random = seeded(11)
  let rejected = 0
  for (let round = 0; round < 3000; round += 1) {
    // The histories are short and their reads random, so about half of them are not linearizable.
    const history = play(random, 5).map((one) =>
      one.input === 'read' && random() < 0.4 ? { ...one, output: Math.floor(random() * 4) } : one,
    )
    const verdict = isLinearizable(history, REGISTER)
    assert.equal(verdict, hasOrder(history, REGISTER.initial), JSON.stringify(history))
    if (!verdict) rejected += 1
  }
  assert.ok(rejected > 300 && rejected < 2700)
})

/** Overlapping operations, each of which takes effect at a random time. */
function play(random: () => number, length = 8): readonly Operation<Input, number>[] {
  const calls = Array.from({ length }, () => {
    const invokedAt = random() * 10
    const tookEffectAt = invokedAt + random() * 4
    const returnedAt = tookEffectAt + random() * 4
    const input: Input = random() < 0.5 ? 'read' : { write: Math.ceil(random() * 3) }
    return { input, invokedAt, tookEffectAt, returnedAt, isLost: input !== 'read' && random() < 0.2 }
  })
  let value = 0
  return calls
    .toSorted((one, other) => one.tookEffectAt - other.tookEffectAt)
    .map(({ input, invokedAt, returnedAt, isLost }) => {
      if (input !== 'read') value = input.write
      return { input, output: isLost ? undefined : value, invokedAt, returnedAt }
    })
}

/** A literal implementation of the definition. */
function hasOrder(left: readonly Operation<Input, number>[], value: number): boolean {
  if (left.every(({ output }) => output === undefined)) return true
  return left.some((one) => {
    const others = left.filter((other) => other !== one)
    if (others.some(({ output, returnedAt }) => output !== undefined && returnedAt < one.invokedAt)) return false
    const next = REGISTER.step(value, one)
    return next !== undefined && hasOrder(others, next)
  })
}

function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
