/** One call of an operation on one object, as its caller saw it. Times are milliseconds on one clock. */
export interface Operation<Input, Output> {
  readonly input: Input
  /** undefined: nobody knows whether it happened, nor when. */
  readonly output: Output | undefined
  readonly invokedAt: number
  readonly returnedAt: number
}

/** What an object does when one operation comes after the other. */
export interface Model<State, Input, Output> {
  readonly initial: State
  /**
   * The state after the operation; undefined when it cannot have had this output in this state. Without an output: the state
   * after its effect; undefined when it has none, which is as if it had not happened.
   */
  readonly step: (state: State, operation: Operation<Input, Output>) => State | undefined
  /** The same text for the same state, and for no other. */
  readonly describe: (state: State) => string
  /** Whether the operation, where it changes nothing, would change nothing later either. Then it need not wait. */
  readonly isIdleForGood: (operation: Operation<Input, Output>) => boolean
}

/** The beginning or the end of an operation with an output, in a list in the order of time. */
interface Mark {
  readonly index: number
  readonly at: number
  /** Of a beginning. */
  readonly end: Mark | undefined
  before: Mark | undefined
  after: Mark | undefined
}

/** Where the search for the next operation goes on: in the list of marks, and then among those without an output. */
interface Cursor {
  readonly mark: Mark
  readonly lost: number
}

interface Choice<State> {
  /** The beginning of an operation with an output, or the number of one without. */
  readonly taken: Mark | number
  /** The state before it. */
  readonly state: State
  /** undefined: another order of the same would come to the same, so none is tried. */
  readonly otherwise: Cursor | undefined
}

/** More steps than this are not a history that our campaigns write. */
const STEP_LIMIT = 200_000_000

/**
 * Whether the operations can be put into one order that the model explains and in which no operation stands after one that
 * was called when it had already returned. The search of Wing and Gong with the memory of Lowe ("Testing for
 * linearizability", 2017). Operations without an output may take effect at any time after their call, or never.
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

  /** Takes back up to the last choice that could have been another. */
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
    if (steps > STEP_LIMIT) throw new Error('The history is too long to be judged.')
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
    const isIdle = !isEnd && model.isIdleForGood(operation) && place === model.describe(state)
    take(isEnd ? index : mark, next, isIdle ? undefined : otherwise)
    const isNew = isIdle || memory.isNew(`${place} ${describeTaken(head, isTaken)}`, lostTaken)
    cursor = isNew ? begin() : giveBack()
  }
  return true
}

/** Places where the search has been. Who could still take more of the operations without an output has seen all of it. */
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
  // What begins in the moment in which another ends may have been before it.
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

/** Which operations were taken, shortly: the last that was, and those before it that were not. */
function describeTaken(head: Mark, isTaken: readonly boolean[]): string {
  const last = isTaken.lastIndexOf(true)
  const gaps: number[] = []
  for (let mark = head.after; mark !== undefined && mark.index < last; mark = mark.after)
    if (mark.end !== undefined) gaps.push(mark.index)
  return `${last} ${gaps.join(' ')}`
}
