import { isIP } from 'node:net'
import type * as z from 'zod'
import { readConfigFile } from './config-file.ts'
import { namesPostgres, readDatabaseUrl, type DatabaseChoice } from './database-url.ts'
import type { Lifetimes } from '../ports/context.ts'
import type { Branding } from '../ports/pages.ts'
import type { SigningAlgorithm } from '../ports/records/key.ts'
import { isAppRedirect, schemeOf } from '../protocol/app-redirect.ts'
import { isLoopbackHost } from '../protocol/loopback.ts'
import { isBrowserScheme } from '../protocol/redirect-uri.ts'
import { SETTINGS, type Settings } from './schema.ts'
import { describeIssue } from './setting-mistake.ts'
import { parseHeaderList, tracesBelow, type TraceConfig } from './trace-config.ts'

/** Everything the operator can choose, parsed once. */
export interface Config {
  readonly port: number
  /** What to listen on. `localhost` is both 127.0.0.1 and ::1. */
  readonly host: string
  /** Where the administration listens; undefined: nowhere. A port that nobody chose it does without when it is taken. */
  readonly admin: { readonly host: string; readonly port: number; readonly isChosen: boolean } | undefined
  readonly issuer: string
  readonly isLoopbackIssuer: boolean
  readonly database: DatabaseChoice
  /** undefined: kept in a file beside the database. */
  readonly secret: string | undefined
  readonly trustedProxies: readonly string[]
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** How long a stopping server still listens. */
  readonly drainSeconds: number
  readonly rates: {
    readonly registration: number
    readonly authorization: number
    readonly clientAuthentication: number
    readonly storedToken: number
  }
  readonly lifetimes: Lifetimes
  /** Seconds; 0: only by hand. */
  readonly keyRotation: number
  readonly signingAlgorithm: SigningAlgorithm
  /** Seconds; 0: for ever. */
  readonly auditRetention: number
  readonly redirectSchemes: readonly string[]
  readonly redirectErrors: boolean
  readonly branding: Branding
  /** undefined: none are made. */
  readonly traces: TraceConfig | undefined
  /** What is no mistake, and what an operator should know of. */
  readonly warnings: readonly string[]
}

/** Every mistake in the configuration at once. */
export class ConfigError extends Error {
  readonly mistakes: readonly string[]

  constructor(mistakes: readonly string[]) {
    super(
      `The configuration has ${mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`}:\n${mistakes.map((one) => `  ${one}`).join('\n')}`,
    )
    this.name = 'ConfigError'
    this.mistakes = mistakes
  }
}

/**
 * Reads the environment and the optional file. Unset and empty mean the default.
 *
 * @throws ConfigError with all mistakes
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>> = process.env): Config {
  const file = readConfigFile(environment['GRANTOR_CONFIG'])
  if (file.kind === 'mistaken') throw new ConfigError([file.mistake])
  const values = { ...withoutEmpty(file.values), ...withoutEmpty(environment) }
  const parsed = SETTINGS.safeParse(values)
  const mistakes = parsed.success
    ? []
    : parsed.error.issues.map((issue) => `${issue.path.join('.')} ${describeIssue(issue)}`)
  const unknown = Object.keys(values).filter(
    (name) => name.startsWith('GRANTOR_') && name !== COMMAND_TOKEN && !(name in SETTINGS.shape),
  )
  mistakes.push(...unknown.map((name) => `${name} is not a setting. See "grantor serve --help".`))
  const settings = parsed.success ? parsed.data : SETTINGS.parse(withoutFaulty(values, parsed.error))
  const issuer = settings.GRANTOR_ISSUER ?? `http://localhost:${settings.PORT}`
  mistakes.push(...issuerMistakes(issuer))
  const isLoopbackIssuer = URL.canParse(issuer) && isLoopbackHost(new URL(issuer).hostname)
  const host = settings.GRANTOR_HOST ?? (isLoopbackIssuer ? 'localhost' : '::')
  mistakes.push(...adminPortMistakes(settings))
  mistakes.push(...listenMistakes(settings, issuer, host), ...schemeMistakes(settings.GRANTOR_REDIRECT_SCHEMES))
  const database = readDatabaseUrl(settings.DATABASE_URL)
  if (database.kind === 'mistaken') mistakes.push(...database.mistakes)
  if (namesPostgres(settings.DATABASE_URL) && values['GRANTOR_SECRET'] === undefined) {
    mistakes.push(
      'GRANTOR_SECRET must be set with PostgreSQL, because every node needs the same one. Make one: openssl rand -base64 32',
    )
  }
  if (mistakes.length > 0 || database.kind === 'mistaken') throw new ConfigError(mistakes)
  return Object.freeze(configOf(settings, { issuer, isLoopbackIssuer, host, database, warnings: file.warnings }))
}

function withoutEmpty(values: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== ''))
}

