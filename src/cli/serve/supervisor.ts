/** How a process ended. */
export interface WorkerEnd {
  readonly code: number | null
  readonly signal: string | null
}

/** A process that serves, as its supervisor sees it. */
export interface WorkerProcess {
  readonly pid: number | undefined
  /** Asks it to finish what is under way and to end. */
  readonly stop: () => void
  readonly kill: () => void
}

export interface WorkerEvents {
  readonly onServing: () => void
  /** Told once. */
  readonly onEnd: (end: WorkerEnd) => void
}

export interface Supervision {
  readonly count: number
  readonly fork: (events: WorkerEvents) => WorkerProcess
  /** A worker ended though nobody asked it to. */
  readonly record: (event: { readonly event: 'worker.ended'; readonly pid: number | undefined } & WorkerEnd) => void
}

export interface Supervisor {
  /** Resolves once all serve, and with false when that will not be. */
  readonly allServe: Promise<boolean>
  /** Resolves when no worker is left: with why that is a failure, or undefined when they were asked to end. */
  readonly ended: Promise<string | undefined>
  readonly stop: () => void
}

/** Time before a worker that ended is started again; doubled with each that ends soon after. */
const RESTART_MS = { first: 100, longest: 30_000 } as const
/** Nobody ended for this long after the last start: what ended workers before is over. */
const STABLE_MS = 10_000
/** With nobody serving, this many ends in a row are not an accident: whoever started us must know. */
const END_LIMIT = 5
/** Workers end by themselves before that (close-on-signal.ts). */
const STOP_LIMIT_MS = 9_800

/**
 * Keeps that many workers serving. The first is started alone, so that what keeps all of them from starting is said once;
 * then nobody is started again.
 */
export function supervise({ count, fork, record }: Supervision): Supervisor {
  const running = new Set<WorkerProcess>()
  const serving = new Set<WorkerProcess>()
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
    const worker: WorkerProcess = fork({ onServing: () => onServing(worker), onEnd: (end) => onEnd(worker, end) })
    running.add(worker)
  }

  function onServing(worker: WorkerProcess): void {
    serving.add(worker)
    clearTimeout(calm)
    calm = setTimeout(() => void (endsInARow = 0), STABLE_MS)
    if (!hasServed && !isStopping) for (let others = 1; others < count; others += 1) start()
    hasServed = true
    if (serving.size === count) allServe.resolve(true)
  }

  function onEnd(worker: WorkerProcess, end: WorkerEnd): void {
    running.delete(worker)
    serving.delete(worker)
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

  start()
  return { allServe: allServe.promise, ended: ended.promise, stop }
}

function describeEnd({ code, signal }: WorkerEnd): string {
  return signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`
}
