import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { readServer } from '../../../src/cli/lib/ask-server.ts'
import { UsageError } from '../../../src/cli/lib/failure.ts'
import { freePort } from '../../../tools/process/free-ports.ts'
import { adminServerOf, type PeopledOrganization, type AdminServer } from '../../support/admin-server.ts'
import { createAda } from '../../support/accounts.ts'
import { alterLast } from '../../support/alter.ts'
import { registerClient, type Tokens } from '../../../tools/flow.ts'
import type { TestServer } from '../../support/server.ts'
import { command, commandJson, openServerForCommands } from '../../support/command.ts'
import type { Finished } from '../../support/process.ts'

/** `--server`: the same verbs at a running server. */

const DAY_MS = 24 * 60 * 60 * 1000
const ends: (() => unknown)[] = []
let server: TestServer
let stage: AdminServer
let people: PeopledOrganization
let tokens: Tokens
let write: string

before(async () => {
  server = await openServerForCommands({ after: (end) => void ends.push(end as () => unknown) })
  await createAda(server)
  stage = adminServerOf(server)
  people = await stage.makePeopledOrganization()
  tokens = await stage.makeTokens()
  write = (await stage.issue('write', undefined, 365)).token
  await command(['api', 'create', '--resource', 'https://api.acme.test', '--scope', 'read=Read', '--name', 'Acme'])
})

after(async () => {
  for (const end of ends.toReversed()) await end()
})

function atServer(words: readonly string[], token: string | undefined = write, input = ''): Promise<Finished> {
  return command([...words, '--server', server.adminOrigin], { token, input })
}

/** Commands that change nothing, and some that are refused. `ids` are known when they run. */
function sameEitherWay(): readonly (readonly string[])[] {
  const { organization_id: org, user_id: user, client_id: client, grant_id: grant } = people
  return [
    ['user', 'list'],
    ['user', 'list', '--limit', '1'],
    ['user', 'list', '--before', user],
    ['user', 'show', 'ada@acme.test'],
    ['user', 'show', user],
    ['user', 'show', 'nobody@acme.test'],
    ['user', 'list', '--before', 'x'],
    ['user', 'create', '--email', 'ada@acme.test', '--password', 'correct horse battery staple'],
    ['user', 'create', '--email', 'eve', '--password', 'correct horse battery staple'],
    ['user', 'create', '--email', 'eve@acme.test', '--password', 'short'],
    ['user', 'disable'],
    ['client', 'list', '--used', '--unverified', '--enabled'],
    ['client', 'list', '--unused'],
    ['client', 'list', '--unused-since', '2026-01-31'],
    ['client', 'show', client],
    ['client', 'show', `gci_${'0'.repeat(34)}`],
    ['client', 'show', 'nonsense'],
    ['client', 'show', '../users'],
    ['client', 'approve-scopes', client, '--scope', 'a"b'],
    ['client', 'rotate-secret', client, '--overlap', '99999999'],
    ['org', 'list'],
    ['org', 'show', '--organization', org],
    ['org', 'members', org],
    ['org', 'installations', org],
    ['org', 'create', ' '],
    ['org', 'add-member', org, user],
    ['org', 'disable-member', org, 'nobody@acme.test'],
    ['org', 'install', org, client, '--scope', 'nothing'],
    ['api', 'list'],
    ['api', 'show', 'https://api.acme.test/'],
    ['api', 'show', 'https://other.test/?a=b&c=%2F'],
    ['api', 'create', '--resource', 'https://api.acme.test'],
    ['api', 'create', '--resource', '/api'],
    ['api', 'update', 'https://api.acme.test', '--lifetime', '86401'],
    ['grant', 'list', '--client', client],
    // A variable that is empty must not choose everything.
    ['grant', 'list', '--client', ''],
    ['audit', 'list', '--user', ''],
    ['grant', 'list', '--organization', org, '--user', user],
    ['grant', 'show', grant],
    ['grant', 'show', grant, '--organization', org],
    ['grant', 'revoke', '0'.repeat(34)],
    ['token', 'inspect', tokens.access_token],
    ['token', 'inspect', tokens.refresh_token ?? ''],
    ['token', 'inspect', 'nonsense'],
    ['token', 'revoke', 'nonsense'],
    ['token', 'revoke-all'],
    ['admin', 'list'],
    ['admin', 'revoke', 'nonsense'],
    ['admin', 'create', '--name', 'x', '--access', 'read', '--days', '366'],
    ['key', 'list'],
    ['key', 'retire', 'nonsense'],
    ['key', 'rotate', '--algorithm', 'EdDSA'],
    ['audit', 'list', '--event', 'client.', '--limit', '2'],
    ['audit', 'list', '--user', user, '--since', '2026-01-31'],
    ['audit', 'verify', '--head', 'nonsense'],
  ]
}

