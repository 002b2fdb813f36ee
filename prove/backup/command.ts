import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Place } from './place.ts'

export const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const SECRET = 'a root secret that is long enough for it'

/** How a command ended. */
export interface Ended {
  /** null: it was killed. */
  readonly code: number | null
  /** What it wrote to standard error. */
  readonly said: string
  readonly ms: number
}

/** The environment of the commands and servers of a place. */
export function environmentOf(place: Pick<Place, 'url'>): Readonly<Record<string, string>> {
  const { NODE_COMPILE_CACHE: cache } = process.env
  return {
    ...(cache !== undefined && { NODE_COMPILE_CACHE: cache }),
    DATABASE_URL: place.url(),
    GRANTOR_SECRET: SECRET,
  }
}

/** Runs a command, and kills it after a time. */
export async function endOf(
  place: Pick<Place, 'url'>,
  words: readonly string[],
  killAfterMs: number | undefined,
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, [MAIN, ...words], {
    env: { ...environmentOf(place), ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => void (said += chunk.toString()))
  const ended = once(child, 'close') as Promise<[number | null]>
  const timer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs)
  const [code] = await ended
  clearTimeout(timer)
  return { code, said, ms: performance.now() - startedAt }
}

/** Runs a command, and kills it after a time. Returns how long it ran, in milliseconds. @throws Error if it fails by itself */
export async function runUntil(
  place: Pick<Place, 'url'>,
  words: readonly string[],
  killAfterMs: number | undefined,
): Promise<number> {
  const { code, said, ms } = await endOf(place, words, killAfterMs)
  if (code !== 0 && killAfterMs === undefined) throw new Error(`${words.join(' ')} ended with ${code}: ${said}`)
  return ms
}
