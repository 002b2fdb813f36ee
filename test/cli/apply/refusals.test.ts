import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { adminServerOf } from '../../support/admin-server.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { command, openServerForCommands } from '../../support/command.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'
import { perform, type Members } from '../../support/tasks.ts'
import { openFiles, RECORDS } from './files.ts'

const server = await openServerForCommands(WHOLE_FILE)
const stage = adminServerOf(server)
const { apply, write, writeSet } = openFiles(server)
const HEAD = 'version: 1\nset: production\n'
const ONE = writeSet({ organizations: [{ organization_id: 'acme', name: 'Acme' }] })
writeFileSync(join(server.folder, 'open-secret'), 'a-secret-that-others-read', { mode: 0o644 })

function client(members: string): string {
  return `${HEAD}clients: [{ client_id: board, client_name: Board, ${members} }]\n`
}

for (const [what, text, message] of [
  [
    'an inline secret',
    client('client_secret: s3cr3t-in-the-file'),
    /clients\.0\.client_secret: A secret is not in the file/,
  ],
  [
    'a private key',
    client('jwks: { keys: [{ kty: OKP, crv: Ed25519, x: 11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo, d: s3cr3t }] }'),
    /"board" has a jwks that is not acceptable/,
  ],
  ['a secret that is like a tag', client('client_secret: !s3cr3t'), /tags are not allowed at line 3/],
  [
    'a secret that is like the begin of a text',
    `${HEAD}clients:\n  - client_secret: |s3cr3t\n`,
    /Block scalar header includes extra characters at line 4/,
  ],
  ['a secret that is like a directive', `%s3cr3t\n---\n${HEAD}`, /directives are not allowed at line 1/],
  ['a missing variable', client('client_secret: { env: ABSENT }'), /the variable ABSENT is missing or empty/],
  ['a secret that can be guessed', client('client_secret: { env: GUESSABLE }'), /client_secret: .*can be guessed/],
  ['a missing secret file', client('client_secret: { file: nowhere }'), /nowhere, which cannot be read/],
  ['a secret file that others read', client('client_secret: { file: open-secret }'), /Other users can read it/],
  [
    'an unknown member',
    client('redirect_uri: https://a.example/'),
    /\.yaml:3: clients\.0\.redirect_uri: There is no such field/,
  ],
  ['an unknown kind', `${HEAD}users: []\n`, /users: There is no such field/],
  ['__proto__', `${HEAD}__proto__: { a: 1 }\n`, /There is no such field/],
  ['no set', 'version: 1\n', /set: This field is required/],
  ['another version', 'version: 2\nset: production\n', /version: /],
  ['a wrong value', client('default_max_age: -1'), /clients\.0\.default_max_age: /],
  ['a duplicate key', `${HEAD}set: other\n`, /Map keys must be unique/],
  ['an alias', `${HEAD}apis: &a []\nclients: *a\n`, /aliases are not allowed/],
  ['an alias bomb', `a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n`, /aliases are not allowed/],
  ['a tag', `version: !!int 1\nset: production\n`, /tags are not allowed/],
  ['a directive', `%YAML 1.1\n---\n${HEAD}`, /directives are not allowed/],
  ['two documents', `${HEAD}---\n${HEAD}`, /not one document/],
  ['deep nesting', `${HEAD}apis: ${'['.repeat(5000)}${']'.repeat(5000)}\n`, /nested too deep/],
  ['more than 1 MiB', `${HEAD}# ${'x'.repeat(1_048_576)}\n`, /more than 1 MiB/],
  [
    'one record twice',
    `${HEAD}domains: { trusted: [A.example], blocked: [a.example] }\n`,
    /the domain a\.example is described already, in \S+\.yaml:3\./,
  ],
  [
    'a wrong value on a later line',
    `${HEAD}clients:\n  - client_id: board\n    client_name: Board\n    default_max_age: -1\n`,
    /\.yaml:6: clients\.0\.default_max_age: /,
  ],
  [
    'a record without a name',
    `${HEAD}clients:\n  - { client_id: board, client_name: Board }\n  - client_id: other\n`,
    /\.yaml:5: clients\.1\.client_name: This field is required/,
  ],
  [
    'a text in the place of a list',
    client('redirect_uris: https://board.example/cb'),
    /^grantor: \S+\.yaml:3: clients\.0\.redirect_uris: [^\n]*expected array, received string\n$/,
  ],
  ['a public suffix', `${HEAD}domains: { trusted: ['*.co.uk'] }\n`, /"\*\.co\.uk" is a public suffix/],
  [
    'too many records',
    `${HEAD}domains: { blocked: [${Array.from({ length: 1001 }, (_, index) => `h${index}.example`).join()}] }\n`,
    /There are 1001 records\. A set has at most 1,000/,
  ],
] as const)
  test(`APL-01: ${what} in a file is refused with exit code 2, and nothing changes`, async () => {
    const path = write(text)
    const variables = { GUESSABLE: 'aaaaaaaaaaaaaaaaaaaa' }
    const { code, stdout, stderr } = await assertStoreUnchanged(server, () =>
      apply(['-f', path, '--yes'], { variables }),
    )
    assert.deepEqual([code, stdout], [2, ''], stderr)
    assert.match(stderr, message)
    assert.doesNotMatch(stderr, /s3cr3t|aaaaaaaaaaaaaaaaaaaa/)
  })

