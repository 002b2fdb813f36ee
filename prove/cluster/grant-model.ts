import type { Model, Operation } from './linearizable.ts'

/** A request for one grant: its code is redeemed, or one of its refresh tokens is presented. */
export type GrantInput = { readonly kind: 'redeem' } | { readonly kind: 'refresh'; readonly presented: string }

export type GrantOutput =
  | { readonly kind: 'issued'; readonly refreshToken: string; readonly tokenId: string }
  /** invalid_grant. */
  | { readonly kind: 'refused' }

export type GrantOperation = Operation<GrantInput, GrantOutput>

type Issued = Extract<GrantOutput, { kind: 'issued' }>

/** The state of a grant: a code that can be redeemed once, then a family of refresh tokens of which one is live. */
interface GrantState {
  readonly isSpent: boolean
  readonly isDead: boolean
  readonly live: string | undefined
  readonly previous: string | undefined
  /** The live token replaced the previous one at some time between these two. */
  readonly rotated: { readonly from: number; readonly to: number }
}

const FRESH: GrantState = {
  isSpent: false,
  isDead: false,
  live: undefined,
  previous: undefined,
  rotated: { from: 0, to: 0 },
}

/**
 * Decision 0004 as a state machine. The code gives tokens once; presented again, it revokes the grant. The live refresh token
 * gives its successor. The previous token gives the same successor again for `retryMs`. Any other token revokes the grant.
 */
export function modelGrant(
  operations: readonly GrantOperation[],
  retryMs: number,
): Model<GrantState, GrantInput, GrantOutput> {
  const successors = collectSuccessors(operations)

  function issue(state: GrantState, operation: GrantOperation): GrantState | undefined {
    const { input, output, invokedAt, returnedAt } = operation
    const successor = successors.get(keyOf(input))
    if (output?.kind === 'refused') return undefined
    if (output !== undefined && !isSame(output, successor)) return undefined
    return {
      ...state,
      isSpent: true,
      // If no answer contained the successor, no client can present it.
      live: successor?.refreshToken ?? `what follows ${keyOf(input)}`,
      previous: input.kind === 'redeem' ? undefined : input.presented,
      rotated: { from: invokedAt, to: output === undefined ? Number.POSITIVE_INFINITY : returnedAt },
    }
  }

  function present(state: GrantState, operation: GrantOperation, presented: string): GrantState | undefined {
    const { output, invokedAt, returnedAt } = operation
    if (state.isDead || !state.isSpent) return output?.kind === 'refused' ? state : undefined
    if (presented === state.live) return issue(state, operation)
    if (presented !== state.previous) return end(state, output)
    if (output?.kind === 'issued') {
      const isInTime = invokedAt - state.rotated.to < retryMs
      return isInTime && isSame(output, successors.get(presented)) ? state : undefined
    }
    const until = output === undefined ? Number.POSITIVE_INFINITY : returnedAt
    return until - state.rotated.from >= retryMs ? end(state, output) : undefined
  }

  return {
    initial: FRESH,
    step(state, operation) {
      const { input, output } = operation
      if (input.kind === 'refresh') return present(state, operation, input.presented)
      return state.isSpent ? end(state, output) : issue(state, operation)
    },
    // A revoked or replaced token never becomes live again.
    isIdleForGood: () => true,
    describe: ({ isSpent, isDead, live, previous, rotated }) =>
      [isSpent, isDead, live, previous, rotated.from, rotated.to].join(' '),
  }
}

function end(state: GrantState, output: GrantOutput | undefined): GrantState | undefined {
  if (output?.kind === 'issued') return undefined
  // An operation without an output and without an effect may be ignored.
  if (output === undefined && state.isDead) return undefined
  return { ...state, isDead: true }
}

/** The first answer to each token. A different answer to the same token is a violation. */
function collectSuccessors(operations: readonly GrantOperation[]): ReadonlyMap<string, Issued> {
  const successors = new Map<string, Issued>()
  for (const { input, output } of operations)
    if (output?.kind === 'issued' && !successors.has(keyOf(input))) successors.set(keyOf(input), output)
  return successors
}

function keyOf(input: GrantInput): string {
  return input.kind === 'redeem' ? 'the code' : input.presented
}

function isSame(one: Issued, other: Issued | undefined): boolean {
  return one.refreshToken === other?.refreshToken && one.tokenId === other.tokenId
}
