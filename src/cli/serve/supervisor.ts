/** How a process ended. */
export interface WorkerEnd {
  readonly code: number | null
  readonly signal: string | null
}

/** A worker process, as its supervisor sees it. */
export interface WorkerProcess {
  readonly pid: number | undefined
  /** Asks the worker to complete its requests and to exit. */
  readonly stop: () => void
  readonly kill: () => void
  /** Asks the worker to answer. */
  readonly ping: () => void
}

export interface WorkerEvents {
  readonly onServing: () => void
  /** Called when the worker answered a ping. `isDebugged`: a debugger may pause it at any time. */
  readonly onPong: (isDebugged: boolean) => void
  /** Called once. */
  readonly onEnd: (end: WorkerEnd) => void
}

export interface Supervision {
  readonly count: number
  readonly fork: (events: WorkerEvents) => WorkerProcess
  /** Called when a worker ended without being asked to, and when one is killed because it does not answer. */
  readonly record: (
    event: { readonly pid: number | undefined } & (
      | ({ readonly event: 'worker.ended' } & WorkerEnd)
      | { readonly event: 'worker.stuck'; readonly silentMs: number }
    ),
  ) => void
  readonly patience: Patience
}

/** How long a serving worker may be silent. */
export interface Patience {
  readonly pingMs: number
  /** A worker that has not answered a ping after so many more intervals is killed. */
  readonly intervals: number
}

/** Half a minute: a worker whose event loop is blocked for that long serves no client. An overloaded one answers within a second. */
export const PATIENCE: Patience = { pingMs: 1000, intervals: 30 }

export interface Supervisor {
  /** Resolves with true when all workers serve, and with false when that will not happen. */
  readonly allServe: Promise<boolean>
  /** Resolves when no worker is left: with the reason of the failure, or undefined after a stop. */
  readonly ended: Promise<string | undefined>
  readonly stop: () => void
}

/** The delay before a worker that ended is started again. It doubles with each further end. */
const RESTART_MS = { first: 100, longest: 30_000 } as const
/** When no worker ends for this long after the last start, the count of ends starts again. */
const STABLE_MS = 10_000
/** The supervisor gives up after this many ends in a row when no worker serves. */
const END_LIMIT = 5
/** Workers that still run after this time are killed. They normally exit earlier (close-on-signal.ts). */
const STOP_LIMIT_MS = 9_800

/**
 * Keeps `count` workers serving. The first worker is started alone, so that an error that affects all workers is logged once.
 * When it ends before it serves, no other worker is started.
 */
export function supervise({ count, fork, record, patience }: Supervision): Supervisor {
  const running = new Set<WorkerProcess>()
  /** How many intervals ago each serving worker got a ping that it has not answered. undefined: it has answered. */
  const serving = new Map<WorkerProcess, number | undefined>()
  const debugged = new Set<WorkerProcess>()
  const allServe = Promise.withResolvers<boolean>()
  const ended = Promise.withResolvers<string | undefined>()
  let hasServed = false
  let isStopping = false
  let failure: string | undefined
  let endsInARow = 0
  let calm: NodeJS.Timeout | undefined
  let killing: NodeJS.Timeout | undefined
  const restarts = new Set<NodeJS.Timeout>()

  function start(): void {
    const worker: WorkerProcess = fork({
      onServing: () => onServing(worker),
      onPong: (isDebugged) => onPong(worker, isDebugged),
      onEnd: (end) => onEnd(worker, end),
    })
    running.add(worker)
  }

  function onPong(worker: WorkerProcess, isDebugged: boolean): void {
    if (serving.has(worker)) serving.set(worker, undefined)
    if (isDebugged) debugged.add(worker)
    else debugged.delete(worker)
  }

  /**
   * Intervals are counted instead of time: while the machine or all of these processes are suspended, none passes. A worker has one ping
   * at a time, so that one that continues has no more to answer.
   */
  function look(): void {
    for (const [worker, silent] of serving) {
      serving.set(worker, silent === undefined ? 0 : silent + 1)
      if (silent === undefined) worker.ping()
      else if (silent + 1 >= patience.intervals && !debugged.has(worker)) killStuck(worker)
    }
  }

  /** Its end is handled as that of any other. */
  function killStuck(worker: WorkerProcess): void {
    record({ event: 'worker.stuck', pid: worker.pid, silentMs: patience.intervals * patience.pingMs })
    serving.delete(worker)
    worker.kill()
  }

  function onServing(worker: WorkerProcess): void {
    serving.set(worker, undefined)
    clearTimeout(calm)
    calm = setTimeout(() => void (endsInARow = 0), STABLE_MS)
    if (!hasServed && !isStopping) for (let others = 1; others < count; others += 1) start()
    hasServed = true
    if (serving.size === count) allServe.resolve(true)
  }

  function onEnd(worker: WorkerProcess, end: WorkerEnd): void {
    running.delete(worker)
    serving.delete(worker)
    debugged.delete(worker)
    clearTimeout(calm)
    if (isStopping) {
      if (end.code !== 0) failure ??= `A worker did not end cleanly: ${describeEnd(end)}.`
      return finishIfAlone()
    }
    record({ event: 'worker.ended', pid: worker.pid, ...end })
    endsInARow += 1
    if (!hasServed) return giveUp(`The first worker ended before it served: ${describeEnd(end)}.`)
    if (serving.size === 0 && endsInARow >= END_LIMIT) {
      return giveUp(`No worker serves, and the last ${endsInARow} ended soon: ${describeEnd(end)}.`)
    }
    restartLater(Math.min(RESTART_MS.first * 2 ** (endsInARow - 1), RESTART_MS.longest))
  }

  function restartLater(delayMs: number): void {
    const timer = setTimeout(() => {
      restarts.delete(timer)
      start()
    }, delayMs)
    restarts.add(timer)
  }

  function giveUp(reason: string): void {
    failure = reason
    stop()
  }

  function stop(): void {
    if (isStopping) return
    isStopping = true
    clearInterval(looking)
    for (const timer of restarts) clearTimeout(timer)
    for (const worker of running) worker.stop()
    killing = setTimeout(() => running.forEach((worker) => worker.kill()), STOP_LIMIT_MS)
    finishIfAlone()
  }

  function finishIfAlone(): void {
    if (running.size > 0) return
    clearTimeout(killing)
    clearTimeout(calm)
    allServe.resolve(false)
    ended.resolve(failure)
  }

  const looking = setInterval(look, patience.pingMs)
  start()
  return { allServe: allServe.promise, ended: ended.promise, stop }
}

function describeEnd({ code, signal }: WorkerEnd): string {
  return signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`
}
