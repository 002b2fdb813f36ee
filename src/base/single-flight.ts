/** Runs a piece of work once for all callers that ask for it at the same time. */
export type SingleFlight<Value> = (key: string, work: () => Promise<Value>) => Promise<Value>

/** Callers with the same key get the same result, until the work is done. The next caller starts it again. */
export function openSingleFlight<Value>(): SingleFlight<Value> {
  const underWay = new Map<string, Promise<Value>>()
  return (key, work) => {
    const shared = underWay.get(key)
    if (shared !== undefined) return shared
    const own = work().finally(() => underWay.delete(key))
    underWay.set(key, own)
    return own
  }
}
