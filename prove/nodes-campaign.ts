import { registerClient, type RegisteredClient } from '../test/support/flow.ts'
import { codeRound, refreshRounds, theftRound, walkRound } from './rounds.ts'
import { openPerson, type Person } from './person.ts'
import type { Stage } from './stage.ts'
import type { Tally } from './tally.ts'
import { openVisitor } from './visitor.ts'

export interface NodesOptions {
  /** The rounds of codes and of refreshes. Rounds of thefts and of walks through the pages are a tenth of that. */
  readonly rounds: number
  /** Concurrent requests. */
  readonly parallel: number
  readonly onProgress: (done: string) => void
}

export interface NodesResult {
  readonly rounds: Readonly<Record<RoundKind, number>>
  readonly operations: number
  readonly violations: readonly string[]
  readonly seconds: number
}

export type RoundKind = 'code' | 'refresh' | 'theft' | 'walk'

/** The resources of every round. */
export interface Field {
  readonly stage: Stage
  readonly tally: Tally
  readonly client: RegisteredClient
  readonly person: Person
  readonly parallel: number
  /** The codes that gave tokens so far. The store must have the same number of grants. */
  grants: number
}

/** The refreshes of a family before the next family is created. */
const GENERATIONS = 10

/** Sends concurrent requests of which only one may succeed to nodes that share only a database. */
export async function proveNodes(stage: Stage, tally: Tally, options: NodesOptions): Promise<NodesResult> {
  const { rounds, parallel, onProgress } = options
  const startedAt = performance.now()
  const client = await registerClient(openVisitor(stage))
  const person = await openPerson(stage, client)
  const field: Field = { stage, tally, client, person, parallel, grants: 0 }
  const fewer = Math.ceil(rounds / 10)
  const counts: Record<RoundKind, number> = { code: 0, refresh: 0, theft: 0, walk: 0 }

  for (; counts.walk < fewer; counts.walk += 1) await walkRound(field, counts.walk)
  onProgress(`${counts.walk} walks through the pages`)
  for (; counts.code < rounds; counts.code += 1) await codeRound(field)
  onProgress(`${counts.code} rounds of one code`)
  while (counts.refresh < rounds) {
    const generations = Math.min(GENERATIONS, rounds - counts.refresh)
    await refreshRounds(field, generations)
    counts.refresh += generations
  }
  onProgress(`${counts.refresh} rounds of one refresh token`)
  for (; counts.theft < fewer; counts.theft += 1) await theftRound(field)
  onProgress(`${counts.theft} thefts`)

  const seconds = (performance.now() - startedAt) / 1000
  return { rounds: counts, operations: tally.operations, violations: tally.violations, seconds }
}
