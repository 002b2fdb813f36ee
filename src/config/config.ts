import { isIP } from 'node:net'
import type * as z from 'zod'
import { readConfigFile } from './config-file.ts'
import { namesPostgres, readDatabaseUrl, usualStateFile, type DatabaseChoice } from './database-url.ts'
import { readLogo } from './logo.ts'
import { readTexts } from './texts.ts'
import type { Settings } from '../ports/context.ts'
import type { Branding } from '../ports/pages/pages.ts'
import { isAppRedirectEntry, openAppRedirects, schemeOf } from '../protocol/uri/app-redirect.ts'
import { DEVICE_CODE, OFFERED_GRANT_TYPES } from '../protocol/token/grant-types.ts'
import { isLoopbackHost } from '../protocol/uri/loopback.ts'
import { isBrowserScheme } from '../protocol/uri/redirect-uri.ts'
import { placeSettings, SECRET_SETTINGS, SETTINGS, type PlacedSettings, type SettingValues } from './schema.ts'
import { COMMAND_TOKEN, fileSettingOf, isFileSetting, readSecretFiles } from './secret-files.ts'
import { describeIssue } from './setting-mistake.ts'
import { mailMistakes, mailOf, type MailConfig } from './mail-config.ts'
import { delegateMistakes, delegateOf } from './delegate-config.ts'
import { parseHeaderList, tracesBelow, type TraceConfig } from './trace-config.ts'

/** The settings of the operator, parsed once: those that a row of the table places here, and what is computed from the others. */
export interface Config extends Omit<PlacedSettings, 'settings' | 'branding'> {
  readonly branding: Branding
  /** The address to listen on. `localhost` means both 127.0.0.1 and ::1. */
  readonly host: string
  /**
   * Where the administration listens; undefined when it is off. If the default port is taken, the server starts without the
   * administration. A configured port (`isChosen`) that is taken is an error.
   */
  readonly admin: { readonly host: string; readonly port: number; readonly isChosen: boolean } | undefined
  readonly issuer: string
  /** Whether GRANTOR_ISSUER is set. Otherwise a command uses the issuer of the store (`withIssuer`). */
  readonly isIssuerChosen: boolean
  readonly database: DatabaseChoice
  /** Where the machine remembers how far the store has got; undefined: nowhere. */
  readonly stateFile: string | undefined
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** How long the server continues to listen after the signal to stop. */
  readonly drainSeconds: number
  /** What the protocol depends on. */
  readonly settings: Settings
  /** Undefined when no mail is sent. */
  readonly mail: MailConfig | undefined
  /** Undefined when tracing is off. */
  readonly traces: TraceConfig | undefined
  /** The settings that were read from a file of their own, such as GRANTOR_SECRET. */
  readonly readFromFiles: readonly string[]
  /** Messages for the operator about settings that are allowed but may be unintended. */
  readonly warnings: readonly string[]
}