/** What is left is judged all the same, so that one answer names every mistake. */
function withoutFaulty(values: Readonly<Record<string, string | undefined>>, { issues }: z.ZodError): object {
  const faulty = new Set(issues.map((issue) => issue.path[0]))
  return Object.fromEntries(Object.entries(values).filter(([name]) => !faulty.has(name)))
}

/** Of commands with --server; the server does not read it, and whoever uses both need not unset it. */
const COMMAND_TOKEN = 'GRANTOR_ADMIN_TOKEN'
const PORT_LIMIT = 65_535

/** Nothing that means more to a shell than itself (threats.md MET-06). */
const PLAIN_ADDRESS = /^(\[[0-9a-f:.]+\]|[\w.-]+)[\w.:/-]*$/

/** decisions.md D9: an https issuer unless it is a loopback address. RFC 8414 §2: no query, no fragment. */
function issuerMistakes(issuer: string): readonly string[] {
  if (!URL.canParse(issuer)) return ['GRANTOR_ISSUER must be an absolute URL']
  const url = new URL(issuer)
  const mistakes: string[] = []
  const isLoopback = isLoopbackHost(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback)) {
    mistakes.push(
      'GRANTOR_ISSUER must use https, because secrets travel to it; http is for localhost, 127.0.0.1 and [::1]',
    )
  }
  if (url.search !== '' || url.hash !== '' || issuer.includes('?') || issuer.includes('#')) {
    mistakes.push('GRANTOR_ISSUER must have no query and no fragment')
  }
  if (!PLAIN_ADDRESS.test(url.host + url.pathname)) {
    mistakes.push(
      'GRANTOR_ISSUER must have only letters, digits and . : / _ - in it, because clients hand it to other programs',
    )
  }
  if (url.username !== '' || url.password !== '') mistakes.push('GRANTOR_ISSUER must name no user')
  if (issuer.endsWith('/'))
    mistakes.push(
      'GRANTOR_ISSUER must not end in a slash: write it without one here and in every client and API, which compare it byte for byte. A library that adds a slash, such as pydantic with AnyHttpUrl, takes it as a plain string',
    )
  else if (url.href !== issuer && url.href !== `${issuer}/`)
    mistakes.push(`GRANTOR_ISSUER must be written as ${url.href.replace(/\/$/, '')}`)
  return mistakes
}

function listenMistakes(settings: Settings, issuer: string, host: string): readonly string[] {
  const mistakes = settings.GRANTOR_TRUST_PROXY.filter((network) => !isNetwork(network)).map(
    (network) => `GRANTOR_TRUST_PROXY has ${network}, which is not a network such as 10.0.0.0/8`,
  )
  if (issuer.startsWith('https:') && !isLoopbackHost(host) && settings.GRANTOR_TRUST_PROXY.length === 0) {
    mistakes.push(
      'GRANTOR_TRUST_PROXY must name the network of the proxy that ends TLS, or GRANTOR_HOST must be 127.0.0.1: Grantor itself speaks plain HTTP',
    )
  }
  return mistakes
}

