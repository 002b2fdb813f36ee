import { existsSync } from 'node:fs'
import { InvalidArgumentError, type Command } from 'commander'
import { AdminError } from '../admin/admin-error.ts'
import { LIST_LIMIT } from '../admin/page.ts'
import { openRuntime, openWorld } from '../server/server.ts'
import { readConfig, type Config } from '../config/config.ts'
import { locationOf } from '../config/database-url.ts'
import { readSchema } from '../server/store.ts'
import type { Context } from '../ports/context.ts'
import { UsageError } from './failure.ts'
import type { Terminal } from './terminal.ts'

/** Adds a verb to the program, or to the noun that it stands below. */
export type AddVerb = (parent: Command, terminal: Terminal) => void

/** What becomes of a store that is not there yet: only for what creates something it is made. */
export type WhenMissing = 'create' | 'refuse'

/** Runs a task over the store, beside a server or without one. @throws AdminError when there is no store */
export async function withRuntime<T>(
  { stderr }: Pick<Terminal, 'stderr'>,
  whenMissing: WhenMissing,
  task: (context: Context) => Promise<T>,
): Promise<T> {
  const config = readConfig()
  if (await isMissing(config)) {
    const words = wordsOfMissing(config)
    if (whenMissing === 'refuse') throw new AdminError(words.refusal)
    stderr.write(`grantor: ${words.notice} A server with other settings does not know it.\n`)
  }
  // Standard output is the command's answer, so nothing is logged there.
  const workshop = await openRuntime(config, openWorld({ ...config, logLevel: 'silent' }))
  try {
    return await task(workshop.context)
  } finally {
    await workshop.close()
  }
}

async function isMissing(config: Config): Promise<boolean> {
  if (config.database.kind === 'postgres') return (await readSchema(config)).applied.length === 0
  return !existsSync(locationOf(config.database))
}

/** A mistyped address names nothing; whoever did not mean to begin anew must see it. */
function wordsOfMissing({ database }: Config): { readonly refusal: string; readonly notice: string } {
  const location = locationOf(database)
  if (database.kind === 'postgres') {
    return {
      refusal: `${location} has no Grantor schema. Check DATABASE_URL, or create the schema with: grantor serve`,
      notice: `${location} had no Grantor schema; it was created.`,
    }
  }
  return {
    refusal: `There is no database at ${location}. If there should be one, correct DATABASE_URL; a new one is made by: grantor serve`,
    notice: `There was no database at ${location}; a new one was made.`,
  }
}

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

function parseLimit(text: string): number {
  const limit = Number(text)
  if (!/^\d+$/.test(text) || limit < 1 || limit > LIST_LIMIT.most) {
    throw new InvalidArgumentError(`It is a whole number from 1 to ${LIST_LIMIT.most}.`)
  }
  return limit
}
