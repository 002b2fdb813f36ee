import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { isBuiltin } from 'node:module'
import { test } from 'node:test'
import { bundle } from '../../release/single.ts'
import type { Bcrypt } from '../../src/passwords/formats.ts'
import { listMigrations } from '../../src/store/migrations.ts'
import { openAnsweringThread } from '../../src/threads/answering-thread.ts'
import { LONG_VECTOR } from '../support/sign-in/hash-vectors.ts'

/** Of packages that work without: `pg` tries to load it. */
const ABSENT: readonly string[] = ['pg-native']

test('the single file needs no module and no file beside it: it has the migrations and the sources of the threads', async () => {
  const text = await bundle()
  const named = [...text.matchAll(/^import .*? from "([^"]+)";$|\brequire\("([^"]+)"\)/gm)].map(
    ([, from, by]) => from ?? by ?? '',
  )
  assert.ok(named.length > 20)
  assert.deepEqual(
    named.filter((name) => !isBuiltin(name) && !ABSENT.includes(name)),
    [],
  )
  for (const { name } of listMigrations()) assert.ok(text.includes(name), name)
  assert.ok(text.includes(' liverpool '), 'the common passwords')
  assert.equal(
    text.match(/data:text\/javascript;base64,/g)?.length,
    4,
    'the checkpoint, the verifier of passkeys, bcrypt, and the signatures',
  )
  const [, address = ''] = /BCRYPT_THREAD = new URL\("([^"]+)"\)/.exec(text) ?? []
  const bcrypt: Bcrypt = openAnsweringThread(new URL(address), 1)
  const salt = LONG_VECTOR.text.slice(0, 29)
  assert.equal(await bcrypt({ password: LONG_VECTOR.password, salt }), LONG_VECTOR.text)
})

test('a single file with another Node.js than that of release/node.json is refused', () => {
  const other = `data:text/javascript,process.execPath = 'package.json'`
  const { status, stderr } = spawnSync(process.execPath, ['--import', other, 'release/single.ts'], { encoding: 'utf8' })
  assert.equal(status, 1)
  assert.match(
    stderr,
    /^npm run build:single: The Node\.js at package\.json has the SHA-256 [0-9a-f]{64}, and release\/node\.json has .* --any-node .*\n$/,
  )
})
