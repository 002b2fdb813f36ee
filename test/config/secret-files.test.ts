import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs, { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { settingsDocument, settingsHelp } from '../../src/cli/docs/settings.ts'
import { openTerminal } from '../../src/cli/lib/terminal.ts'
import { readConfig, writtenSetting } from '../../src/config/config.ts'
import { SECRET_SETTINGS } from '../../src/config/schema.ts'
import { temporaryFolder } from '../support/server.ts'
import { mistakesOf } from './mistakes.ts'

const SECRET = 'hidden'.repeat(6)
const URL = 'postgres://ada:hidden@db.acme.test/grantor'

/** Writes a file that only its owner can read. Returns its path. */
function fileWith(t: TestContext, text: string, mode = 0o600): string {
  const path = join(temporaryFolder(t), 'secret')
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

test('every setting that is a secret can be read from a file, and a line break at its end is not part of it', (t) => {
  assert.deepEqual(
    [...SECRET_SETTINGS].toSorted(),
    ['DATABASE_URL', 'GRANTOR_SECRET', 'GRANTOR_SECRET_PREVIOUS', 'GRANTOR_SMTP_URL', 'OTEL_EXPORTER_OTLP_HEADERS'],
    'A new setting with a secret is read from a file as well; add it here.',
  )
  for (const end of ['', '\n', '\r\n']) {
    const config = readConfig({
      DATABASE_URL_FILE: fileWith(t, URL + end),
      GRANTOR_SECRET_FILE: fileWith(t, SECRET + end),
      GRANTOR_SECRET_PREVIOUS_FILE: fileWith(t, `${SECRET}2${end}`),
      GRANTOR_SMTP_URL_FILE: fileWith(t, `smtp://u:hidden@mail.acme.test${end}`),
      GRANTOR_MAIL_FROM: 'no-reply@acme.test',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
      OTEL_EXPORTER_OTLP_HEADERS_FILE: fileWith(t, `api-key=hidden${end}`),
    })
    assert.deepEqual(config.database, { kind: 'postgres', url: URL })
    assert.deepEqual([config.secret, config.previousSecret], [SECRET, `${SECRET}2`])
    assert.deepEqual(config.traces?.headers, { 'api-key': 'hidden' })
    assert.deepEqual(config.mail?.server.login, { user: 'u', password: 'hidden' })
    assert.deepEqual(config.warnings, [])
  }
})

test('the file of GRANTOR_CONFIG can name the file of a secret, and an empty name counts as unset', (t) => {
  const file = fileWith(t, `GRANTOR_SECRET_FILE=${fileWith(t, SECRET)}\nDATABASE_URL_FILE=\n`)
  const config = readConfig({ GRANTOR_CONFIG: file })
  assert.deepEqual([config.secret, config.database.kind], [SECRET, 'sqlite'])
})

test('a setting with both a value and a file is refused, wherever they are set', (t) => {
  const path = fileWith(t, SECRET)
  const both = ['GRANTOR_SECRET and GRANTOR_SECRET_FILE are both set. Remove one of them.']
  assert.deepEqual(mistakesOf({ GRANTOR_SECRET: SECRET, GRANTOR_SECRET_FILE: path }), both)
  const file = fileWith(t, `GRANTOR_SECRET=${SECRET}\n`)
  assert.deepEqual(mistakesOf({ GRANTOR_CONFIG: file, GRANTOR_SECRET_FILE: path }), both)
})

test('only secrets have such a file', (t) => {
  assert.deepEqual(mistakesOf({ GRANTOR_NAME_FILE: fileWith(t, 'Acme') }), [
    'GRANTOR_NAME_FILE is not a setting. See "grantor serve --help".',
  ])
})

const REFUSED: Readonly<Record<string, readonly [make: (t: TestContext) => string, reason: RegExp]>> = {
  'that is missing': [(t) => join(temporaryFolder(t), 'gone'), /gone, which cannot be read: ENOENT/],
  'that is empty': [(t) => fileWith(t, ''), /secret, which is empty$/],
  'with only a line break': [(t) => fileWith(t, '\n'), /secret, which is empty$/],
  'with two lines': [(t) => fileWith(t, `${SECRET}\n${SECRET}\n`), /secret, which has more than one line$/],
  'that is a folder': [(t) => folderIn(t), /not a regular file$/],
  'that is a named pipe': [(t) => pipeIn(t), /not a regular file$/],
  'that other users may write to': [
    (t) => fileWith(t, SECRET, 0o602),
    /not safe\. Other users may write to .*\. Run: chmod go-w .*secret$/,
  ],
  'that its group may write to': [(t) => fileWith(t, SECRET, 0o620), /not safe\. Other users may write to /],
  'that other users may read': [
    (t) => fileWith(t, SECRET, 0o604),
    /not safe\. Other users can read it\. Run: chmod 600 .*secret$/,
  ],
  'that its group may read': [(t) => fileWith(t, SECRET, 0o440), /not safe\. Other users can read it\./],
}

for (const [what, [make, reason]] of Object.entries(REFUSED)) {
  test(`STO-11: a file of a secret ${what} is refused, with the reason and nothing of the content`, (t) => {
    for (const more of [{}, { DATABASE_URL: URL }]) {
      const [mistake = '', ...others] = mistakesOf({ GRANTOR_SECRET_FILE: make(t), ...more })
      assert.deepEqual(others, [])
      assert.match(mistake, /^GRANTOR_SECRET_FILE names /)
      assert.match(mistake, reason)
      assert.doesNotMatch(mistake, /hidden/)
    }
  })
}

test('a faulty secret in a file is reported with the setting that names the file', (t) => {
  assert.deepEqual(mistakesOf({ GRANTOR_SECRET_FILE: fileWith(t, 'hidden') }), [
    'GRANTOR_SECRET_FILE must have at least 32 characters',
  ])
})

/** As /proc/self/mountinfo shows the mount of a secret in a container, where root owns the file and the process is another user. */
const MOUNTED: Readonly<Record<string, readonly [code: string, options: string]>> = {
  'the file system is read-only': ['EROFS', 'rw,relatime'],
  'only the mount is read-only, and the user may not write to the file': ['EACCES', 'ro,nosuid'],
}

for (const [what, [code, options]] of Object.entries(MOUNTED)) {
  test(`a secret that others may read is used with a warning where ${what}`, (t) => {
    mountAs(t, code, options)
    const path = fileWith(t, SECRET, 0o444)
    const config = readConfig({ GRANTOR_SECRET_FILE: path })
    // Messages name the setting that the operator wrote.
    assert.equal(writtenSetting(config, 'GRANTOR_SECRET'), 'GRANTOR_SECRET_FILE')
    assert.equal(writtenSetting(config, 'GRANTOR_SECRET_PREVIOUS'), 'GRANTOR_SECRET_PREVIOUS')
    const { secret, warnings } = config
    assert.equal(secret, SECRET)
    assert.deepEqual(warnings, [`Other users can read ${path}, which is a secret, and the file is mounted read-only`])
    chmodSync(path, 0o440)
    assert.deepEqual(readConfig({ GRANTOR_SECRET_FILE: path }).warnings, [])
    const settings = fileWith(t, `GRANTOR_SECRET=${SECRET}\n`, 0o444)
    assert.match(readConfig({ GRANTOR_CONFIG: settings }).warnings.join(), /which contains GRANTOR_SECRET, and /)
  })
}

test('a secret that others may read is refused on a writable mount, also where the user may not write to the file', (t) => {
  mountAs(t, 'EACCES', 'rw,nosuid')
  assert.match(mistakesOf({ GRANTOR_SECRET_FILE: fileWith(t, SECRET, 0o444) }).join(), /Other users can read it/)
})

test('the token of an administrator is read from its file when a command needs it, by the same rules', (t) => {
  const read = (environment: Readonly<Record<string, string>>) =>
    openTerminal(process, environment, 'grantor').adminToken()
  assert.equal(read({}), undefined)
  assert.equal(read({ GRANTOR_ADMIN_TOKEN: 'gad_x', GRANTOR_ADMIN_TOKEN_FILE: '' }), 'gad_x')
  const path = fileWith(t, 'gad_hidden\n')
  assert.equal(read({ GRANTOR_ADMIN_TOKEN_FILE: path }), 'gad_hidden')
  assert.throws(() => read({ GRANTOR_ADMIN_TOKEN: 'gad_x', GRANTOR_ADMIN_TOKEN_FILE: path }), /are both set/)
  chmodSync(path, 0o644)
  assert.throws(() => read({ GRANTOR_ADMIN_TOKEN_FILE: path }), /GRANTOR_ADMIN_TOKEN_FILE names .*not safe/)
  assert.deepEqual(mistakesOf({ GRANTOR_ADMIN_TOKEN_FILE: path }), [], 'The server ignores it.')
})

test('--help and docs/configuration.md name the file of each secret', () => {
  for (const name of SECRET_SETTINGS) {
    assert.match(settingsHelp(), new RegExp(`\\n  ${name}\\n[^]*?Or ${name}_FILE: the file that contains it\\.\\n`))
    assert.match(settingsDocument(), new RegExp(`\`${name}_FILE\``))
  }
})

function folderIn(t: TestContext): string {
  const path = join(temporaryFolder(t), 'folder')
  mkdirSync(path, { mode: 0o700 })
  return path
}

function pipeIn(t: TestContext): string {
  const path = join(temporaryFolder(t), 'pipe')
  execFileSync('mkfifo', ['-m', '600', path])
  return path
}

/** The answers of the system about every file that is opened from now on: access(2) with W_OK, and the options of its mount. */
function mountAs(t: TestContext, code: string, options: string): void {
  const { readFileSync } = fs
  t.mock.method(fs, 'accessSync', () => {
    throw Object.assign(new Error(code), { code })
  })
  t.mock.method(fs, 'readFileSync', (file: string | number, encoding: 'utf8') => {
    if (String(file).startsWith('/proc/self/fdinfo/')) return 'pos:\t0\nmnt_id:\t63\n'
    if (file !== '/proc/self/mountinfo') return readFileSync(file, encoding)
    return `6 1 0:39 / / rw - tmpfs none rw\n63 43 0:39 / /run/secrets ${options} - tmpfs none rw\n`
  })
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
}
