import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ALL_CASES, combine } from '../support/runner/cases.ts'
import { groupsOf, UNCAUGHT, writeEntry } from '../support/runner/groups.ts'
import { temporaryFolder } from '../support/server.ts'

test('the files of a folder and of those in it share a process, but not those that are separate', () => {
  const files = ['test/web/b/b.test.ts', 'test/release/b.test.ts', 'test/web/a.test.ts', 'test/release/a.test.ts']
  assert.deepEqual(groupsOf(files), [
    { name: 'test/release/a.test.ts', files: ['test/release/a.test.ts'] },
    { name: 'test/release/b.test.ts', files: ['test/release/b.test.ts'] },
    { name: 'test/web', files: ['test/web/a.test.ts', 'test/web/b/b.test.ts'] },
  ])
})

test('a folder of many files has several groups of about one size, with each file once', () => {
  const files = Array.from({ length: 66 }, (_, index) => `test/web/${String(index).padStart(2, '0')}.test.ts`)
  const groups = groupsOf(files)
  assert.deepEqual(
    groups.map((group) => [group.name, group.files.length]),
    [
      ['test/web 1', 22],
      ['test/web 2', 22],
      ['test/web 3', 22],
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

/** Each is a file whose only test would pass, or never end, and what its process then reports. */
const UNCAUGHT_ERRORS: Readonly<Record<string, string>> = {
  'a test that has passed the line of the error': `await null
    setTimeout(() => { throw new Error('planted') }, 1)
    await new Promise((resolve) => setTimeout(resolve, 50))`,
  'a promise': `await null
    void Promise.reject(new Error('planted'))
    await new Promise((resolve) => setTimeout(resolve, 50))`,
  'a test that waits without end': `await null
    setTimeout(() => { throw new Error('planted') }, 1)
    await new Promise((resolve) => setInterval(() => undefined, 1000))`,
}

test('an error that nothing catches makes its process fail, also where a test then waits without end', async (t) => {
  const folder = temporaryFolder(t)
  const runs = Object.entries(UNCAUGHT_ERRORS).map(async ([name, text], index) => {
    const path = join(folder, `planted-${index}.mjs`)
    writeFileSync(path, `import { test } from 'node:test'\ntest('a test', async () => {\n${text}\n})\n`)
    const { code, stderr } = await runEntry(writeEntry(folder, { name: `group ${index}`, files: [path] }))
    assert.equal(code, 1, name)
    assert.match(stderr, new RegExp(`^${UNCAUGHT}"Error: planted.*planted-${index}\\.mjs:4`, 'm'))
  })
  await Promise.all(runs)
})

test('each file of a group finds the process as the first one did, and a file that cannot be loaded is a failure', async (t) => {
  const folder = temporaryFolder(t)
  const files = Object.entries(FILES).map(([name, text]) => {
    const path = join(folder, `${name}.mjs`)
    writeFileSync(path, `import { after, test } from 'node:test'\nimport assert from 'node:assert/strict'\n${text}\n`)
    return path
  })
  const { stdout } = await runEntry(writeEntry(folder, { name: 'planted', files }))
  const outcomes = [...stdout.matchAll(/^(ok|not ok) \d+ - (.*)$/gm)].map(([, outcome, name]) => [outcome, name])
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

/** Runs the process of a group, which reports in the format TAP. */
function runEntry(
  entry: string,
): Promise<{ readonly code: unknown; readonly stdout: string; readonly stderr: string }> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  return new Promise((resolve) => {
    execFile(process.execPath, ['--test-reporter=tap', entry], { env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    )
  })
}

const LISTS = [
  ['a', 'b', 'c'],
  [1, 2, 3, 4],
  [true, false],
  ['x', 'y'],
] as const

/** What the cases have of these lists. */
function valuesOf(cases: readonly (readonly unknown[])[], ...lists: readonly number[]): ReadonlySet<string> {
  return new Set(cases.map((values) => JSON.stringify(lists.map((list) => values[list]))))
}

test('npm test has a table’s cases in which any values of two or three lists meet, and prove long-tests has all', () => {
  const whole = process.env[ALL_CASES]
  try {
    delete process.env[ALL_CASES]
    const [pairs, triples] = [combine(LISTS), combine(LISTS, 3)]
    process.env[ALL_CASES] = 'yes'
    const all = combine(LISTS)
    assert.equal(valuesOf(all, 0, 1, 2, 3).size, 48)
    for (const [one, other] of [
      [0, 1],
      [0, 2],
      [0, 3],
      [1, 2],
      [1, 3],
      [2, 3],
    ] as const)
      assert.deepEqual(valuesOf(pairs, one, other), valuesOf(all, one, other))
    for (const lists of [
      [0, 1, 2],
      [0, 1, 3],
      [0, 2, 3],
      [1, 2, 3],
    ] as const)
      assert.deepEqual(valuesOf(triples, ...lists), valuesOf(all, ...lists))
    assert.ok(pairs.length < 16 && triples.length < 32, `${pairs.length}, ${triples.length}`)
  } finally {
    if (whole === undefined) delete process.env[ALL_CASES]
    else process.env[ALL_CASES] = whole
  }
})
