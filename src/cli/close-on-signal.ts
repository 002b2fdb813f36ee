import type { EventEmitter } from 'node:events'
import type { Server } from '../build.ts'

/** How long requests that are under way may take after the signal; then their connections are cut. */
const GRACE_MS = 8_000
/** Longest time between the signal and the end of the process. */
const SHUTDOWN_LIMIT_MS = 10_000
/** The same key press reaches us twice when npm or a wrapper hands it on; that is no impatience. */
const ECHO_MS = 1_000

export type ClosingProcess = Pick<EventEmitter, 'on'> & { readonly exit: (code: number) => void }

/** Ends the server at the first SIGTERM or SIGINT; a later one ends the process at once. */
export function closeOnSignal(server: Pick<Server, 'http' | 'close'>, ending: ClosingProcess): void {
  let closingSince: number | undefined
  const close = (): void => {
    if (closingSince !== undefined) {
      if (performance.now() - closingSince > ECHO_MS) ending.exit(1)
      return
    }
    closingSince = performance.now()
    setTimeout(() => server.http.closeAllConnections(), GRACE_MS).unref()
    setTimeout(() => ending.exit(1), SHUTDOWN_LIMIT_MS).unref()
    server.close().then(
      () => ending.exit(0),
      (cause: unknown) => {
        process.stderr.write(`The server did not close cleanly: ${String(cause)}\n`)
        ending.exit(1)
      },
    )
  }
  ending.on('SIGTERM', close)
  ending.on('SIGINT', close)
}
