import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { freePorts } from '../../tools/process/free-ports.ts'
import { newSecret, openServerProcess, type ServerProcess } from '../../tools/process/server.ts'
import { openFolder } from '../../tools/process/session.ts'
import type { Findings } from '../findings.ts'
import { fillDisk, mountExt4, mountOptions, mountTmpfs } from './mounts.ts'
import { readiness, requestToken, startRegistrar, type Registrar } from './registrar.ts'

/** A server on SQLite whose disk becomes full or read-only while clients register. */

const SIZE_MIB = 24
const LOAD_MS = 500
/** How long a change of the disk may take until /health/ready shows it. */
const NOTICE_MS = 5000

interface ServerOnDisk {
  readonly server: ServerProcess
  /** Where the database is. */
  readonly disk: string
  /** On another disk. */
  readonly folder: string
  readonly settings: Readonly<Record<string, string>>
  readonly findings: Findings
}

async function openServerOnDisk(findings: Findings, name: string): Promise<ServerOnDisk> {
  const folder = join(openFolder(), name)
  mkdirSync(folder)
  const disk = join(folder, 'disk')
  const [port = 0] = await freePorts(1)
  const settings = {
    DATABASE_URL: `sqlite:${join(disk, 'data', 'grantor.db')}`,
    GRANTOR_SECRET: newSecret(),
    GRANTOR_REGISTRATION_RATE: '1000000',
    LOG_LEVEL: 'error',
  }
  return { folder, disk, findings, settings, server: openServerProcess({ port, folder, settings }) }
}

/** Fills the disk and makes room again. In every second round the server is killed while the disk is full. */
export async function proveFullDisk(findings: Findings, rounds: number): Promise<readonly string[]> {
  const opened = await openServerOnDisk(findings, 'full')
  const { disk, server } = opened
  mountTmpfs(disk, SIZE_MIB)
  await server.start()
  const registrar = startRegistrar(server.port, findings)
  const noticed: number[] = []
  const recovered: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    await delay(LOAD_MS)
    const known = await knownClient(opened, registrar)
    const makeRoom = fillDisk(disk)
    noticed.push(await untilReadiness(opened, ['disk_full']))
    await expectReading(opened, known)
    expectCommands(opened)
    await delay(LOAD_MS)
    if (round % 2 === 1) {
      await killAndStart(opened, registrar)
      await untilReadiness(opened, ['disk_full'])
      await expectReading(opened, known)
    }
    makeRoom()
    recovered.push(await untilReadiness(opened, ['ready']))
    await untilMore(opened, registrar)
    findings.progress(`full disk, round ${round + 1}`)
  }
  await registrar.stop()
  await server.stop()
  const lost = countLost(opened, registrar)
  return [
    `full disk: ${rounds} times, ${Math.floor(rounds / 2)} of them with kill -9`,
    summary(registrar, lost),
    `  not ready after ${worst(noticed)}, ready again after ${worst(recovered)}`,
  ]
}

/** Lets the file system fail, which makes it read-only, and mounts it again. */
export async function proveReadOnly(findings: Findings): Promise<readonly string[]> {
  const opened = await openServerOnDisk(findings, 'read-only')
  const { disk, folder, server } = opened
  const failing = mountExt4(join(folder, 'ext4.img'), disk, SIZE_MIB)
  await server.start()
  const registrar = startRegistrar(server.port, findings)
  await delay(LOAD_MS)
  const known = await knownClient(opened, registrar)
  failing.fail()
  const noticedMs = await untilReadiness(opened, ['disk_read_only', 'disk_failed'])
  const reason = await readiness(server.port)
  const options = mountOptions(disk)
  await expectReading(opened, known)
  const before = registrar.acknowledged.size
  await delay(LOAD_MS)
  if (registrar.acknowledged.size !== before) findings.report('A registration was acknowledged on a read-only disk.')
  await registrar.stop()
  expectCommands(opened)
  await end(server)
  failing.mountAgain('ro')
  await server.start().then(
    () => findings.report('The server started on a read-only mount.'),
    ({ message }: Error) => {
      if (!/read-only/.test(message)) findings.report(`On a read-only mount the server said: ${message}`)
    },
  )
  failing.mountAgain('rw')
  await server.start()
  await untilReadiness(opened, ['ready'])
  await expectReading(opened, known)
  await server.stop()
  const lost = countLost(opened, registrar)
  return [
    `read-only disk (${options}): ${reason} after ${noticedMs} ms`,
    summary(registrar, lost),
    '  a start on the read-only mount was refused, and one after it was mounted again succeeded',
  ]
}

