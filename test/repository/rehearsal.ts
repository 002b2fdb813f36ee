import { readFileSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { freePort } from '../../tools/process/free-ports.ts'
import { replay } from '../../tools/replay.ts'
import { COMPILE_CACHE } from '../support/runner/compile-cache.ts'
import { temporaryFolder } from '../support/server.ts'
import { openPageCommands } from './page-commands.ts'

/** Runs the commands of docs/operations/rehearsal.md, and returns how their outputs differ from those on the page: '' if they do not. */
export async function rehearse(t: TestContext, store: Readonly<Record<string, string>>): Promise<string> {
  const { PATH = '', HOME = '/' } = process.env
  const environment = {
    PATH,
    HOME,
    REHEARSAL_PORT: String(await freePort()),
    REHEARSAL_ADMIN_PORT: String(await freePort()),
    // No process checks its readiness.
    GRANTOR_DRAIN_SECONDS: '0',
    // With the cache a process starts in half the time.
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    ...(await openPageCommands(t)),
    ...store,
  }
  const page = readFileSync('docs/operations/rehearsal.md', 'utf8')
  const faults = await replay({ page, folder: temporaryFolder(t), environment, limitMs: 120_000 })
  return faults.join('\n\n')
}