test('a verb prints the same output and errors for the store and for a server, as text and as JSON', async () => {
  for (const plain of sameEitherWay()) {
    for (const words of [plain, [...plain, '--json']]) {
      const away = withoutValues(await atServer(words))
      const first = await command(words)
      // At the end of a minute, the server notes the uses of clients between the two commands.
      const local = first.stdout === away.stdout ? first : await command(words)
      const again = first === local ? away : withoutValues(await atServer(words))
      assert.deepEqual(again, local, words.join(' '))
      assert.notEqual(local.stdout === '', local.code === 0, words.join(' '))
      assert.equal(local.stderr === '', local.code === 0, words.join(' '))
      if (local.code === 0 && words.includes('--json')) JSON.parse(local.stdout)
      assert.doesNotMatch(local.stderr, /bug|\n {4}at /)
    }
  }
})

/** A server also says what its settings are. */
function withoutValues({ stdout, ...rest }: Finished): Finished {
  return { ...rest, stdout: stdout.replaceAll(/(?:\d+ seconds|\w+), (?=as the server|as GRANTOR_)/g, '') }
}

test('show at a server has the values of the settings that hold for the object', async () => {
  const api = (await atServer(['api', 'show', 'https://api.acme.test'])).stdout
  assert.match(api, /^token_lifetime +900 seconds, as the server\ntoken_algorithm +ES256, as the server$/m)
  const { client_id } = await registerClient(server, { token_endpoint_auth_method: 'none' })
  const copies = /^refresh_copies +network, as GRANTOR_REFRESH_COPIES of the server says$/m
  assert.match((await atServer(['client', 'show', client_id])).stdout, copies)
})

test('a change at a server is recorded with the administrator of the token', async () => {
  const { id, token } = await stage.issue('write')
  const ada = 'ada@acme.test'
  const made = await command(['org', 'create', 'Acme', '--server', server.adminOrigin, '--json'], { token })
  const { organization_id: org } = JSON.parse(made.stdout) as { readonly organization_id: string }
  const { user_id: user } = await commandJson<{ user_id: string }>(['user', 'show', ada])
  assert.match(
    (await atServer(['org', 'add-member', org, user])).stdout,
    /^ada@acme\.test \(gus_\S+\) is now a member of gor_/,
  )
  const { members } = await commandJson<{ members: readonly { email: string }[] }>(['org', 'members', org])
  assert.deepEqual(
    members.map(({ email }) => email),
    [ada],
  )
  assert.match((await atServer(['org', 'disable-member', org, ada])).stdout, /may no longer act for/)
  assert.match((await atServer(['org', 'remove-member', org, ada])).stdout, /is no longer a member/)
  const { events } = await commandJson<{ events: readonly { event: string; actor: string }[] }>([
    'audit',
    'list',
    '--organization',
    org,
    '--event',
    'organization.created',
  ])
  assert.deepEqual(
    events.map(({ actor }) => actor),
    [id],
  )
})

test('ADM-05: a secret is printed once, by the command that made it, and appears in no log of the server', async () => {
  const resource = 'https://secret.acme.test'
  await atServer(['api', 'create', '--resource', resource])
  const { client_id } = await stage.makeClient()
  const input = 'a password from standard input\n'
  await atServer(['user', 'create', '--email', 'eve@acme.test', '--password', '-'], write, input)
  const printed = await Promise.all([
    atServer(['admin', 'create', '--name', 'A pipeline', '--access', 'read', '--days', '1']),
    atServer(['api', 'create-credentials', resource]),
    atServer(['client', 'rotate-secret', client_id, '--overlap', '60']),
  ])
  const secrets = printed.map(({ stdout }) => /g[acd]\w_\S{40,}|gas_\S+|gcs_\S+/.exec(stdout)?.[0] ?? '')
  assert.equal(new Set(secrets.filter((secret) => secret.length > 40)).size, 3, JSON.stringify(printed))
  await atServer(['token', 'inspect', '-'], write, `${tokens.access_token}\n`)
  for (const secret of [...secrets, write, input.trim(), tokens.access_token]) {
    assert.ok(!server.log().includes(secret), secret)
  }
  assert.equal((await atServer(['client', 'list'], secrets[0])).code, 0, 'The token that was printed works.')
})

const READ_ONLY =
  /These credentials do not permit this request\.\nAn administrator of the whole server sees with "grantor admin list"/

