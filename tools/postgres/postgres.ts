import { randomBytes, randomInt } from 'node:crypto'
import { chownSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { findBinaries } from './binaries.ts'
import { type Keeper, openKeeper } from './keeper.ts'
import type { OsUser } from './server.ts'

export interface PostgresOptions {
  /** Server settings besides the defaults, as for `postgres -c`. */
  readonly settings?: Readonly<Record<string, string>>
}

/** A test cluster. `remove()` or any end of this process stops it and removes its folder. */
export interface Postgres {
  readonly folder: string
  readonly port: number
  /** The URL for the role that owns the databases and is not a superuser. */
  readonly url: (databaseName?: string) => string
  /** The URL for the superuser. */
  readonly adminUrl: (databaseName?: string) => string
  /** Creates an empty database that the role of `url()` owns. */
  readonly createDatabase: () => Promise<TestDatabase>
  /** Starts the server again with the same data, on the same port. */
  readonly start: () => Promise<void>
  /** Stops the server and keeps the data. */
  readonly stop: (mode: 'fast' | 'immediate') => Promise<void>
  /** Simulates a crash: kills the server's main process and waits until its children have ended too. */
  readonly kill: () => Promise<void>
  readonly remove: () => Promise<void>
  /** Everything that the server logged. */
  readonly log: () => string
}

export interface TestDatabase {
  readonly name: string
  readonly url: string
  /** For what its owner may not read, such as the size of the write-ahead log. */
  readonly adminUrl: string
}

/** The superuser's URL of the cluster that test/run.ts starts for all test files. */
export const SHARED_CLUSTER = 'SHARED_TEST_POSTGRES'

const ADMINISTRATOR = 'postgres'
const OWNER = 'grantor'
/** PostgreSQL's own template without any additions. */
export const EMPTY = 'template0'
/** Below the ports that systems assign, so that no process gets the server's port while the server is down. */
const PORTS = [15_000, 30_000] as const
const ATTEMPTS = 20
const DEFAULTS = { fsync: 'off', shared_buffers: '32MB', max_connections: '200' }
/** Passwords of this session are hashed once instead of 4096 times, which takes a client 1 ms for each connection. PostgreSQL 16 and newer can. */
const QUICK_PASSWORDS = `select set_config(name, '1', false) from pg_settings where name = 'scram_iterations'`
/** Locales that do not sort texts by their bytes, because operators' databases do not either. The first that works is used. */
const LOCALES = [
  ['--locale-provider=icu', '--icu-locale=en-US', '--locale=C'],
  ['--locale=en_US.UTF-8'],
  ['--locale=C'],
]

/** Creates a cluster with random passwords in a temporary folder and starts it on a free port of 127.0.0.1. */
export async function startPostgres({ settings = {} }: PostgresOptions = {}): Promise<Postgres> {
  const user = unprivilegedUser()
  const folder = mkdtempSync(join(tmpdir(), 'grantor-postgres-'))
  const keeper = openKeeper(folder)
  try {
    if (user !== undefined) chownSync(folder, user.uid, user.gid)
    const binaries = findBinaries(folder, user)
    const password = newPassword()
    await initialise({ keeper, binaries, folder, password, user })
    const start = (onPort: number): Promise<void> =>
      keeper.run({
        command: join(binaries, 'postgres'),
        args: serverArguments(folder, onPort, settings),
        user,
        readyText: 'database system is ready to accept connections',
      })
    const port = await startOnFreePort(keeper, start)
    const url = (role: string, databaseName: string): string =>
      `postgres://${role}:${encodeURIComponent(password)}@127.0.0.1:${port}/${databaseName}`
    const adminUrl = (databaseName = ADMINISTRATOR): string => url(ADMINISTRATOR, databaseName)
    await execute(
      adminUrl(),
      QUICK_PASSWORDS,
      `create role ${OWNER} login password ${pg.escapeLiteral(password)}`,
      `alter role ${ADMINISTRATOR} password ${pg.escapeLiteral(password)}`,
    )
    return {
      folder,
      port,
      url: (databaseName = ADMINISTRATOR) => url(OWNER, databaseName),
      adminUrl,
      createDatabase: () => createDatabase(adminUrl(), EMPTY),
      start: () => start(port),
      stop: (mode) => keeper.signal(mode === 'fast' ? 'SIGINT' : 'SIGQUIT'),
      kill: () => keeper.signal('SIGKILL'),
      remove: keeper.close,
      log: keeper.log,
    }
  } catch (error) {
    await keeper.close()
    throw error
  }
}

interface Blank {
  readonly keeper: Keeper
  readonly binaries: string
  readonly folder: string
  readonly password: string
  readonly user: OsUser | undefined
}

async function initialise({ keeper, binaries, folder, password, user }: Blank): Promise<void> {
  const passwordFile = join(folder, 'password')
  writeFileSync(passwordFile, `${password}\n`)
  const args = [
    `--pgdata=${join(folder, 'data')}`,
    `--username=${ADMINISTRATOR}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--no-sync',
    '--no-instructions',
  ]
  const failures: unknown[] = []
  for (const locale of LOCALES) {
    try {
      await keeper.run({ command: join(binaries, 'initdb'), args: [...args, ...locale], user })
      return
    } catch (error) {
      failures.push(error)
    }
  }
  throw new AggregateError(failures, failures.map(String).join('\n'))
}

function serverArguments(folder: string, port: number, settings: Readonly<Record<string, string>>): readonly string[] {
  const all = {
    ...DEFAULTS,
    ...settings,
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
  }
  return ['-D', join(folder, 'data'), ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}

async function startOnFreePort(keeper: Keeper, start: (port: number) => Promise<void>): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const port = randomInt(...PORTS)
    const from = keeper.log().length
    try {
      await start(port)
      return port
    } catch (error) {
      if (attempt === ATTEMPTS || !keeper.log().slice(from).includes('could not bind')) throw error
    }
  }
}

/** PostgreSQL refuses to run as root. Then it runs as the user nobody; other users run it as themselves. */
function unprivilegedUser(): OsUser | undefined {
  if (process.getuid?.() !== 0) return undefined
  const entry = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'))
  if (entry === null) throw new Error('As root, the tests run PostgreSQL as the user nobody, which /etc/passwd lacks.')
  return { uid: Number(entry[1]), gid: Number(entry[2]) }
}

/** A random password with characters that must be escaped in a URL. */
function newPassword(): string {
  return `${randomBytes(12).toString('base64url')}@:/?#% `
}

/** Copies a database, to which no session may be connected. */
export async function createDatabase(adminUrl: string, template: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`
  await withClient(adminUrl, async (client) => {
    // Copying whole files takes half the work of copying blocks through the log. Versions before 15 always copy files.
    const { rows } = await client.query<{ readonly version: number }>(
      `select current_setting('server_version_num')::int as version`,
    )
    const strategy = (rows[0]?.version ?? 0) < 150_000 ? '' : 'strategy file_copy'
    await client.query(`create database ${name} owner ${OWNER} template ${template} ${strategy}`)
  })
  const url = new URL(adminUrl)
  url.pathname = name
  const admin = url.href
  url.username = OWNER
  return { name, url: url.href, adminUrl: admin }
}

/** Runs statements on a connection of its own. */
export async function execute(url: string, ...statements: readonly string[]): Promise<void> {
  await withClient(url, async (client) => {
    for (const statement of statements) await client.query(statement)
  })
}

export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
