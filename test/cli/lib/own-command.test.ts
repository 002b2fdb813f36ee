import assert from 'node:assert/strict'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { replaceCommand, ownCommand } from '../../../src/cli/lib/own-command.ts'
import { openFolder } from '../../../tools/process/session.ts'
import { command, openServerForCommands } from '../../support/command.ts'

const NODE = '/usr/bin/node'
const OWN = 'npm run -s grantor --'
/** A command that is named without saying how it is started here. */
const BARE = /(?<!npm run -s |\/|create_|-)\bgrantor [a-z]{3,}/

test('a command is named as this installation starts it', () => {
  const place = openFolder()
  mkdirSync(join(place, 'path'))
  writeFileSync(join(place, 'path', 'grantor'), '')
  const onPath = { PATH: `/nothing:${place}/path` }
  const rows = [
    [{ npm_lifecycle_event: 'grantor', npm_package_name: 'grantor' }, '/src/bin/grantor.js', '/src', OWN],
    [{ npm_lifecycle_event: 'start', npm_package_name: 'grantor' }, '/src/bin/grantor.js', '/src', OWN],
    [{ npm_lifecycle_event: 'npx', npm_package_name: 'grantor' }, '/x/node_modules/.bin/grantor', '/x', 'npx grantor'],
    [{ npm_lifecycle_event: 'npx', npm_package_name: 'grantor' }, '/x/node_modules/.bin/grantor', '/x', 'npx grantor'],
    [{ npm_lifecycle_event: 'dev', npm_package_name: 'app' }, '/x/node_modules/.bin/grantor', '/x', 'npx grantor'],
    [{}, '/x/node_modules/.bin/grantor', '/x', 'npx grantor'],
    [{}, '/x/node_modules/grantor/bin/grantor.js', '/x', 'npx grantor'],
    [{}, '/src/bin/grantor.js', '/src', 'node bin/grantor.js'],
    [{}, '/src/bin/grantor.js', '/src/bin', 'node ./grantor.js'],
    [{}, '/src/bin/grantor.js', '/elsewhere', 'node /src/bin/grantor.js'],
    [{}, '/app/bin/grantor.js', '/', 'node /app/bin/grantor.js'],
    [{}, "/it's/bin/grantor.js", '/', String.raw`node '/it'\''s/bin/grantor.js'`],
    [onPath, '/opt/grantor/current/bin/grantor.js', '/var/lib/grantor', 'grantor'],
    [onPath, NODE, '/', 'grantor'],
    [{}, NODE, '/usr', 'bin/node'],
    [{}, NODE, '/usr/bin', './node'],
  ] as const
  for (const [environment, file, folder, expected] of rows) {
    assert.equal(ownCommand({ environment, execPath: NODE, file, folder }), expected, `${file} in ${folder}`)
  }
})

test('each message of the sources that names a command is written so that the command is renamed', () => {
  const found = globSync('src/**/*.ts', { exclude: ['src/cli/docs/**'] })
    .flatMap((path) => readFileSync(path, 'utf8').split('\n'))
    .filter((line) => !/^\s*(\/\*\*|\*|\/\/)/.test(line) && BARE.test(line))
    .flatMap((line) => line.match(/(?<=')[^']*(?=')|(?<=`).*(?=`)/g) ?? [line])
    .filter((text) => BARE.test(text))
  assert.ok(found.length > 100, String(found.length))
  const isRenamed = (text: string): boolean => !BARE.test(replaceCommand(text, OWN))
  assert.deepEqual(found.filter((text) => !isRenamed(text)).toSorted(), NOT_RENAMED.toSorted())
})

/** Two members of a log line, the name of a client, parts of messages that put them in quotes or behind a colon, and pages. */
const NOT_RENAMED = [
  'grantor restore --in-place',
  'grantor restore --nothing-lost',
  'grantor perform',
  'grantor doctor',
  'grantor client list-installations ${forShell(client.client_id)}',
  'grantor client enable ${CONSOLE_CLIENT_ID}',
  'grantor api create --resource <uri> --scope <name>=<sentence>',
  'grantor client create --name <name> --redirect-uri <uri>',
  'grantor perform authorization-code',
  '<li class="muted">and ${more} more: ${command(\'grantor audit verify\')}</li>',
  'grantor admin create --name <name> --access read',
  'grantor access-rule create <id> --client <client_id> --except-group <group>',
  'grantor access-rule create <id> --except-client <client_id> --of ${forShell(organization.organization_id)}',
  'grantor api create --resource <uri> --scope <name>=<sentence>',
  'grantor api update ${forShell(resource)}',
  'grantor client set-rules ${forShell(id)}',
  'grantor audit verify --head <chain>:<sequence>',
  'grantor domain trust --known',
  'grantor group create <id>',
  'grantor group create <id> --organization ${forShell(organization.organization_id)}',
  'grantor initial-token create --name <name>',
  'grantor org add-member ${forShell(answers.organization.organization_id)} <address>',
  'grantor role set ${forShell(user_id)} --access ${forShell(to)}',
  'grantor role set ${forShell(user_id)} --access ${forShell(to)} --organization ${forShell(of)}',
  'grantor org create <name>',
  'grantor org install ${forShell(answers.organization.organization_id)} <client> --scope <scope>',
  'grantor provider create <template> --id <id> --name <name> --client-id <id> --client-secret -',
  'grantor role set ${forShell(self)} --access write',
  'grantor role set <email> --access read',
  'grantor user create --email <address> --no-password',
  'grantor key rotate --now --purpose id --algorithm ${algorithm}',
  "grantor key rotate --now${algorithm !== own && declared.has(algorithm) ? ` --algorithm ${algorithm}` : ''}",
]

test('answers, errors, findings and help name the commands of this installation, and names of clients stay', async (t) => {
  await openServerForCommands(t)
  for (const [words, expected] of [
    [['user', 'list'], /Create one: npm run -s grantor -- user create/],
    [['user', 'show', 'ada@example.com'], /See "npm run -s grantor -- user list"/],
    [['domain', 'block', 'bad.example'], /To undo this: npm run -s grantor -- domain forget bad\.example/],
    [['--help'], /Every setting, with its default: npm run -s grantor -- serve --help/],
    [['user', 'show', '--help'], /^Usage: npm run -s grantor -- user show/],
    [['user', 'swim'], /unknown command/],
    [['serve', '--port', '8080'], /It is a setting: PORT=8080 npm run -s grantor -- serve/],
  ] as const) {
    const { stdout, stderr } = await command(words, { command: OWN })
    assert.match(stdout + stderr, expected)
    assert.doesNotMatch(stdout + stderr, BARE, words.join(' '))
  }
  process.env['GRANTOR_MISSPELLED'] = '1'
  const { stdout } = await command(['doctor'], { command: OWN })
  delete process.env['GRANTOR_MISSPELLED']
  assert.match(stdout, /→ See "npm run -s grantor -- serve --help"/)
  await command(['client', 'create', '--name', 'grantor perform', '--redirect-uri', 'https://app.example/cb'])
  assert.match((await command(['client', 'list'], { command: OWN })).stdout, /(?<!-- )\bgrantor perform/)
})
