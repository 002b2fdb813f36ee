import type { Command } from 'commander'

const INTRODUCTION = [
  '# Commands',
  '',
  '`grantor <command> --help` says more. The lists leave out `grantor`, the noun in their heading, and the options that a command does not require:',
  '`disable <client>` below *client* is `grantor client disable <client>`.',
  '',
  'Commands work on the store that `DATABASE_URL` names, with or without a running server, and need no credentials. In the audit they are',
  '`command-line`. Only `serve`, `migrate`, `apply`, `user create`, `org create`, `api create` and `admin create` create a store that does not exist.',
  '',
  '`--json` prints one JSON document; times in tables are UTC. The exit code is 1 after a failure, 2 after a usage error, 3 when',
  '`audit verify` found a fault, `migrate status` a missing migration, or `apply --plan` a difference.',
  '',
  '## At a running server',
  '',
  'With `--server <url>`, a command without a ✗ uses the administration of a running server (`GRANTOR_ADMIN_PORT`, by default',
  '`PORT` + 1), with a token of the environment or of the file `GRANTOR_ADMIN_TOKEN_FILE` ([rules](configuration.md#secrets-in-files)):',
  '',
  '```sh',
  'grantor admin create --name "Ada at her laptop" --access read   # beside the server; prints the token once',
  'export GRANTOR_ADMIN_TOKEN=gad_…',
  'grantor client list --server http://localhost:3001',
  '```',
  '',
  'Use `https` or a tunnel: `http` to another machine needs `--insecure-http`. [Credentials of one',
  'organization](administration.md#credentials-of-one-organization) may use the commands about it.',
  '',
  '## Subjects of commands',
  '',
  'A user is given by e-mail address or id, a client or an organization by id or by name, which must match exactly one record. With more than 1,000 records,',
  'from credentials of one organization, and in `perform authorization-code`, only ids count. A client can register under any name, so check the id before you give it rights.',
  '',
  'Tables show addresses and names, and after a name the last six characters of its id; `--json` has the ids, and their names in `names`.',
  'The `used_at` of a client is when it first got a token, `last_used_at` when it last got one, to the minute. The `ended_by` of an',
  'inactive token is `expired`; `not-yet-valid`, issued by a clock that was ahead; `revoked`; `held` or `replaced`, an earlier refresh token; or what was disabled, deleted or',
  'had its tokens revoked: `client`, `user`, `organization`, `membership`, `installation`, `server`.',
  '',
  "An option for several values is repeated. In `update`, an empty text is no value where `--help` says \"'' for none\": `--domain ''`.",
  'A password or token given as `-` is read from standard input, where other users of the machine cannot see it.',
]

/** The whole of docs/commands.md. */
export function commandsDocument(program: Command): string {
  const nouns = program.commands.filter(isNoun)
  const alone = program.commands.filter((command) => !isNoun(command)).flatMap((one) => [one, ...one.commands])
  return [
    ...INTRODUCTION,
    ...section('The server', alone),
    ...nouns.flatMap((noun) => section(noun.name(), noun.commands)),
    '',
  ].join('\n')
}

/** A noun has verbs and does nothing itself. */
function isNoun({ commands, options }: Command): boolean {
  return commands.length > 0 && options.length === 0
}

const SMALL_WORDS = new Set('a all an by disabled for from of the to with'.split(' '))

/** The rest is in `--help`. */
function summaryOf(command: Command): string {
  return command.description().split(/(?<=\.) (?=[A-Z])/)[0] ?? ''
}

/** Whether the summary of a command, such as "Remove a user from an organization.", has no word that its usage lacks. */
function saysItAll(command: Command): boolean {
  const usage = usageOf(command).toLowerCase()
  const words =
    summaryOf(command)
      .toLowerCase()
      .match(/[a-z]+/g) ?? []
  const isList = /^(list|members|installations)/.test(command.name()) && command.parent?.parent !== null
  return isList || words.every((word) => SMALL_WORDS.has(word) || usage.includes(word))
}

function section(title: string, commands: readonly Command[]): readonly string[] {
  const usage = (command: Command): string => markedUsageOf(title, command)
  const plain = commands.filter(saysItAll)
  const explained = commands.filter((command) => !plain.includes(command))
  return [
    '',
    `## ${title}`,
    '',
    ...(plain.length === 0 ? [] : [`- ${plain.map(usage).join(', ')}`]),
    ...explained.map((command) => `- ${usage(command)}: ${summaryOf(command)}`),
  ]
}

function markedUsageOf(noun: string, command: Command): string {
  const isTask = command.options.some((option) => option.attributeName() === 'server')
  return `\`${usageOf(command).replace(`${noun} `, '')}\`${isTask ? '' : ' ✗'}`
}

function usageOf(command: Command): string {
  const subjects = command.registeredArguments.map((argument) => `<${argument.name()}>`)
  const required = command.options.filter(({ mandatory }) => mandatory).map(({ flags }) => flags)
  return [...namesOf(command), ...subjects, ...required].join(' ')
}

function namesOf(command: Command): readonly string[] {
  return command.parent === null ? [] : [...namesOf(command.parent), command.name()]
}
