import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { ConsoleBrowser, giveRole } from '../../tools/console-browser.ts'
import { openRemoteServer } from '../../tools/remote-server.ts'
import { addUser } from '../../tools/runtime.ts'
import { median, quantile } from '../../tools/statistics.ts'
import { fixed, renderTable } from '../../tools/table.ts'
import type { Attack } from './hostile-load.ts'
import { garbage, HEALTHY, HOSTILE } from './hostile-rounds.ts'
import type { LoadSetup } from './load.ts'

/** A flood at the console beside token requests, and a flood at the token endpoint beside a person at the console (threats.md CON-11). */

export interface ConsoleRow {
  readonly name: string
  /** One value for each round. */
  readonly p50Ms: readonly number[]
  readonly p99Ms: readonly number[]
  /** Those of the same requests without a flood. */
  readonly quiet: { readonly p50Ms: readonly number[]; readonly p99Ms: readonly number[] } | undefined
  readonly floodPerSecond: readonly number[]
}

export interface ConsoleFloodSetup extends LoadSetup {
  readonly attack: Attack
}

const CONNECTIONS = 64
const PAUSE_MS = 500
/** How much longer than the measured load a flood lasts, as a share of that load. */
const LONGER = 0.3
/** A person opens a page so often. */
const PAGE_MS = 50
const PATH = '/console/clients'

export async function runConsoleFloods(setup: ConsoleFloodSetup): Promise<readonly ConsoleRow[]> {
  const { server, seconds, rounds, rate, request, load, attack } = setup
  const adminPort = Number(server.settings['GRANTOR_ADMIN_PORT'])
  await addUser(server.settings, async (context) => void (await giveRole({ context })))
  const agent = new Agent({ keepAlive: true })
  const limits = { agent, limitMs: 20_000 }
  const browser = new ConsoleBrowser({
    inject: openRemoteServer({ port: server.port, ...limits }).inject,
    injectAdmin: openRemoteServer({ port: adminPort, host: `localhost:${adminPort}`, ...limits }).inject,
  })
  await browser.open(PATH)
  const cookie = browser.console.cookieHeader
  const visit = (headers: string): string => `GET ${PATH} HTTP/1.1\r\nHost: localhost:${adminPort}\r\n${headers}\r\n`

  async function readTokens(): Promise<Times> {
    const healthy = { port: server.port, seconds, rate, connections: CONNECTIONS, addresses: HEALTHY }
    const { kinds } = await load({ ...healthy, requests: [request] })
    const served = kinds.find(({ kind }) => kind === 'served')
    return { p50Ms: served?.p50Ms ?? Number.NaN, p99Ms: served?.p99Ms ?? Number.NaN }
  }

  async function readPages(): Promise<Times> {
    const durations: number[] = []
    for (const end = performance.now() + seconds * 1000; performance.now() < end; await delay(PAGE_MS)) {
      const before = performance.now()
      const { statusCode } = await browser.console.get(PATH)
      if (statusCode !== 200) throw new Error(`The console answered with ${statusCode}.`)
      durations.push(performance.now() - before)
    }
    return { p50Ms: quantile(durations, 0.5), p99Ms: quantile(durations, 0.99) }
  }

  const cases = [
    { name: 'tokens', read: readTokens, port: adminPort, text: undefined },
    { name: 'tokens beside visitors of the console', read: readTokens, port: adminPort, text: visit('') },
    {
      name: 'tokens beside pages of a person',
      read: readTokens,
      port: adminPort,
      text: visit(`Cookie: ${cookie}\r\n`),
    },
    { name: 'pages', read: readPages, port: server.port, text: undefined },
    { name: 'pages beside wrong credentials', read: readPages, port: server.port, text: garbage(server.port) },
  ].map((one) => ({ ...one, p50Ms: [] as number[], p99Ms: [] as number[], floodPerSecond: [] as number[] }))
  for (let round = 0; round < rounds; round += 1) {
    for (const { read, port, text, p50Ms, p99Ms, floodPerSecond } of cases) {
      const plan = {
        port,
        connections: CONNECTIONS,
        addresses: [HOSTILE],
        seconds: seconds * (1 + LONGER),
        manner: 'request',
      } as const
      const flood = text === undefined ? undefined : await attack({ ...plan, text })
      const times = await read()
      p50Ms.push(times.p50Ms)
      p99Ms.push(times.p99Ms)
      floodPerSecond.push((await flood?.end())?.answersPerSecond ?? 0)
      await delay(PAUSE_MS)
    }
  }
  agent.destroy()
  return cases.map(({ name, read, text, ...row }) => ({
    ...row,
    name,
    quiet: text === undefined ? undefined : cases.find((other) => other.read === read && other.text === undefined),
  }))
}

interface Times {
  readonly p50Ms: number
  readonly p99Ms: number
}

/** Renders a Markdown table. Each figure is the median of its rounds. */
export function renderConsoleFloods(rows: readonly ConsoleRow[]): string {
  return renderTable(rows, [
    ['what is measured', ({ name }) => name],
    ['p50 ms', ({ p50Ms }) => fixed(median(p50Ms), 1)],
    ['p99', ({ p99Ms }) => fixed(median(p99Ms), 1)],
    ['p99 to quiet', ({ p99Ms, quiet }) => (quiet === undefined ? '–' : fixed(median(p99Ms) / median(quiet.p99Ms), 2))],
    ['answers/s of the flood', ({ floodPerSecond }) => fixed(median(floodPerSecond), 0)],
  ])
}
