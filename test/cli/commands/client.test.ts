import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ClientDocument } from '../../../src/admin/client/document.ts'
import type { EpochMs } from '../../../src/base/brand.ts'
import type { ClientRecord } from '../../../src/ports/records/client.ts'
import { times } from '../../store/contract/harness.ts'
import { createAda } from '../../support/accounts.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { obtainTokens, registerClient, requestToken, type RegisteredClient } from '../../../tools/flow.ts'
import { makeClientKey } from '../../../tools/client-assertion.ts'
import { command, commandJson, openServerForCommands } from '../../support/command.ts'
import { authentication } from '../../support/key-clients.ts'
import { PROGRAM } from '../../../tools/process/command-line.ts'
import { aClient, HOUR } from '../../support/records.ts'
import { temporaryFolder } from '../../support/server.ts'
import { openWebHost } from '../../support/hosts/web-host.ts'
import { said } from '../../support/tasks.ts'

const server = await openServerForCommands(WHOLE_FILE)
await createAda(server)

async function words(...typed: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await command(['client', ...typed])
  assert.deepEqual([code, stderr], [0, ''], typed.join(' '))
  return stdout
}

function show(id: string): Promise<ClientDocument> {
  return commandJson<ClientDocument>(['client', 'show', id])
}

test('client create: prints the id and the secret of a machine, which gets a token with them', async () => {
  const printed = await words('create', '--name', 'Nightly')
  const [, client_id = '', client_secret = ''] =
    /\nThe client secret, which is not shown again:\n {2}client_id +(gci_\S+)\n {2}client_secret +(gcs_\S+)\n/.exec(
      printed,
    ) ?? assert.fail(printed)
  const machine = { client_id, client_secret }
  assert.equal((await requestToken(server, machine, { grant_type: 'client_credentials' })).statusCode, 200)
})

test('client create: every option has its effect', async () => {
  const typed =
    `client create --name Board --redirect-uri https://app.example/callback --redirect-uri http://127.0.0.1/cb
    --grant-type authorization_code --auth-method client_secret_post --approved-scope pay --consent implied --pkce optional --claims userinfo --id-token-alg ES256 --default-max-age 60 --post-logout-redirect-uri https://app.example/out`.split(
      /\s+/,
    )
  const created = await commandJson<RegisteredClient>([...typed, '--scope', 'read write'])
  const shown = await show(created.client_id)
  assert.deepEqual(
    [shown.client_name, shown.redirect_uris, shown.grant_types, shown.scope, shown.token_endpoint_auth_method],
    [
      'Board',
      ['https://app.example/callback', 'http://127.0.0.1/cb'],
      ['authorization_code'],
      'read write',
      'client_secret_post',
    ],
  )
  assert.deepEqual(
    [shown.source, shown.trust_level, shown.rules, shown.approved_scope],
    ['operator', 'verified', { consent: 'implied', pkce: 'optional', claims: 'userinfo', profile: 'standard' }, 'pay'],
  )
  assert.deepEqual(
    [shown.id_token_signed_response_alg, shown.default_max_age, shown.post_logout_redirect_uris],
    ['ES256', 60, ['https://app.example/out']],
  )
  await obtainTokens(server, created, { prompt: 'consent' })
  const cleared = ['--default-max-age', '', '--id-token-alg', '', '--post-logout-redirect-uri', '']
  await commandJson(['client', 'update', created.client_id, ...cleared])
  const less = await show(created.client_id)
  assert.deepEqual(
    [less.id_token_signed_response_alg, less.default_max_age, less.post_logout_redirect_uris],
    [undefined, undefined, []],
  )
  assert.deepEqual([less.scope, less.redirect_uris], [shown.scope, shown.redirect_uris])
  const api = 'https://approved.example'
  await commandJson(['api', 'create', '--resource', api, '--approved-scope', 'pay=Pay'])
  const approve = ['client', 'approve-scopes', created.client_id, '--scope']
  const noticeOf = async (scope: string): Promise<unknown> =>
    (await commandJson<{ readonly notice: string | null }>([...approve, scope])).notice
  assert.deepEqual(
    [await noticeOf('pay'), await noticeOf('pay payy')],
    [null, 'No API declares payy. Check the spelling: grantor api list'],
  )
  await commandJson(['api', 'delete', api])
})

test('client create: a public client has no secret', async () => {
  const printed = await words(
    'create',
    '--name',
    'Tool',
    '--redirect-uri',
    'http://127.0.0.1/cb',
    '--auth-method',
    'none',
  )
  assert.match(printed, new RegExp(`^${said('client.create', { token_endpoint_auth_method: 'none' })}\n$`))
})