test('APL-01: a pipe is read up to the limit, however much its writer has', async () => {
  const path = join(server.folder, 'pipe')
  execFileSync('mkfifo', [path])
  const writer = spawn('sh', ['-c', 'exec head -c 4000000 /dev/zero > "$0"', path], { stdio: 'ignore' })
  const ended = once(writer, 'exit')
  const { code, stderr } = await apply(['-f', path, '--plan'])
  assert.deepEqual([code, stderr], [2, `grantor: ${path} has more than 1 MiB.\n`])
  assert.notEqual((await ended)[0], 0)
})

test('APL-01: one record in two files, and files of two sets, are refused; files of one set are applied together', async () => {
  const twice = await apply([
    '-f',
    ONE,
    '-f',
    writeSet({ organizations: [{ organization_id: 'acme', name: 'Apex' }] }),
    '--yes',
  ])
  assert.deepEqual([twice.code, /the organization acme is described already, in /.test(twice.stderr)], [2, true])
  const sets = await apply(['-f', ONE, '-f', writeSet({}, 'other'), '--yes'])
  assert.match(sets.stderr, /The files name the sets production, other/)
  const both = await apply(['-f', ONE, '-f', writeSet({ domains: { trusted: ['claude.ai'] } }), '--plan'])
  assert.deepEqual([both.code, both.stdout], [3, '+ organization acme\n+ domain claude.ai\n'])
})

test('APL-01: a plan needs none of the secrets that it does not compare, and a run needs each', async () => {
  const path = writeSet(RECORDS)
  rmSync(join(server.folder, 'entra-secret'))
  const planned = await apply(['-f', path, '--plan'], { variables: {} })
  assert.deepEqual([planned.code, planned.stderr], [3, ''])
  assert.match(planned.stdout, /\+ provider entra\n\+ client board\n\+ client app\n/)
  const run = await assertStoreUnchanged(server, () => apply(['-f', path, '--yes'], { variables: {} }))
  assert.equal(run.code, 2)
  assert.match(
    run.stderr,
    /providers\.0\.client_secret: it names .*\n.*clients\.0\.client_secret: the variable BOARD_SECRET/,
  )
})

test('options that contradict each other are refused with exit code 2', async () => {
  for (const words of [
    [],
    ['--print', '--schema'],
    ['-f', ONE, '--plan', '--yes'],
    ['--print', '--prune'],
    ['-f', ONE, '--set', 'a'],
    ['-f', 'nowhere.yaml'],
  ])
    assert.equal((await apply(words)).code, 2, words.join(' '))
})