test('credentials with read access can read, and change nothing', async () => {
  const { token } = await stage.issue('read')
  assert.equal((await atServer(['client', 'list'], token)).code, 0)
  for (const words of [
    ['org', 'create', 'Evil'],
    ['client', 'delete', people.client_id],
    ['token', 'revoke-all', '--yes'],
  ]) {
    const { code, stdout, stderr } = await atServer(words, token)
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, READ_ONLY)
  }
  assert.equal((await command(['client', 'show', people.client_id])).code, 0)
})

test('ADM-03: credentials of one organization can use the verbs for that organization', async () => {
  const { token } = await stage.issue('write', people.organization_id)
  const { organization_id: org, grant_id: grant } = people
  const [member] = (await commandJson<{ members: readonly { email: string }[] }>(['org', 'members', org])).members
  const email = member?.email ?? ''
  const fine = [
    ['org', 'show', org],
    ['org', 'members', org],
    ['org', 'disable-member', org, email],
    ['org', 'enable-member', org, email],
    ['grant', 'list', '--organization', org],
    ['grant', 'show', grant, '--organization', org],
    ['grant', 'list', '--organization', org, '--client', 'board'],
    ['org', 'install', org, 'board', '--scope', 'read'],
    ['org', 'uninstall', org, 'board'],
  ]
  // They see no clients, so a text that may be a chosen id is taken for one.
  await command(['client', 'create', '--name', 'Board', '--client-id', 'board', '--grant-type', 'client_credentials'])
  for (const words of fine) assert.equal((await atServer(words, token)).stderr, '', words.join(' '))
  for (const words of [
    ['org', 'list'],
    ['grant', 'list'],
    ['grant', 'show', grant],
    ['user', 'show', email],
    ['user', 'show', 'ada'],
    ['client', 'show', 'board'],
    ['org', 'install', org, 'A name', '--scope', 'read'],
  ]) {
    assert.match((await atServer(words, token)).stderr, READ_ONLY, words.join(' '))
  }
  const none = await atServer(['org', 'install', org, 'Bored', '--scope', 'read'], token)
  assert.match(none.stderr, /There is no client with this id/)
  const other = await stage.makeOrganization()
  assert.match((await atServer(['org', 'show', other], token)).stderr, /There is no organization gor_/)
})

test('wrong, expired or revoked credentials are reported with advice', async () => {
  const expired = await stage.issue('write', undefined, 1)
  const revoked = await stage.issue('write', undefined, 365)
  assert.match((await atServer(['admin', 'revoke', revoked.id])).stdout, /are revoked on all nodes/)
  server.clock.advance(DAY_MS)
  for (const token of [
    expired.token,
    revoked.token,
    alterLast(write),
    'nonsense',
    tokens.access_token.replaceAll('.', '_'),
  ]) {
    const { code, stdout, stderr } = await atServer(['client', 'list'], token)
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(
      stderr,
      /missing, invalid, expired or revoked\.\nThe token in GRANTOR_ADMIN_TOKEN is expired, revoked, or not a token of this server/,
    )
    assert.ok(!stderr.includes(token))
  }
})

const MISTYPED: readonly (readonly [why: string, address: string, token: string | undefined, says: RegExp])[] = [
  [
    'no token',
    'http://localhost:1',
    undefined,
    /GRANTOR_ADMIN_TOKEN\. Create one on the machine of the server: grantor admin create/,
  ],
  ['an empty token', 'http://localhost:1', ' ', /needs the token of an administrator/],
  ['a token with a line break in it', 'http://localhost:1', 'gad_a\nb', /GRANTOR_ADMIN_TOKEN is not a token/],
  ['no address', 'localhost:3001', 'gad_a', /--server is the address/],
  ['a relative address', '/admin', 'gad_a', /--server is the address/],
  ['another scheme', 'ftp://localhost', 'gad_a', /--server is the address/],
  ['an address with a password', 'http://ada:secret@localhost', 'gad_a', /--server is the address/],
  ['an address with a query', 'http://localhost/?token=a', 'gad_a', /--server is the address/],
]

for (const [why, address, token, says] of MISTYPED) {
  test(`--server with ${why} is rejected before a request is sent`, async () => {
    const { code, stdout, stderr } = await command(['client', 'list', '--server', address], { token })
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, says)
    assert.ok(!stderr.includes('secret'))
  })
}

const ADDRESSES: readonly (readonly [text: string, address: string, isExposed: boolean])[] = [
  ['http://localhost:3001', 'http://localhost:3001', false],
  ['http://127.0.0.1:3001/', 'http://127.0.0.1:3001', false],
  ['http://[::1]:3001', 'http://[::1]:3001', false],
  ['https://ops.acme.test/grantor/', 'https://ops.acme.test/grantor', false],
  ['http://grantor.internal:3001', 'http://grantor.internal:3001', true],
]

