import { InvalidArgumentError, Option, type Command } from 'commander'
import type { ApiDocument, KeptApiDocument } from '../../admin/api/tasks.ts'
import { columns, record } from '../lib/columns.ts'
import { UsageError } from '../lib/failure.ts'
import type { Members } from '../lib/perform-task.ts'
import { listVerb, taskVerb, type AddVerb } from '../lib/task-verb.ts'

type ScopeDocument = ApiDocument['scopes'][number]

/** The options of `api create` and `api update`. */
interface ApiOptions {
  readonly name?: string
  readonly scope?: readonly ScopeDocument[]
  readonly scopeOnRequest?: readonly ScopeDocument[]
  readonly machineScope?: readonly ScopeDocument[]
  readonly approvedScope?: readonly ScopeDocument[]
  readonly format?: string
  readonly lifetime?: number | 'server'
  readonly algorithm?: string
  readonly jwtType?: string
  readonly applicationSubject?: boolean
}

/** The verbs of `grantor api`. */
export const API_VERBS: readonly AddVerb[] = [
  taskVerb<KeptApiDocument, ApiOptions & { readonly resource: string }>({
    task: 'api.create',
    options: (command) =>
      addApiOptions(
        command.requiredOption(
          '--resource <uri>',
          'the identifier of the API, which clients send as `resource` and tokens have as `aud`',
        ),
      ),
    input: (options) => ({ resource: options.resource, ...apiWish(options) }),
    say({ resource, scopes, notice }) {
      const names = scopes.map(({ name }) => name).join(', ')
      return [
        `Declared ${resource} ${names === '' ? 'without scopes' : `with ${names}`}.`,
        'Running servers apply the change within a second.',
        ...(notice === null ? [] : [notice]),
      ]
    },
  }),
  listVerb<ApiDocument>({
    task: 'api.list',
    rows: 'apis',
    headings: ['RESOURCE', 'NAME', 'SCOPE', 'GRANTED', 'SENTENCE'],
    cells: ({ resource, name, scopes }) => [
      [resource, name ?? '–', '', ''],
      ...scopes.map((scope) => ['', '', scope.name, grantedWords(scope.granted_to), scope.sentence]),
    ],
    empty: 'No API is declared. Declare one: grantor api create --resource <uri> --scope <name>=<sentence>',
  }),
  taskVerb<ApiDocument>({
    task: 'api.show',
    say({ scopes, tokens, ...api }, { paint }) {
      const { format, lifetime, algorithm, jwt_type, application_subject } = tokens
      const made = {
        token_format: format,
        token_lifetime: lifetime === null ? 'as the server' : `${lifetime} seconds`,
        token_algorithm: format === 'opaque' ? null : (algorithm ?? 'as the server'),
        token_jwt_type: format === 'opaque' ? null : jwt_type,
        token_application_subject: application_subject ? 'yes' : 'no',
      }
      const cells = scopes.map(({ name, granted_to, sentence }) => [name, grantedWords(granted_to), sentence])
      const table = cells.length === 0 ? [] : ['', ...columns(['SCOPE', 'GRANTED', 'SENTENCE'], cells, paint)]
      return [...record({ ...api, ...made }, paint), ...table]
    },
  }),
  taskVerb<KeptApiDocument, ApiOptions>({
    task: 'api.update',
    options: (command) =>
      addApiOptions(command).addHelpText(
        'after',
        '\nThe given scopes replace all scopes of the API. --name "" removes the name.',
      ),
    input(options) {
      const wish = apiWish(options)
      if (Object.keys(wish).length === 0) throw new UsageError('Give at least one change. See --help.')
      return wish
    },
    say: ({ resource, notice }) => [
      `Changed ${resource}. Running servers apply the change within a second. Issued tokens do not change.`,
      ...(notice === null ? [] : [notice]),
    ],
  }),
  taskVerb<{ readonly resource: string; readonly id: string; readonly secret: string }>({
    task: 'api.create-credentials',
    say: ({ resource, id, secret }) => [
      `${resource} authenticates at /v2/oauth/introspect by HTTP Basic, with the id as the user and the secret as the password:`,
      `  id      ${id}`,
      `  secret  ${secret}`,
      'The secret is not shown again. Running servers accept it within a second.',
    ],
  }),
  taskVerb<{ readonly resource: string }>({
    task: 'api.delete',
    say: ({ resource }) => `Deleted ${resource}. Tokens that were issued for it stay valid until they expire.`,
  }),
]

