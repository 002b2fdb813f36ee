import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ProviderDocument, ProviderTestDocument } from '../../../src/admin/provider/settings.ts'
import { registerClient } from '../../../tools/flow.ts'
import { ASSERTION_GRANT_TYPES } from '../../../tools/identity-assertion.ts'
import { declareApi, JWT_API, knowApis } from '../../support/apis.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { command, commandJson, findingsAbout, openServerForCommands } from '../../support/command.ts'
import { CLIENT_SECRET, openProviderHost } from '../../support/provider/provider-host.ts'
import { aGrant } from '../../support/records.ts'
import { selectAll } from '../../support/store/dump.ts'
import { said } from '../../support/tasks.ts'

const server = await openServerForCommands(WHOLE_FILE)
const host = await openProviderHost(WHOLE_FILE)
const SECRET_FILE = join(server.folder, 'client-secret')
writeFileSync(SECRET_FILE, `${CLIENT_SECRET}\n`)

async function words(...typed: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await command(['provider', ...typed])
  assert.deepEqual([code, stderr], [0, ''], typed.join(' '))
  return stdout
}

function create(id: string, ...more: readonly string[]): readonly string[] {
  const own = ['--issuer', host.issuer, '--client-secret-file', SECRET_FILE]
  return ['create', 'oidc', '--id', id, '--name', 'Acme ID', '--client-id', 'grantor', ...own, ...more]
}

test('provider create without a template lists the templates', async () => {
  const { code, stderr } = await command(['provider', ...create('acme').filter((word) => word !== 'oidc')])
  assert.equal(code, 2)
  assert.match(stderr, /The template is missing\. .* with --template: .*google.*github/)
})

test('provider: a provider is created, tested, changed, disabled, enabled, shown, listed and deleted', async () => {
  assert.match(await words('list'), /^No provider was found\. .*grantor provider create/)
  const created = await words(
    ...create('acme', '--domain', 'acme.test', '--domain', 'ACME.example', '--sign-up', 'domains'),
  )
  assert.match(
    created,
    new RegExp(
      `^${said('provider.create', { name: 'Acme ID', provider_id: 'acme' })}[^]*\n {2}http\\S+/v2/oauth/callback/acme\n[^]*provider test acme`,
    ),
  )
  assert.match(
    await words('test', 'acme'),
    /^ok +discovery [^]*\nok +keys +The provider has 1 key\.\nok +secret +The provider accepts the client_id and the secret\.\nThe redirect URI to register[^]*callback\/acme\n$/,
  )
  assert.match(await words('list'), /\nacme +Acme ID +oidc +http\S+ +acme\.test acme\.example +no +domains +active\n$/)
  await words('update', 'acme', '--name', 'Apex', '--routing', 'required', '--multi-factor')
  const shown = await commandJson<ProviderDocument>(['provider', 'show', 'acme'])
  const changed = { name: 'Apex', routing: 'required', multi_factor: true }
  assert.partialDeepStrictEqual(shown, { ...changed, has_secret: true, link: 'ask' })
  await words(
    'update',
    'acme',
    '--domain',
    '',
    '--routing',
    'offered',
    '--no-multi-factor',
    '--sign-up',
    'off',
    '--private-host',
    'idp.internal',
  )
  assert.equal((await commandJson<ProviderDocument>(['provider', 'show', 'acme'])).multi_factor, false)
  assert.match(
    await words('disable', 'acme'),
    /no person can sign in there\.\nEnable it: grantor provider enable acme\n$/,
  )
  assert.match(await words('list'), /disabled\n$/)
  const routed = await words('update', 'acme', '--domain', 'acme.test', '--routing', 'required', '--listing', 'shown')
  const stuck =
    /It is disabled, so that no account with an address of acme\.test can sign in\.\nEnable it: [^]* --routing offered\n$/
  assert.match(routed, stuck)
  assert.match(await words('disable', 'acme'), stuck)
  await words('enable', 'acme')
  assert.match(await words('delete', 'acme'), new RegExp(`^${said('provider.delete', { provider_id: 'acme' })}`))
  assert.match((await command(['provider', 'show', 'acme'])).stderr, /There is no provider acme/)
})

