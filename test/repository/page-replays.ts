import { readFileSync, readdirSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { freePort } from '../../tools/process/free-ports.ts'
import { replay } from '../../tools/replay.ts'
import { COMPILE_CACHE } from '../support/runner/compile-cache.ts'
import { temporaryFolder } from '../support/server.ts'

type Environment = Readonly<Record<string, string>>

/** Runs the commands of docs/operations/rehearsal.md, and returns how their outputs differ from those on the page: '' if they do not. */
export async function rehearse(t: TestContext, environment: Environment): Promise<string> {
  const ports = { REHEARSAL_PORT: String(await freePort()), REHEARSAL_ADMIN_PORT: String(await freePort()) }
  return replayPage('docs/operations/rehearsal.md', temporaryFolder(t), { ...ports, ...environment })
}

/** The same of docs/walkthrough.md, and the names of the files that it leaves, of which there should be none. */
export async function walkThrough(t: TestContext, environment: Environment): Promise<readonly string[]> {
  const ports = { PORT: String(await freePort()), GRANTOR_ADMIN_PORT: String(await freePort()) }
  const folder = temporaryFolder(t)
  const faults = await replayPage('docs/walkthrough.md', folder, { ...ports, ...environment })
  const left = readdirSync(folder).filter((name) => !/^(page\.sh|step-\d+\.(said|values))$/.test(name))
  return [faults, ...left]
}

async function replayPage(path: string, folder: string, own: Environment): Promise<string> {
  const { PATH = '', HOME = '/' } = process.env
  const environment = {
    PATH,
    HOME,
    // No process checks its readiness.
    GRANTOR_DRAIN_SECONDS: '0',
    // With the cache a process starts in half the time.
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    ...own,
  }
  const page = readFileSync(path, 'utf8')
  return (await replay({ page, folder, environment, limitMs: 160_000 })).join('\n\n')
}