/** Two listeners, two ports. */
function adminPortMistakes({ PORT, GRANTOR_ADMIN_PORT: port }: Settings): readonly string[] {
  if (port === PORT) return ['GRANTOR_ADMIN_PORT must differ from PORT: the administration has a port of its own']
  return port === undefined && PORT === PORT_LIMIT
    ? [`GRANTOR_ADMIN_PORT must be set, because there is no port after ${PORT_LIMIT}`]
    : []
}

/** Schemes and patterns of apps; none that a browser would execute, which the rules of redirect URIs would refuse anyway. */
function schemeMistakes(entries: readonly string[]): readonly string[] {
  return entries
    .filter((entry) => !isAppRedirect(entry) || isBrowserScheme(schemeOf(entry)))
    .map(
      (entry) =>
        `GRANTOR_REDIRECT_SCHEMES has ${entry}, which is neither a scheme of an app nor a pattern such as app://host/callback`,
    )
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}

function configOf(
  settings: Settings,
  derived: Pick<Config, 'issuer' | 'isLoopbackIssuer' | 'host' | 'database' | 'warnings'>,
): Config {
  return {
    ...derived,
    port: settings.PORT,
    admin: adminOf(settings),
    secret: settings.GRANTOR_SECRET,
    trustedProxies: settings.GRANTOR_TRUST_PROXY,
    logLevel: settings.LOG_LEVEL ?? (process.stdout.isTTY ? 'warn' : 'info'),
    drainSeconds: settings.GRANTOR_DRAIN_SECONDS ?? (process.stdout.isTTY ? 0 : 2),
    rates: {
      registration: settings.GRANTOR_REGISTRATION_RATE,
      authorization: settings.GRANTOR_AUTHORIZATION_RATE,
      clientAuthentication: settings.GRANTOR_CLIENT_FAILURE_RATE,
      storedToken: settings.GRANTOR_STORED_TOKEN_RATE,
    },
    lifetimes: {
      code: settings.GRANTOR_CODE_LIFETIME,
      accessToken: settings.GRANTOR_ACCESS_TOKEN_LIFETIME,
      refreshIdle: settings.GRANTOR_REFRESH_IDLE_LIFETIME,
      refreshAbsolute: settings.GRANTOR_REFRESH_ABSOLUTE_LIFETIME,
      refreshRetry: settings.GRANTOR_REFRESH_RETRY,
      session: settings.GRANTOR_SESSION_LIFETIME,
      authorization: settings.GRANTOR_AUTHORIZATION_LIFETIME,
      unusedClient: settings.GRANTOR_UNUSED_CLIENT_LIFETIME,
    },
    keyRotation: settings.GRANTOR_KEY_ROTATION,
    signingAlgorithm: settings.GRANTOR_SIGNING_ALGORITHM,
    auditRetention: settings.GRANTOR_AUDIT_RETENTION,
    redirectSchemes: settings.GRANTOR_REDIRECT_SCHEMES,
    redirectErrors: settings.GRANTOR_REDIRECT_ERRORS,
    branding: {
      name: settings.GRANTOR_NAME,
      accent: settings.GRANTOR_ACCENT,
      termsUri: settings.GRANTOR_TERMS_URI,
      privacyUri: settings.GRANTOR_PRIVACY_URI,
    },
    traces: tracesOf(settings),
  }
}

function adminOf({ PORT, GRANTOR_ADMIN_PORT: chosen, GRANTOR_ADMIN_HOST: host }: Settings): Config['admin'] {
  return chosen === 'off' ? undefined : { host, port: chosen ?? PORT + 1, isChosen: chosen !== undefined }
}

function tracesOf(settings: Settings): TraceConfig | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: whole } = settings
  const url = whole ?? (base === undefined ? undefined : tracesBelow(base))
  if (url === undefined) return undefined
  const headers = parseHeaderList(settings.OTEL_EXPORTER_OTLP_HEADERS)
  return { url, headers, serviceName: settings.OTEL_SERVICE_NAME, ratio: settings.GRANTOR_TRACE_RATIO }
}
