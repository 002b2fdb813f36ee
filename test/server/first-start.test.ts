import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { COMPILE_CACHE } from '../support/runner/compile-cache.ts'
import { temporaryFolder } from '../support/server.ts'

const PROCESSES = 5
const SOURCE = new URL('../../src/', import.meta.url).href

/** Opens everything that a server needs, on a signal, and returns the key that it got. */
const PROGRAM = `
  const { openRuntime } = await import('${SOURCE}server/context.ts')
  const { readConfig } = await import('${SOURCE}config/config.ts')
  process.stdout.write('ready')
  await new Promise((resolve) => process.stdin.once('data', resolve))
  const { context, close } = await openRuntime(readConfig())
  process.stderr.write((await context.keys.published()).keys.map(({ kid }) => kid).toSorted().join())
  await close()
  process.stdin.destroy()
`

test('of several processes that start at once on nothing, all start, with one schema, one secret and one key', async (t) => {
  for (let round = 0; round < 2; round += 1) {
    const folder = join(temporaryFolder(t), 'data')
    const children = await Promise.all(Array.from({ length: PROCESSES }, () => startChild(t, folder)))
    for (const { go } of children) go()
    const keys = await Promise.all(children.map(({ said }) => said))
    assert.match(keys[0] ?? '', /^([0-9a-f]{12}[A-Za-z0-9_-]{22},?){3}$/)
    assert.deepEqual(new Set(keys).size, 1, keys.join('\n'))
  }
})

async function startChild(t: TestContext, folder: string): Promise<{ go: () => void; said: Promise<string> }> {
  const database = `sqlite:${join(folder, 'grantor.db')}`
  const env = { DATABASE_URL: database, LOG_LEVEL: 'silent', NODE_COMPILE_CACHE: COMPILE_CACHE }
  const child = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM], { env })
  t.after(() => child.kill('SIGKILL'))
  const said = text(child.stderr)
  await once(child.stdout, 'data')
  return { go: () => void child.stdin.write('go'), said }
}
