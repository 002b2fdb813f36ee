import { Worker } from 'node:worker_threads'
import type {
  AssertionAnswer,
  PasskeyExpectation,
  PasskeyRefusal,
  PasskeyVerifier,
  RegisteredPasskey,
  RegistrationAnswer,
  SignedPasskey,
} from '../ports/passkeys.ts'
import { unavailable } from '../protocol/errors.ts'
import { VERIFIER_THREAD } from './verifier-thread.ts'

interface Question {
  readonly id: number
  readonly expected: PasskeyExpectation
}
export type RegistrationQuestion = Question & { readonly kind: 'registration'; readonly answer: RegistrationAnswer }
export type AssertionQuestion = Question & {
  readonly kind: 'assertion'
  readonly answer: AssertionAnswer
  readonly publicKey: string
}
/** What is posted to the thread. */
export type PasskeyQuestion = RegistrationQuestion | AssertionQuestion
export type VerifiedAnswer = ({ readonly kind: 'verified' } & (SignedPasskey | RegisteredPasskey)) | PasskeyRefusal
/** What the thread posts back. */
export interface PasskeyAnswer {
  readonly id: number
  readonly answer: VerifiedAnswer
}

interface Waiting {
  readonly resolve: (answer: never) => void
  readonly reject: (cause: Error) => void
}

interface Thread {
  readonly worker: Worker
  readonly waiting: Map<number, Waiting>
}

/** Answers that wait at most. Each takes about a millisecond, or a second until the thread has loaded the library. */
const WAITING = 100
const RETRY_SECONDS = 5

/**
 * Verifies the answers of authenticators by a library, in a thread that starts with the first one and takes 36 MB. The thread keeps
 * the process running only while an answer waits. One that fails is replaced for the next answer.
 */
export function openPasskeyVerifier(): PasskeyVerifier {
  let thread: Thread | undefined
  let last = 0

  function start(): Thread {
    // What the library prints is not read: the library mode of Grantor prints nothing.
    const worker = new Worker(VERIFIER_THREAD, { stdout: true, stderr: true, execArgv: ['--no-warnings'] })
    const started: Thread = { worker, waiting: new Map() }
    worker.on('message', ({ id, answer }: PasskeyAnswer) => {
      started.waiting.get(id)?.resolve(answer as never)
      started.waiting.delete(id)
      if (started.waiting.size === 0) worker.unref()
    })
    // A thread that fails ends. Without a listener its error would end the process as well.
    worker.on('error', () => undefined)
    worker.once('exit', () => {
      if (thread === started) thread = undefined
      for (const { reject } of started.waiting.values()) reject(unavailable('overloaded', RETRY_SECONDS))
    })
    return started
  }

  function ask<Answer>(question: Omit<RegistrationQuestion, 'id'> | Omit<AssertionQuestion, 'id'>): Promise<Answer> {
    thread ??= start()
    const { worker, waiting } = thread
    if (waiting.size >= WAITING) return Promise.reject(unavailable('overloaded', RETRY_SECONDS))
    last += 1
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    worker.ref()
    waiting.set(last, { resolve, reject })
    worker.postMessage({ ...question, id: last })
    return promise
  }

  return {
    verifyRegistration: (answer, expected) => ask({ kind: 'registration', answer, expected }),
    verifyAssertion: (answer, expected, { publicKey }) => ask({ kind: 'assertion', answer, expected, publicKey }),
  }
}
