import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { randomBytes } from 'node:crypto'
import inject, { type InjectOptions, type Response as LightMyRequestResponse } from 'light-my-request'
import { openServer, type Server } from '../../src/server/server.ts'
import { readConfig } from '../../src/config/config.ts'
import { openLog } from '../../src/server/log.ts'
import { SYSTEM_NETWORK } from '../../src/outbound/outbound-client.ts'
import type { Network } from '../../src/outbound/target.ts'
import { AUTHORIZATION_FAULTS } from '../../src/protocol/authorization/request.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import type { GrantType } from '../../src/protocol/token/grant-types.ts'
import { FORM_REFUSALS, PAGE_REFUSALS } from '../../src/protocol/authorization/page-refusals.ts'
import { REFUSALS } from '../../src/protocol/refusals.ts'
import { lowerCost } from './accounts.ts'
import { keepPrimes } from './runner/kept-primes.ts'
import { placeBlankDatabase } from './store/blank-database.ts'
import { freePort } from '../../tools/process/free-ports.ts'

/** A clock that tests can advance. It starts at the real time, so that released client libraries accept its times. */
export interface TestClock {
  readonly now: () => EpochMs
  /** Advances the time, and that of the monotonic clock. */
  readonly advance: (milliseconds: number) => void
  /** The monotonic clock. Absent: it follows the wall clock, which is never set. */
  readonly monotonic?: () => number
  /** The clock of a database that has one. Absent: it follows the wall clock. */
  readonly database?: () => EpochMs
}

export interface TestServer extends Server {
  /** The issuer. If the server listens, it is also the address. */
  readonly origin: string
  readonly clock: TestClock
  /** The folder of the database file. */
  readonly folder: string
  /** All log lines so far, each a JSON object. */
  readonly log: () => string
  readonly inject: (options: InjectOptions) => Promise<LightMyRequestResponse>
  /** Injects a request into the administration. */
  readonly injectAdmin: (options: InjectOptions) => Promise<LightMyRequestResponse>
  /** The address of the administration, if it listens. */
  readonly adminOrigin: string
  /** Closes the server and opens it again with the same files. */
  readonly reopen: () => Promise<TestServer>
}

export interface TestServerOptions {
  /** Settings as environment variables. */
  readonly env?: Readonly<Record<string, string>>
  /** The grant types that the server offers, where they are not those of the release. */
  readonly grantTypes?: readonly GrantType[]
  /** Whether to listen on a free port. Otherwise requests are injected. */
  readonly listen?: boolean
  readonly folder?: string
  readonly clock?: TestClock
  /** Name servers and public addresses of the test, where they are not those of the machine. */
  readonly network?: Network
  /** How long a page of the console waits for the one before. By default it does not. */
  readonly pageGapMs?: number
  /** What a password costs, by default the least. */
  readonly passwordCosts?: 'lowest' | 'released'
  /** Called with each log line, also while the server is still opening. */
  readonly onLog?: (line: string) => void
}

/** Earlier refresh tokens end the grant, as the cases RT-01 to RT-19 have it. */
export const STRICT = { GRANTOR_REFRESH_COPIES: 'strict' } as const

keepPrimes()

/** A complete server on a real SQLite file, removed after the test. Rate limits are very high unless `env` sets them. */
export async function openTestServer(
  test: Pick<TestContext, 'after'>,
  options: TestServerOptions = {},
): Promise<TestServer> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'grantor-test-'))
  if (options.folder === undefined) placeBlankDatabase(join(folder, 'grantor.db'))
  const clock = options.clock ?? openTestClock()
  const port = options.listen === true ? await freePort() : 3000
  const adminPort = options.listen === true ? await freePort() : 3001
  const lines: string[] = []
  const configured = readConfig({
    PORT: String(port),
    GRANTOR_ADMIN_PORT: String(adminPort),
    DATABASE_URL: `sqlite:${join(folder, 'grantor.db')}`,
    LOG_LEVEL: 'debug',
    GRANTOR_REGISTRATION_RATE: '1000000',
    GRANTOR_AUTHORIZATION_RATE: '1000000',
    ...options.env,
  })
  const { settings } = configured
  const config = { ...configured, settings: { ...settings, grantTypes: options.grantTypes ?? settings.grantTypes } }
  const keepLine = (line: string): void => {
    lines.push(line)
    options.onLog?.(line)
  }
  const server = await openServer(config, {
    clock: clock.now,
    monotonic: clock.monotonic ?? clock.now,
    databaseClock: async (ping) => ((await ping()) === undefined ? undefined : (clock.database ?? clock.now)()),
    random: randomBytes,
    logger: openLog(config.logLevel, { write: keepLine, flush: async () => undefined }, {}),
    network: options.network ?? SYSTEM_NETWORK,
    // Tests ask for one page after another, so most of their time would be such waits.
    pageGapMs: options.pageGapMs ?? 0,
  }).catch((refusal: unknown) => {
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true })
    throw refusal
  })
  if (options.passwordCosts !== 'released') lowerCost(server)
  const adminOrigin = `http://localhost:${adminPort}`
  let isOpen = true
  const successors: (() => Promise<void>)[] = []
  const close = async (): Promise<void> => {
    if (!isOpen) return
    isOpen = false
    await server.close()
  }
  test.after(async () => {
    await close()
    for (const end of successors) await end()
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true })
    assertExplained(lines)
    await assertDescribed(lines)
  })
  if (options.listen === true) await server.start()
  return {
    ...server,
    close,
    origin: config.issuer,
    clock,
    folder,
    log: () => lines.join(''),
    inject: (request) =>
      inject((message, response) => server.http.emit('request', message, response), {
        ...request,
        headers: { host: new URL(config.issuer).host, ...request.headers },
      }),
    injectAdmin: (request) =>
      inject((message, response) => server.admin?.emit('request', message, response), {
        ...request,
        headers: { host: new URL(adminOrigin).host, ...request.headers },
      }),
    adminOrigin,
    async reopen() {
      await close()
      // The reopened server is closed before the first one removes the folder.
      const after = (end: unknown): void => void successors.push(end as () => Promise<void>)
      return openTestServer({ after }, { ...options, folder, clock })
    },
  }
}

