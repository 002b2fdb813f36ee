import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { fitOlder } from '../../../src/store/backup/older.ts'
import { EMAIL, requestToken } from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { runHere } from '../../support/command.ts'
import { openPlace, type Place } from '../../support/process.ts'
import { openTestServer, temporaryFolder } from '../../support/server.ts'
import { withChecksum, withColumns, withHeader, withoutTable } from '../../support/store/backup-lines.ts'
import { openTestDatabase } from '../../support/store/postgres.ts'
import { perform, type Members } from '../../support/tasks.ts'

const GRANTOR_SECRET = 'a root secret that is long enough for it'
const MACHINE = { client_id: 'nightly', client_secret: 'a-secret-that-is-long-enough' }

test('BAK-02: a store of another version before 0.1.0 moves if its tables fit, with its credentials', async (t) => {
  const { place, lines } = await openExport(t)
  const reordered = withColumns(withoutTable(lines, 'figures'), 'users', (values) => values.toReversed())
  const fewer = withColumns(reordered, 'clients', (values, columns) =>
    values.toSpliced(columns.indexOf('pending_until'), 1),
  )
  const renamed = withColumns(fewer, 'roles', (values) => values.map(asBefore))
  const older = withColumns(renamed, 'grants', (values, columns) => [
    ...values,
    values === columns ? 'previous_hash' : 'x',
  ])
  for (const url of [`sqlite:${join(temporaryFolder(t), 'grantor.db')}`, await openTestDatabase(t)]) {
    const target = { DATABASE_URL: url, GRANTOR_SECRET }
    const { code, stdout, stderr } = await importLines(place, older, target)
    assert.deepEqual([code, /is valid, [^.]+, except:\n {2}refresh tokens: /.test(stdout)], [0, true], stderr)
    const moved = await openTestServer(t, { env: target })
    assert.equal((await requestToken(moved, MACHINE, { grant_type: 'client_credentials' })).statusCode, 200)
    const { roles } = await perform<{ readonly roles: readonly object[] }>(moved.context, 'role.list', {})
    assert.equal(roles.length, 1)
    await moved.close()
  }
})

test('BAK-02: tables of another version that do not fit are refused, and the message names the remedy', async (t) => {
  const { place, lines } = await openExport(t)
  const url = `sqlite:${join(temporaryFolder(t), 'grantor.db')}`
  for (const [changed, message] of [
    [
      withColumns(lines, 'organizations', (values, columns) => [...values, values === columns ? 'former' : 1]),
      /has a column of the table organizations that its schema does not have\. .* Restore it with that version/,
    ],
    [
      withColumns(lines, 'memberships', (values, columns) => values.toSpliced(columns.indexOf('not_before'), 1)),
      /lacks the column not_before of the table memberships/,
    ],
    [
      withColumns(lines, 'clients', (values, columns) =>
        values === columns ? values : values.with(columns.indexOf('secret_hash'), 'x'.repeat(43)),
      ),
      /table clients has credentials that this version cannot verify.*Restore it with that version/,
    ],
  ] as const) {
    const { code, stderr } = await importLines(place, changed, { DATABASE_URL: url, GRANTOR_SECRET })
    assert.deepEqual([code, message.test(stderr)], [1, true], stderr)
  }
})

test('a column that is in the list without a successor is left out, and a renamed one has its new name', () => {
  const slice = { table: 'users', columns: ['user_id', 'former', 'since'], rows: [['one', 1, 2]] }
  const list = [
    { table: 'users', column: 'former', becomes: undefined },
    { table: 'users', column: 'since', becomes: 'created_at' },
    { table: 'other', column: 'user_id', becomes: undefined },
  ]
  assert.deepEqual(fitOlder(slice, list), { table: 'users', columns: ['user_id', 'created_at'], rows: [['one', 2]] })
})

function asBefore(value: unknown): unknown {
  return value === 'set_at' ? 'created_at' : value
}

/**
 * former-clients.backup is `grantor export --final` of the commit 6c630ee01874, which stored the members of clients by other names than those
 * of the wire. Three clients had registered, and an administrator had created two with chosen ids.
 */
const FORMER = {
  lines: readFileSync(new URL('former-clients.backup', import.meta.url), 'utf8').split(/(?<=\n)/),
  board: {
    client_id: 'gci_01a22d9ab156n2HzjfZ2uaDv8K6ABuGuJA',
    registration_access_token:
      'gmt_01a22d9ab1564YoflhuSL20av9fycoJC_gITLl4mI1dakMqO7ZoAe5dtMSp-Gy0O0xmTYPsYELPBsPfFRYkRGzpfK8nJQHo4Jce',
  },
  tool: {
    client_name: 'Tool',
    redirect_uris: ['http://127.0.0.1/cb'],
    token_endpoint_auth_method: 'none',
    dpop_bound_access_tokens: true,
    require_pushed_authorization_requests: true,
  },
  toolId: 'gci_01a22d9ab17alsf1xR2K7azcxCEGGM2X_w',
  signerId: 'gci_01a22d9ab198jrsacBGiwFJiW3SgXzbpLA',
}

