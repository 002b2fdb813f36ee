import { inOneLine, TEXT_LANGUAGES, type TextLanguage } from '../../base/localized-text.ts'
import { InvalidArgumentError, Option, type Command } from 'commander'
import type { ApiDocument, KeptApiDocument } from '../../admin/api/document.ts'
import { columns, record } from '../lib/columns.ts'
import type { OptionRows } from '../lib/member-options.ts'
import { listVerb, taskVerb, verbsOf, type AddVerb } from '../lib/task-verb.ts'

type ScopeDocument = ApiDocument['scopes'][number]
type ScopeInput = Omit<ScopeDocument, 'step_up'>

/** The scopes of `api create` and `api update`, by the clients that can have them. */
interface ScopeOptions {
  readonly scope?: readonly ScopeInput[]
  readonly scopeOnRequest?: readonly ScopeInput[]
  readonly machineScope?: readonly ScopeInput[]
  readonly approvedScope?: readonly ScopeInput[]
  readonly stepUp?: readonly StepUpInput[]
  readonly exchangeFrom?: ApiDocument['exchange']
}

/** What a scope requires, as the tasks take it. */
interface StepUpInput {
  readonly scope: string
  readonly level: 'none' | '2fa' | 'phr'
  readonly max_age: number | null
}

/** A text in one language, as the tasks take it; without a scope, the name of the API. */
interface TextInput {
  readonly language: TextLanguage
  readonly scope?: string
  readonly text: string
}

/** `server` is null in the task: the setting of the server. */
const MEMBERS: OptionRows = {
  scopes: false,
  step_up: false,
  texts: false,
  exchange: false,
  group_words: { name: 'group', placeholder: 'group=word' },
  'tokens.lifetime': { none: 'server' },
  'tokens.algorithm': { none: 'server' },
}

/** The verbs of `grantor api`. */
export const API_VERBS: readonly AddVerb[] = verbsOf(
  ['api'],
  [
    taskVerb<KeptApiDocument, ScopeOptions>({
      task: 'api.create',
      members: MEMBERS,
      options: withScopes,
      input: inputOf,
    }),
    listVerb<ApiDocument>({
      task: 'api.list',
      rows: 'apis',
      headings: ['RESOURCE', 'NAME', 'SCOPE', 'GRANTED', 'SENTENCE'],
      cells: ({ resource, name, scopes }) => [
        [resource, name === null ? '–' : inOneLine(name), '', ''],
        ...scopes.map((scope) => ['', '', scope.name, grantedWords(scope.granted_to), inOneLine(scope.sentence)]),
      ],
      empty: 'No API is declared. Declare one: grantor api create --resource <uri> --scope <name>=<sentence>',
    }),
    taskVerb<ApiDocument>({
      task: 'api.show',
      saysSettings: true,
      say({ scopes, tokens, exchange, ...api }, { paint }, server) {
        const { format, lifetime, algorithm, jwt_type, application_subject, binding } = tokens
        const made = {
          token_format: format,
          token_lifetime:
            lifetime === null ? ofServer(server && `${server.access_token_lifetime} seconds`) : `${lifetime} seconds`,
          token_algorithm: format === 'opaque' ? null : (algorithm ?? ofServer(server?.signing_algorithm)),
          token_jwt_type: format === 'opaque' ? null : jwt_type,
          token_application_subject: application_subject ? 'yes' : 'no',
          token_binding: binding,
        }
        const hasStepUps = scopes.some(({ step_up }) => stepUpWords(step_up) !== '')
        const cells = scopes.map(({ name, granted_to, step_up, sentence }) =>
          [name, grantedWords(granted_to), hasStepUps ? [stepUpWords(step_up)] : [], inOneLine(sentence)].flat(),
        )
        const headings = ['SCOPE', 'GRANTED', hasStepUps ? ['STEP-UP'] : [], 'SENTENCE'].flat()
        const table = cells.length === 0 ? [] : ['', ...columns(headings, cells, paint)]
        const rules = exchange.map(({ resource, scope }) => [resource, scope])
        const exchanges = rules.length === 0 ? [] : ['', ...columns(['EXCHANGE FROM', 'SCOPE'], rules, paint)]
        return [
          ...record({ ...api, name: api.name === null ? null : inOneLine(api.name), ...made }, paint),
          ...table,
          ...exchanges,
        ]
      },
    }),
    taskVerb<KeptApiDocument, ScopeOptions>({
      task: 'api.update',
      members: MEMBERS,
      options: (command) =>
        withScopes(command).addHelpText('after', '\nThe given scopes replace all scopes of the API.'),
      input: inputOf,
    }),
  ],
)