test('provider: the secret comes from a file or standard input, and no command, answer or table shows it', async () => {
  await words(...create('filed'))
  const typed = ['create', 'github', '--id', 'piped', '--name', 'GitHub', '--client-id', 'x', '--client-secret']
  const piped = await command(['provider', ...typed, '-'], { input: `${CLIENT_SECRET}\n` })
  assert.deepEqual([piped.code, piped.stderr], [0, ''])
  const refused = await command(['provider', ...typed, CLIENT_SECRET])
  assert.equal(refused.code, 2)
  assert.match(refused.stderr, /visible to other users of the machine/)
  const absent = await command(['provider', ...typed.slice(0, -1), '--client-secret-file', '/no/such/file'])
  assert.deepEqual([absent.code, absent.stderr], [2, 'grantor: /no/such/file cannot be read: ENOENT\n'])
  const missing = await command(['provider', ...typed.slice(0, -1)])
  assert.equal(missing.code, 2)
  const tables = JSON.stringify(selectAll(server, 'select * from providers'))
  const shown = JSON.stringify(await commandJson(['provider', 'list']))
  for (const text of [tables, shown, piped.stdout, refused.stderr]) assert.ok(!text.includes(CLIENT_SECRET))
  for (const id of ['filed', 'piped']) await words('delete', id)
})

test('provider: a provider that does not answer, or calls itself something else, fails the test', async () => {
  await words(...create('away', '--issuer', 'http://127.0.0.1:1'))
  await words(...create('slash', '--issuer', `${host.issuer}/`))
  for (const [id, detail] of [
    ['away', /^The provider cannot be reached \(connection-failed ECONNREFUSED\)\.$/],
    ['slash', /The provider calls itself .*The issuer must be that, byte for byte.*delete the provider/],
  ] as const) {
    const { code, stdout } = await command(['provider', 'test', id, '--json'])
    const { ok, findings } = JSON.parse(stdout) as ProviderTestDocument
    assert.deepEqual([code, ok], [1, false])
    assert.match(findings[0]?.detail ?? '', detail)
    await words('delete', id)
  }
})

for (const [more, message] of [
  [['--issuer', 'https://login.microsoftonline.com/common/v2.0'], /the issuer is that of many tenants/i],
  [['--sign-up', 'domains'], /Sign-up by domains needs at least one domain/],
  [['--domain', 'not a domain'], /--domain.*: This is not a domain/],
  [
    ['--organization', 'gor_01a200f2d7f1OGrZM2nOk7CWgjISwIxFbQ'],
    /An organization needs at least one domain of the provider \(--domain\), or --membership anybody/,
  ],
  [['--domain', 'acme.test', '--organization', 'gor_01a200f2d7f1OGrZM2nOk7CWgjISwIxFbQ'], /There is no organization/],
] as const) {
  test(`provider: create ${more.join(' ')} is refused`, async () => {
    const { code, stderr } = await command(['provider', ...create('wrong', ...more)])
    assert.equal(code, 1)
    assert.match(stderr, message)
  })
}

test('provider: the organization is given by name or id, and removed by an empty text', async () => {
  const { organization_id: id } = await commandJson<{ readonly organization_id: string }>(['org', 'create', 'Acme'])
  const organizationOf = async (): Promise<unknown> =>
    (await commandJson<ProviderDocument>(['provider', 'show', 'named'])).organization_id
  await words(...create('named', '--domain', 'acme.test', '--organization', 'Acme'))
  assert.equal(await organizationOf(), id)
  await words('update', 'named', '--organization', '')
  assert.equal(await organizationOf(), null)
  for (const typed of [id, 'Acme']) await words('update', 'named', '--organization', typed)
  assert.equal(await organizationOf(), id)
  const { code, stderr } = await command(['provider', 'update', 'named', '--organization', 'Acne'])
  assert.deepEqual([code, /no organization with the id or the name "Acne"/.test(stderr)], [1, true])
  await words('delete', 'named')
})

