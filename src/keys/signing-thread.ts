import cluster from 'node:cluster'
import type { KeyObject } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { openAnsweringThread } from '../threads/answering-thread.ts'
import { SIGNER_THREAD } from './signer-thread.ts'

/** What the thread signs, each input by itself. */
export interface SignatureQuestion {
  readonly digest: 'sha256' | null
  /** The thread gets a handle of the key, not its bytes. */
  readonly privateKey: KeyObject
  /** ASCII. */
  readonly inputs: readonly string[]
}

/** Signs outside the thread that serves requests. Returns undefined where that thread has to sign. Rejects where the thread has failed. */
export type SignElsewhere = (question: SignatureQuestion) => Promise<readonly Uint8Array[]> | undefined

/** Asking costs 20 µs, and a signature of ES256 26. A single request never waits for the thread. */
const LEAST_INPUTS = 4
/** Bursts that wait for the thread. Beyond, both threads sign: one that accepted more than it can sign would not notice. */
const BURSTS = 2
/** How long after a failure no thread is started. */
const REST_MS = 60_000

/**
 * Opens a thread that signs bursts, where the process has a core for it: a burst of 32 costs the thread that serves requests 1 to 3 µs a token
 * instead of 26. It starts with the first burst, which does not wait for it. Returns undefined on one core, and for one of several
 * processes that share a port, because a further process makes better use of a core.
 */
export function openSigningThread(
  source: URL = SIGNER_THREAD,
  cores = availableParallelism(),
): SignElsewhere | undefined {
  if (cores < 2 || cluster.isWorker) return undefined
  const ask: (question: SignatureQuestion) => Promise<readonly Uint8Array[]> = openAnsweringThread(source, BURSTS)
  let state: 'off' | 'starting' | 'ready' = 'off'
  let offUntilMs = 0
  let waiting = 0

  async function signThere(question: SignatureQuestion): Promise<readonly Uint8Array[]> {
    waiting += 1
    const signatures = await ask(question).finally(() => (waiting -= 1))
    state = 'ready'
    return signatures
  }

  function rest(): void {
    state = 'off'
    offUntilMs = performance.now() + REST_MS
  }

  return (question) => {
    if (question.inputs.length < LEAST_INPUTS || waiting >= BURSTS) return undefined
    if (state === 'ready') {
      const signatures = signThere(question)
      signatures.catch(rest)
      return signatures
    }
    if (state === 'off' && performance.now() >= offUntilMs) {
      state = 'starting'
      signThere({ ...question, inputs: [] }).catch(rest)
    }
    return undefined
  }
}