test('client update and set-rules: change only the given members', async () => {
  const input = [
    '--name',
    'Wall',
    '--name-de',
    'Wand',
    '--redirect-uri',
    'https://app.example/callback',
    '--scope',
    'read',
  ]
  const { client_id: id } = await commandJson<RegisteredClient>(['client', 'create', ...input])
  assert.equal((await show(id))['client_name#de'], 'Wand')
  assert.match(await words('show', id), /^client_name#de +Wand$/m)
  assert.match(
    await words('update', id, '--name', 'Wallboard', '--name-de', '', '--scope', 'write'),
    new RegExp(`^${said('client.update')}\n$`),
  )
  assert.equal((await show(id))['client_name#de'], undefined)
  const { client_name, scope, redirect_uris } = await show(id)
  assert.deepEqual([client_name, scope, redirect_uris], ['Wallboard', 'write', ['https://app.example/callback']])
  assert.match(
    await words('set-rules', id, '--consent', 'implied', '--pkce', 'optional', '--claims', 'userinfo'),
    /are not asked for consent to its registered scope\.\nIt may omit PKCE/,
  )
  assert.deepEqual((await show(id)).rules, {
    consent: 'implied',
    pkce: 'optional',
    claims: 'userinfo',
    profile: 'standard',
  })
  assert.match(
    await words('set-rules', 'Wallboard', '--consent', 'asked'),
    /are asked for consent\.\nIt may omit PKCE in a request with openid, a nonce .*\nconsent +implied → asked\nclaims +userinfo → id-token\npkce +optional → nonce\n$/,
  )
  assert.match(
    await words('set-rules', 'Wallboard', '--consent', 'asked', '--pkce', 'required'),
    /It always sends PKCE/,
  )
  const copies = ['--consent', 'asked', '--copies'] as const
  assert.match(await words('set-rules', id, ...copies, 'network'), /An earlier refresh token of it gets the newest one/)
  assert.match(await words('show', id), /^refresh_copies +network, by its rule$/m)
  assert.match(await words('set-rules', id, '--consent', 'asked'), /^copies +network → the default$/m)
  assert.doesNotMatch(await words('set-rules', id, '--consent', 'asked'), /→/)
  assert.match(await words('show', id), /^refresh_copies +strict, because it authenticates$/m)
  assert.match(await words('show', id), /^source +operator$/m)
  assert.match(await words('show', id), /^consent +asked$/m)
})

test('client create and set-keys: take public keys from a file', async (t) => {
  const folder = temporaryFolder(t)
  const [file, broken] = [join(folder, 'jwks.json'), join(folder, 'key.pem')]
  writeFileSync(file, JSON.stringify({ keys: [makeClientKey('ES256').jwk] }))
  writeFileSync(broken, '-----BEGIN PRIVATE KEY-----')
  const printed = await words('create', '--name', 'Keyed', '--jwks', file, '--signing-alg', 'ES256')
  assert.match(printed, new RegExp(`^${said('client.create', { token_endpoint_auth_method: 'private_key_jwt' })}\n$`))
  assert.match(await words('set-keys', 'Keyed', '--jwks', file), new RegExp(said('client.set-keys')))
  assert.match(await words('show', 'Keyed'), /^has_secret +no$/m)
  const failed = await command(['client', 'set-keys', 'Keyed', '--jwks', broken])
  assert.deepEqual([failed.code, /BEGIN/.test(failed.stderr)], [2, false])
  assert.match(failed.stderr, /is not a file with JSON that can be read/)
})

test('client create --jwks-uri: the server fetches the keys there when the client authenticates', async (t) => {
  const key = makeClientKey('ES256')
  const host = await openWebHost(t, {}, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ keys: [key.jwk] }))
  })
  const uri = `http://localhost:${host.port}/jwks`
  const printed = await words('create', '--name', 'Fetched', '--jwks-uri', uri, '--signing-alg', 'ES256')
  const [, client_id = ''] =
    new RegExp(said('client.create', { client_id: '(gci_\\S+)' })).exec(printed) ?? assert.fail(printed)
  assert.deepEqual([(await show(client_id)).jwks_uri, host.requests.length], [uri, 0])
  const own = authentication(server, { client: { client_id }, key })
  assert.equal(
    (await requestToken(server, { client_id }, { grant_type: 'client_credentials', ...own })).statusCode,
    200,
  )
  assert.equal(host.requests.length, 1)
  const failed = await command(['client', 'create', '--name', 'Plain', '--jwks-uri', 'http://keys.example/jwks'])
  assert.deepEqual([failed.code, failed.stderr], [1, 'grantor: --jwks-uri: The URL does not use https.\n'])
})

test('client adopt and create-registration-token: print what becomes invalid', async () => {
  const names = { client_name: 'Reporter', 'client_name#en': 'Claude', 'client_name#de': 'Claude' }
  const { client_id: id } = await registerClient(server, names)
  const listed = / Reporter \(en, de: Claude\) +registration /
  assert.match(await words('list', '--name', 'claude'), listed)
  assert.match(await words('verify', id), /is verified\. .*\nPages call it Reporter \(en, de: Claude\)\.\n$/)
  assert.match(
    await words('create-registration-token', id),
    new RegExp(`^${said('client.create-registration-token')}\n[^]* gmt_\\S+\n`),
  )
  assert.match(
    await words('adopt', id),
    new RegExp(`${said('client.adopt')}\nTo change it: .*\nPages call it Reporter \\(en, de: Claude\\)\\.\n$`),
  )
  assert.equal((await show(id)).manages_itself, false)
})

