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
  /** The origin of the console; undefined: there is none. */
  readonly consoleUrl: string | undefined
  /** The command that starts this program; `grantor` may not be on the path. */
  readonly command: string
  /** The user that this start created. The password is shown once and not stored in clear text. */
  readonly demo: Demo | undefined
}

/** A user who can sign in. */
export interface Demo {
  readonly email: string
  readonly password: string
}

/** A request that registers a client, for a shell of any kind. */
export function registrationRequest(issuer: string): string {
  return `curl -s ${issuer}/v2/oauth/register -H 'Content-Type: application/json' -d '{"client_name":"First steps","grant_types":["client_credentials"]}'; echo`
}

/** The default of GRANTOR_ISSUER. */
const DEFAULT_ISSUER = 'http://localhost:3000'

/** Four lines for the first start of a loopback issuer, five for every other start. */
export function welcomeLines(welcome: Welcome, paint: Paint): readonly string[] {
  const { issuer, version, command, demo } = welcome
  const title = `  ${paint('bold', 'Grantor')} ${version}`
  const line = (name: string, value: string): string =>
    `  ${paint('dim', name.padEnd(demo === undefined ? 10 : 15))}${value}`
  const logLines = welcome.logsRefusals ? [] : [line('Log', 'LOG_LEVEL=info shows each refused request and its reason')]
  const consoleLines =
    welcome.consoleUrl === undefined ? [] : [line('Console', paint('cyan', `${welcome.consoleUrl}/console`))]
  if (demo === undefined) {
    return [
      `${title} is ready at ${paint('cyan', issuer)}`,
      line('Mode', modeOf(welcome)),
      ...consoleLines,
      line('Check', `${command} doctor`),
      ...logLines,
    ]
  }
  return [
    '',
    `${title}  ${paint('cyan', issuer)}`,
    line(
      'Sign in',
      `${paint('bold', demo.email)} with the password ${paint('bold', demo.password)}  (shown this once)`,
    ),
    ...consoleLines,
    line('Try it', `${command} perform authorization-code${issuer === DEFAULT_ISSUER ? '' : ` --issuer ${issuer}`}`),
    '',
  ]
}

function modeOf({ isLoopbackIssuer, hasApis, command }: Welcome): string {
  if (hasApis) return `tokens are issued for the declared APIs only (${command} api list)`
  return isLoopbackIssuer
    ? `development: any scope and resource can be requested, until an API is declared (${command} api create)`
    : `no API is declared, so no scope can be requested (${command} api create)`
}

/**
 * The address of the demo user, whose password is random. Applications refuse an address without a period after the @, and no mail
 * arrives at example.com (RFC 2606 §3).
 */
export const DEMO_EMAIL = 'demo@example.com'
