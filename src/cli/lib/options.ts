import { InvalidArgumentError, type Command } from 'commander'
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

/** The lines after a page that more rows follow. */
export function nextPage(next: string | null): readonly string[] {
  return next === null ? [] : ['', `More rows follow: --before ${next}`]
}

/** A subject is an argument or an option: `user disable <email>`, `user disable --email <email>`. */
export function subjectOf(
  name: string,
  argument: string | undefined,
  option: string | undefined,
  choices?: readonly string[],
): string {
  const subject = argument ?? option
  if (subject === undefined) {
    const listed = choices === undefined ? '' : `: ${choices.join(', ')}`
    throw new UsageError(`The ${name} is missing. Give it as an argument or with --${name}${listed}.`)
  }
  if (argument !== undefined && option !== undefined && argument !== option) {
    throw new UsageError(`Two values were given, "${argument}" and "${option}". Give one ${name}.`)
  }
  return subject
}

/** The argument or option that has the name of a member of the input of a task: `<token>`, `--scope` for `scopes`. */
export function optionNameOf(command: Command, member: string): string | undefined {
  const name = member.replaceAll('_', '-')
  for (const one of [name, name.replace(/s$/, '')]) {
    if (command.registeredArguments.some((argument) => argument.name() === one)) return `<${one}>`
    if (command.options.some((option) => option.name() === one)) return `--${one}`
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

/** Refuses two options that contradict each other, of which commander would take the last. */
export function excludeEachOther(command: Command, [one, other]: readonly [string, string]): Command {
  const given = new Set<string>()
  for (const name of [one, other]) {
    command.on(`option:${name}`, () => {
      if (given.add(name).size > 1) throw new UsageError(`--${one} and --${other} exclude each other.`)
    })
  }
  return command
}

/** Collects the values of a repeatable option. */
export function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value]
}

export function parseCount(text: string): number {
  const count = parseWhole(text)
  if (count > 0) return count
  throw new InvalidArgumentError('Give a whole number of at least 1.')
}

export function parseWhole(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Give a whole number.')
}
