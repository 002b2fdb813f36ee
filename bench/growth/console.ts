import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ConsoleBrowser, giveRole } from '../../tools/console-browser.ts'
import { fillFigures } from '../../tools/figures.ts'
import type { BenchDatabase } from '../../tools/postgres/database.ts'
import { freePorts } from '../../tools/process/free-ports.ts'
import { openServerProcess } from '../../tools/process/server.ts'
import { readUsage } from '../../tools/process/usage.ts'
import { openRemoteServer } from '../../tools/remote-server.ts'
import { addUser } from '../../tools/runtime.ts'
import { quantile } from '../../tools/statistics.ts'
import {
  consoleStatements,
  EVENTS_OF_LINK,
  FILLED_SETTINGS,
  GRANTS_OF_USER,
  idOf,
  runOnPostgres,
  runOnSqlite,
  type Fill,
} from './fill.ts'

/** The times of a screen, and the size of its page. */
export interface ScreenTimes {
  readonly screen: string
  readonly p50Ms: number
  readonly p95Ms: number
  /** Processor time of the server, with that of SQLite and without that of PostgreSQL. 0 on a system without /proc. */
  readonly cpuP50Ms: number
  readonly cpuP95Ms: number
  readonly bytes: number
}

/** Rows of a page of a list. */
const PAGE = 50
const WARM_UP = 5
/** A person is slower than the gap between two pages (src/http/admin/app.ts). */
const PAUSE_MS = 15
const ANSWER_LIMIT_MS = 60_000

export interface ConsoleBench {
  readonly rows: number
  readonly folder: string
  /** undefined: a SQLite file in the folder. */
  readonly database: BenchDatabase | undefined
  /** How often each screen is requested. */
  readonly visits: number
  /** The folder to which a CPU profile of the server is written. */
  readonly profile: string | undefined
}

/** Requests each screen of the console of a server whose store is filled, one request after the other, as one person does. */
export async function measureConsole({
  rows,
  folder,
  database,
  visits,
  profile,
}: ConsoleBench): Promise<readonly ScreenTimes[]> {
  const fill = { rows, now: Date.now() }
  const path = join(folder, `console-${rows}.db`)
  const opened = await database?.open()
  const [port = 0, adminPort = 0] = await freePorts(2)
  const server = openServerProcess({
    port,
    folder,
    profile,
    settings: {
      ...FILLED_SETTINGS,
      DATABASE_URL: opened?.url ?? `sqlite:${path}`,
      GRANTOR_ADMIN_PORT: String(adminPort),
      LOG_LEVEL: 'info',
    },
  })
  await addUser(server.settings, async (context) => {
    await giveRole({ context })
    await fillFigures(context.store, context.clock(), { span: '5m', rows: 576 })
    await fillFigures(context.store, context.clock(), { span: '1h', rows: 8 * 24 })
    await fillFigures(context.store, context.clock(), { span: '1d', rows: 90 })
  })
  if (opened === undefined) runOnSqlite(path, consoleStatements('sqlite', fill))
  else {
    await runOnPostgres(opened.url, consoleStatements('postgres', fill))
    await database?.settle()
  }
  await server.start()
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const limits = { agent, limitMs: ANSWER_LIMIT_MS }
  const issuer = openRemoteServer({ port, ...limits })
  const administration = openRemoteServer({ port: adminPort, host: `localhost:${adminPort}`, ...limits })
  const browser = new ConsoleBrowser({ inject: issuer.inject, injectAdmin: administration.inject })
  const first = await browser.open('/console')
  const times: ScreenTimes[] = []
  for (const [screen, addressOf] of screensOf(fill)) times.push(await measure(screen, addressOf))
  for (const [asset = '', kind] of first.body.matchAll(/\/console\/a\/[0-9a-f]{16}\.(css|js)/g))
    times.push(await measure(kind === 'css' ? 'stylesheet' : 'script', () => asset))
  agent.destroy()
  await server.stop()
  return times

  async function measure(screen: string, addressOf: (visit: number) => string): Promise<ScreenTimes> {
    const [durations, cpu]: [number[], number[]] = [[], []]
    let bytes = 0
    for (let visit = 0; visit < WARM_UP + visits; visit += 1) {
      const address = addressOf(visit)
      await delay(PAUSE_MS)
      const used = cpuMs()
      const before = performance.now()
      const { statusCode, body } = await browser.console.get(address)
      const duration = performance.now() - before
      if (statusCode !== 200) throw new Error(`${address} was answered with ${statusCode}: ${body.slice(0, 400)}`)
      if (visit >= WARM_UP) {
        durations.push(duration)
        cpu.push(cpuMs() - used)
      }
      bytes = Math.max(bytes, Buffer.byteLength(body))
    }
    return {
      screen,
      p50Ms: quantile(durations, 0.5),
      p95Ms: quantile(durations, 0.95),
      cpuP50Ms: quantile(cpu, 0.5),
      cpuP95Ms: quantile(cpu, 0.95),
      bytes,
    }
  }

  function cpuMs(): number {
    return readUsage(server.pid)?.cpuMs ?? 0
  }
}

