import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { COMPILE_CACHE } from '../support/runner/compile-cache.ts'

const run = promisify(execFile)
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>
}

/** Runs what `npm run <kind>` runs, with these arguments. */
async function npmRun(kind: string, ...args: readonly string[]): Promise<string> {
  const command = [(scripts[kind] ?? '').replace('node ', ''), ...args]
  const env = { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE }
  const { stdout, stderr } = await run(process.execPath, command, { env })
  assert.equal(stderr, '')
  return stdout
}

for (const kind of ['bench', 'prove']) {
  test(`"npm run ${kind}" lists each program on a line of at most 120 characters`, async () => {
    const [usage, ...lines] = (await npmRun(kind)).trimEnd().split('\n')
    assert.equal(usage, `npm run ${kind} <name> -- [options]`)
    const names = globSync(`${kind}/*/run.ts`)
      .toSorted()
      .map((file) => file.split('/')[1])
    assert.ok(names.length > 8)
    assert.deepEqual(
      lines.map((line) => /^ {2}([a-z-]+) +\S.{20}/.exec(line)?.[1]),
      names,
    )
    for (const line of lines) assert.ok(line.length <= 120, line)
  })

  test(`"npm run ${kind}" with an unknown name lists the programs, and exits with 2`, async () => {
    for (const name of ['unknown', '../bench/start'])
      await assert.rejects(npmRun(kind, name), (failed: { code: number; stderr: string }) => {
        assert.equal(failed.code, 2)
        assert.match(failed.stderr, new RegExp(`There is no "${name}"\\.\n\nnpm run ${kind} <name>[^]*\n  [a-z]`))
        return true
      })
  })
}