/** Lists all mistakes in the configuration. */
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
 * Reads the environment, the optional file, and the files of secrets. A setting that is unset or empty has its default.
 *
 * @throws ConfigError with all mistakes
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>> = process.env): Config {
  const file = readConfigFile(environment['GRANTOR_CONFIG'])
  if (file.values === undefined) throw new ConfigError(file.mistakes)
  const given = { ...withoutEmpty(file.values), ...withoutEmpty(environment) }
  const secrets = readSecretFiles(given, SECRET_SETTINGS)
  const values = { ...given, ...secrets.values }
  const parsed = SETTINGS.safeParse(values)
  const mistakes = [...file.mistakes, ...secrets.mistakes]
  for (const issue of parsed.error?.issues ?? []) {
    const name = String(issue.path[0])
    mistakes.push(`${name in secrets.values ? fileSettingOf(name) : name} ${describeIssue(issue)}`)
  }
  const unknown = Object.keys(values).filter((name) => name.startsWith('GRANTOR_') && !isKnown(name))
  mistakes.push(...unknown.map((name) => `${name} is not a setting. See "grantor serve --help".`))
  const settings = parsed.success ? parsed.data : SETTINGS.parse(withoutFaulty(values, parsed.error))
  const issuer = settings.GRANTOR_ISSUER ?? `http://localhost:${settings.PORT}`
  mistakes.push(...issuerMistakes(issuer))
  const isLoopbackIssuer = isLoopbackAddress(issuer)
  const host = settings.GRANTOR_HOST ?? (isLoopbackIssuer ? 'localhost' : '::')
  mistakes.push(...adminPortMistakes(settings), ...consoleMistakes(settings, issuer))
  mistakes.push(...listenMistakes(settings, issuer, host), ...schemeMistakes(settings.GRANTOR_REDIRECT_SCHEMES))
  mistakes.push(...outboundPortMistakes(settings.GRANTOR_OUTBOUND_PORTS), ...delegateMistakes(settings))
  mistakes.push(
    ...mailMistakes(settings),
    ...idleClientMistakes(settings),
    ...productMistakes(settings, isLoopbackIssuer),
  )
  const database = readDatabaseUrl(settings.DATABASE_URL)
  if (database.kind === 'mistaken') mistakes.push(...database.mistakes)
  const hasSecret = values['GRANTOR_SECRET'] !== undefined || values[fileSettingOf('GRANTOR_SECRET')] !== undefined
  if (namesPostgres(settings.DATABASE_URL) && !hasSecret) {
    mistakes.push(
      'GRANTOR_SECRET must be set with PostgreSQL, because every node needs the same secret. Create one: openssl rand -base64 32',
    )
  }
  const picture = settings.GRANTOR_LOGO === undefined ? undefined : readLogo(settings.GRANTOR_LOGO)
  if (picture !== undefined && 'mistake' in picture) mistakes.push(picture.mistake)
  const logo = picture !== undefined && 'logo' in picture ? picture.logo : undefined
  const { texts, ...wrong } = settings.GRANTOR_TEXTS === undefined ? NO_TEXTS : readTexts(settings.GRANTOR_TEXTS)
  mistakes.push(...wrong.mistakes)
  if (mistakes.length > 0 || database.kind === 'mistaken') throw new ConfigError(mistakes)
  const warnings = [
    ...file.warnings,
    ...secrets.warnings,
    ...outboundPortWarnings(settings),
    ...(isLoopbackIssuer ? [] : runtimeWarnings(process.execPath)),
  ]
  const readFromFiles = Object.keys(secrets.values)
  const stateFile = settings.GRANTOR_STATE_FILE ?? usualStateFile(database, environment['STATE_DIRECTORY'])
  const isIssuerChosen = settings.GRANTOR_ISSUER !== undefined
  return Object.freeze(
    configOf(settings, { issuer, isIssuerChosen, host, database, stateFile, readFromFiles, warnings, logo, texts }),
  )
}

const NO_TEXTS = { texts: {}, mistakes: [] }

/** The same configuration with another issuer. The place to listen on stays: only a server needs it, and it has its own issuer. */
export function withIssuer(config: Config, issuer: string): Config {
  return { ...config, issuer, settings: { ...config.settings, ...issuerSettings(config, issuer) } }
}

/** Returns the setting that the operator wrote: the name itself, or that of the setting that names its file. */
export function writtenSetting({ readFromFiles }: Pick<Config, 'readFromFiles'>, name: string): string {
  return readFromFiles.includes(name) ? fileSettingOf(name) : name
}

/** Whether a variable is a setting, the file of one, or what commands read. */
export function isKnown(name: string): boolean {
  return name in SETTINGS.shape || name === COMMAND_TOKEN || isFileSetting(name)
}

/** The variables that are set and not empty. */
export function withoutEmpty(values: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== ''))
}

