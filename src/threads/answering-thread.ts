import { Worker } from 'node:worker_threads'
import { unavailable } from '../protocol/errors.ts'

/** What is posted to the thread. */
export interface AskedQuestion<Question> {
  readonly id: number
  readonly question: Question
}
/** What the thread posts back. */
export interface ThreadAnswer<Answer> {
  readonly id: number
  readonly answer: Answer
}

interface Waiting {
  readonly resolve: (answer: never) => void
  readonly reject: (cause: Error) => void
}

interface Thread {
  readonly worker: Worker
  readonly waiting: Map<number, Waiting>
}

const RETRY_SECONDS = 5

/**
 * The threads of this process, by their source. All servers of a process share them: a thread keeps nothing of a question, takes memory as
 * long as the process runs, and loads its libraries for up to a third of a second.
 */
const threads = new Map<string, Thread>()
let last = 0

/**
 * Asks a thread, which starts with the first question. The thread keeps the process running only while an answer waits. One that fails is
 * replaced for the next question. Throws OAuthError temporarily_unavailable if the thread fails, or if as many answers to this asker wait as
 * `limit`. `Answer`: what the thread answers to such a question.
 */
export function openAnsweringThread(source: URL, limit: number): <Answer>(question: unknown) => Promise<Answer> {
  let asked = 0
  return async <Answer>(question: unknown) => {
    if (asked >= limit) throw unavailable('overloaded', RETRY_SECONDS)
    asked += 1
    try {
      return await ask<Answer>(threads.get(source.href) ?? start(source), question)
    } finally {
      asked -= 1
    }
  }
}

function start(source: URL): Thread {
  // What its libraries print is not read: the library mode of Grantor prints nothing.
  const worker = new Worker(source, { stdout: true, stderr: true, execArgv: ['--no-warnings'] })
  const started: Thread = { worker, waiting: new Map() }
  threads.set(source.href, started)
  worker.on('message', ({ id, answer }: ThreadAnswer<never>) => {
    started.waiting.get(id)?.resolve(answer)
    started.waiting.delete(id)
    if (started.waiting.size === 0) worker.unref()
  })
  // A thread that fails ends. Without a listener its error would end the process as well.
  worker.on('error', () => undefined)
  worker.once('exit', () => {
    if (threads.get(source.href) === started) threads.delete(source.href)
    for (const { reject } of started.waiting.values()) reject(unavailable('overloaded', RETRY_SECONDS))
  })
  return started
}

function ask<Answer>({ worker, waiting }: Thread, question: unknown): Promise<Answer> {
  last += 1
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  worker.ref()
  waiting.set(last, { resolve, reject })
  worker.postMessage({ id: last, question } satisfies AskedQuestion<unknown>)
  return promise
}
