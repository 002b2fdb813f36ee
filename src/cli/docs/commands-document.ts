import type { Command } from 'commander'

const INTRODUCTION = [
  '# Commands',
  '',
  '`grantor <command> --help` says more; the lists leave out `grantor`, and the options that a command does not require.',
  '',
  'Commands work on the store that `DATABASE_URL` names, with or without a running server. They need no credentials, because the user',
  'who runs them has access to the store. The audit records their changes with the actor `command-line`. When the store does not',
  'exist, `serve`, `migrate`, `apply`, `user create`, `org create`, `api create` and `admin create` create it and report that; all other',
  'commands fail.',
  '',
  '`--json` prints one JSON document instead of text and tables; times in tables are UTC. The exit code is 0; 1 after a failure; 2 after a',
  'usage error; 3 when `audit verify` found a fault, `migrate status` a missing migration, or `apply --plan` a difference. An error in the input',
  'names the option or the argument: `--client: …` or `<client>: …`.',
  '',
  '## At a running server',
  '',
  'With `--server <url>`, a command without a ✗ uses the administration of a running server instead (`GRANTOR_ADMIN_PORT`, by default',
  '`PORT` + 1), with the same output. The token comes from the environment, or from the file that `GRANTOR_ADMIN_TOKEN_FILE` names',
  '([rules](configuration.md#secrets-in-files)), never from an argument:',
  '',
  '```sh',
  'grantor admin create --name "Ada at her laptop" --access read   # beside the server; prints the token once',
  'export GRANTOR_ADMIN_TOKEN=gad_…',
  'grantor client list --server http://localhost:3001',
  '```',
  '',
  'The token must be protected on the network: use `https` or a tunnel. `http` is for this machine; to another machine it needs',
  '`--insecure-http`, which is for trusted networks. Redirects are not followed. [Credentials of one',
  'organization](administration.md#credentials-of-one-organization) may use the commands about it. When a command that changes something',
  'gets no response, it reports that the change may have been applied.',
  '',
  '## Subjects of commands',
  '',
  'The subject is an argument or an option: `grantor client show gci_…` is `grantor client show --id gci_…`. A user is given by e-mail',
  'address or id, a client or an organization by id or by name. A name must match exactly one record, byte for byte; otherwise the command',
  'lists the ids. With more than 1,000 records, from credentials of one organization, and in `perform authorization-code`, ids take the',
  'place of names. A client can register under any name, so check the id before you give a client rights.',
  '',
  'Tables show addresses and names, and after a name the last six characters of its id; `--json` has the ids, and their names in `names`.',
  'The `used_at` of a client is when it first got a token, and `last_used_at` when it last got one, to the minute. The `ended_by` of an',
  'inactive token is the reason: `expired`; `not-yet-valid`, issued by a clock that was ahead; `revoked`; `held`, an earlier refresh token was used in another network, or was too old; `replaced`, a refresh token that',
  'was used since; or the record that was disabled, deleted or has a later not-before time: `client`, `user`, `organization`, `membership`,',
  '`installation`, or `server` (`token revoke-all`).',
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

/** Verbs that say what they do. */
const PLAIN: ReadonlySet<string> = new Set(['list', 'show', 'enable'])

function section(title: string, commands: readonly Command[]): readonly string[] {
  const plain = commands.filter((command) => PLAIN.has(command.name()))
  const explained = commands.filter((command) => !plain.includes(command))
  return [
    '',
    `## ${title}`,
    '',
    ...(plain.length === 0 ? [] : [`- ${plain.map(markedUsageOf).join(', ')}`]),
    ...explained.map((command) => {
      // The rest is in `--help`.
      const [says = ''] = command.description().split(/(?<=\.) (?=[A-Z])/)
      return `- ${markedUsageOf(command)}: ${says}`
    }),
  ]
}

function markedUsageOf(command: Command): string {
  const isTask = command.options.some((option) => option.attributeName() === 'server')
  return `\`${usageOf(command)}\`${isTask ? '' : ' ✗'}`
}

function usageOf(command: Command): string {
  const subjects = command.registeredArguments.map((argument) => `<${argument.name()}>`)
  const required = command.options.filter(({ mandatory }) => mandatory).map(({ flags }) => flags)
  return [...namesOf(command), ...subjects, ...required].join(' ')
}

function namesOf(command: Command): readonly string[] {
  return command.parent === null ? [] : [...namesOf(command.parent), command.name()]
}