/** Returns the settings without the invalid ones. The rest is checked too, so that one error lists every mistake. */
function withoutFaulty(values: Readonly<Record<string, string | undefined>>, { issues }: z.ZodError): object {
  const faulty = new Set(issues.map((issue) => issue.path[0]))
  return Object.fromEntries(Object.entries(values).filter(([name]) => !faulty.has(name)))
}

/** A client whose refresh tokens may be used is not idle, even if a node that was killed did not note the client's last use. */
function idleClientMistakes(settings: SettingValues): readonly string[] {
  const { GRANTOR_IDLE_CLIENT_LIFETIME: idle, GRANTOR_REFRESH_IDLE_LIFETIME: refresh } = settings
  if (idle === 0 || idle >= 2 * refresh) return []
  return [
    `GRANTOR_IDLE_CLIENT_LIFETIME must be 0, or at least twice GRANTOR_REFRESH_IDLE_LIFETIME: ${2 * refresh}, so that no client with an active grant is removed`,
  ]
}

/** A page that users trust leads there. */
function productMistakes({ GRANTOR_PRODUCT_URL: chosen }: SettingValues, isLoopbackIssuer: boolean): readonly string[] {
  if (chosen === undefined) return []
  const { protocol, hostname, username, password } = new URL(chosen)
  if (username !== '' || password !== '') return ['GRANTOR_PRODUCT_URL must not contain a user or password']
  if (protocol === 'https:' || (isLoopbackIssuer && isLoopbackHost(hostname))) return []
  return [
    'GRANTOR_PRODUCT_URL must use https; http is allowed for localhost, 127.0.0.1 and [::1] if the issuer is one of them',
  ]
}

const PORT_LIMIT = 65_535

/** An address without characters that have a meaning in a shell (threats.md MET-06). */
const PLAIN_ADDRESS = /^(\[[0-9a-f:.]+\]|[\w.-]+)[\w.:/-]*$/

/** RFC 8414 §2: the issuer has no query and no fragment. It uses https unless it is a loopback address. */
function issuerMistakes(issuer: string): readonly string[] {
  if (!URL.canParse(issuer)) return ['GRANTOR_ISSUER must be an absolute URL']
  const url = new URL(issuer)
  const mistakes: string[] = []
  const isLoopback = isLoopbackHost(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback)) {
    mistakes.push(
      'GRANTOR_ISSUER must use https, because clients send secrets to it; http is allowed for localhost, 127.0.0.1 and [::1]',
    )
  }
  if (url.search !== '' || url.hash !== '' || issuer.includes('?') || issuer.includes('#')) {
    mistakes.push('GRANTOR_ISSUER must have no query and no fragment')
  }
  if (!PLAIN_ADDRESS.test(url.host + url.pathname)) {
    mistakes.push(
      'GRANTOR_ISSUER must contain only letters, digits and . : / _ -, because clients pass it to other programs',
    )
  }
  if (url.username !== '' || url.password !== '') mistakes.push('GRANTOR_ISSUER must not contain a user or password')
  if (issuer.endsWith('/'))
    mistakes.push(
      'GRANTOR_ISSUER must not end in a slash. Write it without a slash here and in every client and API, because they compare it byte for byte. Where a library adds a slash, as pydantic does with AnyHttpUrl, configure the issuer as a plain string',
    )
  else if (url.href !== issuer && url.href !== `${issuer}/`)
    mistakes.push(`GRANTOR_ISSUER must be written as ${url.href.replace(/\/$/, '')}`)
  return mistakes
}

function listenMistakes(settings: SettingValues, issuer: string, host: string): readonly string[] {
  const mistakes = settings.GRANTOR_TRUST_PROXY.filter((network) => !isNetwork(network)).map(
    (network) => `GRANTOR_TRUST_PROXY has ${network}, which is not a network such as 10.0.0.0/8`,
  )
  if (issuer.startsWith('https:') && !isLoopbackHost(host) && settings.GRANTOR_TRUST_PROXY.length === 0) {
    mistakes.push(
      'GRANTOR_TRUST_PROXY must name the network of the proxy that terminates TLS, or GRANTOR_HOST must be 127.0.0.1: Grantor itself speaks plain HTTP',
    )
  }
  return mistakes
}

