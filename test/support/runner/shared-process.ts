import { test } from 'node:test'

/** The name of the test that ends each file. It is not counted. */
export const END_OF_FILE = 'the end of a file'

/**
 * Runs test files one after the other in this process: a file is loaded when the tests of the one before have ended, and finds the
 * environment variables as they were at first. Hooks of a file outside its tests end with the process.
 */
export async function runFiles(urls: readonly string[]): Promise<void> {
  const environment = { ...process.env }
  let release = (): void => undefined
  for (const url of urls) {
    await import(url).catch((error: unknown) => {
      void test(`${url} is loaded`, () => {
        throw error
      })
    })
    const end = addEnd()
    // Only now: as soon as no test is left, node:test runs the last hooks.
    release()
    await end.reached
    release = end.release
    for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name]
    Object.assign(process.env, environment)
  }
  release()
}

/** Adds a test after those of a file. It lasts until it is released. What follows a promise of node:test would belong to that test. */
function addEnd(): { readonly reached: Promise<void>; readonly release: () => void } {
  const reached = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  void test(END_OF_FILE, () => {
    reached.resolve()
    return released.promise
  })
  return { reached: reached.promise, release: released.resolve }
}
