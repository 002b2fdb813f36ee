import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

/**
 * Below the ports that systems assign, so that no other process gets a port while its owner restarts, and below those of
 * test/support/postgres.ts. The ports are grouped in slots. The process that listens on the first port of a slot owns the others.
 */
const SLOTS = { first: 10_000, count: 500, size: 10 } as const
const ATTEMPTS = 100

/** Free ports of 127.0.0.1. Until this process ends, this function does not return them in another process. */
export async function choosePorts(count: number): Promise<readonly number[]> {
  if (count >= SLOTS.size) throw new Error('A slot does not have that many ports.')
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

/** Returns undefined if another process listens on the port. */
async function occupy(port: number): Promise<Server | undefined> {
  const server = createServer()
  server.listen(port, '127.0.0.1')
  return once(server, 'listening').then(
    () => server,
    () => undefined,
  )
}
