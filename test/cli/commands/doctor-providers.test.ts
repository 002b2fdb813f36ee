import assert from 'node:assert/strict'
import { test } from 'node:test'
import { updateProvider } from '../../../src/admin/provider/provider.ts'
import type { Finding } from '../../../src/checks/finding.ts'
import type { ProviderId } from '../../../src/protocol/sign-in/authentication.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { command, findingsAbout, openServerForCommands } from '../../support/command.ts'
import { CLIENT_SECRET, openProviderHost } from '../../support/provider/provider-host.ts'
import { addProvider } from '../../support/provider/providers.ts'
import { execute } from '../../support/store/dump.ts'
import { perform } from '../../support/tasks.ts'

const server = await openServerForCommands(WHOLE_FILE)
const host = await openProviderHost(WHOLE_FILE)
const IDP = 'idp' as ProviderId

test('doctor asks each enabled provider as the server does, and reports a disabled one only if it is required', async () => {
  assert.deepEqual(await findingsAbout('provider'), [])
  await addProvider(server, host)
  // They are listed by the time of their creation.
  server.clock.advance(1)
  await addProvider(server, { issuer: 'http://127.0.0.1:1' }, {}, { id: 'away', name: 'Away' })
  server.clock.advance(1)
  await addProvider(server, { issuer: `${host.issuer}/` }, {}, { id: 'slash', name: 'Slash' })
  const [good, away, slash, ...more] = await findingsAbout('provider')
  assert.deepEqual(good, ['ok', 'Users can sign in at Acme ID (idp). Checked: discovery, keys, secret.'])
  assert.match(
    String(away),
    /^failed,Users cannot sign in at Away \(away\): The provider cannot be reached \(connection-failed ECONNREFUSED\)\.$/,
  )
  assert.match(String(slash), /^failed,Users cannot sign in at Slash \(slash\): The provider calls itself /)
  assert.deepEqual(more, [])
  for (const id of ['away', 'slash']) await perform(server.context, 'provider.disable', { provider_id: id })
  assert.deepEqual(await findingsAbout('provider'), [good])
  await perform(server.context, 'provider.update', { provider_id: 'away', domains: ['acme.test'], routing: 'required' })
  assert.deepEqual(await findingsAbout('provider'), [
    good,
    [
      'warning',
      'Away (away) is disabled and required for acme.test, so that no account with such an address can sign in.',
    ],
  ])
  await perform(server.context, 'provider.update', { provider_id: 'away', routing: 'offered' })
})

test('UP-22: doctor reports an organization of which a provider without domains makes no user a member', async () => {
  execute(server, `update providers set settings = replace(settings, '{', '{"organizationId":"gor_x",')`)
  const before = await findingsAbout('provider')
  assert.match(
    String(before[1]),
    /^warning,Acme ID \(idp\) makes no user a member of gor_x, because it has no domain\./,
  )
  execute(server, `update providers set settings = replace(settings, '"organizationId":"gor_x",', '')`)
  assert.equal((await findingsAbout('provider')).length, 1)
})

test('doctor reports a group that a provider names and that does not exist', async () => {
  for (const group_id of ['dev', 'gone']) await perform(server.context, 'group.create', { group_id })
  const groups = ['8f3c=dev', '9a11=gone']
  await perform(server.context, 'provider.update', { provider_id: 'idp', group_claim: 'groups', groups })
  assert.equal((await findingsAbout('provider')).length, 1)
  // As a deletion leaves it that was at the same time.
  execute(server, "delete from user_groups where group_id = 'gone'")
  const [, found] = await findingsAbout('provider')
  assert.deepEqual(found, ['warning', 'Acme ID (idp) names groups that do not exist: gone.'])
  await perform(server.context, 'provider.update', { provider_id: 'idp', group_claim: null })
})

test('doctor reports what reads a group that does not exist, and claims for which a token has no room', async () => {
  const run = (name: string, input: Readonly<Record<string, unknown>>) => perform(server.context, name, input)
  await run('group.create', { group_id: 'lost' })
  const own = { client_name: 'App', redirect_uris: ['https://app.example/cb'] }
  await run('client.create', { ...own, client_id: 'app', rules: { groups: 'groups', group_words: ['dev', 'lost'] } })
  await run('client.create', { ...own, client_id: 'all', rules: { groups: 'groups' } })
  await run('api.create', { resource: 'https://api.example', groups: 'roles', group_words: ['lost=pays'] })
  assert.deepEqual(await findingsAbout('groups'), [])
  execute(server, "delete from user_groups where group_id = 'lost'")
  const missing = ['The client app', 'The API https://api.example'].map((name) => [
    'warning',
    `${name} reads groups that do not exist: lost.`,
  ])
  assert.deepEqual(await findingsAbout('groups'), missing)
  for (let index = 0; index < 100; index++) await run('group.create', { group_id: `g${index}` })
  const [, full] = await findingsAbout('groups')
  assert.match(String(full), /^warning,The client all reads all groups, and a token has no room for all of these: /)
})

test('doctor names a secret that the provider refuses, with the command that replaces it, and never shows it', async () => {
  const wrong = 'the-wrong-secret'
  await updateProvider(server.context, IDP, { settings: {}, clientSecret: wrong })
  const { stdout } = await command(['doctor', '--json'])
  assert.ok(!stdout.includes(wrong))
  const { findings } = JSON.parse(stdout) as { readonly findings: readonly Finding[] }
  const finding = findings.find(({ check }) => check === 'provider')
  assert.equal(finding?.verdict, 'failed')
  assert.match(finding.message, /refuses the client_id or the secret \(invalid_client\)\.$/)
  assert.match(finding.remedy ?? '', /grantor provider update idp --client-secret -$/)
  await updateProvider(server.context, IDP, { settings: {}, clientSecret: CLIENT_SECRET })
})

test('doctor reports a secret that must be set again, and requests that are off', async () => {
  process.env['GRANTOR_OUTBOUND'] = 'off'
  assert.match(String(await findingsAbout('provider')), /^failed,.*GRANTOR_OUTBOUND is off\.$/)
  delete process.env['GRANTOR_OUTBOUND']
  execute(server, 'update providers set encrypted_secret = null')
  assert.match(String(await findingsAbout('provider')), /^failed,.* The secret has to be set again\.$/)
})
