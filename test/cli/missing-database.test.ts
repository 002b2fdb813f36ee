import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readSchema } from '../../src/server/store.ts'
import { readConfig } from '../../src/config/config.ts'
import { openTestDatabase } from '../support/postgres.ts'
import { temporaryFolder } from '../support/server.ts'
import { command } from '../support/command.ts'

/** Where nothing is, nothing is made by looking. */

const CLIENT = `gci_${'0'.repeat(34)}`
const ORGANIZATION = `gor_${'0'.repeat(34)}`

/** Commands that look at, or change, what must be there already. */
const NOT_CREATING: readonly (readonly string[])[] = [
  ['user', 'list'],
  ['user', 'show', 'ada@acme.test'],
  ['user', 'disable', 'ada@acme.test'],
  ['client', 'list', '--json'],
  ['client', 'show', CLIENT],
  ['client', 'rotate-secret', CLIENT],
  ['org', 'list'],
  ['org', 'add-member', ORGANIZATION, 'ada@acme.test'],
  ['org', 'install', ORGANIZATION, CLIENT, '--scope', 'read'],
  ['api', 'list'],
  ['api', 'create-credentials', 'https://api.acme.test'],
  ['grant', 'list'],
  ['token', 'inspect', 'nonsense'],
  ['token', 'revoke-all', '--yes'],
  ['admin', 'list'],
  ['key', 'list'],
  ['key', 'rotate'],
  ['audit', 'list'],
  ['audit', 'verify'],
]

const CREATING: readonly (readonly string[])[] = [
  ['user', 'create', '--email', 'ada@acme.test', '--password', 'correct horse'],
  ['org', 'create', 'Acme'],
  ['api', 'create', '--resource', 'https://api.acme.test'],
  ['admin', 'create', '--name', 'Ada', '--access', 'read'],
  ['migrate'],
]

test('a command that does not create says that there is no database, and makes none', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'nowhere', 'grantor.db')
  process.env['DATABASE_URL'] = `sqlite:${path}`
  for (const words of NOT_CREATING) {
    const { code, stdout, stderr } = await command(words)
    assert.deepEqual([code, stdout], [1, ''], words.join(' '))
    assert.equal(
      stderr,
      `grantor: There is no database at ${path}. Check DATABASE_URL, or create the database with: grantor serve\n`,
    )
    assert.deepEqual(readdirSync(folder), [], words.join(' '))
  }
})

test('a command that creates makes the database too, and says so', async (t) => {
  for (const words of CREATING) {
    const folder = temporaryFolder(t)
    process.env['DATABASE_URL'] = `sqlite:${join(folder, 'grantor.db')}`
    const { code, stderr } = await command(words)
    assert.equal(code, 0, stderr)
    assert.match(stderr, /^grantor: There was no database at .*; it was created\. /)
    assert.ok(readdirSync(folder).includes('grantor.db'))
    assert.deepEqual((await command(['user', 'list'])).stderr, '')
  }
})

test('on a PostgreSQL without tables of Grantor it is the same', async (t) => {
  const environment = { DATABASE_URL: await openTestDatabase(t), GRANTOR_SECRET: 's'.repeat(40) }
  Object.assign(process.env, environment)
  const { code, stdout, stderr } = await command(['user', 'list'])
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(
    stderr,
    /^grantor: postgres:\/\/\S+ has no Grantor schema\. Check DATABASE_URL, or create the schema with: grantor serve\n$/,
  )
  assert.deepEqual((await readSchema(readConfig({ ...environment }))).applied, [])
  const created = await command(['org', 'create', 'Acme'])
  assert.match(created.stderr, /^grantor: .* had no Grantor schema; it was created\./)
  assert.equal((await command(['org', 'list'])).stderr, '')
})
