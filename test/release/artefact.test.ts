import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, renameSync, statSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { walkArtefact } from '../../prove/artefact.ts'
import { openFindings } from '../../prove/findings.ts'
import { walkThrough } from '../../prove/package/installation.ts'
import { buildPackage, packFolder, SIZE_LIMIT } from '../../release/build.ts'
import type { Manifest } from '../../release/manifest.ts'
import { API_PAGE, publicApi } from '../../release/public-api.ts'
import { TYPES_FILE } from '../../release/public-types.ts'
import { temporaryFolder } from '../support/server.ts'

const checkout = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest
/** Scripts of package.json that make something which others run, and the test that builds and starts it. */
const STARTED: Readonly<Record<string, string>> = {
  build: 'test/release/artefact.test.ts',
  pack: 'test/release/artefact.test.ts',
  release: 'test/release/folder.test.ts',
  verify: 'test/release/folder.test.ts',
  'build:single': 'test/release/single.test.ts',
}

/** Makes a project with the unpacked package, and with the packages that it declares and no other one. */
function install(project: string, packed: string, ...others: readonly string[]): void {
  const modules = join(project, 'node_modules')
  mkdirSync(modules)
  execFileSync('tar', ['-xzf', packed, '-C', modules])
  renameSync(join(modules, 'package'), join(modules, 'grantor'))
  for (const name of [...Object.keys(checkout['dependencies'] as object), ...others]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(process.cwd(), 'node_modules', name), join(modules, name))
  }
}

test('the package is built with the options of a release, starts where nothing else is, and serves within Express', async (t) => {
  const folder = temporaryFolder(t)
  const built = join(folder, 'package')
  await buildPackage(built)
  const types = readFileSync(join(built, 'lib', TYPES_FILE), 'utf8')
  assert.equal(publicApi(types), readFileSync(API_PAGE, 'utf8'), `${API_PAGE} (npm run docs)`)
  const project = join(folder, 'project')
  mkdirSync(project)
  const packed = packFolder(built)
  assert.ok(statSync(packed).size <= SIZE_LIMIT, `The package has more than ${SIZE_LIMIT} bytes.`)
  install(project, packed, 'express')

  const program = join(project, 'node_modules/grantor/bin/grantor.js')
  const findings = openFindings({ isPrinted: false })
  const environment = { PATH: process.env['PATH'], DATABASE_URL: `sqlite:${join(project, 'grantor.db')}` }
  await walkArtefact(
    {
      start: (words, settings) =>
        spawn(process.execPath, [program, ...words], { cwd: project, env: { ...environment, ...settings } }),
    },
    findings,
  )
  assert.deepEqual(findings.violations, [])

  cpSync('examples/library/express.js', join(project, 'express.js'))
  assert.match(await walkThrough(project, [process.execPath, 'express.js'], '/auth'), /^\d+ ms/)
})

test('each script that makes a release has a test that builds and starts what it makes', () => {
  const scripts = Object.entries(checkout['scripts'] as Readonly<Record<string, string>>)
  const releasing = scripts.filter(([, command]) => command.startsWith('node release/')).map(([name]) => name)
  assert.deepEqual(releasing.toSorted(), Object.keys(STARTED).toSorted())
})
