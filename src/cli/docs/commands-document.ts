import type { Command, Option } from 'commander'
import { SAME_AS_ARGUMENT } from '../lib/task-verb.ts'

const INTRODUCTION = [
  '# Commands',
  '',
  'Made by `npm run docs` from the command line itself; `grantor <command> --help` says more about each. `grantor` on this page',
  'stands for `npm run -s grantor --` in a checkout.',
  '',
  'Commands work on the store that `DATABASE_URL` names, beside a running server or without one, and need no credentials: whoever can',
  'run them has the store anyway. The audit log records their changes with the actor `command-line`. Where there is no store yet,',
  '`serve` and `migrate` make it, and so do `user create`, `org create`, `api create` and `admin create`, which say so; all others',
  'say that there is none, and make nothing.',
  '',
  '`--json` prints one JSON document instead of words and tables; times in tables are UTC. The exit code is 0, 1 when something',
  'failed, 2 when the command was typed wrong, and 3 when `audit verify` or `migrate status` found something amiss. A mistake that a task',
  'finds is told by what was typed: `--client: …` or, where it stands alone, `<client>: …`.',
  '',
  '## At a running server',
  '',
  'With `--server <url>`, where a ✓ says so, a command asks the administration of a running server instead (`GRANTOR_ADMIN_PORT`, by default',
  '`PORT` + 1). It prints the same, and refuses in the same words. The token comes from the environment, never from an argument:',
  '',
  '```sh',
  'grantor admin create --name "Ada at her laptop" --access read   # beside the server; prints the token once',
  'export GRANTOR_ADMIN_TOKEN=gad_…',
  'grantor client list --server http://localhost:3001',
  '```',
  '',
  'The token must not be read on the way: `http` is for this machine, and elsewhere the command is refused unless `--insecure-http` says',
  'that nobody else is on that network. Use `https` or a tunnel. A redirect is not followed. Credentials of one organization may use',
  '`org show`, `org revoke-tokens`, the `org` commands about its members (but `add-member`) and installations, and the',
  '`grant` commands with `--organization`; [administration.md](administration.md) has all of it. When no answer comes to a command',
  'that changes something, it says that nobody knows whether it was done.',
  '',
  'What a command is about may stand alone or behind its option: `grantor client show gci_…` is `grantor client show --id gci_…`.',
  '',
  'A command takes a user by e-mail address or id, and a client or an organization by id or by name. It takes a name that exactly one',
  'of them has, byte for byte. Where several have it, the command lists their ids; where there are more than 1,000 rows, it takes ids only.',
  'A client may register under any name, so look at the id before you give a client rights. Credentials of one organization name it by its',
  'id. Tables show addresses and names, a name with the last six characters of its id; `--json` has the ids, and their names in',
  '`names`. `perform authorization-code` takes ids only, because it asks the server as a client does.',
  '',
  'Of a client `used_at` is when it first got a token, and `last_used_at` when it last got one, to the minute. Of a token that is',
  'inactive `ended_by` says why: `expired`; `not-yet-valid`, issued by a clock that was ahead; `revoked`; `replaced`, a refresh token',
  'that was used since; or what was disabled, expired or deleted: `client`, `user`, `organization`, `membership`, `installation`, or',
  '`everybody` (`token revoke-all`).',
  '',
  'Passwords and tokens that are typed as `-` are read from standard input, where no other user of the machine sees them.',
]

/** Options that the page explains once. */
const COMMON: ReadonlySet<string> = new Set(['json', 'server', 'insecureHttp', 'limit', 'before'])

/** The whole of docs/commands.md. */
export function commandsDocument(program: Command): string {
  const nouns = program.commands.filter(isNoun)
  const alone = program.commands.filter((command) => !isNoun(command)).flatMap((one) => [one, ...one.commands])
  return [
    ...INTRODUCTION,
    ...table('The server', '', alone),
    ...nouns.flatMap((noun) => table(noun.name(), noun.description(), noun.commands)),
    '',
  ].join('\n')
}

/** It does nothing by itself. */
function isNoun({ commands, options }: Command): boolean {
  return commands.length > 0 && options.length === 0
}

function table(title: string, description: string, commands: readonly Command[]): readonly string[] {
  return [
    '',
    `## ${title}`,
    '',
    ...(description === '' ? [] : [description, '']),
    '| Command | What it does | `--server` |',
    '|---|---|---|',
    ...commands.map((command) => {
      const isTask = command.options.some((option) => option.attributeName() === 'server')
      return `| \`${usageOf(command)}\` | ${command.description()} | ${isTask ? '✓' : ''} |`
    }),
  ]
}

function usageOf(command: Command): string {
  const subjects = command.registeredArguments.map((argument) => argument.name())
  const options = command.options.filter(
    (option) => !COMMON.has(option.attributeName()) && option.description !== SAME_AS_ARGUMENT,
  )
  const words = [...namesOf(command), ...subjects.map((subject) => `<${subject}>`), ...options.map(wordsOf)]
  return words.join(' ').replaceAll('|', '\\|')
}

function wordsOf({ flags, mandatory }: Option): string {
  return mandatory ? flags : `[${flags}]`
}

function namesOf(command: Command): readonly string[] {
  return command.parent === null ? ['grantor'] : [...namesOf(command.parent), command.name()]
}
