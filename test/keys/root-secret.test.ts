import assert from 'node:assert/strict'
import { chmodSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import {
  previousSecretPath,
  readRootSecret,
  removePreviousSecret,
  renewRootSecret,
  writeRootSecret,
} from '../../src/keys/root-secret.ts'
import { temporaryFolder } from '../support/server.ts'

test('STO-11: the root secret is created once, and only its owner can read it', (t) => {
  const path = join(temporaryFolder(t), 'new', 'grantor.secret')
  const secret = readRootSecret(path)
  assert.ok(secret.length >= 43)
  assert.equal(readRootSecret(path), secret)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.equal(statSync(join(path, '..')).mode & 0o777, 0o700)
})

test('when many processes start at once one creates the secret, and all read the same one', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'grantor.secret')
  const module = new URL('../../src/keys/root-secret.ts', import.meta.url).href
  const source = `import { parentPort } from 'node:worker_threads'; import { readRootSecret } from ${JSON.stringify(module)}; parentPort.postMessage(readRootSecret(${JSON.stringify(path)}))`
  const secrets = await Promise.all(
    Array.from({ length: 8 }, () => {
      const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`))
      return new Promise<string>((resolve, reject) => worker.once('message', resolve).once('error', reject))
    }),
  )
  assert.equal(new Set(secrets).size, 1)
  assert.deepEqual(readdirSync(folder), ['grantor.secret'])
})

test('STO-11: a secret that other users can read, or that is damaged, is refused with a remedy', (t) => {
  const path = join(temporaryFolder(t), 'grantor.secret')
  writeFileSync(path, 'too short\n', { mode: 0o600 })
  assert.throws(() => readRootSecret(path), /damaged/)
  writeFileSync(path, 'x'.repeat(43))
  chmodSync(path, 0o644)
  assert.throws(() => readRootSecret(path), /chmod 600/)
})

test('STO-11: a start removes drafts of a killed process that are a minute old, and no other file', (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'grantor.secret')
  const secret = readRootSecret(path)
  const old = 'grantor.secret.0123456789abcdef'
  const others = ['grantor.secret.previous', 'other.secret.0123456789abcdef', 'grantor.secret.0123']
  const young = 'grantor.secret.fedcba9876543210'
  for (const name of [old, young, ...others]) writeFileSync(join(folder, name), secret, { mode: 0o600 })
  const before = new Date(Date.now() - 61_000)
  for (const name of [old, ...others]) utimesSync(join(folder, name), before, before)
  assert.equal(readRootSecret(path), secret)
  assert.deepEqual(readdirSync(folder).toSorted(), ['grantor.secret', young, ...others].toSorted())
})

test('STO-11: a secret that is there already is written to no other file, so that a kill leaves none', (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'grantor.secret')
  const secret = readRootSecret(path)
  const { mtimeNs } = statSync(folder, { bigint: true })
  writeRootSecret(path, 'another secret that is long enough for it')
  assert.equal(statSync(folder, { bigint: true }).mtimeNs, mtimeNs, 'no file was created in the folder')
  assert.equal(readRootSecret(path), secret)
})

test('the end of a change removes the previous secret and drafts of a killed process, and no other file', (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'grantor.secret')
  readRootSecret(path)
  renewRootSecret(path)
  const draft = 'grantor.secret.0123456789abcdef'
  const others = ['grantor.secret.lock', `other.secret.0123456789abcdef`, `${draft}.partial`, 'grantor.secret.0123']
  for (const name of [draft, ...others]) writeFileSync(join(folder, name), '')
  removePreviousSecret(path)
  assert.deepEqual(readdirSync(folder).toSorted(), ['grantor.secret', ...others].toSorted())
  assert.equal(previousSecretPath(path), `${path}.previous`)
})
