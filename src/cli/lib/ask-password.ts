import type { Command } from 'commander'
import { AdminError } from '../../admin/admin-error.ts'
import { UsageError } from './failure.ts'
import { readGivenFile } from './given-file.ts'
import type { Terminal } from './terminal.ts'

/** Bytes of standard input that are read. Passwords and tokens are shorter. */
const INPUT_LIMIT = 16_384

/**
 * Returns the given password; `-` reads the first line of standard input. Without a password a terminal prompts for it, on
 * standard error, because standard output is for the result.
 */
export async function readPassword(terminal: Terminal, given: string | undefined): Promise<string> {
  if (given === '-') return readLine(terminal.stdin, 'password')
  if (given !== undefined) return given
  if (terminal.stdin.isTTY !== true) {
    throw new UsageError(
      'A password is needed. Give it with --password, or on standard input with "--password -"; a terminal prompts for it.',
    )
  }
  const first = await askOnce('Password')
  if ((await askOnce('Repeat the password')) !== first)
    throw new AdminError('The two passwords differ. Nothing was changed.')
  return first
}

/** Returns the given token; `-` reads the first line of standard input. */
export async function readToken(stdin: Terminal['stdin'], given: string | undefined): Promise<string> {
  if (given === undefined) throw new UsageError('Give the token, or - to read it from standard input.')
  return given === '-' ? readLine(stdin, 'token') : given
}

export interface SecretOptions {
  readonly clientSecret?: string
  readonly clientSecretFile?: string
}

/** Adds the options of a client secret. */
export function withSecret(command: Command): Command {
  return command
    .option('--client-secret <->', '- reads the client_secret from standard input')
    .option('--client-secret-file <file>', 'a file with the client_secret')
}

/**
 * Returns a client secret: from a file, or with `-` the first line of standard input. A secret on the command line would be visible to every
 * user of the machine, so it is refused.
 */
export async function secretOf(
  { clientSecret: given, clientSecretFile: file }: SecretOptions,
  terminal: Terminal,
): Promise<{ readonly client_secret: string | undefined }> {
  if (given !== undefined && file !== undefined) throw new UsageError('Give --client-secret or --client-secret-file.')
  if (file !== undefined) return { client_secret: readGivenFile(file).trim() }
  if (given === undefined) return { client_secret: undefined }
  if (given === '-') return { client_secret: await readLine(terminal.stdin, 'secret') }
  throw new UsageError(
    'A secret on the command line is visible to other users of the machine. Give "--client-secret -" and write it to standard input, or --client-secret-file <file>.',
  )
}

/** The same where a secret is needed. */
export async function requiredSecretOf(
  options: SecretOptions,
  terminal: Terminal,
): Promise<{ readonly client_secret: string }> {
  const { client_secret } = await secretOf(options, terminal)
  if (client_secret !== undefined) return { client_secret }
  throw new UsageError('Give the secret with "--client-secret -" on standard input, or with --client-secret-file.')
}

/** Prompts. The package that does is loaded here, because most commands need no prompt. */
async function askOnce(message: string): Promise<string> {
  const { isCancel, password } = await import('@clack/prompts')
  const answer = await password({ message, output: process.stderr })
  if (isCancel(answer)) throw new AdminError('Cancelled. Nothing was changed.')
  return answer
}

async function readLine(input: NodeJS.ReadableStream, what: 'password' | 'secret' | 'token'): Promise<string> {
  let text = ''
  for await (const chunk of input) {
    text += chunk.toString()
    if (text.includes('\n') || text.length > INPUT_LIMIT) break
  }
  const line = text.split(/\r?\n/, 1)[0] ?? ''
  if (line === '')
    throw new UsageError(`Standard input is empty. Write the ${what} to it: echo "$${what.toUpperCase()}" | grantor …`)
  return line
}
