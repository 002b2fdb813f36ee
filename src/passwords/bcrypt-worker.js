import { parentPort } from 'node:worker_threads'
import { hashSync } from 'bcryptjs'

/** @import { AskedQuestion, ThreadAnswer } from '../threads/answering-thread.ts' */
/** @import { BcryptQuestion } from './formats.ts' */

/**
 * Computes bcrypt, outside the thread that serves requests: the library is plain JavaScript, and takes up to a second. This file is
 * JavaScript, because a thread that reads TypeScript loads a compiler of its own.
 */
parentPort?.on('message', (/** @type {AskedQuestion<BcryptQuestion>} */ { id, question }) => {
  const answer = hashSync(question.password, question.salt)
  parentPort?.postMessage(/** @satisfies {ThreadAnswer<string>} */ ({ id, answer }))
})
