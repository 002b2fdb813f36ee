import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { commandsDocument } from '../../src/cli/docs/commands-document.ts'
import { createProgram } from '../../src/cli/program.ts'
import { openTerminal } from '../../src/cli/lib/terminal.ts'
import { makeClientKey } from '../../tools/client-assertion.ts'
import { createAda } from '../support/accounts.ts'
import { registerKeyClient } from '../support/key-clients.ts'
import { obtainTokens, requestToken, type RegisteredClient, type Tokens } from '../../tools/flow.ts'
import type { PasskeyId } from '../../src/protocol/sign-in/passkey.ts'
import { givePasskey } from '../../tools/sign-in/passkeys.ts'
import { storeApp } from '../support/sign-in/stored-app.ts'
import type { UserId } from '../../src/protocol/ids.ts'
import { fillFigures } from '../../tools/figures.ts'
import { adminServerOf, type AdminServer } from '../support/admin-server.ts'
import type { TestServer } from '../support/server.ts'
import { command, commandJson, openServerForCommands } from '../support/command.ts'
import { define } from '../support/store/dump.ts'
import { said } from '../support/tasks.ts'

/** What the verbs do, over the store of a server that runs. */

const ends: (() => unknown)[] = []
let server: TestServer
let stage: AdminServer

before(async () => {
  server = await openServerForCommands({ after: (end) => void ends.push(end as () => unknown) })
  await createAda(server)
  stage = adminServerOf(server)
})

after(async () => {
  for (const end of ends.toReversed()) await end()
})

/** The words of a command that must succeed. */
async function words(...typed: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await command(typed)
  assert.deepEqual([code, stderr], [0, ''], typed.join(' '))
  return stdout
}

/** Runs a command, whose answer begins with the sentence of its task and goes on with `rest`. */
async function prints(
  typed: string,
  task: string,
  slots: Readonly<Record<string, string>> = {},
  rest = '',
): Promise<void> {
  assert.match(await words(...typed.split(' ')), new RegExp(`^${said(task, slots)}${rest}`))
}

interface Organization {
  readonly organization_id: string
  readonly name: string
  readonly disabled_at: string | null
}

test('docs/commands.md is what `npm run docs` makes of the command line', async () => {
  const committed = readFileSync(new URL('../../docs/commands.md', import.meta.url), 'utf8')
  const made = commandsDocument(await createProgram(openTerminal(process, {}, 'grantor'), () => true))
  assert.equal(committed, made, 'Run: npm run docs')
})

