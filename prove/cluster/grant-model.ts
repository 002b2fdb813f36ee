import type { Model, Operation } from './linearizable.ts'

/** A request for one grant: its code is redeemed, or one of its refresh tokens is presented. `network`: of the caller. */
export type GrantInput = { readonly network: string } & (
  | { readonly kind: 'redeem' }
  | { readonly kind: 'refresh'; readonly presented: string }
)

export type GrantOutput =
  | { readonly kind: 'issued'; readonly refreshToken: string; readonly tokenId: string }
  /** invalid_grant. */
  | { readonly kind: 'refused' }

export type GrantOperation = Operation<GrantInput, GrantOutput>

type Issued = Extract<GrantOutput, { kind: 'issued' }>

/** The state of a grant: a code that can be redeemed once, then a family of refresh tokens of which the one of `generation` is the newest. */
interface GrantState {
  readonly isSpent: boolean
  readonly isDead: boolean
  readonly generation: number
  /** The network that got the newest token. */
  readonly network: string
  /** undefined: the family is not held. */
  readonly heldFor: string | undefined
  /** Of the access token that came with the newest token; undefined: no answer had it yet. */
  readonly tokenId: string | undefined
  /** The newest token was issued at some time between these two. */
  readonly rotated: { readonly from: number; readonly to: number }
}

const FRESH: GrantState = {
  isSpent: false,
  isDead: false,
  generation: -1,
  network: '',
  heldFor: undefined,
  tokenId: undefined,
  rotated: { from: 0, to: 0 },
}

export interface GrantRules {
  readonly retryMs: number
  /** The generation that a refresh token says. */
  readonly generationOf: (refreshToken: string) => number
}

/**
 * Decisions 0004 and 0054 as a state machine, for copies that are not strict. The code gives tokens once; presented again, it revokes the grant.
 * The newest refresh token gives its successor. The previous one gives the same answer again for `retryMs`. An earlier one gives the newest one in
 * the network that has it, and elsewhere holds the family for its own network. Held, the family gives nothing but for the newest token there, which
 * ends the hold; anywhere else the newest token revokes the grant.
 */
export function modelGrant(
  operations: readonly GrantOperation[],
  { retryMs, generationOf }: GrantRules,
): Model<GrantState, GrantInput, GrantOutput> {
  const texts = collectTexts(operations, generationOf)
  const mayBeLost = operations.some(({ output }) => output === undefined)
  /** No rotation gave a later generation. */
  const last = Math.max(-1, ...texts.keys()) + (mayBeLost ? 1 : 0)

  /** Whether the answer has the one token of the generation. */
  function has(output: Issued, generation: number): boolean {
    return generationOf(output.refreshToken) === generation && texts.get(generation) === output.refreshToken
  }

  function issue(state: GrantState, { input, output, invokedAt, returnedAt }: GrantOperation): GrantState | undefined {
    const generation = state.generation + 1
    if (output?.kind === 'refused' || (output !== undefined && !has(output, generation))) return undefined
    return {
      isSpent: true,
      isDead: false,
      generation,
      network: input.network,
      heldFor: undefined,
      tokenId: output?.tokenId,
      rotated: { from: invokedAt, to: output === undefined ? Number.POSITIVE_INFINITY : returnedAt },
    }
  }

  function present(state: GrantState, operation: GrantOperation, generation: number): GrantState | undefined {
    const { output, input } = operation
    const { heldFor } = state
    if (state.isDead || !state.isSpent) return output?.kind === 'refused' ? state : undefined
    if (generation > state.generation) return end(state, output)
    const isHeldElsewhere = heldFor !== undefined && heldFor !== input.network
    if (generation === state.generation) return isHeldElsewhere ? end(state, output) : issue(state, operation)
    if (heldFor !== undefined) return output?.kind === 'refused' ? state : undefined
    return presentEarlier(state, operation, generation === state.generation - 1)
  }

  function presentEarlier(state: GrantState, operation: GrantOperation, isPrevious: boolean): GrantState | undefined {
    const { input, output, invokedAt, returnedAt } = operation
    const isSameNetwork = input.network === state.network
    const until = output === undefined ? Number.POSITIVE_INFINITY : returnedAt
    const mayRepeat = isPrevious && invokedAt - state.rotated.to < retryMs
    const mustRepeat = isPrevious && until - state.rotated.from < retryMs
    if (output?.kind === 'issued') {
      if (!has(output, state.generation)) return undefined
      const isRepeat = mayRepeat && (state.tokenId ?? output.tokenId) === output.tokenId
      if (isRepeat) return { ...state, tokenId: output.tokenId }
      return isSameNetwork && !mustRepeat ? state : undefined
    }
    // Without an output the operation may be ignored, unless it parted the family.
    return isSameNetwork || mustRepeat ? undefined : { ...state, heldFor: input.network }
  }

  return {
    initial: FRESH,
    step(state, operation) {
      const { input, output } = operation
      if (input.kind === 'refresh') return present(state, operation, generationOf(input.presented))
      return state.isSpent ? end(state, output) : issue(state, operation)
    },
    // A revoked grant never gives tokens again, and an answer with the newest token changes nothing as long as it is the newest. A refusal while
    // the family is held could have held it for another network after a rotation, if there was one.
    isIdleForGood: ({ output }, { isDead, heldFor, generation }) =>
      isDead || output?.kind === 'issued' || (heldFor !== undefined && generation >= last),
    describe: ({ isSpent, isDead, generation, network, heldFor, tokenId, rotated }) =>
      [isSpent, isDead, generation, network, heldFor, tokenId, rotated.from, rotated.to].join(' '),
  }
}

function end(state: GrantState, output: GrantOutput | undefined): GrantState | undefined {
  if (output?.kind === 'issued') return undefined
  // An operation without an output and without an effect may be ignored.
  if (output === undefined && state.isDead) return undefined
  return { ...state, isDead: true }
}

/** The first text of each generation. Another text of it is a violation. */
function collectTexts(
  operations: readonly GrantOperation[],
  generationOf: GrantRules['generationOf'],
): ReadonlyMap<number, string> {
  const texts = new Map<number, string>()
  for (const { output } of operations) {
    if (output?.kind !== 'issued') continue
    const generation = generationOf(output.refreshToken)
    if (!texts.has(generation)) texts.set(generation, output.refreshToken)
  }
  return texts
}
