import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ports that systems give out, so that nobody is given ours while its owner restarts, and below test/postgres.ts's. */
const RANGE = [10_000, 15_000] as const
const ATTEMPTS = 50

/** Ports of 127.0.0.1 that nobody listens on. */
export async function choosePorts(count: number): Promise<readonly number[]> {
  const chosen = new Set<number>()
  for (let attempt = 0; chosen.size < count; attempt += 1) {
    if (attempt === ATTEMPTS) throw new Error('No free ports were found.')
    const port = randomInt(...RANGE)
    if (await isFree(port)) chosen.add(port)
  }
  return [...chosen]
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer()
  const outcome = Promise.race([
    once(probe, 'listening').then(() => true),
    once(probe, 'error').then(() => false),
  ]).catch(() => false)
  probe.listen(port, '127.0.0.1')
  if (!(await outcome)) return false
  await new Promise((resolve) => probe.close(resolve))
  return true
}
