/**
 * Answers how to wait until this turn of the event loop has read what there was, with one timer for everybody.
 *
 * Whoever is answered within the turn may ask again within it. A thousand connections that do so keep the loop reading for
 * seconds, and meanwhile nothing is committed and no timer runs.
 */
export function openTurnEnd(): () => Promise<void> {
  let end: Promise<void> | undefined
  return () => {
    end ??= new Promise((resolve) => {
      setImmediate(() => {
        end = undefined
        resolve()
      })
    })
    return end
  }
}
