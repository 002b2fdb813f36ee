import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

/**
 * Below the ports that systems give out, so that nobody is given ours while its owner restarts, and below those of
 * test/postgres.ts. In slots, of which whoever listens on the first port has the others.
 */
const SLOTS = { first: 10_000, count: 500, size: 10 } as const
const ATTEMPTS = 100

/** Ports of 127.0.0.1 that nobody listens on, and that no other process is given by this function until this one ends. */
export async function choosePorts(count: number): Promise<readonly number[]> {
  if (count >= SLOTS.size) throw new Error('A slot has not so many ports.')
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const guarded = SLOTS.first + SLOTS.size * randomInt(SLOTS.count)
    const guard = await occupy(guarded)
    if (guard === undefined) continue
    const ports = Array.from({ length: count }, (_, index) => guarded + 1 + index)
    if (await areFree(ports)) {
      guard.unref()
      return ports
    }
    guard.close()
  }
  throw new Error('No free ports were found.')
}

async function areFree(ports: readonly number[]): Promise<boolean> {
  const servers = await Promise.all(ports.map(occupy))
  const opened = servers.filter((server) => server !== undefined)
  await Promise.all(opened.map((server) => new Promise((resolve) => server.close(resolve))))
  return opened.length === ports.length
}

/** undefined: somebody else listens there. */
async function occupy(port: number): Promise<Server | undefined> {
  const server = createServer()
  server.listen(port, '127.0.0.1')
  return once(server, 'listening').then(
    () => server,
    () => undefined,
  )
}
