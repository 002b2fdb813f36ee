import { join } from 'node:path'

/** The database. A PostgreSQL URL may contain a password, so `locationOf` is what logs and messages show. */
export type DatabaseChoice =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string }

const FORM = 'postgres://<user>:<password>@<host>:<port>/<database>'
const ESCAPES = 'In a user or password @ : / ? # and % are written %40 %3A %2F %3F %23 and %25'
/** docs/configuration.md explains what each mode does in pg. */
const SSL_MODES = ['disable', 'no-verify', 'prefer', 'require', 'verify-ca', 'verify-full']

/** Whether the URL has a scheme of PostgreSQL, be it valid or not. */
export function namesPostgres(text: string): boolean {
  return /^postgres(ql)?:/.test(text)
}

/** Parses DATABASE_URL. The mistakes repeat nothing of the URL, which may contain a password. */
export function readDatabaseUrl(
  text: string,
): DatabaseChoice | { readonly kind: 'mistaken'; readonly mistakes: readonly string[] } {
  if (namesPostgres(text)) {
    const mistakes = postgresMistakes(text)
    return mistakes.length === 0 ? { kind: 'postgres', url: text } : { kind: 'mistaken', mistakes }
  }
  const path = /^sqlite:(?:\/\/)?(.+)$/.exec(text)?.[1]
  if (path !== undefined && !path.startsWith(':')) return { kind: 'sqlite', path }
  return { kind: 'mistaken', mistakes: ['DATABASE_URL must be sqlite:<path> or postgres://<user>@<host>/<database>'] }
}

/** Returns the location of the database without the password. */
export function locationOf(database: DatabaseChoice): string {
  if (database.kind === 'sqlite') return database.path
  const { host, pathname, searchParams } = new URL(database.url)
  return `postgres://${searchParams.get('host') ?? host}${pathname}`
}

/**
 * Rejects unescaped special characters: an unescaped `@` or `/` in the password would move the host part, and part of the
 * password would appear in messages.
 */
function postgresMistakes(text: string): readonly string[] {
  if (!/^postgres(ql)?:\/\//.test(text)) return [`DATABASE_URL must have two slashes: ${FORM}`]
  const port = portOf(/^\w+:\/\/([^/?#]*)/.exec(text)?.[1] ?? '')
  if (port !== undefined && !isPort(port)) {
    return [`DATABASE_URL has a port that is not a number from 1 to 65535. ${ESCAPES}`]
  }
  if (!URL.canParse(text) || new URL(text).host.includes(',')) {
    return [`DATABASE_URL must be one address, of one host: ${FORM}. ${ESCAPES}`]
  }
  const url = new URL(text)
  const parts = [url.username, url.password, url.pathname]
  if (url.hash !== '' || !parts.every(isEscaped)) {
    return [`DATABASE_URL has a character that must be escaped. ${ESCAPES}`]
  }
  if (/^\/?$/.test(url.pathname)) return [`DATABASE_URL must name a database: ${FORM}`]
  if (/[/@:]/.test(url.pathname.slice(1))) {
    return [`DATABASE_URL must end in the name of one database: ${FORM}. ${ESCAPES}`]
  }
  return searchMistakes(url)
}

function searchMistakes({ host, searchParams }: URL): readonly string[] {
  const mode = searchParams.get('sslmode')
  return [
    ...(searchParams.has('options')
      ? [
          'DATABASE_URL must not have options: they would replace the options that Grantor sets to keep committed data safe',
        ]
      : []),
    ...(host === '' && !searchParams.has('host') ? [`DATABASE_URL must name a host: ${FORM}`] : []),
    ...(mode !== null && !SSL_MODES.includes(mode)
      ? [`DATABASE_URL has an sslmode that is none of ${SSL_MODES.join(', ')}`]
      : []),
  ]
}

/** Returns the text after the last colon, unless that colon is part of an IPv6 address. */
function portOf(authority: string): string | undefined {
  return /:([^:\]]*)$/.exec(authority.slice(authority.lastIndexOf('@') + 1))?.[1]
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535
}

/** Whether every percent-escape is complete and decodes to UTF-8. */
function isEscaped(text: string): boolean {
  const decoded = new URLSearchParams(`text=${text.replaceAll('&', '')}`).get('text') ?? ''
  return !/%(?![0-9a-f]{2})/i.test(text) && !decoded.includes('\uFFFD')
}

/**
 * Where the machine remembers how far the store has got: beside a SQLite database, or in the first of the folders that systemd keeps
 * for the unit (`STATE_DIRECTORY`); undefined: nowhere.
 */
export function usualStateFile(database: DatabaseChoice, stateFolders: string | undefined): string | undefined {
  if (database.kind === 'sqlite') return `${database.path}.state`
  const [folder = ''] = stateFolders?.split(':') ?? []
  return folder === '' ? undefined : join(folder, 'grantor.state')
}
