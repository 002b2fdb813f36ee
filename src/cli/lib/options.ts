import { InvalidArgumentError, type Command } from 'commander'
import { LIST_LIMIT } from '../../admin/page.ts'
import { UsageError } from './failure.ts'

/** Adds the option that prints JSON. */
export function withJson(command: Command): Command {
  return command.option('--json', 'print one JSON document')
}

export interface ServerOptions {
  readonly server?: string
  readonly insecureHttp?: true
}

/** Adds the options that use a running server instead of the store. */
export function withServer(command: Command): Command {
  return command
    .option(
      '--server <url>',
      'use the administration of a running server, with the token in GRANTOR_ADMIN_TOKEN or in the file of GRANTOR_ADMIN_TOKEN_FILE, instead of the store',
    )
    .option('--insecure-http', 'allow sending the token to another machine over plain HTTP')
}

export interface PageOptions {
  readonly limit: number
  readonly before?: string
}

/** Adds the options of a page of a list. */
export function withPage(command: Command, rows: number = LIST_LIMIT.usual): Command {
  return command
    .option('--limit <rows>', `the number of rows, up to ${LIST_LIMIT.most}`, parseLimit, rows)
    .option('--before <id>', 'show the rows after this one, the last row of the previous page')
}

/** The lines after a page that more rows follow. */
export function nextPage(next: string | null): readonly string[] {
  return next === null ? [] : ['', `More rows follow: --before ${next}`]
}

/** A subject is an argument or an option: `user disable <email>`, `user disable --email <email>`. */
export function subjectOf(name: string, argument: string | undefined, option: string | undefined): string {
  const subject = argument ?? option
  if (subject === undefined) throw new UsageError(`The ${name} is missing. Give it as an argument or with --${name}.`)
  if (argument !== undefined && option !== undefined && argument !== option) {
    throw new UsageError(`Two values were given, "${argument}" and "${option}". Give one ${name}.`)
  }
  return subject
}

/**
 * The argument or option that sets a member of the input of a task: `--client` for `client_id`, `--overlap` for
 * `overlap_seconds`, `<token>`. Returns undefined when the command has none of that name.
 */
export function spellingOf(command: Command, member: string): string | undefined {
  const words = member.split('_')
  // The longest name first: `unused_since` is `--unused-since` and not `--unused`. A repeatable option sets a list: `--redirect-uri`.
  const names = words.flatMap((_, index) => {
    const name = words.slice(0, words.length - index).join('-')
    return [name, name.replace(/s$/, '')]
  })
  for (const name of names) {
    if (command.registeredArguments.some((argument) => argument.name() === name)) return `<${name}>`
    if (command.options.some((option) => option.name() === name)) return `--${name}`
  }
  return undefined
}

/** Reads a time for a task, which requires a zone. A day starts at midnight UTC. */
export function parseTime(text: string): string {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text
  if (!/^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:\d{2})$/.test(time) || Number.isNaN(Date.parse(time))) {
    throw new InvalidArgumentError('Give a day such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z.')
  }
  return time
}

/** Collects the values of a repeatable option. */
export function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value]
}

export function parseSeconds(text: string): number {
  return parseWhole(text, 0)
}

export function parseCount(text: string): number {
  return parseWhole(text, 1)
}

function parseWhole(text: string, least: number): number {
  if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text)
  throw new InvalidArgumentError(`Give a whole number of at least ${least}.`)
}

/** Reads two flags that exclude each other. Returns whether the first is set, or undefined when neither is. */
export function eitherOf(options: object, yes: string, no: string): boolean | undefined {
  const [isYes, isNo] = [yes in options, no in options]
  if (isYes && isNo) throw new UsageError(`--${yes} and --${no} exclude each other.`)
  return isYes || isNo ? isYes : undefined
}

function parseLimit(text: string): number {
  const limit = Number(text)
  if (!/^\d+$/.test(text) || limit < 1 || limit > LIST_LIMIT.most) {
    throw new InvalidArgumentError(`Give a whole number from 1 to ${LIST_LIMIT.most}.`)
  }
  return limit
}
