import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InjectOptions } from 'light-my-request'
import { mintUserId } from '../../src/protocol/ids.ts'
import { registerClient } from '../../tools/flow.ts'
import type { Members } from '../support/tasks.ts'
import { aProvider } from '../support/provider/provider-records.ts'
import { aUser, aUserOfProvider } from '../support/records.ts'
import { assertRefused as refuses, openOffice } from './office.ts'

const NAMES: readonly (readonly [why: string, name: string, says: RegExp])[] = [
  ['nothing', '', /between 1 and 200 characters/],
  ['spaces', '   ', /one of them not a space/],
  ['more than 200 characters', 'ä'.repeat(201), /at most 200 characters/],
  ['a line break', 'Acme\nGoogle', /control character/],
  ['characters that turn the line around', 'Acme \u202Egoogle', /control character/],
  ['a separator of lines', 'Acme\u2028Google', /control character/],
]

test('an organization has a readable name, and any other name is rejected', async (t) => {
  const { perform } = await openOffice(t)
  const made = await perform('organization.create', { name: `  ${'ä'.repeat(197)} ` })
  assert.equal(made['name'], 'ä'.repeat(197))
  for (const [why, name, says] of NAMES) {
    await refuses(perform('organization.create', { name }), 'refused', says)
    const rename = perform('organization.rename', { organization_id: made['organization_id'], name })
    await assert.rejects(rename, says, why)
  }
  assert.deepEqual(await perform('organization.show', { organization_id: made['organization_id'] }), made)
})

test('an organization that was disabled and enabled is active, and its earlier tokens stay revoked', async (t) => {
  const { perform, stage } = await openOffice(t)
  const made = await perform('organization.create', { name: 'Acme' })
  const place = { organization_id: made['organization_id'] }
  stage.server.clock.advance(1000)
  const disabled = await perform('organization.disable', place)
  assert.ok(String(disabled['disabled_at']) > String(made['created_at']))
  assert.equal(disabled['not_before'], disabled['disabled_at'])
  stage.server.clock.advance(1000)
  const enabled = await perform('organization.enable', place)
  assert.equal(enabled['disabled_at'], null)
  assert.ok(String(enabled['not_before']) > String(disabled['not_before']))
  stage.server.clock.advance(1000)
  const expired = await perform('organization.revoke-tokens', place)
  assert.ok(String(expired['not_before']) > String(enabled['not_before']))
  assert.partialDeepStrictEqual(await perform('organization.delete', place), { ...place, deleted: true })
})

test('UP-22: the list of members outside of the domains has each one without a proved address of the domains', async (t) => {
  const { perform, stage } = await openOffice(t)
  const { context } = stage.server
  const organization = await stage.makeOrganization()
  const place = { organization_id: organization }
  const bare = aProvider()
  const settings = { ...bare.settings, organizationId: organization, domains: ['acme.test'] }
  const provider = { ...bare, settings, limit: 1 }
  await context.store.createProvider(provider)
  const now = context.clock()
  const people = [
    aUser({ email: 'inside@acme.test', emailVerifiedAt: now }),
    aUser({ email: 'unproved@acme.test', emailVerifiedAt: undefined }),
    aUser({ email: 'eve@sub.acme.test', emailVerifiedAt: now }),
    aUser({ email: 'eve@free.test', emailVerifiedAt: now }),
    aUserOfProvider(),
  ]
  for (const user of people) {
    await context.store.createUser(user)
    await perform('member.add', { ...place, user_id: user.id })
  }
  const list = async (more: object) => {
    const answer = await perform<{ members: readonly Members[] }>('member.list', { ...place, ...more })
    return new Set(answer.members.map((member) => member['user_id']))
  }
  const [inside, ...outside] = people.map(({ id }) => id)
  assert.deepEqual(await list({ outside_domains: true }), new Set(outside))
  assert.equal((await list({})).size, people.length)
  await perform('provider.update', { provider_id: provider.id, organization_id: null })
  assert.ok((await list({ outside_domains: true })).has(inside))
})

