import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requireTask } from '../../src/admin/tasks.ts'
import { asAdministrator, COMMAND_LINE } from '../../src/admin/administrators.ts'
import { runTask } from '../../src/admin/run-task.ts'
import { ensureConsoleClient } from '../../src/admin/client/console.ts'
import { CONSOLE_CLIENT_ID } from '../../src/protocol/client/console.ts'
import type { UserId } from '../../src/protocol/ids.ts'
import { GUESS_LIMIT } from '../../src/protocol/sign-in/totp.ts'
import { ATTEMPT_WINDOW_MS } from '../../src/protocol/sign-in/attempt-limits.ts'
import { accountBucket, codeBucket } from '../../src/requests/attempt-bucket.ts'
import { addProvider } from '../support/provider/providers.ts'
import { storeApp } from '../support/sign-in/stored-app.ts'
import { execute } from '../support/store/dump.ts'
import { givePasskey } from '../../tools/sign-in/passkeys.ts'
import { PASSWORD } from '../../tools/flow.ts'
import { type Members } from '../support/tasks.ts'
import { assertRefused, openOffice } from './office.ts'

interface SignIn {
  readonly sign_in: {
    readonly ways: readonly string[]
    readonly obstacles: readonly { readonly reason: string; readonly message: string }[]
  }
}

test('a role for an organization or the server is set, replaced, listed with names, and removed, and the audit names the user', async (t) => {
  const { perform, stage } = await openOffice(t)
  const { id, email } = await stage.makeUser()
  const other = await stage.makeUser()
  const organization_id = await stage.makeOrganization()
  await perform('role.set', { user_id: id, access: 'read', organization_id, loopback_only: true })
  const first = await perform<{ roles: readonly { organization_id: string }[]; names: object }>('role.list', {})
  assert.equal(first.roles[0]?.organization_id, organization_id)
  assert.deepEqual(first.names, { [id]: email, [organization_id]: 'Acme' })
  const { set_at, console_url, link_ended, previous, ...role } = await perform('role.set', {
    user_id: id,
    access: 'write',
  })
  assert.equal((previous as Members)['organization_id'], organization_id)
  assert.equal(link_ended, false)
  assert.equal(console_url, 'http://localhost:3001/console')
  assert.deepEqual(role, { user_id: id, access: 'write', organization_id: null, loopback_only: false })
  assert.deepEqual((await perform('user.show', { user_id: id }))['role'], { ...role, set_at })
  const listed = { ...role, set_at, reach: 'account', has_second_factor: false, signed_in_at: null }
  assert.deepEqual(await perform('role.list', {}), { roles: [listed], names: { [id]: email }, next: null })
  await storeApp(stage.server.context, id)
  await perform('role.set', { user_id: other.id, access: 'read' })
  await givePasskey(stage.server, other.id)
  const { roles } = await perform<{ roles: readonly { has_second_factor: boolean }[] }>('role.list', {})
  assert.deepEqual(
    roles.map((one) => one.has_second_factor),
    [true, true],
  )
  assert.deepEqual(await perform('role.remove', { user_id: id }), { user_id: id, removed: true })
  await assertRefused(perform('role.remove', { user_id: id }), 'conflict', /has no role\. See "grantor role list"/)
  const gone = `gus_${'0'.repeat(34)}`
  await assertRefused(perform('role.set', { user_id: gone, access: 'read' }), 'unknown', /There is no user/)
  const nowhere = { user_id: id, access: 'read', organization_id: `gor_${'0'.repeat(34)}` }
  await assertRefused(perform('role.set', nowhere), 'unknown', /There is no organization/)
  await perform('role.set', { user_id: id, access: 'read', organization_id })
  await perform('organization.delete', { organization_id })
  assert.equal((await perform('user.show', { user_id: id }))['role'], null, 'The role ends with the organization.')
  const { events } = await perform<{ events: readonly { event: string; user_id: string }[] }>('audit.list', {})
  const about = events.filter(({ user_id }) => user_id === id).map(({ event }) => event)
  assert.deepEqual(
    about.filter((event) => event.startsWith('role.')),
    ['role.set', 'role.removed', 'role.set', 'role.set'],
  )
})

