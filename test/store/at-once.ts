import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'

const SOURCE = new URL('../../src/', import.meta.url).href

/**
 * Runs a program in several processes. Each loads what it needs, waits in `await ready()` until all the others are ready,
 * too, and returns its result by `done(value)`. Its imports are relative to src/.
 */
export async function runAtOnce<T>(t: TestContext, processes: number, program: string): Promise<readonly T[]> {
  const children = await Promise.all(Array.from({ length: processes }, () => startChild(t, program)))
  return Promise.all(children.map(({ go }) => go() as Promise<T>))
}

async function startChild(t: TestContext, program: string): Promise<{ readonly go: () => Promise<unknown> }> {
  const prelude = `
    const ready = async () => {
      process.stdout.write('ready')
      await new Promise((resolve) => process.stdin.once('data', resolve))
      process.stdin.destroy()
    }
    const done = (value) => process.stderr.write(JSON.stringify(value))`
  const body = program.replaceAll(`import('./`, `import('${SOURCE}`)
  const child = spawn(process.execPath, ['--input-type=module', '--eval', `${prelude}\n${body}`])
  t.after(() => child.kill('SIGKILL'))
  const said = text(child.stderr)
  const exited = once(child, 'exit') as Promise<[number | null]>
  await Promise.race([once(child.stdout, 'data'), exited])
  return {
    async go() {
      child.stdin.on('error', () => undefined).write('go')
      const [code] = await exited
      const answer = await said
      if (code !== 0) throw new Error(`The process ended with ${code}: ${answer}`)
      return JSON.parse(answer) as unknown
    },
  }
}