test('UP-22: the declaration that every person belongs ends when the provider gets another organization', async (t) => {
  const { perform, stage } = await openOffice(t)
  const [one, other] = [await stage.makeOrganization(), await stage.makeOrganization()]
  const provider = { provider_id: 'idp', template: 'oidc', name: 'Acme', issuer: 'https://idp.example' }
  const client = { client_id: 'grantor', client_secret: 'secret' }
  const whole = { ...provider, ...client, organization_id: one }
  await refuses(perform('provider.create', whole), 'conflict', /needs at least one domain of the provider/)
  const made = await perform('provider.create', { ...whole, membership: 'anybody' })
  assert.equal(made['membership'], 'anybody')
  const update = (change: object) => perform('provider.update', { provider_id: 'idp', ...change })
  assert.equal((await update({ name: 'Acme ID' }))['membership'], 'anybody')
  await refuses(update({ organization_id: other }), 'conflict', /needs at least one domain of the provider/)
  const moved = await update({ organization_id: other, domains: ['acme.test'] })
  assert.deepEqual([moved['organization_id'], moved['membership']], [other, 'domains'])
  await update({ membership: 'anybody' })
  assert.equal((await update({ organization_id: null }))['membership'], 'domains')
})

test('a member is added by address or id, shown with both, disabled, enabled and removed', async (t) => {
  const { perform, stage } = await openOffice(t)
  const place = { organization_id: await stage.makeOrganization() }
  const ada = await stage.makeUser()
  // Ids of one millisecond have no order, and the list goes by id.
  stage.server.clock.advance(1000)
  const bob = await stage.makeUser()
  const added = await perform('member.add', { ...place, email: ada.email.toUpperCase() })
  assert.deepEqual([added['user_id'], added['email'], added['name']], [ada.id, ada.email, 'A Person'])
  await perform('member.add', { ...place, user_id: bob.id })
  const list = (more: Members = {}) =>
    perform<{ members: readonly Members[]; next: string | null }>('member.list', { ...place, ...more })
  assert.deepEqual(
    (await list()).members.map(({ email }) => email),
    [bob.email, ada.email],
  )
  const listed = { ...added, reach: 'account', state: 'never-signed-in', state_until: null }
  const first = await list({ limit: 1 })
  assert.equal(first.next, bob.id)
  assert.deepEqual((await list({ limit: 1, before: first.next })).members, [listed])
  assert.deepEqual((await list({ email: ada.email })).members, [listed])
  assert.deepEqual((await list({ email: 'nobody@acme.test' })).members, [])
  const key = { ...place, user_id: ada.id }
  assert.notEqual((await perform('member.disable', key))['disabled_at'], null)
  assert.equal((await perform('member.enable', key))['disabled_at'], null)
  assert.partialDeepStrictEqual(await perform('member.remove', key), { ...key, removed: true })
  for (const verb of ['disable', 'enable', 'remove']) {
    await refuses(perform(`member.${verb}`, key), 'unknown', /There is no member gus_.* in the organization gor_/)
  }
})

test('a user who cannot be a member is rejected with the reason', async (t) => {
  const { perform, stage } = await openOffice(t)
  const { context } = stage.server
  const place = { organization_id: await stage.makeOrganization() }
  const ada = await stage.makeUser()
  const unknownUser = mintUserId(context.clock(), context.random)
  await refuses(perform('member.add', place), 'refused', /exactly one of user_id and email/)
  const both = { ...place, user_id: ada.id, email: ada.email }
  await refuses(perform('member.add', both), 'refused', /exactly one of user_id and email/)
  await refuses(perform('member.add', { ...place, email: 'x@acme.test' }), 'unknown', /no user with the address x@/)
  await refuses(perform('member.add', { ...place, user_id: unknownUser }), 'unknown', /There is no user gus_/)
  await perform('member.add', { ...place, user_id: ada.id })
  await refuses(perform('member.add', { ...place, user_id: ada.id }), 'conflict', /is already a member of Acme/)
  for (let count = 1; count < 100; count += 1) {
    await perform('member.add', { organization_id: await stage.makeOrganization(), user_id: ada.id })
  }
  const another = { organization_id: await stage.makeOrganization(), user_id: ada.id }
  await refuses(perform('member.add', another), 'conflict', /belongs to 100 organizations, which is the maximum/)
})