test('client list and purge: by source, host and trust level', async () => {
  for (const host of ['one.flood.example', 'two.flood.example'])
    await registerClient(server, { client_name: 'Flood', redirect_uris: [`https://${host}/cb`] })
  assert.match(await words('list', '--source', 'operator'), /^ID +NAME +SOURCE +.*\n.* operator /)
  assert.doesNotMatch(await words('list', '--source', 'operator'), /Flood/)
  assert.match(await words('list', '--trust-level', 'unverified'), /Flood +registration +.* unverified\n/)
  assert.equal((await words('list', '--host', 'one.flood.example')).trim().split('\n').length, 2)
  const dry = await words('purge', '--host', 'one.flood.example', '--dry-run')
  assert.match(dry, /^1 client would be deleted\.\n\nID +NAME .* IN USE\ngci_\S+ +Flood .* registered just now\n/)
  assert.match(await words('purge', '--host', 'one.flood.example', '--yes'), /^Deleted 1 client\.\n\nID /)
  assert.equal(await words('purge', '--host', 'one.flood.example', '--yes'), 'Deleted 0 clients.\n')
  await registerClient(server, { client_name: 'Flood', redirect_uris: ['https://three.flood.example/cb'] })
  assert.match(await words('purge', '--limit', '1', '--dry-run'), /More rows follow: --before gci_/)
})

test('client purge goes on to the end, and says meanwhile how far it is', async () => {
  const metadata = { ...aClient().metadata, redirect_uris: ['https://last.example/cb'] }
  await registerAll(times(6_001, (index) => aClient(index === 6_000 ? { metadata } : {}, pastAt(index))))
  assert.match(
    await words('list', '--host', 'none.example'),
    /^None among the rows that were examined so far\.\n\nMore rows follow: --before gci_/,
  )
  const purge = ['client', 'purge', '--host', 'last.example']
  const dry = await command([...purge, '--dry-run'])
  assert.match(dry.stdout, /^1 client would be deleted\.\n\nID /)
  assert.match(dry.stderr, /^Examined 5,000 clients, of which 0 match\.\n$/)
  assert.notEqual((await commandJson<{ next: string | null }>([...purge, '--dry-run'])).next, null)
  assert.match((await command([...purge, '--yes'])).stdout, /^Deleted 1 client\.\n\nID /)
})

test('client purge ends at Ctrl-C with the number that it deleted, and where it goes on', async () => {
  await registerAll(times(8_000, (index) => aClient({}, pastAt(index))))
  const found = async (...options: readonly string[]) => {
    const { stdout } = await command(['client', 'purge', '--host', 'app.example', '--dry-run', ...options])
    return numberIn(/^([0-9,]+) clients would be deleted\./, stdout)
  }
  const all = await found()
  const child = spawn(process.execPath, [PROGRAM, 'client', 'purge', '--host', 'app.example', '--yes'])
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => void (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => {
    if (stderr === '') child.kill('SIGINT')
    stderr += chunk.toString()
  })
  const [code] = (await once(child, 'close')) as [number]
  assert.equal(code, 130, stderr)
  const deleted = numberIn(/^Deleted ([0-9,]+) clients\. The command stopped before the end\./, stdout)
  const [, next = ''] = /More rows follow: --before (gci_\S+)/.exec(stdout) ?? assert.fail(stdout)
  assert.equal(deleted + (await found('--before', next)), all)
})

for (const [typed, code, message] of [
  [['create'], 2, /required option '--name <name>' not specified/],
  [['create', '--name', 'A', '--auth-method', 'basic'], 2, /Allowed choices are/],
  [['create', '--name', 'A', '--redirect-uri', 'app'], 1, /--redirect-uri app: This is not an absolute URI/],
  [
    ['create', '--name', 'A', '--grant-type', 'implicit'],
    1,
    /--grant-type implicit: The value is not one of the allowed values/,
  ],
  [
    ['create', '--name', 'A', '--redirect-uri', 'https://a.example/cb', '--consent', 'implied'],
    1,
    /this client has none/,
  ],
  [['update', 'gci_x'], 2, /Give at least one change/],
  [['purge'], 2, /To see which, add --dry-run\. To confirm, add --yes/],
  [['purge', '--yes', '--dry-run'], 2, /To see which, add --dry-run\. To confirm, add --yes/],
] as const) {
  test(`client ${typed.join(' ')}: the command fails and says why`, async () => {
    const result = await command(['client', ...typed])
    assert.equal(result.code, code, result.stderr)
    assert.match(result.stderr, message)
  })
}

async function registerAll(clients: readonly ClientRecord[]): Promise<void> {
  for (let start = 0; start < clients.length; start += 500)
    await Promise.all(clients.slice(start, start + 500).map(server.context.store.registerClient))
}

/** The file has one clock, that of the machine. */
function pastAt(milliseconds: number): EpochMs {
  return (Date.now() - HOUR + milliseconds) as EpochMs
}

function numberIn(form: RegExp, text: string): number {
  const [, number = ''] = form.exec(text) ?? assert.fail(text)
  return Number(number.replaceAll(',', ''))
}
