import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApi } from '../../src/admin/api/api.ts'
import { jwtNotice } from '../../src/cli/lib/jwt-notice.ts'
import { obtainTokens, type Tokens } from '../../tools/flow.ts'
import type { Members } from '../support/tasks.ts'
import { openOffice, type Office } from './office.ts'
import { anApiDeclaration } from '../support/records.ts'

const SHORT = 'https://short.example'
const LONG = 'https://long.example'
const OPAQUE = 'https://opaque.example'

/** APIs whose tokens live for different times, beside the server's own of 15 minutes. */
async function declareApis({ stage: { server } }: Office): Promise<void> {
  const tokens = { algorithm: undefined, jwtType: 'at+jwt', applicationSubject: false, binding: 'any' } as const
  const rows = [
    [SHORT, { ...tokens, format: 'jwt', lifetime: 60 }],
    [LONG, { ...tokens, format: 'jwt', lifetime: 7200 }],
    [OPAQUE, { ...tokens, format: 'opaque', lifetime: 36_000 }],
  ] as const
  for (const [resource, made] of rows) {
    await createApi(server.context, anApiDeclaration(resource, { tokens: made }))
  }
}

test('RFC 7009 §3: a task that revokes tokens returns how long APIs with local verification may accept JWTs', async (t) => {
  const office = await openOffice(t)
  await declareApis(office)
  const { stage, perform } = office
  const { organization_id, user_id, client_id } = await stage.makePeopledOrganization()
  const place = { organization_id }
  for (const [name, input] of [
    ['member.disable', { ...place, user_id }],
    ['installation.disable', { ...place, client_id }],
    ['organization.revoke-tokens', place],
    ['organization.disable', place],
    ['client.revoke-tokens', { client_id }],
    ['client.disable', { client_id }],
    ['user.revoke-tokens', { user_id }],
    ['user.set-password', { user_id, password: 'correct horse battery staple' }],
    ['user.disable', { user_id }],
    ['member.remove', { ...place, user_id }],
    ['installation.remove', { ...place, client_id }],
    ['organization.delete', place],
    ['client.delete', { client_id }],
    ['user.delete', { user_id }],
    ['token.revoke-all', { confirm: 'everything' }],
  ] as const) {
    await assertAccepted(office, 7200, () => perform(name, input))
  }
})

test('RFC 7009 §3: for a revoked grant the lifetimes of its APIs count, and an opaque token is inactive at once', async (t) => {
  const office = await openOffice(t)
  await declareApis(office)
  const { stage, perform } = office
  const client = await stage.makeClient()
  const issued = async (resource: string): Promise<Tokens> => obtainTokens(stage.server, client, { resource })
  const tokens = { short: await issued(SHORT), long: await issued(LONG), opaque: await issued(OPAQUE) }
  const { grants } = await perform<{ grants: readonly { grant_id: string; resources: readonly string[] }[] }>(
    'grant.list',
    {},
  )
  const lifetimes = { [SHORT]: 60, [LONG]: 7200, [OPAQUE]: 0 }
  for (const { grant_id, resources } of grants) {
    const lifetime = lifetimes[resources[0] as keyof typeof lifetimes]
    await assertAccepted(office, lifetime, () => perform('grant.revoke', { grant_id }))
  }
  const { access_token: jwt } = tokens.long
  const { expires_at } = await perform('token.inspect', { token: jwt })
  assert.equal((await perform('token.revoke', { token: jwt }))['jwt_accepted_until'], expires_at)
  assert.equal((await perform('token.revoke', { token: tokens.opaque.access_token }))['jwt_accepted_until'], null)
  const family = { token: tokens.short.access_token, family: true }
  await assertAccepted(office, 60, () => perform('token.revoke', family))
})

test('RFC 7009 §3: a member who is removed from a group: all JWTs count if a rule names it, those of APIs that read it, or none', async (t) => {
  const office = await openOffice(t)
  await declareApis(office)
  const { stage, perform } = office
  const { id: user_id } = await stage.makeUser()
  const removed = async (group_id: string): Promise<Members> => {
    await perform('group.add-member', { group_id, user_id })
    return perform('group.remove-member', { group_id, user_id })
  }
  for (const group_id of ['plain', 'read', 'ruled']) await perform('group.create', { group_id })
  await perform('access-rule.create', { rule_id: 'ruled', groups: ['ruled'], scopes: [], apis: [SHORT] })
  await assertAccepted(office, 0, () => removed('plain'))
  await assertAccepted(office, 7200, () => removed('ruled'))
  await perform('api.update', { resource: SHORT, groups: 'groups', group_words: ['read'] })
  await assertAccepted(office, 60, () => removed('read'))
  await assertAccepted(office, 0, () => removed('plain'))
})

test('commands print until when JWTs may be accepted, and for how long', () => {
  const said = (seconds: number): string =>
    jwtNotice(
      { jwt_accepted_until: '2026-11-22T03:05:10.000Z', jwt_accepted_for_seconds: seconds },
      'grant.revoke',
    ).join('\n')
  assert.equal(
    said(900),
    'APIs with local verification may accept issued JWTs until 2026-11-22 03:05 UTC (15 minutes). Introspection reports them as inactive at once.',
  )
  assert.match(said(7200), /\(2 hours\)/)
  assert.match(said(119), /\(119 seconds\)/)
  assert.match(said(1), /\(1 second\)/)
  assert.deepEqual(jwtNotice({ jwt_accepted_until: null, jwt_accepted_for_seconds: 0 }, 'user.disable'), [])
  assert.deepEqual(jwtNotice({ client_id: 'gci_1' }, 'client.show'), [])
})

/** That JWTs are accepted for so many seconds from the moment of the task on; 0: none is. */
async function assertAccepted(
  { stage: { server } }: Office,
  lifetimeSeconds: number,
  end: () => Promise<Members>,
): Promise<void> {
  const { clock } = server.context
  // A second revocation within a millisecond moves the not-before time to the next one.
  server.clock.advance(1)
  const before = clock()
  const { jwt_accepted_until: until, jwt_accepted_for_seconds: seconds } = await end()
  if (lifetimeSeconds === 0) return assert.deepEqual([until, seconds], [null, 0])
  const endedAt = Date.parse(String(until)) - lifetimeSeconds * 1000
  assert.ok(endedAt >= before && endedAt <= clock(), `${String(until)} is not ${lifetimeSeconds} s from now`)
  assert.ok(Number(seconds) <= lifetimeSeconds && Number(seconds) > 0)
}
