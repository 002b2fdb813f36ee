import { sign } from 'node:crypto'
import { parentPort } from 'node:worker_threads'

/** @import { AskedQuestion, ThreadAnswer } from '../threads/answering-thread.ts' */
/** @import { SignatureQuestion } from './signing-thread.ts' */

/**
 * Signs bursts, outside the thread that serves requests. This file is JavaScript, because a thread that reads TypeScript loads a compiler of
 * its own.
 */
parentPort?.on('message', (/** @type {AskedQuestion<SignatureQuestion>} */ { id, question }) => {
  const { digest, privateKey, inputs } = question
  const answer = inputs.map((input) => sign(digest, Buffer.from(input, 'latin1'), privateKey))
  parentPort?.postMessage(/** @satisfies {ThreadAnswer<readonly Uint8Array[]>} */ ({ id, answer }))
})
