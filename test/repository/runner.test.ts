import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { groupsOf, writeEntry } from '../support/runner/groups.ts'
import { temporaryFolder } from '../support/server.ts'

test('the files of a folder share a process, but not those that are separate', () => {
  const files = ['test/web/b.test.ts', 'test/bench/b.test.ts', 'test/web/a.test.ts', 'test/bench/a.test.ts']
  assert.deepEqual(groupsOf(files), [
    { name: 'test/bench/a.test.ts', files: ['test/bench/a.test.ts'] },
    { name: 'test/bench/b.test.ts', files: ['test/bench/b.test.ts'] },
    { name: 'test/web', files: ['test/web/a.test.ts', 'test/web/b.test.ts'] },
  ])
})

test('a folder of many files has several groups of about one size, with each file once', () => {
  const files = Array.from({ length: 17 }, (_, index) => `test/web/${String(index).padStart(2, '0')}.test.ts`)
  const groups = groupsOf(files)
  assert.deepEqual(
    groups.map((group) => [group.name, group.files.length]),
    [
      ['test/web 1', 6],
      ['test/web 2', 6],
      ['test/web 3', 5],
    ],
  )
  assert.deepEqual(groups.flatMap((group) => group.files).toSorted(), files)
})

/** Files of a group, in their order. */
const FILES: Readonly<Record<string, string>> = {
  first: `process.env.PLANTED = '1'
    let isOpen = true
    after(() => void (isOpen = false))
    globalThis.isFirstOpen = () => isOpen
    test('ends late', () => new Promise((resolve) => setTimeout(resolve, 50)))
    test('is the last of the first file', () => void (globalThis.hasFirstEnded = true))`,
  second: `throw new Error('planted')`,
  third: `const hadEnded = globalThis.hasFirstEnded
    await new Promise((resolve) => setTimeout(resolve, 50))
    test('starts after the first file', () => assert.equal(hadEnded, true))
    test('finds the environment as it was', () => assert.equal(process.env.PLANTED, undefined))
    test('runs before the last hooks', () => assert.equal(globalThis.isFirstOpen(), true))
    test('fails', () => assert.fail('planted'))`,
}

test('each file of a group finds the process as the first one did, and a file that cannot be loaded is a failure', async (t) => {
  const folder = temporaryFolder(t)
  const files = Object.entries(FILES).map(([name, text]) => {
    const path = join(folder, `${name}.mjs`)
    writeFileSync(path, `import { after, test } from 'node:test'\nimport assert from 'node:assert/strict'\n${text}\n`)
    return path
  })
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const args = ['--test-reporter=tap', writeEntry(folder, { name: 'planted', files })]
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, { env }, (_error, stdout) => resolve(stdout))
  })
  const outcomes = [...output.matchAll(/^(ok|not ok) \d+ - (.*)$/gm)].map(([, outcome, name]) => [outcome, name])
  assert.deepEqual(outcomes, [
    ['ok', 'ends late'],
    ['ok', 'is the last of the first file'],
    ['ok', 'the end of a file'],
    ['not ok', `file://${files[1]} is loaded`],
    ['ok', 'the end of a file'],
    ['ok', 'starts after the first file'],
    ['ok', 'finds the environment as it was'],
    ['ok', 'runs before the last hooks'],
    ['not ok', 'fails'],
    ['ok', 'the end of a file'],
  ])
})
