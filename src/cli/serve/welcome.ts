import type { Paint } from '../lib/terminal.ts'

/** The data of the first lines on a terminal. */
export interface Welcome {
  readonly issuer: string
  readonly version: string
  readonly isLoopbackIssuer: boolean
  /** Whether any API is declared. */
  readonly hasApis: boolean
  /** Whether the log has a line for each refused request. */
  readonly logsRefusals: boolean
  /** The command that starts this program; `grantor` may not be on the path. */
  readonly command: string
  /** The user created at this start. The password is shown once and not stored in clear text. */
  readonly demo: { readonly email: string; readonly password: string } | undefined
}

/**
 * Two commands that register a client and request a token with the credentials of that client. They need curl and sed, and work
 * in sh, bash and zsh.
 */
export function tryCommands(issuer: string): readonly [register: string, token: string] {
  const toForm = String.raw`s/.*"client_id":"\([^"]*\)","client_secret":"\([^"]*\)".*/client_id=\1\&client_secret=\2/`
  return [
    `client=$(curl -s ${issuer}/v2/oauth/register -H 'Content-Type: application/json' -d '{"client_name":"First steps","grant_types":["client_credentials"]}'); echo "$client"`,
    `curl -s ${issuer}/v2/oauth/token -d grant_type=client_credentials -d "$(echo "$client" | sed '${toForm}')"; echo`,
  ]
}

/** The default of GRANTOR_ISSUER. */
const DEFAULT_ISSUER = 'http://localhost:3000'

/** A dozen lines for the first start of a loopback issuer, four for every other start. */
export function welcomeLines(welcome: Welcome, paint: Paint): readonly string[] {
  const { issuer, version, command, demo } = welcome
  const title = `  ${paint('bold', 'Grantor')} ${version}`
  const line = (name: string, value: string): string => `  ${paint('dim', name.padEnd(10))}${value}`
  const logLines = welcome.logsRefusals ? [] : [line('Log', 'LOG_LEVEL=info shows each refused request and its reason')]
  if (demo === undefined) {
    return [
      `${title} is ready at ${paint('cyan', issuer)}`,
      line('Mode', modeOf(welcome)),
      line('Check', `${command} doctor`),
      ...logLines,
    ]
  }
  const [register, token] = tryCommands(issuer)
  return [
    '',
    `${title} is ready.`,
    '',
    line('Issuer', paint('cyan', issuer)),
    line('Mode', modeOf(welcome)),
    line(
      'Sign in',
      `${paint('bold', demo.email)} with the password ${paint('bold', demo.password)}  (shown this once)`,
    ),
    line('Try it', `${command} perform authorization-code${issuer === DEFAULT_ISSUER ? '' : ` --issuer ${issuer}`}`),
    ...logLines,
    '',
    '  Register a client, then get a token with it:',
    '',
    register,
    '',
    token,
    '',
  ]
}

function modeOf({ isLoopbackIssuer, hasApis, command }: Welcome): string {
  if (hasApis) return `tokens are issued for the declared APIs only (${command} api list)`
  return isLoopbackIssuer
    ? `development: any scope and resource can be requested, until an API is declared (${command} api create)`
    : `no API is declared, so no scope can be requested (${command} api create)`
}

/** The address of the demo user, whose password is random. */
export const DEMO_EMAIL = 'demo@localhost'
