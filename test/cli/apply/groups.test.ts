import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { command, commandJson, openServerForCommands } from '../../support/command.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'
import type { Members } from '../../support/tasks.ts'
import { openFiles } from './files.ts'

const server = await openServerForCommands(WHOLE_FILE)
const { apply, applied, writeSet } = openFiles(server)
const API = { resource: 'https://api.acme.test', groups: 'roles', group_words: ['finance=pays', 'acme/ops'] }
const BOARD = {
  client_id: 'board',
  client_name: 'Board',
  client_secret: { env: 'BOARD_SECRET' },
  redirect_uris: ['https://board.acme.test/callback'],
  rules: { groups: 'groups', group_words: ['finance=Editor'] },
}
const IDP = {
  provider_id: 'idp',
  template: 'keycloak',
  name: 'Acme',
  issuer: 'https://idp.acme.test',
  client_id: 'grantor',
  client_secret: { env: 'ENTRA_SECRET' },
  group_claim: 'groups',
}
const RECORDS = {
  organizations: [{ organization_id: 'acme', name: 'Acme' }],
  groups: [{ group_id: 'finance', name: 'Finance team', protected: true }, { group_id: 'acme/ops' }],
  apis: [API],
  clients: [BOARD],
}
const EVERYTHING = writeSet(RECORDS)
await applied(EVERYTHING)

test('groups are created with their names, before the clients and APIs that read them, and changes by hand are drift', async () => {
  const { groups } = await commandJson<{ readonly groups: readonly Members[] }>(['group', 'list'])
  assert.deepEqual(
    groups.map(({ group_id, organization_id, name, protected: isProtected }) => [
      group_id,
      organization_id,
      name,
      isProtected,
    ]),
    [
      ['finance', null, 'Finance team', true],
      ['acme/ops', 'acme', 'ops', false],
    ],
  )
  await command(['group', 'update', 'finance', '--name', 'Money', '--no-protected'])
  const rules = ['--consent', 'asked', '--groups', 'roles', '--group', 'acme/ops']
  assert.equal((await command(['client', 'set-rules', 'board', ...rules])).code, 0)
  await command(['api', 'update', API.resource, '--groups', 'off'])
  const { code, stdout } = await apply(['-f', EVERYTHING, '--plan'])
  assert.equal(code, 3)
  assert.match(stdout, /^~ group finance\n {4}name: "Money" → "Finance team"\n {4}protected: false → true\n/)
  assert.match(
    stdout,
    /~ api \S+\n {4}groups: "off" → "roles"\n {4}group_words: \[\] → \["finance=pays","acme\/ops"\]\n/,
  )
  assert.match(stdout, /~ client board\n {4}rules: .*"roles".* → .*"groups".*"finance=Editor"/)
  await applied(EVERYTHING)
  assert.match((await apply(['-f', EVERYTHING, '--plan'])).stdout, /Nothing differs/)
})

test('a client and an API whose claim a file leaves out read no groups, and the group can then be deleted', async () => {
  const { rules: _, ...silent } = BOARD
  const path = writeSet({ ...RECORDS, groups: [], apis: [{ resource: API.resource }], clients: [silent] })
  const said = await applied(path, '--prune')
  assert.match(said, /- group finance\n {4}Its members are in it no longer\.\n- group acme\/ops\n/)
  assert.match((await apply(['-f', path, '--plan'])).stdout, /Nothing differs/)
  await applied(EVERYTHING)
})

for (const [what, records, words, message] of [
  [
    'a group of an organization that nothing has',
    { groups: [{ group_id: 'globex/ops' }] },
    [],
    /The group globex\/ops: no file and no record is the organization globex\./,
  ],
  [
    'a client and an API that name groups that nothing has',
    {
      apis: [{ ...API, group_words: ['dev=D'] }],
      clients: [{ ...BOARD, rules: { groups: 'groups', group_words: ['acme/dev'] } }],
    },
    [],
    /The api \S+: no file and no record is the group dev\.\nThe client board: no file and no record is the group acme\/dev\./,
  ],
  [
    'the deletion of a group that a client names',
    { ...RECORDS, groups: [{ group_id: 'acme/ops' }], apis: [{ resource: API.resource }] },
    ['--prune'],
    /The client board: no file and no record is the group finance\./,
  ],
  [
    'a provider that names a group that nothing has',
    { providers: [{ ...IDP, groups: ['8f3c=dev'] }] },
    [],
    /The provider idp: no file and no record is the group dev\./,
  ],
  ['an id that no group has', { groups: [{ group_id: 'acme/Fi nance' }] }, [], /groups\.0\.group_id: /],
] as const)
  test(`a plan refuses ${what}`, async () => {
    const path = writeSet(records)
    const { code, stderr } = await assertStoreUnchanged(server, () => apply(['-f', path, '--yes', ...words]))
    assert.equal(code, 2, stderr)
    assert.match(stderr, message)
  })

