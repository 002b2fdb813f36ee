import assert from 'node:assert/strict'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../tools/process/free-ports.ts'
import { startProgram, type RunningProgram } from '../../tools/process/program.ts'
import { openBackup } from '../../src/store/backup/read.ts'
import { CLOSED } from '../../src/store/nouns/server/settings.ts'
import type { Findings } from '../findings.ts'
import { endOf, environmentOf, MAIN, runUntil } from './command.ts'
import type { Place } from './place.ts'

export interface MoveCampaign {
  /** How many exports are killed, and as many imports. */
  readonly rounds: number
  /** The times of the kills follow from it. */
  readonly seed: number
}

/** What the killed commands left. */
export interface MoveTally {
  readonly acknowledged: number
  /** Sources whose server went on, and sources that were closed. */
  readonly sources: { readonly open: number; readonly closed: number }
  /** Targets that the import had not filled, and that were complete. */
  readonly targets: { readonly incomplete: number; readonly complete: number }
}

interface Client {
  readonly client_id: string
  readonly client_secret: string
}

/**
 * When a command is killed, in times of the whole run before it. A command reads its configuration first, and the export takes longer
 * while a server writes than it took on the closed store.
 */
const [EARLIEST, LATEST] = [0.4, 1.6]
const CALLERS = 2
const LIMIT_MS = 20_000
/** What a closed store tells the operator. */
const HOW_TO_GO_ON = /was closed by ".* export --final"[^]*database reopen/

/**
 * Kills `grantor export --final` under a server that acknowledges clients, and then `grantor import grantor`, at random moments. After
 * each kill the source serves and takes writes, or it is closed, and a start says how to go on. The same commands again complete the
 * move, and every acknowledged client is in the target. No server of the source starts while the target has the store.
 */
export async function proveMove(
  source: Place,
  openTarget: () => Promise<Place>,
  folder: string,
  findings: Findings,
  { rounds, seed }: MoveCampaign,
): Promise<MoveTally> {
  const random = seeded(seed)
  const moment = (): number => EARLIEST + random() * (LATEST - EARLIEST)
  const file = join(folder, 'moved')
  const port = await freePort()
  const acknowledged: Client[] = []
  const sources = { open: 0, closed: 0 }
  const targets = { incomplete: 0, complete: 0 }
  const exporting = ['export', '--to', file, '--final']
  const importing = ['import', 'grantor', file]
  let [exportMs, importMs] = [1000, 1000]

  async function move(): Promise<void> {
    rmSync(file, { force: true })
    const server = await startServer(source, port)
    const end = new AbortController()
    const calls = Array.from({ length: CALLERS }, () => registerUntil(end.signal, port, acknowledged))
    await endOf(source, exporting, moment() * exportMs)
    const isClosed = await isClosedStore(source)
    sources[isClosed ? 'closed' : 'open'] += 1
    if (existsSync(file)) {
      assert.ok(isClosed, 'There is a final export of a store that is open.')
      openBackup(file).close()
    }
    if (!isClosed) await registerOne(port, acknowledged)
    exportMs = await runUntil(source, exporting, undefined)
    end.abort()
    await Promise.all(calls)
    await server.stop()

    const target = await openTarget()
    await endOf(target, importing, moment() * importMs)
    const again = await endOf(target, importing, undefined)
    const isComplete = again.code !== 0
    targets[isComplete ? 'complete' : 'incomplete'] += 1
    if (isComplete) assert.match(again.said, /There is a database at|The database has rows/)
    else importMs = again.ms
    const stored = await target.read((rows) => rows('select client_id from clients'))
    const ids = new Set(stored?.map(({ client_id: id }) => id))
    const lost = acknowledged.filter(({ client_id: id }) => !ids.has(id))
    assert.equal(lost.length, 0, `${lost.length} acknowledged clients are lost.`)
    await requireTokens(target, port, acknowledged.at(-1))
    await requireRefused(source, port)
  }

  await runUntil(source, ['admin', 'create', '--name', 'A', '--access', 'write'], undefined)
  for (let round = 0; round < rounds; round += 1) {
    await move().catch((cause: unknown) => findings.report(`move ${round} with the seed ${seed}: ${String(cause)}`))
    if (await isClosedStore(source)) await runUntil(source, ['database', 'reopen', '--not-imported'], undefined)
  }
  findings.progress(`export --final, import: ${rounds} kills each`)
  return { acknowledged: acknowledged.length, sources, targets }
}

function startServer(place: Place, port: number): Promise<RunningProgram> {
  return startProgram({
    command: [process.execPath, MAIN, 'serve'],
    folder: process.cwd(),
    environment: { ...environmentOf(place), ...serverSettings(port) },
    address: `http://localhost:${port}/health/ready`,
  })
}

function serverSettings(port: number): Readonly<Record<string, string>> {
  return {
    GRANTOR_ISSUER: `http://localhost:${port}`,
    PORT: String(port),
    GRANTOR_ADMIN_PORT: 'off',
    GRANTOR_DRAIN_SECONDS: '0',
    GRANTOR_REGISTRATION_RATE: '1000000',
    GRANTOR_STORED_TOKEN_RATE: '1000000',
  }
}

/** Registers clients until the server no longer answers. Answers of 503 are correct while the store is closed. */
async function registerUntil(end: AbortSignal, port: number, acknowledged: Client[]): Promise<void> {
  while (!end.aborted) if ((await register(port, acknowledged)) === undefined) return
}

async function registerOne(port: number, acknowledged: Client[]): Promise<void> {
  assert.equal(await register(port, acknowledged), 201, 'A store that is not closed takes no writes.')
}

async function register(port: number, acknowledged: Client[]): Promise<number | undefined> {
  try {
    const answer = await fetch(`http://localhost:${port}/v2/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"grant_types":["client_credentials"]}',
      signal: AbortSignal.timeout(LIMIT_MS),
    })
    const client = (await answer.json()) as Client
    if (answer.status === 201) acknowledged.push(client)
    return answer.status
  } catch {
    return undefined
  }
}

/** A server does not start on a closed store, and says how the operator goes on. */
async function requireRefused(place: Place, port: number): Promise<void> {
  const { code, said } = await endOf(place, ['serve'], LIMIT_MS, serverSettings(port))
  assert.equal(code, 1, 'A server of a closed store did not end by itself.')
  assert.match(said, HOW_TO_GO_ON)
}

async function requireTokens(place: Place, port: number, client: Client | undefined): Promise<void> {
  const server = await startServer(place, port)
  try {
    const body = new URLSearchParams({ grant_type: 'client_credentials', ...client })
    const answer = await fetch(`http://localhost:${port}/v2/oauth/token`, { method: 'POST', body })
    assert.equal(answer.status, 200, 'The target issues no token to an acknowledged client.')
  } finally {
    await server.stop()
  }
}

async function isClosedStore(place: Place): Promise<boolean> {
  const marks = await place.read((rows) => rows(`select 1 as one from settings where name = '${CLOSED}'`))
  return marks !== undefined && marks.length > 0
}

/** Numbers from 0 to 1, the same for the same seed (Numerical Recipes, ch. 7: a linear congruential generator). */
function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32
}