test('of many concurrent requests that add the same member one succeeds, and the others report a conflict', async (t) => {
  const { perform, stage } = await openOffice(t)
  const member = { organization_id: await stage.makeOrganization(), user_id: (await stage.makeUser()).id }
  const attempts = await Promise.allSettled(Array.from({ length: 8 }, () => perform('member.add', member)))
  assert.equal(attempts.filter(({ status }) => status === 'fulfilled').length, 1)
  for (const attempt of attempts) {
    if (attempt.status === 'rejected') assert.match(String(attempt.reason), /already/)
  }
})

test('decision 0005: a client can be installed if it may act without a user, with scopes that an API declares', async (t) => {
  const { perform, stage } = await openOffice(t)
  await perform('api.create', {
    resource: 'https://api.acme.test',
    scopes: [{ name: 'sync', sentence: 'Keep a copy', granted_to: 'users-and-machines' }],
  })
  const place = { organization_id: await stage.makeOrganization() }
  const { client_id } = await stage.makeClient()
  const key = { ...place, client_id }
  const installed = await perform('installation.install', { ...key, scope: 'sync' })
  assert.deepEqual([installed['scope'], installed['acts_for_members']], ['sync', false])
  stage.server.clock.advance(1000)
  const replaced = await perform('installation.install', { ...key, scope: '', acts_for_members: true })
  assert.deepEqual([replaced['scope'], replaced['acts_for_members']], ['', true])
  assert.ok(String(replaced['not_before']) > String(installed['not_before']), 'Earlier tokens are inactive.')
  const listed = await perform<{ installations: readonly Members[] }>('installation.list', place)
  const { notice, previous, ...shown } = replaced
  assert.deepEqual(listed.installations, [shown])
  assert.equal(installed['previous'], null)
  assert.partialDeepStrictEqual(previous, { scope: 'sync', acts_for_members: false })
  assert.deepEqual([installed['notice'], /has no scope/.test(String(notice))], [null, true])
  await refuses(
    perform('installation.install', { ...key, scope: 'sync synk' }),
    'conflict',
    /declares the scope synk\./,
  )
  const publicClient = await registerClient(stage.server, { token_endpoint_auth_method: 'none' })
  const interactive = await registerClient(stage.server, { grant_types: ['authorization_code'] })
  for (const { client_id: other } of [publicClient, interactive]) {
    const attempt = perform('installation.install', { ...place, client_id: other, scope: '' })
    await refuses(attempt, 'conflict', /cannot act without a user/)
  }
  assert.notEqual((await perform('installation.disable', key))['disabled_at'], null)
  assert.equal((await perform('installation.enable', key))['disabled_at'], null)
  assert.partialDeepStrictEqual(await perform('installation.remove', key), { ...key, removed: true })
  for (const verb of ['disable', 'enable', 'remove']) {
    await refuses(perform(`installation.${verb}`, key), 'unknown', /is not installed for the organization/)
  }
})

const ISSUERS: readonly (readonly [issuer: string, env: Readonly<Record<string, string>>, says: RegExp])[] = [
  ['http://localhost:3000', {}, /^installed$/],
  ['https://auth.acme.test', { GRANTOR_TRUST_PROXY: '127.0.0.1' }, /No API declares the scope anything\./],
]

for (const [issuer, env, says] of ISSUERS) {
  test(`decision 0006: the scopes that can be installed at ${issuer} while no API is declared`, async (t) => {
    const { perform, stage } = await openOffice(t, { GRANTOR_ISSUER: issuer, ...env })
    const { server } = stage
    const headers = { 'x-forwarded-proto': 'https' }
    const asked = {
      inject: (options: InjectOptions) => server.inject({ ...options, headers: { ...headers, ...options.headers } }),
    }
    const { client_id } = await registerClient(asked)
    const key = { organization_id: await stage.makeOrganization(), client_id }
    const outcome = await perform('installation.install', { ...key, scope: 'anything' }).then(
      () => 'installed',
      (cause: Error) => cause.message,
    )
    assert.match(outcome, says)
  })
}