test('--server accepts an address with or without a path, and detects when the token could be read on the network', () => {
  for (const [text, address, isExposed] of ADDRESSES) {
    assert.deepEqual(readServer(text, ' gad_a\n', true), { address, token: 'gad_a' }, text)
    const read = () => readServer(text, 'gad_a', false)
    if (isExposed) assert.throws(read, UsageError, text)
    else assert.equal(read().address, address)
  }
})

test('a token is sent over a network unencrypted only with --insecure-http', async () => {
  // Of a path that leads elsewhere than the task nothing is ever sent.
  const words = ['api', 'show', '..', '--server', 'http://grantor.invalid']
  const refused = await command(words, { token: 'gad_a' })
  assert.deepEqual([refused.code, refused.stdout], [2, ''])
  assert.match(refused.stderr, /^grantor: .*http:\/\/grantor\.invalid unencrypted.*https.*--insecure-http/)
  assert.doesNotMatch(refused.stderr, /gad_a/)
  const asked = await command([...words, '--insecure-http'], { token: 'gad_a' })
  assert.deepEqual([asked.code, asked.stderr], [1, 'grantor: Nothing is named "..".\n'])
  assert.equal((await atServer(['client', 'list', '--insecure-http'])).code, 0, 'It allows; it does not ask for http.')
})

test('a server that does not respond is reported, and for a change that its outcome is unknown', async (t) => {
  const nowhere = `http://127.0.0.1:${await freePort()}`
  const refused = await command(['client', 'list', '--server', nowhere], { token: write })
  assert.equal(refused.code, 1)
  assert.match(
    refused.stderr,
    /^grantor: http:\/\/127\.0\.0\.1:\d+ does not respond: connect ECONNREFUSED .*Its port is PORT \+ 1/,
  )
  const hangsUp = createServer((message) => message.socket.destroy())
  const address = await listen(t, hangsUp)
  for (const change of [
    ['org', 'create', 'Acme'],
    ['user', 'create', '--email', 'grace@acme.test', '--no-password'],
  ]) {
    const changed = await command([...change, '--server', address], { token: write })
    assert.match(changed.stderr, /does not respond: .*The change may have been applied/)
  }
  const read = await command(['org', 'list', '--server', address], { token: write })
  assert.doesNotMatch(read.stderr, /may have been applied/)
  const isBusy = createServer((_, response) => {
    const body = JSON.stringify({ error: 'temporarily_unavailable', error_description: 'The store is busy.' })
    response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' }).end(body)
  })
  const busy = await listen(t, isBusy)
  const begun = await command(['org', 'create', 'Acme', '--server', busy], { token: write })
  assert.match(begun.stderr, /The change may have been applied\. Check before retrying\.\nTry again in 1 seconds/)
  const looked = await command(['org', 'list', '--server', busy], { token: write })
  assert.match(looked.stderr, /^grantor: The store is busy\.\nTry again in 1 seconds\.\n$/)
})

test('an address that is not an administration is reported, and a redirect is not followed with the token', async (t) => {
  const answer = await command(['client', 'list', '--server', server.origin], { token: write })
  assert.deepEqual(
    [answer.code, /Is it the address of the administration\?/.test(answer.stderr)],
    [1, true],
    answer.stderr,
  )
  const asked: (string | undefined)[] = []
  const stranger = await listen(
    t,
    createServer((message, response) => {
      asked.push(message.headers.authorization)
      response.end('<p>Hello')
    }),
  )
  const page = await command(['client', 'list', '--server', stranger], { token: write })
  assert.match(page.stderr, /another release\?|not a Grantor administration/)
  const leads = await listen(
    t,
    createServer((_, response) => response.writeHead(307, { location: `${stranger}/x` }).end()),
  )
  const led = await command(['client', 'list', '--server', leads], { token: write })
  assert.match(led.stderr, /redirects to http:\/\/127\.0\.0\.1:\d+\/x\. Give the address of the administration itself/)
  assert.equal(asked.length, 1, 'Whom a redirect names gets no token.')
  // A terminal takes U+009B for the start of a command.
  const paints = await listen(
    t,
    createServer((_, response) => response.writeHead(302, { location: '/\u009b31m' }).end()),
  )
  const painted = await command(['client', 'list', '--server', paints], { token: write })
  assert.doesNotMatch(painted.stderr.trimEnd(), /(?!\n)\p{Cc}/u)
})

async function listen(t: { after: (end: () => void) => void }, http: ReturnType<typeof createServer>): Promise<string> {
  await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    http.closeAllConnections()
    http.close()
  })
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`
}
