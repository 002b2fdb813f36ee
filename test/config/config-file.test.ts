import assert from 'node:assert/strict'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readConfig } from '../../src/config/config.ts'
import { temporaryFolder } from '../support/server.ts'
import { mistakesOf } from './mistakes.ts'

test('settings come from the file and the environment, which takes precedence, and mistakes of both are reported', (t) => {
  const file = join(temporaryFolder(t), 'settings.txt')
  writeFileSync(file, '# the shop\nPORT=4000\nGRANTOR_NAME="Acme Cloud"\n')
  const config = readConfig({ GRANTOR_CONFIG: file, PORT: '5000' })
  assert.deepEqual([config.port, config.branding.name], [5000, 'Acme Cloud'])
  assert.equal(readConfig({ GRANTOR_CONFIG: file, PORT: '' }).port, 4000)
  writeFileSync(file, 'PORT=x\nGRANTOR_NMAE=Acme\n')
  assert.equal(mistakesOf({ GRANTOR_CONFIG: file }).length, 2)
  assert.match(mistakesOf({ GRANTOR_CONFIG: `${file}.gone` }).join(), /cannot be read/)
})

test('one message has all mistakes of the file, that others can read it, and those of other settings', (t) => {
  const file = join(temporaryFolder(t), 'grantor.env')
  writeFileSync(file, `GRANTOR_SECRET=${'s'.repeat(40)}\nno line\nNODE_ENV=x\nGRANTOR_TYPO=1\n`)
  chmodSync(file, 0o644)
  const all = mistakesOf({ GRANTOR_CONFIG: file, PORT: 'x' }).join('\n')
  for (const one of [/line 2 is not NAME/, /where NODE_ENV has no/, /chmod 600/, /^PORT must/m, /GRANTOR_TYPO is not/])
    assert.match(all, one)
})

test('a malformed line of the file is reported by its number and without its text', (t) => {
  const file = join(temporaryFolder(t), 'grantor.env')
  writeFileSync(file, '# a comment\n\nexport PORT=4000\nGRANTOR_NAME="Acme Cloud"\nmy secret is here\n')
  const [mistake = ''] = mistakesOf({ GRANTOR_CONFIG: file })
  assert.match(mistake, /line 5 is not NAME=value/)
  assert.ok(!mistake.includes('secret'))
})

test('a value that begins with # is refused without quotes, because it would be a comment', (t) => {
  const file = join(temporaryFolder(t), 'grantor.env')
  writeFileSync(file, 'PORT=4000\nGRANTOR_ACCENT=#c2410c\n')
  assert.match(mistakesOf({ GRANTOR_CONFIG: file }).join(), /line 2 has a value that begins with #: write it in quotes/)
  writeFileSync(file, 'PORT=4000 # a comment\nGRANTOR_ACCENT="#c2410c"\nGRANTOR_NAME= # none\n')
  assert.equal(readConfig({ GRANTOR_CONFIG: file }).branding.accent, '#c2410c')
})

test('a setting that Node.js reads before the file is refused there', (t) => {
  const file = join(temporaryFolder(t), 'grantor.env')
  writeFileSync(file, 'PORT=4000\nNODE_EXTRA_CA_CERTS=/etc/acme/ca.pem\n')
  assert.match(
    mistakesOf({ GRANTOR_CONFIG: file }).join(),
    /NODE_EXTRA_CA_CERTS has no effect: Node\.js reads it from the environment/,
  )
})
