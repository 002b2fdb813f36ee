import { setTimeout as delay } from 'node:timers/promises'

/** The least delay: the time of a fast format varies more than the formats differ. */
const SHORTEST_MS = 100
/** The longest delay: a person waits for the answer. */
const LONGEST_MS = 3000
/** The last failed sign-ins, whose verifications count too: the machine may be busier than when the formats were measured. */
const RECENT = 100

/**
 * Makes failed sign-ins take equally long while hashes of several formats are stored: none of them costs as much as another, so no decoy
 * hides whose password was tried (threats.md IMP-03). `costs`: of the formats; none: nothing is delayed. `verify`: verifies a hash with these costs.
 */
export function openDeadline(
  costs: () => Promise<readonly string[]>,
  verify: (costs: string) => Promise<void>,
): (startedAt: number) => Promise<void> {
  const measured = new Map<string, Promise<number>>()
  const recent: number[] = []

  async function measure(one: string): Promise<number> {
    const startedAt = performance.now()
    await verify(one)
    return performance.now() - startedAt
  }

  function timeOf(one: string): Promise<number> {
    const known = measured.get(one) ?? measure(one)
    measured.set(one, known)
    return known.catch((cause: unknown) => {
      // The next sign-in measures it again.
      measured.delete(one)
      throw cause
    })
  }

  return async (startedAt) => {
    const formats = await costs()
    if (formats.length === 0) return
    recent.push(performance.now() - startedAt)
    if (recent.length > RECENT) recent.shift()
    const times: number[] = []
    // One after the other, because two at a time would take longer.
    for (const one of formats) times.push(await timeOf(one))
    const limit = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, 2 * Math.max(...times, ...recent)))
    const left = startedAt + limit - performance.now()
    if (left > 0) await delay(left)
  }
}
