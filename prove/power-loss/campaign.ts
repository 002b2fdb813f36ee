import inject from 'light-my-request'
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { EpochMs } from '../../src/base/brand.ts'
import { readConfig } from '../../src/config/config.ts'
import { openPlatform } from '../../src/server/platform.ts'
import { openServer } from '../../src/server/server.ts'
import { EMAIL, PASSWORD, type RequestTarget } from '../../tools/flow.ts'
import { freePorts } from '../../tools/process/free-ports.ts'
import { PROGRAM } from '../../tools/process/command-line.ts'
import { openServerProcess } from '../../tools/process/server.ts'
import { openRemoteServer } from '../../tools/remote-server.ts'
import { faultsOfBackups, openBackups, type MadeBackup } from './backups.ts'
import { openDisk } from './disk.ts'
import { faultOf, openLoad, type Thing } from './ledger.ts'
import { readRecords, type FileRecord } from './records.ts'

/** A run of a server: what processes did to their files, and what its clients and the operator know. */
export interface Run {
  readonly records: readonly FileRecord[]
  readonly things: readonly Thing[]
  readonly backups: readonly MadeBackup[]
  /** When the first start was complete. */
  readonly readyNs: bigint
  readonly settings: Readonly<Record<string, string>>
  /** The wall clock, less the monotonic one. */
  readonly offsetMs: number
}

/** Where the database and the secret are, on the disk. The first start makes the folder. */
export const DATA = 'data'
const ANSWER_LIMIT_MS = 10_000
const SHORTLY_NS = 500_000
/** Of the things that changed last before a loss, and of all others. */
const CHECKED = { last: 12, others: 6 } as const

/**
 * Starts two servers at once where nothing is yet, of which one gets the new SQLite file, and runs it under load and beside backups, with
 * the recorder in each process.
 */
export async function record(folder: string, recorder: string, seconds: number): Promise<Run> {
  const root = join(folder, 'disk')
  const output = join(folder, 'records')
  mkdirSync(root)
  const ports = await freePorts(2)
  const [port = 0] = ports
  const settings = {
    DATABASE_URL: `sqlite:${join(root, DATA, 'grantor.db')}`,
    // The secret is a file beside the database.
    GRANTOR_SECRET: '',
    GRANTOR_ISSUER: `http://localhost:${port}`,
    GRANTOR_REGISTRATION_RATE: '1000000',
    GRANTOR_AUTHORIZATION_RATE: '1000000',
    GRANTOR_CODE_LIFETIME: '600',
    GRANTOR_REFRESH_RETRY: '300',
    GRANTOR_DRAIN_SECONDS: '0',
  }
  const recorded = { LD_PRELOAD: recorder, RECORD_FOLDER: root, RECORD_FILE: output, UV_USE_IO_URING: '0' }
  const environment = { PATH: process.env['PATH'], ...settings, ...recorded }
  const servers = ports.map((own) => openServerProcess({ port: own, folder, settings: { ...settings, ...recorded } }))
  const agent = new Agent({ keepAlive: true })
  try {
    const starts = await Promise.allSettled(servers.map((one) => one.start()))
    const readyNs = process.hrtime.bigint()
    const server = servers[starts.findIndex(({ status }) => status === 'fulfilled')]
    const refused = servers.find((one) => one !== server)?.readLog() ?? ''
    if (server === undefined || !refused.includes(' is in use by process '))
      throw new Error(`Of two first starts at once one must be refused:\n${refused}`)
    const words = [PROGRAM, 'user', 'create', '--email', EMAIL, '--password', PASSWORD]
    execFileSync(process.execPath, words, { env: environment, stdio: 'pipe' })
    const target = { port: server.port, agent, limitMs: ANSWER_LIMIT_MS, host: `localhost:${port}` }
    const load = await openLoad(openRemoteServer(target))
    const backups = openBackups(root, environment)
    await delay(seconds * 1000)
    await load.end()
    await backups.end()
    await server.stop()
    const offsetMs = Date.now() - Number(process.hrtime.bigint()) / 1e6
    const records = readRecords(output, root)
    return { records, things: load.things, backups: backups.made, readyNs, settings, offsetMs }
  } finally {
    for (const one of servers) one.kill()
    agent.destroy()
  }
}