/** A setting of the server, with its value where a server is asked. */
function ofServer(value: string | undefined): string {
  return value === undefined ? 'as the server' : `${value}, as the server`
}

function withScopes(command: Command): Command {
  for (const option of textOptions()) command.addOption(option)
  return command
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
    .option(
      '--step-up <name=level,seconds>',
      'what a scope requires of the sign-in: 2fa (two factors), phr (a passkey) or none, and the greatest age of the sign-in in seconds: payments:write=2fa,300; repeatable',
      parseStepUp,
    )
    .option(
      '--exchange-from <resource=scopes>',
      'another API, whose tokens can be exchanged for tokens of this one, and the scopes that they can have; no scopes: no longer; repeatable',
      parseExchange,
    )
}

function inputOf(options: ScopeOptions) {
  const { stepUp, exchangeFrom } = options
  const given = options as Readonly<Record<string, readonly TextInput[] | undefined>>
  const texts = textOptions().flatMap((option) => given[option.attributeName()] ?? [])
  return {
    scopes: scopesOf(options),
    step_up: stepUp,
    texts: texts.length === 0 ? undefined : texts,
    exchange: exchangeFrom,
  }
}

/** The options for the name and the sentences in one language, beside those that the API has. */
function textOptions(): readonly Option[] {
  return TEXT_LANGUAGES.flatMap((language) => {
    const meant = language === 'default' ? 'each language without a text of its own' : `the language ${language}`
    return [
      new Option(`--name-${language} <name>`, `the name of the API in ${meant}; '' for none`).argParser(
        (text: string): readonly TextInput[] => [{ language, text }],
      ),
      new Option(
        `--scope-${language} <name=sentence>`,
        `the text of a scope in ${meant}; no text: none; repeatable`,
      ).argParser((given: string, previous: readonly TextInput[] | undefined): readonly TextInput[] => {
        const [scope, text] = scopeAndText(given)
        return [...(previous ?? []), { language, scope, text }]
      }),
    ]
  })
}

/** The identifier may contain "=". */
function parseExchange(text: string, previous: ApiDocument['exchange'] = []): ApiDocument['exchange'] {
  const [, resource, scope] = /^(.+)=([^=]*)$/.exec(text) ?? []
  if (resource === undefined || scope === undefined)
    throw new InvalidArgumentError('Give the API, "=", and scopes: https://mcp.example.com/mcp="files:read".')
  return [...previous, { resource, scope }]
}

function parseStepUp(text: string, previous: readonly StepUpInput[] = []): readonly StepUpInput[] {
  const [, scope, level, seconds] = /^([^=]+)=(none|2fa|phr)(?:,(\d{1,10}))?$/.exec(text) ?? []
  if (scope === undefined || level === undefined || (level === 'none' && seconds !== undefined))
    throw new InvalidArgumentError(
      'Give the name of a scope, "=", 2fa, phr or none, and optionally a comma and seconds: payments:write=2fa,300.',
    )
  const max_age = seconds === undefined ? null : Number(seconds)
  return [...previous, { scope, level: level as StepUpInput['level'], max_age }]
}

/** What a scope requires, as a cell of a table. */
function stepUpWords(stepUp: ScopeDocument['step_up']): string {
  if (stepUp === null) return ''
  const { level, max_age: seconds } = stepUp
  return seconds === null ? level : `${level}, at most ${seconds} seconds ago`
}

function scopesOf(options: ScopeOptions): readonly ScopeInput[] | undefined {
  const { scope, scopeOnRequest, machineScope, approvedScope } = options
  const given = [scope, scopeOnRequest, machineScope, approvedScope].filter((some) => some !== undefined)
  return given.length === 0 ? undefined : given.flat()
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
  return (text: string, previous: readonly ScopeInput[] = []): readonly ScopeInput[] => {
    const [name, sentence] = scopeAndText(text)
    if (sentence.trim() === '') throw noText()
    return [...previous, { name, sentence, granted_to: grantedTo }]
  }
}

function scopeAndText(given: string): readonly [scope: string, text: string] {
  const [, scope, text] = /^([^=]+)=(.*)$/s.exec(given) ?? []
  if (scope === undefined || text === undefined) throw noText()
  return [scope, text]
}

function noText(): Error {
  return new InvalidArgumentError('Give a name, "=", and the text on the consent page: read="Read your projects".')
}