test('CON-37: an account that an administrator for a trial prepared gets a role that lasts only with a confirmation', async (t) => {
  const { perform, stage } = await openOffice(t)
  const { context } = stage.server
  const { id: trial } = await stage.makeUser()
  await perform('role.set', { user_id: trial, access: 'write', loopback_only: true })
  const administrator = { ...COMMAND_LINE, actor: trial, isLoopbackOnly: true }
  const byTrial = (name: string, input: Members) =>
    runTask(asAdministrator(context, administrator), requireTask(name), input, () => undefined)
  const prepared = async (name: string, input: Members) => {
    const { id: user_id } = await stage.makeUser()
    await byTrial(name, { user_id, ...input })
    return user_id
  }
  const known = { email: 'prepared@acme.test', email_verified: true, password: PASSWORD }
  // The administrator's own account may get the address of the person who is to have the role.
  const { id: renamed } = await stage.makeUser()
  await runTask(
    asAdministrator(context, { ...administrator, actor: renamed }),
    requireTask('user.set-email'),
    { user_id: renamed, email: 'chief@acme.test', verified: true },
    () => undefined,
  )
  const accounts = [
    ((await byTrial('user.create', known)) as Members)['user_id'],
    await prepared('user.set-password', { password: PASSWORD }),
    await prepared('user.set-email', { email: 'other@acme.test', verified: true }),
    await prepared('user.create-link', {}),
    renamed,
  ]
  // Events of the account, such as a thousand authorizations, may bury what the audit has.
  execute(stage.server, 'delete from audit_links')
  for (const isThere of [true, false]) {
    if (!isThere) await perform('role.remove', { user_id: trial })
    for (const user_id of accounts) {
      const said = new RegExp(
        `^An administrator for a trial, or with less .* grantor audit list --user ${String(user_id)}`,
      )
      await assertRefused(perform('role.set', { user_id, access: 'read' }), 'conflict', said)
      await perform('role.set', { user_id, access: 'read', loopback_only: true })
      await perform('role.set', { user_id, access: 'read', confirmed: true })
      await perform('role.set', { user_id, access: 'write' })
      await perform('role.remove', { user_id })
    }
  }
  const { id: own } = await stage.makeUser()
  await perform('user.create-link', { user_id: own })
  await perform('role.set', { user_id: own, access: 'write' })
  await perform('role.set', { user_id: trial, access: 'write' })
})

test('CON-19: an administrator for a trial decides about no provider, and trusts no client or domain beyond it', async (t) => {
  const { perform, stage } = await openOffice(t)
  const { context } = stage.server
  const administrator = { ...COMMAND_LINE, actor: (await stage.makeUser()).id, isLoopbackOnly: true }
  const byTrial = (name: string, input: Members) =>
    runTask(asAdministrator(context, administrator), requireTask(name), input, () => undefined)
  const outlasts = (name: string, input: Members) =>
    assertRefused(byTrial(name, input), 'conflict', /counts only while the issuer is a loopback address/)
  await addProvider(stage.server, { issuer: 'http://127.0.0.1:1' })
  const provider_id = 'idp'
  const own = {
    template: 'oidc',
    name: 'Own',
    issuer: 'http://127.0.0.1:9',
    client_id: 'grantor',
    client_secret: PASSWORD,
  }
  await outlasts('provider.create', { ...own, provider_id: 'own', sign_up: 'anybody' })
  await outlasts('provider.create', { ...own, provider_id: 'own' })
  await outlasts('provider.update', { provider_id, sign_up: 'anybody' })
  await byTrial('provider.disable', { provider_id })
  await outlasts('provider.enable', { provider_id })

  const portal = { client_name: 'Portal', redirect_uris: ['https://portal.example/cb'], scope: 'openid' }
  await outlasts('client.create', { ...portal, rules: { consent: 'implied' } })
  await outlasts('client.create', { ...portal, approved_scope: 'pay' })
  const { client_id: plain } = (await byTrial('client.create', portal)) as Members
  await outlasts('client.set-rules', { client_id: plain, consent: 'implied' })
  await outlasts('client.approve-scopes', { client_id: plain, scope: 'pay' })
  await outlasts('client.verify', { client_id: plain })
  await outlasts('client.adopt', { client_id: plain })
  for (const [given, task, taken] of [
    [{ rules: { consent: 'implied' } }, 'client.set-rules', { consent: 'asked' }],
    [{ approved_scope: 'pay' }, 'client.approve-scopes', { scope: '' }],
  ] as const) {
    const { client_id } = await perform<{ client_id: string }>('client.create', { ...portal, ...given })
    await outlasts('client.update', { client_id, redirect_uris: ['https://evil.example/cb'] })
    await outlasts('client.rotate-secret', { client_id })
    await outlasts('client.set-secret', { client_id, client_secret: 'a-secret-of-another-server-that-is-long' })
    await outlasts('client.set-keys', { client_id, jwks_uri: 'https://evil.example/jwks' })
    await outlasts('client.create-registration-token', { client_id })
    await byTrial('client.disable', { client_id })
    await outlasts('client.enable', { client_id })
    await byTrial(task, { client_id, ...taken })
    await byTrial('client.update', { client_id, client_name: 'Portal of the trial' })
  }
  await outlasts('domain.trust', { pattern: 'evil.example' })
  await outlasts('initial-token.create', { name: 'Own', template: { trust_level: 'verified' } })
  const organization_id = await stage.makeOrganization()
  await outlasts('installation.install', { organization_id, client_id: plain, scope: '' })
  await outlasts('installation.enable', { organization_id, client_id: plain })
})

