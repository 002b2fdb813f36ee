import { runCommandLine } from './program.ts'
import { openTerminal } from './lib/terminal.ts'

/** Runs what was typed, to the process's end. bin/grantor.js calls it. */
export async function runMain(): Promise<void> {
  // Whoever reads the answer may stop early: grantor client list | head -1
  process.stdout.on('error', (cause: NodeJS.ErrnoException) => process.exit(cause.code === 'EPIPE' ? 0 : 1))
  const code = await runCommandLine(process.argv.slice(2), openTerminal(process, process.env))
  // What failed halfway, a server that could not listen above all, must not stay around.
  if (code === 0) process.exitCode = 0
  else process.exit(code)
}

if (import.meta.main) await runMain()
