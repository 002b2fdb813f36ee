import { randomInt } from 'node:crypto'
import { existsSync, mkdirSync, rmdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Below the ports that systems assign to outgoing connections, and below those of the test clusters. So the port of a server is
 * still free when a test starts the server again.
 */
const PORTS = [10_000, 15_000] as const
/** The ports in this range that fetch and browsers refuse to connect to (Fetch, section "Port blocking"). */
const BLOCKED: ReadonlySet<number> = new Set([10_080])
/**
 * Each folder in it reserves a port for one process until that process ends, because tests run in parallel. All runs of a user share
 * it, whatever their folder for temporary files.
 */
const TAKEN = join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), `grantor-test-ports-${process.getuid?.() ?? 0}`)
const taken: string[] = []

/** A port on which no process listens, which no other test or tool uses, and which fetch accepts. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(...PORTS)
    if (!BLOCKED.has(port) && take(port) && (await isFree(port))) return port
  }
}

/** Several such ports. */
export function freePorts(count: number): Promise<readonly number[]> {
  return Promise.all(Array.from({ length: count }, freePort))
}

function take(port: number): boolean {
  const folder = join(TAKEN, String(port))
  mkdirSync(TAKEN, { recursive: true })
  try {
    mkdirSync(folder)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw cause
  }
  if (taken.length === 0) process.once('exit', () => taken.forEach((one) => rmdirSync(one)))
  taken.push(folder)
  return true
}

function isFree(port: number): Promise<boolean> {
  const probe = createServer()
  return new Promise((resolve) => {
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
