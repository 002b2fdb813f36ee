import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AUTH0 } from '../../src/import/sources/auth0.ts'
import { KEYCLOAK } from '../../src/import/sources/keycloak.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { openTestServer } from '../support/server.ts'
import { importFile, writeInput } from './importing.ts'

const server = await openTestServer(WHOLE_FILE)
const { store } = server.context

test('what is not taken on purpose is skipped with its reason, and what is no list or no object is an error or refused', async (t) => {
  const user = { enabled: true, email: 'skip@acme.test' }
  const realm = {
    organizations: [
      { id: 'off', name: 'Off', enabled: false },
      { id: 'on', name: 'On', enabled: true },
      'no organization',
    ],
    users: [
      { ...user, id: 'linked', email: 'linked@acme.test', federationLink: 'ldap' },
      { ...user, id: 'machine', serviceAccountClientId: 'job' },
      { ...user, email: 'written@acme.test', username: 'written' },
      'no user',
      { ...user, id: 'skip', federatedIdentities: {} },
    ],
    federatedUsers: [{ id: 'f:1:ada', credentials: [] }],
    clients: ['no client'],
  }
  const { counts, report } = await importFile(t, server, writeInput(t, JSON.stringify(realm)), { source: KEYCLOAK })
  assert.deepEqual(
    report.map(({ source_id: id, outcome, reason }) => [id, outcome, reason]),
    [
      ['off', 'created', null],
      ['on', 'created', null],
      [null, 'refused', 'line_malformed'],
      ['linked', 'skipped', 'user_elsewhere'],
      ['machine', 'skipped', 'part_of_system'],
      [null, 'refused', 'id_absent'],
      [null, 'refused', 'line_malformed'],
      ['skip', 'refused', 'record_malformed'],
      ['f:1:ada', 'skipped', 'user_elsewhere'],
      [null, 'refused', 'line_malformed'],
    ],
  )
  assert.deepEqual(counts.kinds, {
    organization: { created: 2, refused: 1 },
    group: {},
    user: { skipped: 3, refused: 3 },
    client: { refused: 1 },
  })
  const [off, on] = await Promise.all(['off', 'on'].map((id) => store.findOrganization(id as never)))
  assert.ok(off?.disabledAt !== undefined && on?.disabledAt === undefined)
  const page = { start: 0, limit: 50, length: 1, total: 1, clients: [{ client_id: 'x' }] }
  const others = { clients: writeInput(t, JSON.stringify(page), 'clients') }
  await assert.rejects(
    importFile(t, server, writeInput(t, ''), { source: AUTH0, others }),
    /the clients must be a JSON array, and this is an object with the members start, limit, length, total, clients\./,
  )
  for (const name of ['users', 'clients', 'organizations', 'federatedUsers'])
    await assert.rejects(
      importFile(t, server, writeInput(t, JSON.stringify({ [name]: { a: 1 } })), { source: KEYCLOAK }),
      new RegExp(`${name} must be a JSON array, and this is an object with the members a\\.`),
    )
})
