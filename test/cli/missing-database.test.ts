import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openTerminal } from '../../src/cli/lib/terminal.ts'
import { createProgram } from '../../src/cli/program.ts'
import { readConfig } from '../../src/config/config.ts'
import { readSchema } from '../../src/server/store.ts'
import { openSession, openTestDatabase } from '../support/store/postgres.ts'
import { temporaryFolder } from '../support/server.ts'
import { command } from '../support/command.ts'

/** Options without which a command stops before it opens the store. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  'user set-password': ['--password', 'correct horse battery staple'],
  'api update': ['--name', 'Projects'],
  'provider update': ['--name', 'Acme'],
  'user update': ['--name', 'Ada'],
  'group update': ['--name', 'Finance'],
  'access-rule update': ['--state', 'off'],
  'client update': ['--name', 'Board'],
  'client purge': ['--yes'],
  'client set-secret': ['--client-secret-file', import.meta.filename],
  'token revoke-all': ['--yes'],
}

/** Every command that performs a task, except those that create a record, each with an argument for each subject. */
async function commandsWithoutCreate(): Promise<readonly (readonly string[])[]> {
  const { commands: nouns } = await createProgram(openTerminal(process, {}, 'grantor'), () => true)
  return nouns.flatMap((noun) =>
    noun.commands
      .filter((verb) => verb.name() !== 'create' && verb.options.some(({ long }) => long === '--server'))
      .map((verb) => [
        noun.name(),
        verb.name(),
        ...verb.registeredArguments.map(() => 'nonsense'),
        ...verb.options.flatMap(({ long, mandatory, argChoices }) =>
          mandatory && long ? [long, argChoices?.[0] ?? 'nonsense'] : [],
        ),
        ...(NEEDED[`${noun.name()} ${verb.name()}`] ?? []),
      ]),
  )
}

const CREATING: readonly (readonly string[])[] = [
  ['user', 'create', '--email', 'ada@acme.test', '--password', 'correct horse battery staple'],
  ['org', 'create', 'Acme'],
  ['api', 'create', '--resource', 'https://api.acme.test'],
  ['admin', 'create', '--name', 'Ada', '--access', 'read'],
  ['migrate'],
]

test('a command that creates no record reports that there is no database, and creates none', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'nowhere', 'grantor.db')
  process.env['DATABASE_URL'] = `sqlite:${path}`
  const commands = await commandsWithoutCreate()
  assert.ok(commands.length > 40)
  for (const words of commands) {
    const { code, stdout, stderr } = await command(words)
    assert.deepEqual([code, stdout], [1, ''], words.join(' '))
    assert.equal(
      stderr,
      `grantor: There is no database at ${path}. Check DATABASE_URL, or create the database with: grantor serve\n`,
    )
    assert.deepEqual(readdirSync(folder), [], words.join(' '))
  }
})

test('a command that creates a record creates the database too, and reports it', async (t) => {
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

test('a PostgreSQL database without the schema of Grantor is treated as a missing database', async (t) => {
  const environment = { DATABASE_URL: await openTestDatabase(t), GRANTOR_SECRET: 's'.repeat(40) }
  Object.assign(process.env, environment)
  const { code, stdout, stderr } = await command(['user', 'list'])
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(
    stderr,
    /^grantor: postgres:\/\/\S+ has no Grantor schema\. Check DATABASE_URL, or create the schema with: grantor serve\n$/,
  )
  assert.deepEqual((await readSchema(readConfig({ ...environment }))).applied, [])
  const session = await openSession(t, environment.DATABASE_URL)
  const database = new URL(environment.DATABASE_URL).pathname.slice(1)
  await session.query(`alter database ${database} set default_transaction_read_only = on`)
  const refused = await command(['migrate'])
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /^grantor: .*read-only/)
  await session.query(`alter database ${database} reset default_transaction_read_only`)
  const created = await command(['org', 'create', 'Acme'])
  assert.match(created.stderr, /^grantor: .* had no Grantor schema; it was created\./)
  assert.equal((await command(['org', 'list'])).stderr, '')
})