/** Each screen with its address for a visit, on which different rows are shown. */
function screensOf(fill: Fill): readonly (readonly [screen: string, addressOf: (visit: number) => string])[] {
  const { rows } = fill
  /** A row somewhere, another one for each visit. */
  const somewhere = (visit: number): number => Math.floor(rows * ((visit * 0.618_033_988 + 0.1) % 1))
  const userAt = (index: number): string => `gus_${idOf(index - (index % GRANTS_OF_USER), fill)}`
  const clientAt = (index: number): string => `gci_${idOf(index, fill)}`
  /** The last row of the page before this one, of a list with a row for `each` numbers. */
  const before = (page: number, each: number): number => {
    const index = rows - (page - 1) * PAGE * each
    return Math.max(each, index - (index % each))
  }
  const paged = (list: string, each: number, idAt: (index: number) => string) =>
    [1, 2, 1000].map(
      (page) =>
        [
          `${list}, page ${page}`,
          () => `/console/${list}${page === 1 ? '' : `?before=${idAt(before(page, each))}`}`,
        ] as const,
    )
  const linkAt = (index: number): string => {
    const id = idOf(index, fill)
    const hour = Math.floor(Number.parseInt(id.slice(0, 12), 16) / 3_600_000)
    return `${id.slice(0, 12)}${String(index).padStart(8, '0')}${String(hour).padStart(14, '0')}-0`
  }
  const linksOf = (pages: number): number => (pages * PAGE) / EVENTS_OF_LINK
  const day = (age: number): string => new Date(fill.now - age * 24 * 60 * 60 * 1000).toISOString().slice(0, 10)
  const organization = `/console/organizations/gor_${idOf(0, fill)}`
  return [
    // Forms that need a recent sign-in come first.
    ['a client to install', () => `${organization}/installations/new?ask=installation.install`],
    ['a provider to connect', () => '/console/providers?ask=provider.create&template=oidc&provider_id=acme'],
    ['a client to create', () => '/console/clients?ask=client.create'],
    ['overview', () => '/console'],
    ['overview, 90 days', () => '/console?period=90d'],
    ['all figures', () => '/console/figures'],
    ...paged('clients', 1, clientAt),
    ['clients, most match', () => '/console/clients?trust_level=unverified&source=registration'],
    ['clients, used', () => '/console/clients?used=true'],
    ['clients, one of 1,000 disabled', () => '/console/clients?disabled=true'],
    ['clients, none of the source', () => '/console/clients?source=document'],
    ['clients, no name matches', () => '/console/clients?text=absent'],
    ['clients, no host matches', () => '/console/clients?host=absent.example'],
    ...paged('users', 1, (index) => `gus_${idOf(index, fill)}`),
    ['users, address', (visit) => `/console/users?text=user-${somewhere(visit)}`],
    ['users, no name matches', () => '/console/users?text=absent'],
    ...paged('grants', 1, (index) => idOf(index, fill)),
    ['grants of a user', (visit) => `/console/grants?user_id=${userAt(somewhere(visit))}`],
    ['grants of a client', (visit) => `/console/grants?client_id=${clientAt(somewhere(visit))}`],
    ...([1, 2, 1000] as const).map(
      (page) =>
        [
          `audit, page ${page}`,
          () => `/console/audit${page === 1 ? '' : `?before=${linkAt(Math.max(1, rows - linksOf(page - 1)))}`}`,
        ] as const,
    ),
    ['audit, a day', (visit) => `/console/audit?since=${day(2 + (visit % 20))}&until=${day(2 + (visit % 20))}`],
    ['audit, one of five events', () => '/console/audit?event=scope.refused'],
    ['audit, an event that did not happen', () => '/console/audit?event=code.replayed'],
    ['audit of a client', (visit) => `/console/audit?client_id=${clientAt(somewhere(visit))}`],
    ['a client', (visit) => `/console/clients/${clientAt(somewhere(visit))}`],
    ...['grants', 'activity', 'settings'].map(
      (tab) => [`its ${tab}`, (visit: number) => `/console/clients/${clientAt(somewhere(visit))}?tab=${tab}`] as const,
    ),
    ['its consent page', (visit) => `/console/clients/${clientAt(somewhere(visit))}/consent`],
    ['a user', (visit) => `/console/users/${userAt(somewhere(visit))}`],
    ['a grant', (visit) => `/console/grants/${idOf(somewhere(visit), fill)}`],
    ['organizations', () => '/console/organizations'],
    ['an organization', () => organization],
    ['its members', () => `${organization}/members`],
    ['its members, in the middle', (visit) => `${organization}/members?before=${userAt(somewhere(visit))}`],
    ['its installations', () => `${organization}/installations`],
    ['a domain to block, of all clients', () => '/console/domains/new?ask=domain.block&pattern=client.example'],
    ['a domain to block, of no client', () => '/console/domains/new?ask=domain.block&pattern=*.absent.example'],
    ...['apis', 'providers', 'domains', 'initial-tokens', 'roles', 'credentials', 'keys', 'token', 'server'].map(
      (screen) => [screen, () => `/console/${screen}`] as const,
    ),
    ['the page that asks', (visit) => `/console/users/${userAt(somewhere(visit))}?ask=session.end&subject=x`],
  ]
}