test('user.show says how an account can sign in by now, and what prevents it', async (t) => {
  const { perform, stage } = await openOffice(t)
  const { server } = stage
  const { store, clock } = server.context
  const { id, email } = await stage.makeUser()
  const shown = async (user_id: string = id) => {
    const { ways, obstacles } = (await perform<SignIn>('user.show', { user_id })).sign_in
    return [ways, obstacles.map(({ reason }) => reason)]
  }
  assert.deepEqual(await shown(), [['password'], []])
  await storeApp(server.context, id)
  const other = await stage.makeUser()
  await givePasskey(server, other.id)
  assert.deepEqual(await shown(other.id), [['passkey'], []])

  const count = (bucket: string, by: number) =>
    store.countHit({ bucket, now: clock(), windowMs: ATTEMPT_WINDOW_MS, by })
  await count(accountBucket(server.context, email), 9)
  await count(codeBucket(server.context, id), 4)
  assert.deepEqual(await shown(), [['password'], []])
  await count(accountBucket(server.context, email), 1)
  await count(codeBucket(server.context, id), 1)
  execute(server, `update second_factors set failures = ${GUESS_LIMIT}`)
  assert.deepEqual((await shown())[1], ['too-many-passwords', 'too-many-codes', 'codes-locked'])
  const { obstacles } = (await perform<SignIn>('user.show', { user_id: id })).sign_in
  assert.match(
    obstacles[0]?.message ?? '',
    /^After 10 wrong passwords none is checked until \d{4}-\S+Z, except in browsers/,
  )
  server.clock.advance(ATTEMPT_WINDOW_MS)
  assert.deepEqual((await shown())[1], ['codes-locked'])

  const idp = await addProvider(
    server,
    { issuer: 'http://127.0.0.1:1' },
    { domains: ['acme.test'], routing: 'required' },
  )
  assert.deepEqual(await shown(), [[], ['provider-required', 'not-connected', 'codes-locked']])
  const routed = (await perform<SignIn>('user.show', { user_id: id })).sign_in.obstacles
  assert.match(
    routed[1]?.message ?? '',
    /not connected to Acme ID yet. A link connects it, and so does the first sign-in/,
  )
  assert.deepEqual((await perform('user.create-link', { user_id: id }))['methods'], ['idp'])
  await perform('provider.disable', { provider_id: idp.id })
  await assertRefused(perform('user.create-link', { user_id: id }), 'conflict', /signs in at Acme ID only/)
  await perform('user.disable', { user_id: id })
  assert.deepEqual(await shown(), [
    [],
    ['disabled', 'provider-required', 'provider-disabled', 'not-connected', 'codes-locked'],
  ])
  const empty = await perform('user.create', { email: 'new@beta.test' })
  assert.deepEqual(await shown(empty['user_id'] as UserId), [[], ['no-way']])
  const full = await perform('user.create', { email: 'old@beta.test', password: PASSWORD })
  assert.deepEqual(await shown(full['user_id'] as UserId), [['password'], []])
})

test('server.show says what a running server sees of its installation, and the audit is filtered by its actor', async (t) => {
  const env = { GRANTOR_ISSUER: 'https://auth.acme.test', GRANTOR_HOST: '127.0.0.1' }
  const { perform, stage } = await openOffice(t, env)
  const { id, email } = await stage.makeUser()
  interface Shown {
    readonly findings: readonly { readonly check: string; readonly verdict: string; readonly message: string }[]
  }
  const verdicts = async () => {
    const { findings } = await perform<Shown>('server.show', {})
    return findings.map(({ check, verdict }) => `${check} ${verdict}`)
  }
  assert.deepEqual(await verdicts(), ['clock ok', 'backup warning', 'credentials ok'])
  await perform('role.set', { user_id: id, access: 'read' })
  await perform('admin.create', { name: 'Prometheus', access: 'metrics', days: 10 })
  stage.server.clock.advance(1000)
  const { findings } = await perform<Shown>('server.show', {})
  const messages = findings.map(({ message }) => message)
  assert.match(
    messages.join(' '),
    /The credentials "Prometheus" expire in 10 days, on \d{4}-\d\d-\d\d at \d\d:\d\d UTC\./,
  )
  assert.match(messages.at(-1) ?? '', new RegExp(`refuses those without a second factor: ${email}\\.$`))
  await ensureConsoleClient(stage.server.context, 'https://admin.acme.test')
  await perform('client.disable', { client_id: CONSOLE_CLIENT_ID })
  assert.match(
    (await perform<Shown>('server.show', {})).findings.at(-1)?.message ?? '',
    /client of the console is disabled/,
  )
  const { events } = await perform<{ events: readonly { actor: string }[] }>('audit.list', { actor: 'command-line' })
  assert.ok(events.length > 0 && events.every(({ actor }) => actor === 'command-line'))
  const own = await perform<{ events: readonly { event: string }[] }>('audit.list', { actor: id })
  assert.deepEqual(
    own.events.map(({ event }) => event),
    ['user.created'],
    'Without an administrator, the user of an event did it.',
  )
})
