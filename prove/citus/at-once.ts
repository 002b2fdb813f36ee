import { setTimeout as pause } from 'node:timers/promises'
import type { StoreDriver } from '../../src/ports/store.ts'

/** The second operation of a race starts at most so much later or earlier: more than a slow machine takes for a commit. */
const OFFSET_MS = 60

/** Two nodes of a cluster. */
export interface Nodes {
  readonly one: StoreDriver
  readonly other: StoreDriver
}

/** Runs two operations at about the same time. Returns what both together must not leave; undefined: they left nothing of it. */
export type Race = (nodes: Nodes) => Promise<string | undefined>

/** Starts both at about the same time. Returns what they return. */
export async function atOnce<First, Second>(
  first: () => Promise<First>,
  second: () => Promise<Second>,
): Promise<readonly [First, Second]> {
  const offset = (Math.random() * 2 - 1) * OFFSET_MS
  return Promise.all([pause(Math.max(0, -offset)).then(first), pause(Math.max(0, offset)).then(second)])
}