function addApiOptions(command: Command): Command {
  return command
    .option('--name <name>', 'the name of the API, as the pages show it')
    .option(
      '--scope <name=sentence>',
      'a scope that needs consent, and its text on the consent page: read="Read your projects"; repeatable',
      parseScopeOf('users'),
    )
    .option(
      '--scope-on-request <name=sentence>',
      'a scope that needs consent, is granted only when a request names it, and is in no metadata; repeatable',
      parseScopeOf('users-on-request'),
    )
    .option(
      '--machine-scope <name=sentence>',
      'a scope that needs consent, or that any registered client can have without a user; repeatable',
      parseScopeOf('users-and-machines'),
    )
    .option(
      '--approved-scope <name=sentence>',
      'a scope that only approved clients can have (client approve-scopes); repeatable',
      parseScopeOf('approved-clients'),
    )
    .addOption(
      new Option('--format <format>', 'the format of its access tokens; opaque tokens must be introspected').choices([
        'jwt',
        'opaque',
      ]),
    )
    .option(
      '--lifetime <seconds>',
      'the lifetime of its access tokens, up to a day; server: the setting of the server',
      parseLifetime,
    )
    .addOption(
      new Option('--algorithm <name>', 'the signing algorithm of its JWTs; server: the setting of the server').choices([
        'ES256',
        'EdDSA',
        'RS256',
        'server',
      ]),
    )
    .addOption(
      new Option('--jwt-type <type>', 'the typ of its JWTs; JWT for verifiers that reject at+jwt').choices([
        'at+jwt',
        'JWT',
      ]),
    )
    .option(
      '--application-subject',
      'its tokens have the subject that your application has for the user, in application_subject; the client can read it in a JWT',
    )
    .option('--no-application-subject', 'its tokens do not have it')
}

/** The members of the input of a task that were given. */
function apiWish(options: ApiOptions): Members {
  const { name, scope, scopeOnRequest, machineScope, approvedScope, format, lifetime, algorithm, jwtType } = options
  const { applicationSubject: application_subject } = options
  const scopes = [scope, scopeOnRequest, machineScope, approvedScope].filter((some) => some !== undefined)
  const tokens = Object.entries({ format, lifetime, algorithm, jwt_type: jwtType, application_subject }).filter(
    ([, value]) => value !== undefined,
  )
  return {
    ...(name === undefined ? {} : { name }),
    ...(scopes.length === 0 ? {} : { scopes: scopes.flat() }),
    ...(tokens.length === 0
      ? {}
      : { tokens: Object.fromEntries(tokens.map(([part, value]) => [part, value === 'server' ? null : value])) }),
  }
}

/** Which clients can have a scope, as a cell of a table. */
function grantedWords(grantedTo: ScopeDocument['granted_to']): string {
  switch (grantedTo) {
    case 'users':
      return 'with consent'
    case 'users-on-request':
      return 'with consent, on request'
    case 'users-and-machines':
      return 'with consent, or without a user'
    case 'approved-clients':
      return 'to approved clients'
  }
}

function parseScopeOf(grantedTo: ScopeDocument['granted_to']) {
  return (text: string, previous: readonly ScopeDocument[] = []): readonly ScopeDocument[] => {
    const [, name, sentence] = /^([^=]+)=(.*)$/s.exec(text) ?? []
    if (name === undefined || sentence === undefined || sentence.trim() === '') {
      throw new InvalidArgumentError('Give a name, "=", and the text on the consent page: read="Read your projects".')
    }
    return [...previous, { name, sentence, granted_to: grantedTo }]
  }
}

function parseLifetime(text: string): number | 'server' {
  if (text === 'server') return text
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Give a number of seconds, or server.')
}
