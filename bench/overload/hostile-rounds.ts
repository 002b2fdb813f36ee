import { setTimeout as delay } from 'node:timers/promises'
import { median } from '../../tools/statistics.ts'
import { fixed, percent, renderTable } from '../../tools/table.ts'
import type { Attack, HostilePlan, HostileResult } from './hostile-load.ts'
import type { RunLoad } from './load.ts'
import type { OverloadRequest } from './plan.ts'

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

export interface HostileSetup {
  readonly port: number
  readonly seconds: number
  readonly rounds: number
  /** Connections of the hostile network. */
  readonly hostile: readonly number[]
  /** Requests per second of the healthy clients. */
  readonly rate: number
  readonly request: OverloadRequest
  readonly load: RunLoad
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
export async function runHostileRounds(setup: HostileSetup): Promise<readonly HostileRow[]> {
  const floods = setup.hostile.flatMap((connections) => [
    { name: `one network, ${connections}`, connections, addresses: [HOSTILE] },
    { name: `many networks, ${connections}`, connections, addresses: manyAddresses(connections) },
  ])
  const rows = [{ name: 'no flood', connections: 0, addresses: [] as readonly string[] }, ...floods].map((flood) => ({
    flood,
    rounds: [] as Round[],
  }))
  for (let round = 0; round < setup.rounds; round += 1) {
    for (const { flood, rounds } of rows) rounds.push(await runRound(setup, flood))
  }
  return rows.map(({ flood, rounds }) => ({ name: flood.name, rounds }))
}

async function runRound(
  { port, seconds, rate, request, load, attack }: HostileSetup,
  { connections, addresses }: Pick<HostilePlan, 'connections' | 'addresses'>,
): Promise<Round> {
  const attackSeconds = seconds * (1 + LONGER)
  const plan = { port, connections, addresses, seconds: attackSeconds, manner: 'request', text: garbage(port) } as const
  const flood = connections === 0 ? undefined : await attack(plan)
  const healthy = { port, seconds, rate, connections: HEALTHY_CONNECTIONS, addresses: HEALTHY, requests: [request] }
  const { kinds, sent, seconds: lasted } = await load(healthy)
  const hostile = await flood?.end()
  await delay(PAUSE_MS)
  const served = kinds.find(({ kind }) => kind === 'served')
  const perSecond = served?.perSecond ?? 0
  const goodput = sent === 0 ? 0 : (perSecond * lasted) / Math.max(sent, rate * lasted)
  return { goodput, perSecond, p50Ms: served?.p50Ms ?? Number.NaN, p99Ms: served?.p99Ms ?? Number.NaN, hostile }
}

/** Credentials that no client has. */
export function garbage(port: number): string {
  const body = 'grant_type=client_credentials&client_id=nobody&client_secret=nothing'
  const head = `POST /v2/oauth/token HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/x-www-form-urlencoded`
  return `${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

function manyAddresses(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `127.2.${index >> 8}.${index & 255}`)
}

/** Renders a Markdown table. Each figure is the median of its rounds. */
export function renderHostile(rows: readonly HostileRow[]): string {
  const middle = ({ rounds }: HostileRow, read: (round: Round) => number): number => median(rounds.map(read))
  const goodput = (row: HostileRow): number => middle(row, (round) => round.goodput)
  const base = rows[0] === undefined ? Number.NaN : goodput(rows[0])
  return renderTable(rows, [
    ['beside healthy clients', ({ name }) => name],
    [
      '200/s',
      (row) =>
        fixed(
          middle(row, ({ perSecond }) => perSecond),
          0,
        ),
    ],
    ['of what was requested', (row) => percent(goodput(row), 1)],
    ['against no flood', (row) => percent(goodput(row) / base, 1)],
    ['least', ({ rounds }) => percent(Math.min(...rounds.map((round) => round.goodput)) / base, 1)],
    [
      'p50 ms',
      (row) =>
        fixed(
          middle(row, ({ p50Ms }) => p50Ms),
          1,
        ),
    ],
    [
      'p99',
      (row) =>
        fixed(
          middle(row, ({ p99Ms }) => p99Ms),
          1,
        ),
    ],
    [
      'answers/s of the flood',
      (row) =>
        fixed(
          middle(row, ({ hostile }) => hostile?.answersPerSecond ?? 0),
          0,
        ),
    ],
  ])
}