test('each command that a message or a page names exists, with its options', async () => {
  const program = await createProgram(openTerminal(process, {}, 'grantor'), () => true)
  const faults: string[] = []
  let named = 0
  for (const path of [...globSync('src/**/*.{ts,json}'), ...globSync('docs/**/*.md')])
    for (const text of readFileSync(path, 'utf8')
      .split(/(?<![\w/-])grantor (?:-- )?/)
      .slice(1)) {
      const [line = ''] = /^(?:(?!\. |\\n)[^\n"`'|)])*/.exec(text) ?? []
      const [first = '', second = ''] = line.split(' ')
      const noun = program.commands.find((one) => one.name() === first)
      if (noun === undefined) continue
      const verb = noun.commands.find((one) => one.name() === second) ?? noun
      named += 1
      const options = ['--help', ...verb.options.map(({ long }) => long)]
      const unknown = (line.match(/(?<= )--[a-z][a-z-]*/g) ?? []).filter((option) => !options.includes(option))
      const isVerbless = verb.commands.length > 0 && /^[a-z-]+$/.test(second)
      if (unknown.length > 0 || isVerbless) faults.push(`${path}: grantor ${line}`)
    }
  assert.deepEqual(faults, [])
  assert.ok(named > 500, String(named))
})

test('org: an organization is created, listed, renamed, disabled, enabled and deleted, and its tokens are revoked', async () => {
  const made = await commandJson<Organization>(['org', 'create', 'Acme'])
  const id = made.organization_id
  await prints('org create --name Other', 'organization.create', { name: 'Other' }, '\nTo add a member: grantor org')
  const [headings = '', , row = ''] = (await words('org', 'list')).split('\n')
  assert.match(headings, /^ID +NAME +CREATED \(UTC\) +STATE$/)
  assert.match(row, /^gor_\S+ {2}Acme +\d{4}-\d\d-\d\d \d\d:\d\d +active$/)
  assert.equal(await words('org', 'rename', id, 'Acme Inc.'), 'Acme Inc. is now the name of the organization.\n')
  const named = { organization_id: 'Acme Inc\\. \\(gor_\\S+\\)' }
  await prints(`org disable ${id}`, 'organization.disable', named, ' To undo this: grantor org enable gor_')
  assert.match(await words('org', 'list', '--limit', '10'), /disabled/)
  await prints(`org enable --organization ${id}`, 'organization.enable', named)
  await prints(`org revoke-tokens ${id}`, 'organization.revoke-tokens', named)
  assert.match(await words('org', 'show', id), /^organization_id +gor_\S+\nname +Acme Inc\.\n/)
  await prints(`org delete ${id}`, 'organization.delete', { organization_id: 'gor_\\S+' })
  assert.equal((await command(['org', 'show', id])).code, 1)
})

test('server: figures are printed by time, with their sums', async () => {
  // A quarter of an hour may have ended since the server started.
  define(server, 'delete from figures')
  assert.match(await words('server', 'figures'), /^The server has written no figures of this time yet/)
  await fillFigures(server.context.store, server.clock.now(), { span: '1h', rows: 2 })
  const [headings = '', ...rows] = (await words('server', 'figures', '--period', '7d')).trim().split('\n')
  assert.match(headings, /^UNTIL \(UTC\) +TOKENS +REGISTRATIONS +SIGN-INS +REFUSALS +5XX +P99 OF TOKEN \(MS\)$/)
  assert.equal(rows.length, 3)
  assert.match(rows[0] ?? '', /^\d{4}-\d\d-\d\d \d\d:00( +\d+){6}$/)
  const [first = 0, second = 0, all] = rows.map((row) => Number(row.replace(/^(all|\S+ \S+) +/, '').split(/ +/)[0]))
  assert.ok(first + second > 0)
  assert.equal(all, first + second)
})

test('session: sessions are listed with their users, and ended', async () => {
  await obtainTokens(server, await stage.makeClient())
  const [headings = '', row = ''] = (await words('session', 'list', '--user', 'ada@acme.test')).split('\n')
  assert.match(headings, /^ID +USER +BROWSER +BY +NETWORK +STARTED \(UTC\) +SEEN \(UTC\) +EXPIRES \(UTC\)$/)
  assert.match(row, /^\S{34} {2}ada@acme\.test {2}unknown browser {2}pwd +127\.0\.0\.1 /)
  const { sessions } = await commandJson<{ sessions: { session_id: string }[] }>(['session', 'list'])
  const id = sessions[0]?.session_id ?? ''
  await prints(
    `session end ${id}`,
    'session.end',
    { session_id: id },
    '\nIt was of gus_\\S+ \\(unknown browser\\)\\.\n$',
  )
  assert.equal((await command(['session', 'end', id])).code, 1)
})

test('org: members and installed clients get tokens for the organization', async () => {
  const { organization_id: org } = await commandJson<Organization>(['org', 'create', 'Acme'])
  const { client_id, client_secret = '' } = await stage.makeClient()
  const client: RegisteredClient = { client_id, client_secret }
  const { email, id: user } = await stage.makeUser()
  const ask = async (form: Readonly<Record<string, string>>): Promise<number> =>
    (await requestToken(server, client, { grant_type: 'client_credentials', ...form })).statusCode
  assert.equal(await ask({ org_id: org }), 400)
  await prints(`org install ${org} ${client_id} --scope read`, 'installation.install', { scope: 'read' })
  assert.equal(await ask({ org_id: org }), 200)
  assert.equal(await words('org', 'add-member', org, email), `${email} (${user}) is now a member of ${org}.\n`)
  assert.equal(await ask({ org_id: org, user_id: user }), 400)
  const wide = await words('org', 'install', org, '--client', client_id, '--scope', '', '--acts-for-members')
  assert.match(wide, new RegExp(said('installation.install', { scope: 'none', acts_for_members: 'yes' })))
  assert.equal(await ask({ org_id: org, user_id: user }), 200)
  const back = ' To undo this: grantor org enable-member gor_\\S+ gus_\\S+\nTokens stay revoked'
  await prints(`org disable-member ${org} ${user}`, 'member.disable', {}, back)
  assert.match(await words('org', 'members', org), /disabled/)
  assert.equal(await ask({ org_id: org, user_id: user }), 400)
  await prints(`org enable-member ${org} ${email.toUpperCase()}`, 'member.enable', { organization_id: org })
  assert.equal(await ask({ org_id: org, user_id: user }), 200)
  await prints(`org remove-member ${org} --user ${email}`, 'member.remove', { organization_id: org })
  assert.match(await words('org', 'members', org), /^There are no members to list\. Add one: grantor org add-member/)
  assert.match(
    await words('org', 'disable-installation', org, client_id),
    /To undo this: grantor org enable-installation/,
  )
  assert.match(await words('org', 'installations', org), /gci_\S+ +Client \d+ +– +yes +\S+ \S+ +disabled/)
  assert.match(await words('client', 'list-installations', client_id), /gor_\S+ +Acme +– +yes +\S+ \S+ +disabled/)
  assert.equal(await ask({ org_id: org }), 400)
  assert.match(await words('org', 'enable-installation', org, client_id), /again/)
  assert.match(await words('org', 'uninstall', org, client_id), /is no longer installed for gor_\S+/)
  assert.match(await words('org', 'installations', org), /^No client is installed\./)
  assert.match(await words('client', 'list-installations', client_id), /^The client is installed for no organization\./)
})

test('client: clients are listed by state, approved for scopes, given another secret, and their tokens revoked', async () => {
  const unused = await stage.makeClient()
  const client = await stage.makeClient()
  const { access_token } = (await requestToken(server, client, { grant_type: 'client_credentials' })).json<Tokens>()
  const id = client.client_id
  const listed = async (...filter: readonly string[]): Promise<readonly string[]> => {
    const list = ['client', 'list', '--limit', '2', ...filter]
    const { clients } = await commandJson<{ clients: readonly RegisteredClient[] }>(list)
    return clients.map(({ client_id }) => client_id)
  }
  // The ids of one millisecond have no order.
  assert.deepEqual((await listed()).toSorted(), [id, unused.client_id].toSorted())
  assert.equal((await listed('--used'))[0], id)
  assert.equal((await listed('--unused'))[0], unused.client_id)
  assert.equal((await listed('--unused-since', '2999-01-01')).length, 2)
  await words('client', 'verify', id)
  assert.deepEqual(await listed('--verified'), [id])
  assert.equal((await listed('--unverified'))[0], unused.client_id)
  assert.match(await words('client', 'list'), / verified\n/)
  await prints(`client disable ${unused.client_id}`, 'client.disable', {}, ' To undo this: grantor client enable gci_')
  assert.deepEqual(await listed('--disabled'), [unused.client_id])
  assert.equal((await listed('--enabled'))[0], id)
  await prints(`client enable --id ${unused.client_id}`, 'client.enable')
  await prints(`client unverify ${id}`, 'client.unverify')
  assert.match(
    await words('client', 'approve-scopes', id, '--scope', 'pay refund'),
    / pay refund\.[^]*\nNo API declares pay, refund\. Check the spelling: grantor api list\n$/,
  )
  const shown = await words('client', 'show', id)
  assert.match(shown, /approved_scope +pay refund/)
  assert.doesNotMatch(shown, /client_secret |hash/i)
  assert.match(await words('client', 'approve-scopes', id, '--scope', ''), /these scopes: none\./)
  const rotated = await commandJson<{ client_secret: string }>(['client', 'rotate-secret', id, '--overlap', '0'])
  const ask = async (secret: string): Promise<number> => {
    const form = { grant_type: 'client_credentials' }
    return (await requestToken(server, { client_id: id, client_secret: secret }, form)).statusCode
  }
  assert.deepEqual([await ask(client.client_secret ?? ''), await ask(rotated.client_secret)], [401, 200])
  await prints(`client rotate-secret ${id}`, 'client.rotate-secret', { previous_secret_until: '.* UTC' }, '[^]* gcs_')
  assert.match(await words('token', 'inspect', access_token), /kind +access/)
  assert.match(await words('token', 'inspect', access_token), /active +yes/)
  assert.match(await words('client', 'revoke-tokens', id), /All tokens of gci_\S+ are revoked/)
  assert.match(await words('client', 'delete', id), new RegExp(`^${said('client.delete')}`))
  assert.match((await command(['client', 'delete', id])).stderr, /There is no client/)
})

test('client: a client with keys is shown with the names of its keys, and has no secret to replace', async () => {
  const keys = [makeClientKey('ES256', { kid: '2026-11' }), makeClientKey('EdDSA')].map(({ jwk }) => jwk)
  const { client } = await registerKeyClient(server, { jwks: { keys } })
  assert.match(await words('client', 'show', client.client_id), /has_secret +no\n[^]*jwks +2026-11, OKP\n/)
  assert.deepEqual((await commandJson<{ jwks: object }>(['client', 'show', client.client_id])).jwks, { keys })
  const { code, stderr } = await command(['client', 'rotate-secret', client.client_id])
  assert.deepEqual([code, /has no secret: it is public, or authenticates with keys\./.test(stderr)], [1, true], stderr)
})

test('grant and token: grants are listed, and revoked by id or by a token', async () => {
  const { grant_id, client_id, user_id, organization_id } = await stage.makePeopledOrganization()
  const list = await words('grant', 'list', '--client', client_id)
  assert.match(list, /^ID .*ALLOWED \(UTC\) +EXPIRES \(UTC\) +ENDED \(UTC\)\n/)
  assert.ok(
    [grant_id, 'Acme …', 'Client '].every((name) => list.includes(name)),
    list,
  )
  assert.ok(![user_id, client_id, organization_id].some((id) => list.includes(id)), list)
  const jwts =
    '\nAPIs with local verification .* UTC \\(15 minutes\\)\\. Introspection reports them as inactive at once'
  await prints(
    `grant revoke ${grant_id}`,
    'grant.revoke',
    {},
    `\nThe client gci_\\S+ has to ask the user again\\.${jwts}`,
  )
  assert.match(await words('grant', 'revoke', grant_id), /\nIt was revoked before, at 2\S+ \S+ UTC\.\n/)
  assert.match(await words('grant', 'show', grant_id), /revoked_at +2/)
  assert.match(await words('grant', 'list', '--user', user_id), /20\d\d-\S+ \S+\n$/)
  const first = await obtainTokens(server, await stage.makeClient())
  const active = async (token: string): Promise<boolean> => {
    const { stdout } = await command(['token', 'inspect', '-', '--json'], { input: `${token}\n` })
    return (JSON.parse(stdout) as { readonly active: boolean }).active
  }
  await prints(`token revoke ${first.access_token}`, 'token.revoke', {}, '\nIt is the access token \\S+\\.\n')
  assert.deepEqual([await active(first.access_token), await active(first.refresh_token ?? '')], [false, true])
  await prints(`token revoke --family ${first.access_token}`, 'token.revoke', {}, '\nWith it the grant \\S+ and all')
  assert.equal(await active(first.refresh_token ?? ''), false)
  const client = await stage.makeClient()
  const [second] = [await obtainTokens(server, client), await obtainTokens(server, client, { prompt: 'consent' })]
  const { grants } = await commandJson<{ grants: { grant_id: string }[] }>([
    'grant',
    'list',
    '--client',
    client.client_id,
  ])
  const [newer, older] = grants.map((grant) => grant.grant_id)
  const ended = await words('grant', 'revoke', newer ?? '')
  assert.ok(ended.includes(`other grants for this client, whose tokens keep working: ${older}\n`), ended)
  assert.match(
    await words('user', 'revoke-tokens', 'ada@acme.test'),
    /All sessions and tokens of ada@acme\.test \(gus_\S+\) are revoked[^]*Introspection reports them as inactive within a second/,
  )
  assert.equal(await active(second.refresh_token ?? ''), false)
  const ada = await commandJson<{ user_id: UserId }>(['user', 'show', 'ada@acme.test'])
  await storeApp(server.context, ada.user_id)
  assert.match(await words('user', 'show', 'ada@acme.test'), /authenticator_app/)
  await prints('user reset-second-factor ada@acme.test', 'user.reset-second-factor')
  // An id may begin with a hyphen.
  const id = '-keyOfAda-345678901234' as PasskeyId
  await givePasskey(server, ada.user_id, { id })
  const [headings, row] = (await words('user', 'list-passkeys', 'ada@acme.test')).split('\n')
  assert.match(
    `${headings}\n${row}`,
    /^BROWSER +SYSTEM +SYNCED +ADDED \(UTC\) +USED \(UTC\) +ID\n– +– +(yes|no) +20.* never +-key/,
  )
  const next = '\n.*grantor user create-link ada@acme\\.test'
  await prints(`user remove-passkey ada@acme.test --passkey ${id}`, 'user.remove-passkey', {}, next)
  assert.equal(await words('user', 'list-passkeys', 'ada@acme.test'), 'The user has no passkeys.\n')
  await prints('token revoke-all --yes', 'token.revoke-all', { not_before: '2\\S+ \\S+ UTC' })
})

test('api: the scopes and tokens of an API are changed and shown', async () => {
  const resource = 'https://shown.acme.test'
  const made = ['api', 'create', '--resource', resource, '--scope', 'read=Read', '--approved-scope', 'pay=Pay at once']
  assert.match(
    await words(...made, '--algorithm', 'EdDSA', '--jwt-type', 'JWT'),
    new RegExp(`^${said('api.create', { 'scopes.name': 'read, pay' })}\nThe first EdDSA key is`),
  )
  const shown = await words('api', 'show', resource)
  assert.match(shown, /token_format +jwt\ntoken_lifetime +as the server\ntoken_algorithm +EdDSA\ntoken_jwt_type +JWT\n/)
  assert.match(shown, /pay +to approved clients +Pay at once/)
  assert.match(
    await words(
      'api',
      'update',
      resource,
      '--format',
      'opaque',
      '--lifetime',
      '60',
      '--application-subject',
      '--binding',
      'dpop',
    ),
    new RegExp(`^${said('api.update')}`),
  )
  assert.match(
    await words('api', 'show', `${resource}/`),
    /token_format +opaque\ntoken_lifetime +60 seconds\n[^]*token_jwt_type +–\ntoken_application_subject +yes\ntoken_binding +dpop\n/,
  )
  await words(
    'api',
    'update',
    resource,
    '--lifetime',
    'server',
    '--no-application-subject',
    '--name',
    'Shown',
    '--machine-scope',
    'sync=Sync',
  )
  const last = await words('api', 'show', resource)
  assert.match(
    last,
    /name +Shown\n[^]*token_lifetime +as the server\n[^]*token_application_subject +no\n[^]*sync +with consent, or without a user/,
  )
  assert.doesNotMatch(last, /read|pay/)
})

test('audit list prints times in details in the format of the times of events', async () => {
  await server.context.store.recordEvent({
    event: 'tokens.issued',
    details: { minute: 1795317480000, refresh_token: 2 },
  })
  assert.match(
    await words('audit', 'list', '--event', 'tokens.issued'),
    /minute=2026-11-22 \d\d:\d\d:00, refresh_token=2/,
  )
})

test('audit verify exits with 3 when a known link is missing, and with 0 without a fault', async () => {
  assert.match(await words('audit', 'verify'), /Nothing was changed or removed\.\n$/)
  const { code, stdout } = await command(['audit', 'verify', '--head', `${'a'.repeat(34)}:7`])
  assert.equal(code, 3)
  assert.match(stdout, /1 fault:\n {2}Chain a+ is missing/)
})

const MISTYPED: readonly (readonly [typed: string, says: RegExp])[] = [
  ['org show', /The organization is missing/],
  ['org rename gor_x', /The name is missing/],
  ['org add-member gor_x a@acme.test --user b@acme.test', /Give one user/],
  ['org show gor_x gor_y', /too many arguments/],
  ['org install gor_x gci_x', /--scope/],
  ['client list --used --unused', /--used and --unused exclude each other/],
  ['client list --unused-since yesterday', /a day such as/],
  ['client list --unused-since 2026-13-01', /a day such as/],
  ['client rotate-secret gci_x --overlap -1', /whole number/],
  ['client approve-scopes gci_x', /--scope/],
  ['api update https://a.test', /Give at least one change/],
  ['api create --resource https://a.test --format paper', /Allowed choices are jwt, opaque/],
  ['api create --resource https://a.test --lifetime soon', /Give a whole number\./],
  ['api create --resource https://a.test --algorithm none', /Allowed choices are ES256/],
  ['token inspect', /Give the token, or - /],
  ['token inspect -', /Standard input is empty\. Write the token to it/],
  ['token revoke-all', /add --yes/],
  ['admin create --name x', /--access/],
  ['admin create --name x --access all', /Allowed choices are read, support, users, write, metrics/],
  ['admin create --name x --access read --days soon', /Give a whole number\./],
  ['key rotate --algorithm HS256', /Allowed choices are ES256/],
]

for (const [typed, says] of MISTYPED) {
  test(`a usage error: ${typed}`, async () => {
    const { code, stdout, stderr } = await command(typed.split(' '))
    assert.deepEqual([code, stdout], [2, ''], stderr)
    assert.match(stderr, says)
  })
}
