import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { walkThrough } from '../../prove/package/installation.ts'
import { buildPackage, COMMAND, packFolder, SIZE_LIMIT } from '../../release/build.ts'
import type { Manifest } from '../../release/manifest.ts'
import { API_PAGE, publicApi } from '../../release/public-api.ts'
import { TYPES_FILE } from '../../release/public-types.ts'
import { temporaryFolder } from '../support/server.ts'
import { walkPackage } from './walk-package.ts'

const checkout = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest
/** Scripts of package.json that make something which others run, and the test that builds and starts it. */
const STARTED: Readonly<Record<string, string>> = {
  build: 'test/release/artefact.test.ts',
  pack: 'test/release/artefact.test.ts',
  release: 'test/release/folder.test.ts',
  verify: 'test/release/folder.test.ts',
  'build:single': 'test/release/single.test.ts',
}

test('the package is built with the options of a release, starts where nothing else is, and serves within Express', async (t) => {
  const folder = temporaryFolder(t)
  const built = join(folder, 'package')
  await buildPackage(built)
  const types = readFileSync(join(built, 'lib', TYPES_FILE), 'utf8')
  assert.equal(publicApi(types), readFileSync(API_PAGE, 'utf8'), `${API_PAGE} (npm run docs)`)
  const packed = packFolder(built, COMMAND)
  assert.ok(statSync(packed).size <= SIZE_LIMIT, `The package has more than ${SIZE_LIMIT} bytes.`)
  const project = join(folder, 'project')
  assert.deepEqual(await walkPackage(project, packed, 'express'), [])

  const bug = [
    '--import',
    'data:text/javascript,delete Map.groupBy',
    join(project, 'node_modules/grantor/bin/grantor.js'),
  ]
  const { stderr } = spawnSync(process.execPath, [...bug, 'client', 'list'], { encoding: 'utf8' })
  assert.match(stderr, /\n +at (\S+ \()?src\/\S+\.ts, file:\/\//, 'the stack of a bug names the source')

  cpSync('examples/library/express.js', join(project, 'express.js'))
  assert.match(await walkThrough(project, [process.execPath, 'express.js'], { path: '/auth', settleMs: 0 }), /^\d+ ms/)
})

test('each script that makes a release has a test that builds and starts what it makes', () => {
  const scripts = Object.entries(checkout['scripts'] as Readonly<Record<string, string>>)
  const releasing = scripts.filter(([, command]) => command.startsWith('node release/')).map(([name]) => name)
  assert.deepEqual(releasing.toSorted(), Object.keys(STARTED).toSorted())
})
