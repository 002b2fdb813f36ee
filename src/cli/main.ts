import { runCommandLine } from './program.ts'
import { ownCommand } from './lib/own-command.ts'
import { openTerminal } from './lib/terminal.ts'

/** Runs the command line of this process, and sets its exit code. bin/grantor.js calls it. */
export async function runMain(): Promise<void> {
  // The reader of a pipe may close it early: grantor client list | head -1
  process.stdout.on('error', (cause: NodeJS.ErrnoException) => process.exit(cause.code === 'EPIPE' ? 0 : 1))
  const { env: environment, execPath, argv } = process
  const command = ownCommand({ environment, execPath, file: argv[1] ?? execPath, folder: process.cwd() })
  const code = await runCommandLine(argv.slice(2), openTerminal(process, environment, command))
  // A command that failed must not keep the process alive, for example a server that could not listen.
  if (code === 0) process.exitCode = 0
  // A pipe may not have taken the whole output yet.
  else process.stdout.write('', () => process.exit(code))
}

if (import.meta.main) await runMain()
