import { setTimeout as delay } from 'node:timers/promises'
import type { Attack, HostileOrder, HostileResult } from './hostile-load.ts'
import type { OverloadOrder, OverloadRequest, OverloadResult } from './overload-order.ts'
import { quantile } from './statistics.ts'
import { renderTable } from './table.ts'

/** Measures the effect of a hostile network on other clients: alternating rounds with and without it, against the same server. */

export interface HostileRow {
  readonly name: string
  readonly rounds: readonly Round[]
}

interface Round {
  /** The share of the healthy clients' requests that were answered in time. */
  readonly goodput: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** undefined: the round had no hostile network. */
  readonly hostile: HostileResult | undefined
}

export interface HostileStage {
  readonly port: number
  readonly seconds: number
  readonly rounds: number
  /** Connections of the hostile network. */
  readonly hostile: readonly number[]
  /** Requests per second of the healthy clients. */
  readonly rate: number
  readonly request: OverloadRequest
  readonly load: (order: OverloadOrder) => Promise<OverloadResult>
  readonly attack: Attack
}

/** The networks of the healthy clients. */
export const HEALTHY = Array.from({ length: 16 }, (_, index) => `127.0.1.${index + 1}`)
export const HOSTILE = '127.0.0.2'
const HEALTHY_CONNECTIONS = 64
const PAUSE_MS = 500
/** How much longer than the measured load the flood lasts, as a share of that load. */
const LONGER = 0.3

/** The rows of the table: one without a flood, and for each size of the flood one from one network and one from many. */
export async function runHostileRounds(stage: HostileStage): Promise<readonly HostileRow[]> {
  const floods = stage.hostile.flatMap((connections) => [
    { name: `one network, ${connections}`, connections, addresses: [HOSTILE] },
    { name: `many networks, ${connections}`, connections, addresses: manyAddresses(connections) },
  ])
  const rows = [{ name: 'no flood', connections: 0, addresses: [] as readonly string[] }, ...floods].map((flood) => ({
    flood,
    rounds: [] as Round[],
  }))
  for (let round = 0; round < stage.rounds; round += 1) {
    for (const { flood, rounds } of rows) rounds.push(await runRound(stage, flood))
  }
  return rows.map(({ flood, rounds }) => ({ name: flood.name, rounds }))
}

async function runRound(
  { port, seconds, rate, request, load, attack }: HostileStage,
  { connections, addresses }: Pick<HostileOrder, 'connections' | 'addresses'>,
): Promise<Round> {
  const attackSeconds = seconds * (1 + LONGER)
  const order = { port, connections, addresses, seconds: attackSeconds, manner: 'ask', request: garbage(port) } as const
  const flood = connections === 0 ? undefined : await attack(order)
  const healthy = { port, seconds, rate, connections: HEALTHY_CONNECTIONS, addresses: HEALTHY, requests: [request] }
  const { kinds, asked, seconds: lasted } = await load(healthy)
  const hostile = await flood?.end()
  await delay(PAUSE_MS)
  const served = kinds.find(({ kind }) => kind === 'served')
  const perSecond = served?.perSecond ?? 0
  const goodput = asked === 0 ? 0 : (perSecond * lasted) / Math.max(asked, rate * lasted)
  return { goodput, perSecond, p50Ms: served?.p50Ms ?? Number.NaN, p99Ms: served?.p99Ms ?? Number.NaN, hostile }
}

/** Credentials that no client has. */
function garbage(port: number): string {
  const body = 'grant_type=client_credentials&client_id=nobody&client_secret=nothing'
  const head = `POST /v2/oauth/token HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/x-www-form-urlencoded`
  return `${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

function manyAddresses(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `127.2.${index >> 8}.${index & 255}`)
}

/** Renders a Markdown table. Each figure is the median of its rounds. */
export function renderHostile(rows: readonly HostileRow[]): string {
  const median = (rounds: readonly Round[], read: (round: Round) => number): number => quantile(rounds.map(read), 0.5)
  const base = rows[0] === undefined ? Number.NaN : median(rows[0].rounds, ({ goodput }) => goodput)
  return renderTable(
    [
      'beside healthy clients',
      '200/s',
      'of what was asked',
      'against no flood',
      'least',
      'p50 ms',
      'p99',
      'answers/s of the flood',
    ],
    rows.map(({ name, rounds }) => [
      name,
      median(rounds, ({ perSecond }) => perSecond).toFixed(0),
      percent(median(rounds, ({ goodput }) => goodput)),
      percent(median(rounds, ({ goodput }) => goodput) / base),
      percent(Math.min(...rounds.map(({ goodput }) => goodput)) / base),
      median(rounds, ({ p50Ms }) => p50Ms).toFixed(1),
      median(rounds, ({ p99Ms }) => p99Ms).toFixed(1),
      median(rounds, ({ hostile }) => hostile?.answersPerSecond ?? 0).toFixed(0),
    ]),
  )
}

function percent(part: number): string {
  return `${(part * 100).toFixed(1)} %`
}