/** Whatever a test does: each refusal has a reason in its line of the log, which docs/reasons.md or the line itself explains. */
function assertExplained(lines: readonly string[]): void {
  for (const text of lines) {
    const { event, status, reason, description } = JSON.parse(text) as Readonly<Record<string, unknown>>
    if (typeof status !== 'number' || status < 400) continue
    const isExplained = typeof description === 'string' ? EXPLAINED_BY_LINE : EXPLAINED_BY_PAGE
    assert.ok(
      typeof reason === 'string' && (EXPLAINED_BY_PAGE.has(reason) || isExplained.has(reason)),
      `${String(event)} has no explained reason: ${text}`,
    )
  }
}

/** And the OpenAPI document has each status that a task answers. Only a server that was asked for tasks has loaded them. */
async function assertDescribed(lines: readonly string[]): Promise<void> {
  const answers = lines
    .filter((text) => text.includes('"admin.'))
    .map((text) => JSON.parse(text) as Readonly<Record<string, unknown>>)
    .filter(({ event, task }) => /^admin\.(answered|refused)$/.test(String(event)) && /^\w[\w-]*\./.test(String(task)))
  if (answers.length === 0) return
  described ??= import('../../src/admin/openapi.ts').then(({ describeTasks }) => statusesByTask(describeTasks('')))
  const statuses = await described
  for (const { task, status } of answers)
    assert.ok(statuses.get(String(task))?.has(String(status)), `OpenAPI: ${String(task)} lists no ${String(status)}`)
}

let described: Promise<ReadonlyMap<string, ReadonlySet<string>>> | undefined

/** Which statuses the document lists, by the name of the task. */
function statusesByTask(document: Readonly<Record<string, unknown>>): ReadonlyMap<string, ReadonlySet<string>> {
  type Operation = { readonly operationId: string; readonly responses: Readonly<Record<string, unknown>> }
  const paths = document['paths'] as Readonly<Record<string, Readonly<Record<string, Operation>>>>
  const operations = Object.values(paths).flatMap((path) => Object.values(path))
  return new Map(operations.map(({ operationId, responses }) => [operationId, new Set(Object.keys(responses))]))
}

/** Reasons of docs/reasons.md. */
const EXPLAINED_BY_PAGE: ReadonlySet<string> = new Set(
  Object.values(REFUSALS).flatMap(({ reasons }) => Object.keys(reasons)),
)
/** Reasons that `description` explains in the line. */
export const EXPLAINED_BY_LINE: ReadonlySet<string> = new Set([
  ...Object.values(PAGE_REFUSALS).flatMap((reasons) => Object.keys(reasons)),
  ...Object.keys(FORM_REFUSALS),
  ...Object.keys(AUTHORIZATION_FAULTS),
])

function openTestClock(start: number = Date.now()): TestClock {
  let offset = start - Date.now()
  return { now: () => (Date.now() + offset) as EpochMs, advance: (milliseconds) => void (offset += milliseconds) }
}

/** A clock that can be set while the monotonic clock and the clocks of other nodes continue unchanged. */
export interface SteppingClock extends TestClock {
  /** Sets the wall clock forward or back. */
  readonly step: (milliseconds: number) => void
  /** Stops the monotonic clock for a while, as a suspended machine does. */
  readonly suspend: (milliseconds: number) => void
}

const WINDOW_MS = 15 * 60_000

/** Moves the clock to the start of a window in which attempts are counted: a count that spans two windows begins again. */
export function beginWindow({ clock }: Pick<TestServer, 'clock'>, windowMs = WINDOW_MS): void {
  clock.advance(windowMs - (clock.now() % windowMs))
}

/** Clocks of several nodes and of their shared database. Time passes only through `advance` and `suspend`, and for all of them. */
export function openSteppingClocks<const Nodes extends readonly unknown[]>(
  nodes: Nodes,
): { readonly [Index in keyof Nodes]: SteppingClock } {
  // Counts of attempts end with a window of 15 minutes. A test starts early in one, so that none ends in its first minutes.
  let time: number = Math.floor(Date.now() / WINDOW_MS) * WINDOW_MS + 60_000
  const clocks = nodes.map((): SteppingClock => {
    let ahead = 0
    let asleep = 0
    return {
      now: () => (time + ahead) as EpochMs,
      database: () => time as EpochMs,
      monotonic: () => time - asleep,
      suspend(milliseconds) {
        time += milliseconds
        asleep += milliseconds
      },
      advance: (milliseconds) => void (time += milliseconds),
      step: (milliseconds) => void (ahead += milliseconds),
    }
  })
  return clocks as never
}

/** A private folder that is removed after the test. */
export function temporaryFolder(test: Pick<TestContext, 'after'>): string {
  const folder = mkdtempSync(join(tmpdir(), 'grantor-test-'))
  test.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
