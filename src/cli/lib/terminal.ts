import { constants, setPriority } from 'node:os'
import { styleText } from 'node:util'
import { ConfigError, withoutEmpty } from '../../config/config.ts'
import { showEmails } from '../../protocol/sign-in/email-address.ts'
import { COMMAND_TOKEN, readSecretFiles } from '../../config/secret-files.ts'
import { replaceCommand } from './own-command.ts'

/** The streams that a command reads and writes. Tests use their own. */
export interface Streams {
  /** The process, if it runs this command and nothing else. */
  readonly pid?: number
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean }
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean }
}

export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan'
/** Colours a text, or leaves it alone. */
export type Paint = (style: Style, text: string) => string

/** The output of a command. */
export interface Terminal extends Streams {
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean
  readonly paint: Paint
  /** The command that starts this program. */
  readonly command: string
  /**
   * GRANTOR_ADMIN_TOKEN, or the content of its file, for commands with --server. Never an argument, which all users of the machine
   * can read.
   *
   * @throws ConfigError if the file cannot be used
   */
  readonly adminToken: () => string | undefined
  /** A variable of the environment, which a file of "grantor apply" names. */
  readonly variable: (name: string) => string | undefined
  /** Standard output. Commands in the lines are named as they are started here. */
  readonly print: (lines: readonly string[]) => void
  /** The same on standard error. */
  readonly complain: (text: string) => void
  /** The one JSON document of `--json`. */
  readonly printJson: (document: unknown) => void
  /** From here on, other processes of the machine come first. */
  readonly giveWay: () => void
}

/** Colours only on a terminal, and never with NO_COLOR (https://no-color.org). */
export function openTerminal(
  streams: Streams,
  environment: Readonly<Record<string, string | undefined>>,
  command: string,
): Terminal {
  const isTerminal = streams.stdout.isTTY === true
  const isColoured = isTerminal && (environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb'
  return {
    ...streams,
    isTerminal,
    command,
    variable: (name) => environment[name],
    adminToken: () => readAdminToken(environment),
    paint: (style, text) => (isColoured ? styleText(style, text, { validateStream: false }) : text),
    print: (lines) =>
      void streams.stdout.write(replaceCommand(showEmails(lines.map((line) => `${line}\n`).join('')), command)),
    complain: (text) => void streams.stderr.write(replaceCommand(showEmails(text), command)),
    printJson: (document) => void streams.stdout.write(`${JSON.stringify(document, undefined, 2)}\n`),
    giveWay() {
      if (streams.pid !== undefined) setPriority(streams.pid, constants.priority.PRIORITY_LOW)
    },
  }
}

function readAdminToken(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  const given = withoutEmpty(environment)
  const { values, mistakes } = readSecretFiles(given, [COMMAND_TOKEN])
  if (mistakes.length > 0) throw new ConfigError(mistakes)
  return values[COMMAND_TOKEN] ?? given[COMMAND_TOKEN]
}
