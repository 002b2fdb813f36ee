import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAnsweringThread } from '../../src/threads/answering-thread.ts'

/** Answers with its number, or ends. */
const SOURCE = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort, threadId } from 'node:worker_threads'
    parentPort.on('message', ({ id, question }) => {
      if (question === 'end') process.exit()
      parentPort.postMessage({ id, answer: threadId })
    })`)}`,
)

test('all who ask a source share one thread, and a thread that has ended is replaced for all of them', async () => {
  const [one, other] = [openAnsweringThread(SOURCE, 2), openAnsweringThread(SOURCE, 2)]
  const thread = await one<number>('number')
  assert.equal(await other<number>('number'), thread)
  await assert.rejects(one('end'), { code: 'temporarily_unavailable' })
  const next = await other<number>('number')
  assert.notEqual(next, thread)
  assert.equal(await one<number>('number'), next)
})

test('one who waits for as many answers as the limit is refused the next, and no other caller is', async () => {
  const [one, other] = [openAnsweringThread(SOURCE, 1), openAnsweringThread(SOURCE, 1)]
  const asked = [one('number'), one('number'), other('number')]
  const outcomes = await Promise.allSettled(asked)
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  await one('number')
})
