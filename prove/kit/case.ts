import type { Issuer } from './issuer.ts'

/** What is judged, and how far it can be. */
export interface Target {
  readonly issuer: Issuer
  /** Rounds of a race: in one alone, two requests often are not at once within the issuer. */
  readonly rounds: number
  readonly hasSecondAddress: boolean
  /** Whether requests can come from a second network. */
  readonly hasElsewhere: boolean
  readonly knowsCopiesByNetwork: boolean
}

/** Whether the claim of a case was seen to be broken, and by what. */
export type Verdict = { readonly kind: 'held' } | { readonly kind: 'broken'; readonly seen: string }

export const HELD: Verdict = { kind: 'held' }

export function broken(seen: string): Verdict {
  return { kind: 'broken', seen }
}

interface Claim {
  readonly id: string
  /** One sentence that can be false. */
  readonly title: string
  /** A broken `must` is `failed`, a broken `should` is a `warning`. */
  readonly level: 'must' | 'should'
  readonly source: string
}

/** A case throws NotApplicable where the issuer cannot be judged by it, and another Error where its result is unclear. */
export type Case = Claim &
  (
    | { readonly kind: 'running'; readonly run: (target: Target) => Promise<Verdict> }
    /** The issuer is killed and started again after the preparation. Returns what then is to be looked at. */
    | { readonly kind: 'killed'; readonly prepare: (target: Target) => Promise<() => Promise<Verdict>> }
  )