test('a provider comes after the groups that it says, and says none when the file names no claim', async () => {
  const set = { ...RECORDS, groups: [...RECORDS.groups, { group_id: 'dev' }] }
  await applied(writeSet({ ...set, providers: [{ ...IDP, groups: ['8f3c=dev', 'a=acme/ops'] }] }))
  const { group_claim: _, ...silent } = IDP
  const left = await applied(writeSet({ ...RECORDS, providers: [silent] }), '--prune')
  assert.match(left, /~ provider idp\n {4}group_claim: "groups" → –\n {4}groups: .*→ \[\]\n/)
  assert.match(left, /- group dev\n/)
})

test('--print has the groups and the claims', async () => {
  const printed = JSON.parse((await apply(['--print', '--json'])).stdout) as typeof RECORDS
  assert.deepEqual(printed.groups, [{ group_id: 'acme/ops' }, RECORDS.groups[0]])
  assert.partialDeepStrictEqual(printed.apis, [API])
  assert.partialDeepStrictEqual(printed.clients[0]?.rules, BOARD.rules)
})

const RULE = {
  rule_id: 'payments',
  clients: ['board'],
  except_clients: ['source:document'],
  apis: [API.resource],
  except_groups: ['finance', 'acme/ops'],
  organizations: ['any', 'acme'],
  sentence: 'Only Finance',
}

test('access rules are created after what they name, changes by hand are drift, and the printed form is what files have', async () => {
  const file = writeSet({ ...RECORDS, access_rules: [RULE] })
  await applied(file)
  assert.match((await apply(['-f', file, '--plan'])).stdout, /Nothing differs/)
  const change = ['--sentence', 'Ask us', '--require', 'phr', '--max-age', '60', '--state', 'report', '--sign-in']
  assert.equal((await command(['access-rule', 'update', 'payments', ...change, '--except-group', 'finance'])).code, 0)
  const { stdout } = await apply(['-f', file, '--plan'])
  for (const line of [
    '~ access-rule payments',
    'sign_in: true → –',
    'except_groups: ["finance"] → ["finance","acme/ops"]',
    'require: "phr" → "none"',
    'max_age: 60 → 0',
    'state: "report" → "on"',
    'sentence: "Ask us" → "Only Finance"',
  ])
    assert.ok(stdout.includes(line), `${line}\n${stdout}`)
  await applied(writeSet({ ...RECORDS, access_rules: [{ rule_id: 'payments', sign_in: true }] }))
  const { access_rules: rules } = await commandJson<{ readonly access_rules: readonly Members[] }>([
    'access-rule',
    'list',
  ])
  assert.deepEqual(
    rules.map(({ sign_in, clients, except_groups, require, state, sentence }) => [
      sign_in,
      clients,
      except_groups,
      require,
      state,
      sentence,
    ]),
    [[true, [], [], 'none', 'on', null]],
  )
  await applied(file)
  assert.match(
    (await apply(['--print'])).stdout,
    /access_rules:\n {2}- rule_id: payments\n[^]*sentence: Only Finance\n/,
  )
})

test('a rule of a file that names a group or an organization that nothing has, or a user by an address, is refused', async () => {
  const wrong = { ...RULE, groups: ['nothing'], organizations: ['nowhere'], users: ['ada@acme.test'] }
  const addressed = await apply(['-f', writeSet({ ...RECORDS, access_rules: [wrong] }), '--plan'])
  assert.match(addressed.stderr, /"payments" names a user by an address; a file gives the id/)
  const others = await apply(['-f', writeSet({ ...RECORDS, access_rules: [{ ...wrong, users: [] }] }), '--plan'])
  assert.match(
    others.stderr,
    /The access-rule payments: no file and no record is the organization nowhere\.[^]*group nothing\./,
  )
})
