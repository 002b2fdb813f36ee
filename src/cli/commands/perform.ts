import { InvalidArgumentError, type Command } from 'commander'
import type { JWTPayload } from 'jose'
import { readConfig } from '../../config/config.ts'
import { CLIENT_IDENTIFIER_FORM } from '../../protocol/client/identifier.ts'
import { ORGANIZATION_ID_FORM } from '../../protocol/ids.ts'
import { readPassword } from '../lib/ask-password.ts'
import { facts } from '../lib/columns.ts'
import { collect, withJson } from '../lib/options.ts'
import type { AddVerb } from '../lib/task-verb.ts'
import type { Paint, Terminal } from '../lib/terminal.ts'
import { playCodeFlow, type CodeFlowResult } from '../perform/code-flow.ts'
import { forShell } from '../../base/shell.ts'

interface Options {
  readonly issuer?: string
  readonly client?: string
  readonly scope?: string
  readonly resource?: readonly string[]
  readonly organization?: string
  readonly email?: string
  readonly password?: string
  readonly timeout: number
  readonly json?: true
}

/** The verbs of `grantor perform`. */
export const PERFORM_VERBS: readonly AddVerb[] = [addAuthorizationCode]

/** `grantor perform authorization-code` */
function addAuthorizationCode(noun: Command, terminal: Terminal): void {
  withJson(noun.command('authorization-code'))
    .description('Register a client, ask a user for consent, get tokens, verify and refresh them, and print them.')
    .option('--issuer <url>', 'the issuer to use; by default that of GRANTOR_ISSUER, or of the database', parseIssuer)
    .option(
      '--client <id>',
      'a public client with the redirect URI http://127.0.0.1/callback; by default a new client is registered',
      parseId(CLIENT_IDENTIFIER_FORM, 'client'),
    )
    .option('--scope <scope>', 'the scopes to request')
    .option('--resource <uri>', 'an API to request; repeatable: the printed tokens are for the first', collect)
    .option(
      '--organization <id>',
      'the organization that the tokens are for; by default the user chooses',
      parseId(ORGANIZATION_ID_FORM, 'org'),
    )
    .option('--email <address>', 'sign in and consent as this user, without a browser')
    .option('--password <password>', 'the password of that user; - reads it from standard input')
    .option('--timeout <seconds>', 'how long to wait for the user', parseSeconds, 300)
    .action(async (options: Options) => {
      const { email, scope, resource: resources = [], json } = options
      // With --json standard output is one document, so the progress goes to standard error.
      const say = (line: string): void => void (json ? terminal.stderr : terminal.stdout).write(`${line}\n`)
      const result = await playCodeFlow({
        issuer: options.issuer ?? (await configuredIssuer()),
        clientId: options.client,
        scope,
        resources,
        organizationId: options.organization,
        credentials:
          email === undefined ? undefined : { email, password: await readPassword(terminal, options.password) },
        limitMs: options.timeout * 1000,
        onStep: (step) => say(`${terminal.paint('green', '✓')} ${step}`),
        onAddress: (address) => say(`\nOpen this in a browser:\n\n${address}\n`),
      })
      if (json) terminal.printJson(documentOf(result))
      else terminal.print([...linesOf(result, terminal.paint), ...farewell(result, options)])
    })
}

/** The issuer of the settings, or that of the servers of the store. */
async function configuredIssuer(): Promise<string> {
  const config = readConfig()
  if (config.isIssuerChosen) return config.issuer
  const { readStoredIssuer } = await import('../../doctor/inspect-store.ts')
  return (await readStoredIssuer(config)) ?? config.issuer
}

function documentOf({ clientId, tokens, claims, refreshed, refreshedClaims }: CodeFlowResult): unknown {
  return {
    client_id: clientId,
    tokens,
    claims: claims ?? null,
    refreshed,
    refreshed_claims: refreshedClaims ?? null,
  }
}

function linesOf({ refreshed, refreshedClaims }: CodeFlowResult, paint: Paint): readonly string[] {
  return [
    '',
    ...(refreshedClaims === undefined ? [] : [...facts(claimPairs(refreshedClaims), paint), '']),
    ...facts(
      Object.entries(refreshed).map(([name, value]) => [name, String(value)]),
      paint,
    ),
  ]
}

function farewell({ clientId }: CodeFlowResult, { client }: Options): readonly string[] {
  if (client !== undefined) return []
  return ['', `The client stays registered. To delete it: grantor client delete ${forShell(clientId)}`]
}

/** RFC 7519 §4.1: times are seconds. They are printed with their dates. */
function claimPairs(claims: JWTPayload): readonly (readonly [string, string])[] {
  return Object.entries(claims).map(([name, value]) => [
    name,
    ['iat', 'exp'].includes(name)
      ? `${String(value)} (${new Date(Number(value) * 1000).toISOString()})`
      : String(value),
  ])
}

/** This command knows only what a client knows, so it takes ids and no names. */
function parseId(form: RegExp, noun: 'client' | 'org') {
  return (text: string): string => {
    if (form.test(text)) return text
    throw new InvalidArgumentError(`Give an id; this command takes no names. See "grantor ${noun} list".`)
  }
}

function parseIssuer(text: string): string {
  const issuer = text.replace(/\/$/, '')
  if (URL.canParse(issuer) && /^https?:/.test(issuer)) return issuer
  throw new InvalidArgumentError('Give an http or https URL.')
}

function parseSeconds(text: string): number {
  const seconds = Number(text)
  if (/^\d+$/.test(text) && seconds >= 1 && seconds <= 3600) return seconds
  throw new InvalidArgumentError('Give a whole number of seconds from 1 to 3600.')
}