const BOARD = {
  redirect_uris: ['https://board.example/cb'],
  token_endpoint_auth_method: 'client_secret_basic',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  scope: 'openid profile',
  id_token_signed_response_alg: 'ES256',
  default_max_age: 600,
  default_acr_values: ['phr'],
  require_auth_time: true,
  post_logout_redirect_uris: ['https://board.example/out'],
  client_name: 'Board',
  software_id: 'board',
  software_version: '1',
  client_uri: 'https://board.example/',
  logo_uri: 'https://board.example/l.png',
  tos_uri: 'https://board.example/t',
  policy_uri: 'https://board.example/p',
  contacts: ['ada@board.example'],
}
const SIGNER = {
  client_name: 'Signer',
  redirect_uris: ['https://signer.example/cb'],
  token_endpoint_auth_method: 'private_key_jwt',
  jwks: {
    keys: [
      {
        kty: 'EC',
        crv: 'P-256',
        x: 'tmHhx4rcRyBr-f54l-K7dWoWyuqETajP8BdWlLosJsI',
        y: 'JwpEdsSS16bKg0BYQUzsbbTJNxFcbLSakivc3ggkDMU',
        kid: 'k',
      },
    ],
  },
  token_endpoint_auth_signing_alg: 'ES256',
}

test('clients that were stored by the former names of their members are read, shared, changed and adopted', async (t) => {
  const place = await openPlace(t)
  for (const url of [`sqlite:${join(temporaryFolder(t), 'grantor.db')}`, await openTestDatabase(t)]) {
    const target = { DATABASE_URL: url, GRANTOR_SECRET }
    const { code, stderr } = await importLines(place, FORMER.lines, target)
    assert.equal(code, 0, stderr)
    const server = await openTestServer(t, { env: target })
    const manage = async (method: 'GET' | 'PUT', payload?: object) => {
      const answer = await server.inject({
        method,
        url: `/v2/oauth/register?client_id=${FORMER.board.client_id}`,
        headers: { authorization: `Bearer ${FORMER.board.registration_access_token}` },
        ...(payload && { payload: { client_id: FORMER.board.client_id, ...payload } }),
      })
      assert.equal(answer.statusCode, 200, answer.body)
      return answer.json<Members>()
    }
    assert.partialDeepStrictEqual(await manage('GET'), BOARD)
    assert.partialDeepStrictEqual(await manage('PUT', BOARD), BOARD)
    assert.partialDeepStrictEqual(await manage('PUT', { ...BOARD, client_name: 'Panel' }), {
      ...BOARD,
      client_name: 'Panel',
    })
    const { events } = await perform<{ events: readonly { event: string }[] }>(server.context, 'audit.list', {
      client_id: FORMER.board.client_id,
    })
    assert.equal(events.filter(({ event }) => event === 'client.updated').length, 1)

    const again = await server.inject({ method: 'POST', url: '/v2/oauth/register', payload: FORMER.tool })
    assert.equal(again.json<Members>()['client_id'], FORMER.toolId)

    const show = (id: string) => perform(server.context, 'client.show', { client_id: id })
    assert.partialDeepStrictEqual(await show(FORMER.signerId), SIGNER)
    await perform(server.context, 'client.adopt', { client_id: FORMER.signerId })
    assert.partialDeepStrictEqual(await show(FORMER.signerId), { ...SIGNER, source: 'operator' })
    assert.partialDeepStrictEqual(await show('job'), { jwks_uri: 'https://job.example/jwks' })
    await perform(server.context, 'client.update', { client_id: 'notified', require_auth_time: false })
    assert.partialDeepStrictEqual(await show('notified'), {
      backchannel_logout_uri: 'https://n.example/bc',
      backchannel_logout_session_required: true,
      require_auth_time: false,
    })
    await server.close()
  }
})

/** A final export of a store with a user who has a role, and a client with a secret. */
async function openExport(t: TestContext) {
  const own = { DATABASE_URL: `sqlite:${join(temporaryFolder(t), 'grantor.db')}`, GRANTOR_SECRET }
  const server = await openTestServer(t, { env: own })
  await createAda(server)
  await perform(server.context, 'client.create', { client_id: MACHINE.client_id, client_name: 'Nightly' })
  await perform(server.context, 'client.set-secret', MACHINE)
  const ada = await server.context.store.findUserByEmail(EMAIL)
  await perform(server.context, 'role.set', { user_id: ada?.id, access: 'write' })
  await server.close()
  const place = await openPlace(t)
  const file = join(place.folder, 'moved')
  const { code, stderr } = await runHere(place, ['export', '--to', file, '--final'], { environment: own })
  assert.equal(code, 0, stderr)
  return { place, lines: readFileSync(file, 'utf8').split(/(?<=\n)/) }
}

function importLines(place: Place, lines: readonly string[], environment: Readonly<Record<string, string>>) {
  const file = join(place.folder, 'older')
  writeFileSync(file, withChecksum(withHeader(lines, { schema_digest: 'another' }), GRANTOR_SECRET).join(''))
  return runHere(place, ['import', 'grantor', file], { environment })
}
