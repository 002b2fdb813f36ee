/** Ways to wait until this turn of the event loop has read what there was. */
export interface TurnEnd {
  /** For what takes no time, such as a refusal, and for what is shed last. */
  readonly over: () => Promise<void>
  /** For all other work, in the order in which it came: after `over`, and a crowd a turn. */
  readonly crowd: () => Promise<void>
}

interface Crowd {
  readonly promise: Promise<void>
  readonly resolve: () => void
  size: number
}

/**
 * What goes on together. Of five hundred each step takes tens of milliseconds, in which nobody is even refused; so many
 * find code and data in the processor's caches as often.
 */
const CROWD_SIZE = 32
/** One more crowd goes on in a turn for so many that did not wait for one: a flood of refusals would leave no time for work. */
const OTHERS_PER_CROWD = 1024

/**
 * Answers how to wait for the end of a turn, with one timer for everybody.
 *
 * Whoever is answered within the turn may ask again within it. A thousand connections that do so keep the loop reading for
 * seconds, and meanwhile nothing is committed and no timer runs.
 */
export function openTurnEnd(): TurnEnd {
  let end: Crowd | undefined
  let crowds: Crowd[] = []
  let isScheduled = false

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(finish)
  }

  function finish(): void {
    isScheduled = false
    const count = 1 + Math.floor((end?.size ?? 0) / OTHERS_PER_CROWD)
    const released = crowds.slice(0, count)
    crowds = crowds.slice(count)
    end?.resolve()
    end = undefined
    for (const { resolve } of released) resolve()
    if (crowds.length > 0) schedule()
  }

  return {
    over() {
      schedule()
      end ??= openCrowd()
      end.size += 1
      return end.promise
    },
    crowd() {
      schedule()
      let last = crowds.at(-1)
      if (last === undefined || last.size === CROWD_SIZE) {
        last = openCrowd()
        crowds.push(last)
      }
      last.size += 1
      return last.promise
    },
  }
}

function openCrowd(): Crowd {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { promise, resolve, size: 0 }
}
