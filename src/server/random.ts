import { randomFillSync } from 'node:crypto'
import type { Random } from '../protocol/ids.ts'

/** Random bytes from a pool, because asking the system costs more per call than per byte. Each byte is used once. */
export function openRandom(): Random {
  const pool = Buffer.allocUnsafe(8192)
  let next = pool.length
  return (bytes) => {
    if (next + bytes > pool.length) {
      randomFillSync(pool)
      next = 0
    }
    const taken = Buffer.from(pool.subarray(next, next + bytes))
    pool.fill(0, next, next + bytes)
    next += bytes
    return taken
  }
}