/** A client that has got a token, so that another one needs no write. */
async function knownClient(
  { server, findings }: ServerOnDisk,
  registrar: Registrar,
): Promise<readonly [string, string]> {
  const [client] = registrar.acknowledged
  if (client === undefined) throw new Error('No client was registered.')
  const status = await requestToken(server.port, client)
  if (status !== '200') findings.report(`A token request before the fault had ${status}.`)
  return client
}

async function expectReading({ server, findings }: ServerOnDisk, client: readonly [string, string]): Promise<void> {
  const status = await requestToken(server.port, client)
  if (status !== '200') findings.report(`A token request that writes nothing had ${status}.`)
}

/** Returns the milliseconds until /health/ready says one of these. */
async function untilReadiness({ server, findings }: ServerOnDisk, wanted: readonly string[]): Promise<number> {
  const startedAt = performance.now()
  for (;;) {
    const found = await readiness(server.port)
    const elapsedMs = Math.round(performance.now() - startedAt)
    if (wanted.includes(found)) return elapsedMs
    if (elapsedMs > NOTICE_MS) {
      findings.report(`/health/ready said ${found} after ${elapsedMs} ms instead of ${wanted.join(' or ')}.`)
      return elapsedMs
    }
    await delay(20)
  }
}

async function untilMore({ findings }: ServerOnDisk, { acknowledged }: Registrar): Promise<void> {
  const before = acknowledged.size
  const deadline = performance.now() + NOTICE_MS
  while (acknowledged.size === before && performance.now() < deadline) await delay(20)
  if (acknowledged.size === before) findings.report('Nothing was registered after there was room again.')
}

/** A server that is started on a full disk serves what can be read. */
async function killAndStart({ server }: ServerOnDisk, registrar: Registrar): Promise<void> {
  registrar.mayBreak = true
  await end(server)
  await server.start('/health/alive')
  registrar.mayBreak = false
}

/** Commands that read work, and a backup goes to another disk. */
function expectCommands({ findings, folder, settings }: ServerOnDisk): void {
  const { PATH = '', HOME = '/' } = process.env
  for (const words of [
    ['client', 'list'],
    ['audit', 'list'],
    ['backup', '--to', join(folder, 'full.backup')],
  ]) {
    const { status, stderr } = spawnSync(process.execPath, ['src/cli/main.ts', ...words], {
      env: { PATH, HOME, ...settings },
      encoding: 'utf8',
    })
    if (status !== 0) findings.report(`On the faulty disk "${words.join(' ')}" ended with ${status}: ${stderr}`)
  }
}

async function end(server: ServerProcess): Promise<void> {
  const { pid } = server
  server.kill()
  while (isRunning(pid)) await delay(20)
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/**
 * Checks that every acknowledged client is stored, and no other one except those whose registrations had no answer. Returns how
 * many are missing.
 */
function countLost({ disk, findings }: ServerOnDisk, { acknowledged, unanswered }: Registrar): number {
  const database = new DatabaseSync(join(disk, 'data', 'grantor.db'))
  const [report] = database.prepare('pragma integrity_check').all()
  if (report?.['integrity_check'] !== 'ok') findings.report(`The database is damaged: ${JSON.stringify(report)}`)
  const stored = new Set(
    database
      .prepare('select client_id from clients')
      .all()
      .map((row) => String(row['client_id'])),
  )
  database.close()
  const lost = [...acknowledged.keys()].filter((id) => !stored.has(id))
  if (lost.length > 0) findings.report(`${lost.length} acknowledged clients are lost.`)
  const more = stored.size - acknowledged.size + lost.length
  if (more > unanswered()) findings.report(`${more} clients are stored that were not acknowledged.`)
  return lost.length
}

function summary({ acknowledged, refused }: Registrar, lost: number): string {
  return `  registrations: ${acknowledged.size} acknowledged, ${lost} lost, ${refused()} answered 503`
}

function worst(times: readonly number[]): string {
  return `${Math.max(...times)} ms at worst`
}
