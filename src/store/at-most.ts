/** Waits for work, and after this time returns or throws what `late` does. The work continues. */
export async function atMost<T>(limitMs: number, work: Promise<T>, late: () => T | Promise<T>): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), limitMs)
  try {
    const answer = await Promise.race([work.then((value) => ({ value })), promise])
    return answer === undefined ? late() : answer.value
  } finally {
    clearTimeout(timer)
  }
}