/** Of eight losses four are shortly after an answer, one after a backup, two during the first start, and one at any time. */
export function cutTimes(run: Run, count: number, random: () => number): readonly bigint[] {
  const { records, things, backups, readyNs } = run
  const answers = things.flatMap(({ steps }) => steps.flatMap(({ ackNs }) => (ackNs === undefined ? [] : [ackNs])))
  const saved = backups.map(({ ackNs }) => ackNs)
  const [first, last] = [records[0]?.atNs ?? 0n, records.at(-1)?.atNs ?? 0n]
  const within = (ns: number): bigint => BigInt(Math.floor(random() * ns))
  return Array.from({ length: count }, (_, index) => {
    const after = index % 2 === 0 ? answers : index % 8 === 1 ? saved : []
    const answer = after[Math.floor(random() * after.length)]
    if (answer !== undefined) return answer + within(SHORTLY_NS)
    return first + within(Number((index % 4 === 3 ? readyNs : last) - first))
  })
}

/** Builds the disk at each of these times, opens a server on it, and compares it with what its clients knew then. */
export async function cutAll(
  { records, things, backups, settings, offsetMs }: Run,
  cuts: readonly bigint[],
  folder: string,
  random: () => number,
): Promise<readonly string[]> {
  const disk = openDisk()
  const faults: string[] = []
  let next = 0
  for (const atNs of cuts.toSorted((one, other) => (one < other ? -1 : 1))) {
    for (let one = records[next]; one !== undefined && one.atNs <= atNs; one = records[next]) {
      disk.apply(one, next)
      next += 1
    }
    const place = join(folder, 'cut')
    rmSync(place, { recursive: true, force: true })
    const files = disk.cut(random)
    for (const [name, content] of files) {
      mkdirSync(join(place, dirname(name)), { recursive: true, mode: 0o700 })
      writeFileSync(join(place, name), content, { mode: 0o600 })
    }
    faults.push(...faultsOfBackups(backups, files, atNs))
    const own = { ...settings, DATABASE_URL: `sqlite:${join(place, DATA, 'grantor.db')}` }
    const nowMs = Number(atNs) / 1e6 + offsetMs
    for (const fault of await faultsAfter(own, nowMs, chosen(things, atNs, random), atNs)) faults.push(fault)
  }
  return faults
}

/** Things whose last acknowledged step was shortly before, and others. */
function chosen(things: readonly Thing[], atNs: bigint, random: () => number): readonly Thing[] {
  const lastAck = ({ steps }: Thing): bigint =>
    steps.findLast(({ ackNs }) => ackNs !== undefined && ackNs <= atNs)?.ackNs ?? 0n
  const known = things.filter((thing) => lastAck(thing) > 0n)
  const newest = known.toSorted((one, other) => (lastAck(one) > lastAck(other) ? -1 : 1))
  const others = newest.slice(CHECKED.last)
  return [
    ...newest.slice(0, CHECKED.last),
    ...Array.from(
      { length: Math.min(CHECKED.others, others.length) },
      () => others[Math.floor(random() * others.length)],
    ),
  ].filter((thing) => thing !== undefined)
}

async function faultsAfter(
  settings: Readonly<Record<string, string>>,
  nowMs: number,
  things: readonly Thing[],
  atNs: bigint,
): Promise<readonly string[]> {
  const startedAt = performance.now()
  const config = readConfig({ ...settings, LOG_LEVEL: 'silent' })
  const platform = { ...openPlatform(config), clock: () => (nowMs + performance.now() - startedAt) as EpochMs }
  try {
    const server = await openServer(config, platform)
    const target: RequestTarget = {
      inject: (request) =>
        inject((message, response) => server.http.emit('request', message, response), {
          ...request,
          headers: { host: new URL(config.issuer).host, ...request.headers },
        }),
    }
    const faults: string[] = []
    for (const thing of things) {
      const fault = await faultOf(thing, target, atNs)
      if (fault !== undefined) faults.push(fault)
    }
    await server.close()
    return faults
  } catch (cause) {
    return [`The server does not open: ${(cause as Error).message}`]
  }
}