/** The two listeners need two ports. */
function adminPortMistakes({ PORT, GRANTOR_ADMIN_PORT: port }: SettingValues): readonly string[] {
  if (port === PORT) return ['GRANTOR_ADMIN_PORT must differ from PORT: the administration listens on its own port']
  return port === undefined && PORT === PORT_LIMIT
    ? [`GRANTOR_ADMIN_PORT must be set, because there is no port after ${PORT_LIMIT}`]
    : []
}

/** The console is an origin: its cookie and its forms are for it alone. Without TLS another machine could read the cookie. */
function consoleMistakes({ GRANTOR_CONSOLE_URL: chosen }: SettingValues, issuer: string): readonly string[] {
  if (chosen === undefined || chosen === 'off') return []
  const url = URL.parse(chosen)
  if (url === null || url.origin !== chosen)
    return ['GRANTOR_CONSOLE_URL must be https://<host>, without a path, or off']
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopbackHost(url.hostname)))
    return ['GRANTOR_CONSOLE_URL must use https; http is allowed for localhost, 127.0.0.1 and [::1]']
  return URL.canParse(issuer) && new URL(issuer).origin === chosen
    ? ['GRANTOR_CONSOLE_URL must be another origin than the issuer: the console is on the port of the administration']
    : []
}

function outboundPortMistakes(ports: readonly string[]): readonly string[] {
  return ports
    .filter((port) => !/^[1-9]\d{0,4}$/.test(port) || Number(port) > PORT_LIMIT)
    .map((port) => `GRANTOR_OUTBOUND_PORTS has ${port}, which is not a port`)
}

/** The list replaces the default, which an operator who adds a port may not expect. */
function outboundPortWarnings({
  GRANTOR_OUTBOUND: outbound,
  GRANTOR_OUTBOUND_PORTS: ports,
}: SettingValues): readonly string[] {
  if (outbound === 'off' || ports.includes('443')) return []
  return [
    'GRANTOR_OUTBOUND_PORTS has no 443, so the server reaches no host at the usual port of https: clients with a document, keys or logout notices there fail, and so do providers',
  ]
}

/** The packages of npm that hold Node.js. The first one is that of `npx -p node@26`. */
const NODE_PACKAGE =
  /[\\/]node_modules[\\/]node(?:(?:-bin)?-(?:linux|darwin|win)-(?:x64|arm64))?[\\/]bin[\\/]node(?:\.exe)?$/

/** The package of Node.js is made by others than its makers, who publish no digest for it. `program`: that of this process. */
export function runtimeWarnings(program: string): readonly string[] {
  if (!NODE_PACKAGE.test(program)) return []
  return [
    `The Node.js at ${program} comes from npm and not from the makers of Node.js: it is for trying, and production takes theirs (docs/operations/install.md)`,
  ]
}

/** Entries are schemes or patterns of apps. Schemes that a browser executes are rejected here and in every redirect URI. */
function schemeMistakes(entries: readonly string[]): readonly string[] {
  return entries
    .filter((entry) => !isAppRedirectEntry(entry) || isBrowserScheme(schemeOf(entry)))
    .map(
      (entry) =>
        `GRANTOR_REDIRECT_SCHEMES has ${entry}, which is neither the scheme of an app nor a pattern such as app://host/callback`,
    )
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}

