import { randomInt } from 'node:crypto'
import { mkdirSync, rmdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Below the ports that systems give to connections, and below those of the test clusters: a server that is started twice
 * must find its port free the second time too.
 */
const PORTS = [10_000, 15_000] as const
/** A folder in it is a port that a test process has for itself until it ends. Test files run beside each other. */
const TAKEN = join(tmpdir(), `grantor-test-ports-${process.getuid?.() ?? 0}`)
const taken: string[] = []

/** A port that nobody listens on, and that no other test is given. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(...PORTS)
    if (take(port) && (await isFree(port))) return port
  }
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
