import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { KEYCLOAK } from '../../src/import/sources/keycloak.ts'
import type { UserId } from '../../src/protocol/ids.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { openTestServer, type TestServer } from '../support/server.ts'
import { assertStoreUnchanged } from '../support/store/dump.ts'
import { perform } from '../support/tasks.ts'
import { aUserLine, importFile, outcomesOf, writeInput, writeRecords } from './importing.ts'

const server = await openTestServer(WHOLE_FILE)

async function groupsOf({ context }: TestServer, id: string): Promise<readonly string[]> {
  return (await context.store.listGroupsOfUser(id as UserId)).map(({ groupId, source }) => `${groupId} ${source}`)
}

test('a file has groups and the users in them; what cannot be is left out by name, and a second run finds the same', async (t) => {
  const records = [
    { type: 'organization', id: 'acme', name: 'Acme' },
    { type: 'group', id: 'finance', name: 'Finance' },
    { type: 'group', id: 'acme/ops' },
    { type: 'group', id: 'globex/ops' },
    { type: 'group', id: 'Finance Team' },
    aUserLine('u-1', { organizations: ['acme'], groups: ['finance', 'acme/ops', 'finance'] }),
    aUserLine('u-2', { groups: ['finance', 'acme/ops', 'dev', 'Finance Team'] }),
  ]
  const path = writeRecords(t, records)
  const wanted = [
    'created',
    'created',
    'created',
    'refused group_not_possible',
    'refused id_reserved',
    'created needs_link',
    'created needs_link group_dropped',
  ]
  const dry = await assertStoreUnchanged(server, () => importFile(t, server, path, { isDryRun: true }))
  assert.deepEqual(outcomesOf(dry), wanted)
  const imported = await importFile(t, server, path)
  assert.deepEqual(outcomesOf(imported), wanted)
  assert.equal(imported.report.at(-1)?.detail, 'group …, group dev')
  assert.deepEqual(imported.counts.kinds.group, { created: 2, refused: 2 })
  assert.deepEqual(await groupsOf(server, 'u-1'), ['acme/ops operator', 'finance operator'])
  assert.deepEqual(await groupsOf(server, 'u-2'), ['finance operator'])
  const again = outcomesOf(await importFile(t, server, path))
  assert.deepEqual(
    again,
    wanted.map((one) => one.replace('created', 'same')),
  )
})

test('an import adds a group to an account that was not used here, and not again after an administrator removed the user', async (t) => {
  const [user_id, group_id] = ['u-3', 'finance']
  const run = (groups: readonly string[]) =>
    importFile(t, server, writeRecords(t, [aUserLine(user_id, { groups })]), { isUpdate: true })
  assert.deepEqual(outcomesOf(await run([])), ['created needs_link'])
  const updated = await run([group_id])
  assert.deepEqual([outcomesOf(updated), updated.report[0]?.detail], [['updated needs_link'], 'groups'])
  assert.deepEqual(await groupsOf(server, user_id), ['finance operator'])
  await perform(server.context, 'group.remove-member', { group_id, user_id })
  assert.deepEqual(outcomesOf(await run([group_id])), ['differs needs_link'])
  assert.deepEqual(await groupsOf(server, user_id), [])
})

/** As "kc.sh export" writes groups and realm roles, in the realm of the fixture, whose users are in none. */
function realmWithGroups(): string {
  const realm = JSON.parse(readFileSync('test/import/keycloak-realm.json', 'utf8')) as {
    readonly users: readonly { readonly username: string }[]
  }
  const group = (path: string, subGroups: readonly object[] = [], differing: object = {}) => ({
    id: `id-of-${path}`,
    name: path.split('/').at(-1),
    path,
    attributes: {},
    realmRoles: [],
    clientRoles: {},
    subGroups,
    ...differing,
  })
  const role = (name: string, composite = false) => ({ id: name, name, composite, clientRole: false, attributes: {} })
  const groups = [
    group('/staff', [group('/staff/ops', [], { realmRoles: ['admin'] })]),
    group('/a:b'),
    group('/a', [group('/a/b')]),
    group('/role', [group('/role/admin')]),
    group('/Finance Team'),
  ]
  const roles = { realm: [role('admin', true), role('default-roles-acme', true), role('uma_authorization')] }
  const users = realm.users.map((user) =>
    user.username === 'ar0'
      ? {
          ...user,
          groups: ['/staff/ops', '/a/b', '/a:b', '/role/admin'],
          realmRoles: ['admin', 'default-roles-acme'],
        }
      : user,
  )
  return JSON.stringify({ ...realm, groups, roles, users })
}

for (const [what, switches, ofUser, lost] of [
  ['its groups', [], ['a:b operator', 'staff:ops operator'], ['groups.realmRoles', 'realmRoles']],
  [
    'its groups and, with --roles, its realm roles',
    ['roles'],
    ['a:b operator', 'role:admin operator', 'staff:ops operator'],
    ['groups.realmRoles', 'roles.composite'],
  ],
] as const)
  test(`Keycloak: ${what}; no two of them become one group, and no group becomes a role`, async (t) => {
    const own = await openTestServer(t)
    const realm = writeInput(t, realmWithGroups())
    const { counts, report } = await importFile(t, own, realm, { source: KEYCLOAK, switches, only: 'users' })
    const groups = report.filter(({ kind }) => kind === 'group')
    assert.deepEqual(
      groups.map(({ source_id: id, outcome, reason }) => [id, outcome, reason].filter((one) => one !== null).join(' ')),
      [
        '/staff created',
        '/staff/ops created',
        '/a:b refused id_reserved',
        '/a created',
        '/a/b created',
        '/role refused id_reserved',
        '/role/admin refused id_reserved',
        '/Finance Team refused id_reserved',
        ...(switches.length === 0 ? [] : ['admin created']),
      ],
    )
    assert.deepEqual(await groupsOf(own, '45d97e97-bf4f-416b-bdce-778ff1549987'), ofUser)
    for (const name of ['groups.realmRoles', 'realmRoles', 'roles.composite'])
      assert.equal(counts.dropped[name], lost.some((one) => one === name) ? 1 : undefined, name)
    const { name } = (await own.context.store.findGroup('staff:ops' as never)) ?? assert.fail()
    assert.equal(name, 'staff/ops')
  })
