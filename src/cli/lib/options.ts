import { InvalidArgumentError, type Command } from 'commander'
import { LIST_LIMIT } from '../../admin/page.ts'
import { UsageError } from './failure.ts'

/** Adds how to print for a program. */
export function withJson(command: Command): Command {
  return command.option('--json', 'print one JSON document')
}

export interface ServerOptions {
  readonly server?: string
  readonly insecureHttp?: true
}

/** Adds how to ask a running server instead of the store. */
export function withServer(command: Command): Command {
  return command
    .option(
      '--server <url>',
      'do it at the administration of a running server, with the token in GRANTOR_ADMIN_TOKEN, instead of in the store',
    )
    .option('--insecure-http', 'allow sending the token to another machine over plain HTTP')
}

export interface PageOptions {
  readonly limit: number
  readonly before?: string
}

/** Adds how to ask for a slice of a list. */
export function withPage(command: Command): Command {
  return command
    .option('--limit <rows>', `at most this many, up to ${LIST_LIMIT.most}`, parseLimit, LIST_LIMIT.usual)
    .option('--before <id>', 'go on after this one, the last of the list before')
}

/** What says that a list goes on. */
export function nextPage(next: string | null): readonly string[] {
  return next === null ? [] : ['', `There are more: --before ${next}`]
}

/** What a verb is about may stand alone or behind its option: `user disable <email>`, `user disable --email <email>`. */
export function subjectOf(name: string, argument: string | undefined, option: string | undefined): string {
  const subject = argument ?? option
  if (subject === undefined) throw new UsageError(`Say which: give the ${name}, alone or behind --${name}.`)
  if (argument !== undefined && option !== undefined && argument !== option) {
    throw new UsageError(`Two of them were given, "${argument}" and "${option}". Give one ${name}.`)
  }
  return subject
}

/**
 * The argument or option that a member of a task's input comes from: `--client` for `client_id`, `--overlap` for
 * `overlap_seconds`, `<token>`. undefined: the command has none of that name.
 */
export function spellingOf(command: Command, member: string): string | undefined {
  const words = member.split('_')
  // All words first: of `--unused` and `--unused-since`, `unused_since` is the second.
  const names = words.map((_, index) => words.slice(0, words.length - index).join('-'))
  for (const name of names) {
    if (command.registeredArguments.some((argument) => argument.name() === name)) return `<${name}>`
    if (command.options.some((option) => option.name() === name)) return `--${name}`
  }
  return undefined
}

/** A moment for a task, which wants a zone; a day begins at midnight UTC. */
export function parseMoment(text: string): string {
  const moment = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text
  if (!/^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:\d{2})$/.test(moment) || Number.isNaN(Date.parse(moment))) {
    throw new InvalidArgumentError('It is a day such as 2026-01-31, or a moment such as 2026-01-31T12:00:00Z.')
  }
  return moment
}

export function parseSeconds(text: string): number {
  return parseWhole(text, 0)
}

export function parseCount(text: string): number {
  return parseWhole(text, 1)
}

function parseWhole(text: string, least: number): number {
  if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text)
  throw new InvalidArgumentError(`It is a whole number from ${least} on.`)
}

/** Of two flags that exclude each other: whether the first is set; undefined: neither is. */
export function eitherOf(options: object, yes: string, no: string): boolean | undefined {
  const [isYes, isNo] = [yes in options, no in options]
  if (isYes && isNo) throw new UsageError(`--${yes} and --${no} exclude each other.`)
  return isYes || isNo ? isYes : undefined
}

function parseLimit(text: string): number {
  const limit = Number(text)
  if (!/^\d+$/.test(text) || limit < 1 || limit > LIST_LIMIT.most) {
    throw new InvalidArgumentError(`It is a whole number from 1 to ${LIST_LIMIT.most}.`)
  }
  return limit
}
