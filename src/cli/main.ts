import { runCommandLine } from './program.ts'
import { openTerminal } from './lib/terminal.ts'

/** Runs the command line of this process, and sets its exit code. bin/grantor.js calls it. */
export async function runMain(): Promise<void> {
  // The reader of a pipe may close it early: grantor client list | head -1
  process.stdout.on('error', (cause: NodeJS.ErrnoException) => process.exit(cause.code === 'EPIPE' ? 0 : 1))
  const code = await runCommandLine(process.argv.slice(2), openTerminal(process, process.env))
  // A command that failed must not keep the process alive, for example a server that could not listen.
  if (code === 0) process.exitCode = 0
  else process.exit(code)
}

if (import.meta.main) await runMain()
