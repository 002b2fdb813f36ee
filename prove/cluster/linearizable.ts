/** One operation on an object, as its caller observed it. Times are milliseconds of one clock. */
export interface Operation<Input, Output> {
  readonly input: Input
  /** undefined: it is unknown whether and when the operation took effect. */
  readonly output: Output | undefined
  readonly invokedAt: number
  readonly returnedAt: number
}

/** The sequential behaviour of an object. */
export interface Model<State, Input, Output> {
  readonly initial: State
  /**
   * The state after the operation, or undefined if the operation cannot have this output in this state. For an operation without
   * an output: the state after its effect, or undefined if it has no effect.
   */
  readonly step: (state: State, operation: Operation<Input, Output>) => State | undefined
  /** A text that is equal for equal states and different for different states. */
  readonly describe: (state: State) => string
  /** Whether an operation that has no effect in this state would have none later either, so that it need not be postponed. */
  readonly isIdleForGood: (operation: Operation<Input, Output>, state: State) => boolean
}

/** The beginning or the end of an operation with an output, in a list that is ordered by time. */
interface Mark {
  readonly index: number
  readonly at: number
  /** The end that belongs to a beginning. */
  readonly end: Mark | undefined
  before: Mark | undefined
  after: Mark | undefined
}

/** The position of the search for the next operation: in the list of marks, then among the operations without an output. */
interface Cursor {
  readonly mark: Mark
  readonly lost: number
}

interface Choice<State> {
  /** The beginning of an operation with an output, or the number of one without. */
  readonly taken: Mark | number
  /** The state before the operation. */
  readonly state: State
  /** undefined: another order of the same operations has the same result, so none is tried. */
  readonly otherwise: Cursor | undefined
}

/** The most steps of a search. Histories of the campaigns need fewer. */
const STEP_LIMIT = 200_000_000

/**
 * Whether the history is linearizable: there is an order of the operations that the model allows, and an operation that returned
 * before another was called comes before it. Uses the search of Wing and Gong with the cache of Lowe ("Testing for
 * linearizability", 2017). An operation without an output may take effect at any time after its call, or never.
 */
export function isLinearizable<State, Input, Output>(
  operations: readonly Operation<Input, Output>[],
  model: Model<State, Input, Output>,
): boolean {
  const inOrder = operations.toSorted((one, other) => one.invokedAt - other.invokedAt)
  const known = inOrder.filter(({ output }) => output !== undefined)
  const lost = inOrder.filter(({ output }) => output === undefined)
  const head = listMarks(known)
  const choices: Choice<State>[] = []
  const memory = openMemory()
  const isTaken = known.map(() => false)
  let lostTaken = 0n
  let state = model.initial
  let left = known.length
  let cursor: Cursor | undefined = begin()

  function begin(): Cursor | undefined {
    return head.after === undefined ? undefined : { mark: head.after, lost: 0 }
  }

  function take(taken: Mark | number, next: State, otherwise: Cursor | undefined): void {
    choices.push({ taken, state, otherwise })
    state = next
    if (typeof taken === 'number') lostTaken |= 1n << BigInt(taken)
    else {
      isTaken[taken.index] = true
      unlink(taken)
      if (taken.end !== undefined) unlink(taken.end)
      left -= 1
    }
  }

  /** Undoes steps up to the last one that has an alternative. */
  function giveBack(): Cursor | undefined {
    for (let choice = choices.pop(); choice !== undefined; choice = choices.pop()) {
      const { taken } = choice
      state = choice.state
      if (typeof taken === 'number') lostTaken &= ~(1n << BigInt(taken))
      else {
        isTaken[taken.index] = false
        if (taken.end !== undefined) relink(taken.end)
        relink(taken)
        left += 1
      }
      if (choice.otherwise !== undefined) return choice.otherwise
    }
    return undefined
  }

  for (let steps = 0; left > 0; steps += 1) {
    if (steps > STEP_LIMIT) throw new Error('The history is too long to be checked.')
    if (cursor === undefined) return false
    const { mark, lost: index } = cursor
    const isEnd: boolean = mark.end === undefined
    const operation = isEnd ? lost[index] : known[mark.index]
    if (operation === undefined || (isEnd && operation.invokedAt > mark.at)) {
      cursor = giveBack()
      continue
    }
    const otherwise: Cursor = isEnd ? { mark, lost: index + 1 } : { mark: mark.after ?? mark, lost: 0 }
    const next = model.step(state, operation)
    cursor = otherwise
    if (next === undefined) continue
    const place = model.describe(next)
    const isIdle = !isEnd && model.isIdleForGood(operation, state) && place === model.describe(state)
    take(isEnd ? index : mark, next, isIdle ? undefined : otherwise)
    const isNew = isIdle || memory.isNew(`${place} ${describeTaken(head, isTaken)}`, lostTaken)
    cursor = isNew ? begin() : giveBack()
  }
  return true
}

/** The visited positions of the search. A visit with more remaining operations without an output covers those with fewer. */
function openMemory(): { readonly isNew: (place: string, lostTaken: bigint) => boolean } {
  const seen = new Map<string, bigint[]>()
  return {
    isNew(place, lostTaken) {
      const before = seen.get(place)
      if (before?.some((fewer) => (fewer & ~lostTaken) === 0n) === true) return false
      if (before === undefined) seen.set(place, [lostTaken])
      else before.push(lostTaken)
      return true
    },
  }
}

function listMarks(known: readonly Operation<unknown, unknown>[]): Mark {
  const none = { end: undefined, before: undefined, after: undefined }
  const marks = known.flatMap(({ invokedAt, returnedAt }, index): Mark[] => {
    const end = { ...none, index, at: returnedAt }
    return [{ ...none, index, at: invokedAt, end }, end]
  })
  // An operation that begins at the time at which another ends may have taken effect before it.
  const isEnd = ({ end }: Mark): number => (end === undefined ? 1 : 0)
  const inOrder = marks.toSorted((one, other) => one.at - other.at || isEnd(one) - isEnd(other))
  const head: Mark = { ...none, index: -1, at: Number.NEGATIVE_INFINITY }
  let last = head
  for (const mark of inOrder) {
    mark.before = last
    last.after = mark
    last = mark
  }
  return head
}

function unlink({ before, after }: Mark): void {
  if (before !== undefined) before.after = after
  if (after !== undefined) after.before = before
}

function relink(mark: Mark): void {
  if (mark.before !== undefined) mark.before.after = mark
  if (mark.after !== undefined) mark.after.before = mark
}

/** A short key of the taken operations: the last one that was taken, and the earlier ones that were not. */
function describeTaken(head: Mark, isTaken: readonly boolean[]): string {
  const last = isTaken.lastIndexOf(true)
  const gaps: number[] = []
  for (let mark = head.after; mark !== undefined && mark.index < last; mark = mark.after)
    if (mark.end !== undefined) gaps.push(mark.index)
  return `${last} ${gaps.join(' ')}`
}