test('APL-05: at a server, read credentials plan and change nothing, and credentials of one organization are refused', async () => {
  const at = (words: readonly string[], token: string) => apply([...words, '--server', server.adminOrigin], { token })
  const [read, ours, full] = [
    (await stage.issue('read')).token,
    (await stage.issue('write', await stage.makeOrganization())).token,
    (await stage.issue('write')).token,
  ]
  assert.equal((await at(['-f', ONE, '--plan'], read)).code, 3)
  const refused = await assertStoreUnchanged(server, () => at(['-f', ONE, '--yes'], read))
  assert.deepEqual([refused.code, /do not permit this request/.test(refused.stderr)], [1, true], refused.stderr)
  for (const words of [['-f', ONE, '--plan'], ['-f', ONE, '--yes'], ['--print']])
    assert.equal((await assertStoreUnchanged(server, () => at(words, ours))).code, 1)
  assert.equal((await at(['-f', ONE, '--yes'], full)).stdout, '+ organization acme\nMade 1 of 1 change.\n')
  assert.equal((await at(['-f', ONE, '--yes'], read)).stdout, 'Nothing differs from the set production.\n')
  assert.match((await at(['--print'], read)).stdout, /organization_id: acme/)
  assert.equal((await at(['-f', writeSet({}), '--yes', '--prune'], full)).code, 0)
})

test('a client that registered is not described by a file until it is adopted', async () => {
  const { client_id: id } = await stage.makeClient()
  const path = writeSet({
    clients: [
      {
        client_id: id,
        client_name: 'Ours',
        redirect_uris: ['https://ours.example/'],
        token_endpoint_auth_method: 'none',
      },
    ],
  })
  const { code, stderr } = await apply(['-f', path, '--yes'])
  assert.equal(code, 2)
  assert.match(stderr, /cannot be described by a file: it registered\. To take it over: grantor client adopt gci_/)
})

test('a set takes no record of another one, and a server has at most 20 sets of 1,000 records', async () => {
  const { context } = server
  const record = async (set: string, input: Members = {}) =>
    perform<{ readonly mark: string }>(context, 'apply.record', { set, step: 'begin', mark: null, ...input })
  const add = (from: number) =>
    Array.from({ length: 100 }, (_, index) => ({ kind: 'client', key: `client-${from + index}` }))
  let { mark } = await record('full', { add: add(0) })
  for (let from = 100; from < 1000; from += 100)
    ({ mark } = await record('full', { step: 'continue', mark, add: add(from) }))
  await assert.rejects(record('full', { step: 'continue', mark, add: add(1000) }), /A set has at most 1,000 records/)
  const more = await assertStoreUnchanged(server, () =>
    apply(['-f', writeSet({ domains: { trusted: ['claude.ai'] } }, 'full'), '--plan', '--prune']),
  )
  assert.deepEqual([more.code, /The set full has 1000 records, and would get 1 more\./.test(more.stderr)], [2, true])
  await assert.rejects(record('second', { add: add(0).slice(0, 1) }), /The client client-0 belongs to the set full/)
  const { sets } = await perform<{ readonly sets: readonly unknown[] }>(context, 'apply.list', {})
  for (let count = sets.length; count < 20; count += 1) await record(`set-${count}`)
  await assert.rejects(record('one-more'), /A server has at most 20 sets/)
})

test('--schema is made from the schemas of the tasks', async () => {
  const { stdout } = await apply(['--schema'])
  const { properties } = JSON.parse(stdout) as {
    readonly properties: Record<string, { items: { properties: Members } }>
  }
  const members = Object.keys(properties['clients']?.items.properties ?? {})
  for (const name of ['client_id', 'client_secret', 'rules', 'jwks_uri']) assert.ok(members.includes(name), name)
  assert.deepEqual(Object.keys(properties), [
    'version',
    'set',
    'organizations',
    'groups',
    'apis',
    'domains',
    'providers',
    'clients',
    'access_rules',
  ])
})

test('--plan at a store that does not exist fails, and makes none', async () => {
  const before = process.env['DATABASE_URL']
  process.env['DATABASE_URL'] = `sqlite:${server.folder}/absent.db`
  const { code, stderr } = await command(['apply', '-f', ONE, '--plan'])
  process.env['DATABASE_URL'] = before
  assert.deepEqual(
    [code, /There is no database/.test(stderr), existsSync(join(server.folder, 'absent.db'))],
    [1, true, false],
  )
})