test('provider: an id that is taken or reserved, and a domain of another provider, are refused', async () => {
  await words(...create('first', '--domain', 'acme.test'))
  for (const [typed, message] of [
    [create('first'), /There is already a provider first/],
    [create('second', '--domain', 'acme.test'), /A domain belongs to another provider/],
    [create('delegate'), /This id is reserved/],
    [create('Acme'), /lower-case letters/],
  ] as const) {
    const { code, stderr } = await command(['provider', ...typed])
    assert.equal(code, 1)
    assert.match(stderr, message)
  }
  await words('delete', 'first')
})

test('provider: the clients and APIs of assertions are given together, tested, shown and emptied', async () => {
  await words(...create('asserting'))
  const client = await registerClient(server, { grant_types: ASSERTION_GRANT_TYPES, client_name: 'Agent' })
  const plain = await registerClient(server)
  const lists = ['--assertion-client', client.client_id, '--assertion-client', 'https://app.example/client.json']
  const { code, stderr } = await command(['provider', 'update', 'asserting', ...lists])
  assert.deepEqual([code, /need a client \(--assertion-client\) and an API/.test(stderr)], [1, true])
  for (const wrong of ['gci_nope', 'An agent', 'gcd_01a200f2d7f1OGrZM2nOk7CWgjISwIxFbQ']) {
    const refused = await command(['provider', 'update', 'asserting', '--assertion-client', wrong])
    assert.ok(refused.stderr.includes(`--assertion-client ${wrong}: This is not a client_id`), refused.stderr)
  }
  await words('update', 'asserting', ...lists, '--assertion-api', JWT_API)
  const shown = await commandJson<ProviderDocument>(['provider', 'show', 'asserting'])
  assert.deepEqual(shown.assertion_clients, [client.client_id, 'https://app.example/client.json'])
  assert.match(
    (await command(['provider', 'test', 'asserting'])).stdout,
    /failed +assertions +The API \S+ is not declared\./,
  )
  await declareApi(server, JWT_API)
  knowApis(server)
  assert.match(
    await words('test', 'asserting'),
    /ok +assertions +Clients that may present its assertions: 2; APIs: 1\./,
  )
  await words(...create('twin', '--assertion-client', plain.client_id, '--assertion-api', JWT_API))
  const found = await command(['provider', 'test', 'twin'])
  assert.match(found.stdout, /The provider asserting lists clients too and has the same issuer/)
  assert.match(found.stdout, /The client gci_\S+ is not registered for the grant type urn:/)
  assert.match(
    String(await findingsAbout('provider')),
    /warning,Some assertions of Acme ID \(twin\) are refused: The provider asserting lists clients too/,
  )
  await words('update', 'twin', '--assertion-client', '', '--assertion-api', '')
  assert.deepEqual((await commandJson<ProviderDocument>(['provider', 'show', 'twin'])).assertion_apis, [])
  const open = await registerClient(server, { grant_types: ASSERTION_GRANT_TYPES, token_endpoint_auth_method: 'none' })
  const off = await registerClient(server, { grant_types: ASSERTION_GRANT_TYPES })
  await server.context.store.disableClient({ id: off.client_id as never, now: server.clock.now() })
  const gone = aGrant().clientId
  const wrong = [open.client_id, off.client_id, gone].flatMap((one) => ['--assertion-client', one])
  await words('update', 'asserting', ...wrong, '--assertion-api', `${JWT_API}/gone`)
  const faults = [
    `The client ${open.client_id} does not authenticate and has no metadata document.`,
    `The client ${off.client_id} is disabled.`,
    `The client ${gone} does not exist.`,
    `The API ${JWT_API}/gone is not declared.`,
  ]
  const tested = await command(['provider', 'test', 'asserting'])
  assert.equal(tested.code, 1)
  const reported = (await findingsAbout('provider')).map(([verdict, message]) => `${verdict} ${message}`)
  for (const fault of faults) {
    assert.ok(tested.stdout.includes(fault), `${fault} in: ${tested.stdout}`)
    assert.ok(reported.includes(`warning Some assertions of Acme ID (asserting) are refused: ${fault}`), fault)
  }
  await words('disable', 'asserting')
  assert.match((await command(['provider', 'test', 'asserting'])).stdout, /^failed +state +The provider is disabled/m)
  assert.match(
    String(await findingsAbout('provider')),
    /warning,Acme ID \(asserting\) lists clients for its assertions, but is disabled/,
  )
})
