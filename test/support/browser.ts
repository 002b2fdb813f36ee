import { after } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchBrowser } from '../../tools/browser.ts'

let shared: Promise<Browser> | undefined

/**
 * The browser of this process, which is closed after all tests. Called outside tests. Each test opens a context of its own, which
 * shares no cookies, storage or cache with others.
 */
export function sharedBrowser(): Promise<Browser> {
  if (shared === undefined) {
    shared = launchBrowser()
    after(async () => (await shared)?.close())
  }
  return shared
}
