import type { EventEmitter } from 'node:events'
import type { Server } from '../../server/server.ts'

/**
 * The process always exits within ten seconds. Draining takes at most four seconds, and listen.ts closes the remaining
 * connections after five more.
 */
const SHUTDOWN_LIMIT_MS = 9_500
/** npm and wrappers forward a signal, so one key press arrives twice. A second signal within this time is ignored. */
const ECHO_MS = 1_000

export type ClosingProcess = Pick<EventEmitter, 'on' | 'off'> & { readonly exit: (code: number) => void }
type Closing = Pick<Server, 'drain' | 'close'>

/** Ends the server at the first SIGTERM or SIGINT; a later one ends the process at once. */
export function closeOnSignal(server: Closing, drainSeconds: number, ending: ClosingProcess): void {
  onStopSignal(ending, () => drainAndClose(server, drainSeconds, ending))
}

/** Calls `stop` at the first SIGTERM or SIGINT; a later one ends the process at once. Returns the function that ends this. */
export function onStopSignal(ending: ClosingProcess, stop: () => void): () => void {
  let stoppingSince: number | undefined
  const onSignal = (): void => {
    if (stoppingSince === undefined) {
      stoppingSince = performance.now()
      stop()
    } else if (performance.now() - stoppingSince > ECHO_MS) ending.exit(1)
  }
  ending.on('SIGTERM', onSignal)
  ending.on('SIGINT', onSignal)
  return () => {
    ending.off('SIGTERM', onSignal)
    ending.off('SIGINT', onSignal)
  }
}

/** Reports not ready, continues to serve until load balancers have seen that, closes the server, and ends the process. */
export function drainAndClose(server: Closing, drainSeconds: number, ending: Pick<ClosingProcess, 'exit'>): void {
  setTimeout(() => ending.exit(1), SHUTDOWN_LIMIT_MS).unref()
  server.drain()
  setTimeout(() => {
    server.close().then(
      () => ending.exit(0),
      (cause: unknown) => {
        process.stderr.write(`The server did not close cleanly: ${String(cause)}\n`)
        ending.exit(1)
      },
    )
  }, drainSeconds * 1000)
}
