import type { Command, Option } from 'commander'
import { SAME_AS_ARGUMENT } from '../lib/task-verb.ts'

const INTRODUCTION = [
  '# Commands',
  '',
  '`npm run docs` writes this page from the command line itself; `grantor <command> --help` has more about each command.',
  '`grantor` is [the command of your installation](install.md#the-command): in a checkout `npm run -s grantor --`, in the npm package `npx grantor`.',
  '',
  'Commands work on the store that `DATABASE_URL` names, with or without a running server. They need no credentials, because the user',
  'who runs them has access to the store. The audit log records their changes with the actor `command-line`. When the store does not',
  'exist, `serve`, `migrate`, `user create`, `org create`, `api create` and `admin create` create it and report that; all other commands',
  'fail and create nothing.',
  '',
  '`--json` prints one JSON document instead of text and tables; times in tables are UTC. The exit code is 0; 1 after a failure; 2 after a',
  'usage error; 3 when `audit verify` found a fault or `migrate status` found a missing migration. An error in the input names the option',
  'or the argument: `--client: …` or `<client>: …`.',
  '',
  '## At a running server',
  '',
  'With `--server <url>`, a command with a ✓ uses the administration of a running server instead (`GRANTOR_ADMIN_PORT`, by default',
  '`PORT` + 1). Its output and its error messages are the same. The token comes from the environment, or from the file that',
  '`GRANTOR_ADMIN_TOKEN_FILE` names ([rules](configuration.md#secrets-in-files)), never from an argument:',
  '',
  '```sh',
  'grantor admin create --name "Ada at her laptop" --access read   # beside the server; prints the token once',
  'export GRANTOR_ADMIN_TOKEN=gad_…',
  'grantor client list --server http://localhost:3001',
  '```',
  '',
  'The token must be protected on the network: use `https` or a tunnel. `http` is for this machine; to another machine the command is',
  'rejected unless `--insecure-http` is given, which is for trusted networks. Redirects are not followed. Credentials of one organization',
  'may use `org show`, `org revoke-tokens`, the `org` commands about its members (except `add-member`) and installations, and the',
  '`grant` commands with `--organization`; see [administration.md](administration.md). When a command that changes something gets no',
  'response, it reports that the change may have been applied.',
  '',
  'The subject of a command is an argument or an option: `grantor client show gci_…` is `grantor client show --id gci_…`.',
  '',
  'A user is given by e-mail address or id, a client or an organization by id or by name. A name must match exactly one record, byte for',
  'byte. When several records have the name, the command lists their ids; with more than 1,000 records only ids are accepted. A client can',
  'register under any name, so check the id before you give a client rights. Credentials of one organization must give its id. Tables show',
  'addresses and names, and after a name the last six characters of its id; `--json` has the ids, and their names in `names`.',
  '`perform authorization-code` takes ids only, because it uses the server as a client does.',
  '',
  'The `used_at` of a client is when it first got a token, and `last_used_at` when it last got one, to the minute. The `ended_by` of an',
  'inactive token is the reason: `expired`; `not-yet-valid`, issued by a clock that was ahead; `revoked`; `replaced`, a refresh token that',
  'was used since; or the record that was disabled, deleted or has a later not-before time: `client`, `user`, `organization`, `membership`,',
  '`installation`, or `server` (`token revoke-all`).',
  '',
  'A password or token given as `-` is read from standard input, where other users of the machine cannot see it.',
]

/** Options that the introduction explains, and the tables omit. */
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

/** A noun has verbs and does nothing itself. */
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
    (option) => !option.hidden && !COMMON.has(option.attributeName()) && option.description !== SAME_AS_ARGUMENT,
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