function configOf(
  values: SettingValues,
  derived: Pick<
    Config,
    'issuer' | 'isIssuerChosen' | 'host' | 'database' | 'stateFile' | 'readFromFiles' | 'warnings'
  > &
    Pick<Branding, 'logo' | 'texts'>,
): Config {
  const { logo, texts, ...computed } = derived
  const placed = placeSettings(values)
  const admin = adminOf(values)
  const outbound = { isOn: values.GRANTOR_OUTBOUND === 'on', ports: values.GRANTOR_OUTBOUND_PORTS.map(Number) }
  const redirects = { apps: openAppRedirects(values.GRANTOR_REDIRECT_SCHEMES) }
  return {
    ...placed,
    ...computed,
    branding: { ...placed.branding, logo, texts },
    admin,
    logLevel: values.LOG_LEVEL ?? (process.stdout.isTTY ? 'warn' : 'info'),
    drainSeconds: values.GRANTOR_DRAIN_SECONDS ?? (process.stdout.isTTY ? 0 : 2),
    settings: {
      ...placed.settings,
      consoleUrl: consoleUrlOf(values),
      passwords: values.GRANTOR_PASSWORDS ?? (values.GRANTOR_DELEGATE_URL === undefined ? 'on' : 'off'),
      serverName: values.GRANTOR_NAME,
      delegate: delegateOf(values),
      ...issuerSettings({ port: values.PORT, admin, settings: { outbound, redirects } }, derived.issuer),
      grantTypes: OFFERED_GRANT_TYPES.filter((name) => name !== DEVICE_CODE || values.GRANTOR_DEVICE_GRANT === 'on'),
    },
    mail: mailOf(values),
    traces: tracesOf(values),
  }
}

function adminOf({ PORT, GRANTOR_ADMIN_PORT: chosen, GRANTOR_ADMIN_HOST: host }: SettingValues): Config['admin'] {
  return chosen === 'off' ? undefined : { host, port: chosen ?? PORT + 1, isChosen: chosen !== undefined }
}

/** Any machine that reaches the port sends the cookie of the console, so a default is only for this machine. */
function consoleUrlOf(values: SettingValues): string | undefined {
  const admin = adminOf(values)
  const { GRANTOR_CONSOLE_URL: chosen } = values
  if (admin === undefined || chosen === 'off') return undefined
  const host = admin.host === '::1' ? '[::1]' : admin.host
  return chosen ?? (isLoopbackHost(admin.host) ? `http://${host}:${admin.port}` : undefined)
}

function isLoopbackAddress(issuer: string): boolean {
  return URL.canParse(issuer) && isLoopbackHost(new URL(issuer).hostname)
}

/** What follows from the issuer, besides the rest of the same settings. */
interface IssuerNeeds extends Pick<Config, 'port' | 'admin'> {
  readonly settings: {
    readonly outbound: Pick<Settings['outbound'], 'isOn' | 'ports'>
    readonly redirects: Pick<Settings['redirects'], 'apps'>
  }
}

function issuerSettings(
  { port, admin, settings: { outbound, redirects } }: IssuerNeeds,
  issuer: string,
): Pick<Settings, 'isLoopbackIssuer' | 'outbound' | 'redirects'> {
  const own = new URL(issuer)
  const isLoopbackIssuer = isLoopbackAddress(issuer)
  const issuerPort = own.port === '' ? (own.protocol === 'https:' ? 443 : 80) : Number(own.port)
  // No request may come back to this server: not on the ports on which it listens, nor on that of its proxy.
  const listening = [port, admin?.port ?? port, issuerPort]
  return {
    isLoopbackIssuer,
    outbound: { ...outbound, issuer, loopbackExcept: isLoopbackIssuer ? [...new Set(listening)] : undefined },
    redirects: { ...redirects, own },
  }
}

function tracesOf(settings: SettingValues): TraceConfig | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: whole } = settings
  const url = whole ?? (base === undefined ? undefined : tracesBelow(base))
  if (url === undefined) return undefined
  const headers = parseHeaderList(settings.OTEL_EXPORTER_OTLP_HEADERS)
  return { url, headers, serviceName: settings.OTEL_SERVICE_NAME, ratio: settings.GRANTOR_TRACE_RATIO }
}
