import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readTools } from '../../release/node.ts'

const { engines, optionalDependencies: programs } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly engines: { readonly node: string }
  readonly optionalDependencies: Readonly<Record<string, string>>
}
const MAJOR = /\d+/.exec(engines.node)?.[0] ?? ''

/** Makes a process report another version. */
const OLDER =
  'data:text/javascript,' +
  encodeURIComponent('Object.defineProperty(process, "versions", { value: { node: "20.20.2" } })')

test('version managers choose the Node.js that package.json requires', () => {
  assert.equal(readFileSync('.nvmrc', 'utf8').trim(), MAJOR)
})

test('release/node.json has the digests of the Node.js that a checkout brings', () => {
  const { version, npm: _, ...digests } = readTools()
  assert.deepEqual(new Set(Object.values(programs)), new Set([version]))
  const platforms = Object.keys(programs).map((name) => name.replace(/^node-(bin-)?/, '').replace(/^win-/, 'win32-'))
  assert.deepEqual(Object.keys(digests).toSorted(), platforms.toSorted())
  for (const digest of Object.values(digests)) assert.match(digest, /^[0-9a-f]{64}$/)
})

test('the tests say which Node.js they need, before an older one fails on TypeScript', () => {
  const check = ['--import', './test/needed-node.js', '--eval', 'console.log("started")']
  const older = spawnSync(process.execPath, ['--import', OLDER, ...check], { encoding: 'utf8' })
  assert.deepEqual([older.status, older.stdout], [1, ''])
  assert.match(older.stderr, new RegExp(`need Node\\.js >=${MAJOR}, .*npx node --test <file>`))
  assert.equal(spawnSync(process.execPath, check, { encoding: 'utf8' }).stdout, 'started\n')
})
