import type { EventEmitter } from 'node:events'
import type { Server } from '../../server/server.ts'

/**
 * The process ends before ten seconds are over, whatever holds it up. Draining takes four of them at most, and listen.ts
 * cuts what is then under way after five more.
 */
const SHUTDOWN_LIMIT_MS = 9_500
/** The same key press reaches us twice when npm or a wrapper hands it on; that is no impatience. */
const ECHO_MS = 1_000

export type ClosingProcess = Pick<EventEmitter, 'on'> & { readonly exit: (code: number) => void }
type Closing = Pick<Server, 'drain' | 'close'>

/** Ends the server at the first SIGTERM or SIGINT; a later one ends the process at once. */
export function closeOnSignal(server: Closing, drainSeconds: number, ending: ClosingProcess): void {
  onStopSignal(ending, () => drainAndClose(server, drainSeconds, ending))
}

/** Calls `stop` at the first SIGTERM or SIGINT; a later one ends the process at once. */
export function onStopSignal(ending: ClosingProcess, stop: () => void): void {
  let stoppingSince: number | undefined
  const onSignal = (): void => {
    if (stoppingSince === undefined) {
      stoppingSince = performance.now()
      stop()
    } else if (performance.now() - stoppingSince > ECHO_MS) ending.exit(1)
  }
  ending.on('SIGTERM', onSignal)
  ending.on('SIGINT', onSignal)
}

/** Says that it is not ready, goes on serving until the load balancers have seen it, closes, and ends the process. */
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
