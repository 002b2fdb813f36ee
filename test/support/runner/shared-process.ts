import hooks from 'node:async_hooks'
import { inspect } from 'node:util'
import { END_OF_FILE, UNCAUGHT } from './groups.ts'

/** How long the process continues after an error that nothing catches. A test that waits for what failed would wait without end. */
const AFTER_ERROR_MS = 2000

/**
 * node:test watches each promise of the process, to find the test of an error that nothing catches. By a profile that
 * costs about 5 % of the processor time. Without it, such an error may belong to no test, but to the process, which fails.
 */
const { createHook } = hooks
hooks.createHook = (callbacks) => createHook({ ...callbacks, trackPromises: false })
const { test } = await import('node:test')
hooks.createHook = createHook

/**
 * Runs test files one after the other in this process: a file is loaded when the tests of the one before have ended, and finds the
 * environment variables as they were at first. Hooks of a file outside its tests end with the process.
 */
export async function runFiles(urls: readonly string[]): Promise<void> {
  const environment = { ...process.env }
  let release = (): void => undefined
  process.once('uncaughtException', endSoon).once('unhandledRejection', endSoon)
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

/** Reports the error, because node:test names it without its stack, and no other test of the process runs much longer. */
function endSoon(error: unknown): void {
  console.error(`${UNCAUGHT}${JSON.stringify(inspect(error))}`)
  process.exitCode = 1
  setTimeout(() => process.exit(), AFTER_ERROR_MS).unref()
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
