import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditEntry } from '../../src/admin/audit/list.ts'
import type { OrganizationId } from '../../src/protocol/ids.ts'
import { openAdminServer } from '../support/admin-server.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { perform, type Members } from '../support/tasks.ts'

const stage = await openAdminServer(WHOLE_FILE)
const run = (name: string, input: Members) => perform(stage.server.context, name, input)
const CORP = { organization_id: 'corp' }
const API = 'https://board.example'

async function makeCorp(): Promise<string> {
  await run('organization.create', { ...CORP, name: 'Corp' })
  return (await stage.issue('write', 'corp' as OrganizationId)).token
}

/** The details of the newest event. */
async function lastOf(event: string): Promise<AuditEntry['details']> {
  const { events } = await perform<{ readonly events: readonly AuditEntry[] }>(stage.server.context, 'audit.list', {
    event,
  })
  return events[0]?.details
}

test('GRP-03: an organization with the id of a deleted one makes no group that an API still names', async () => {
  const former = await makeCorp()
  const admins = { ...CORP, group_id: 'admins' }
  assert.equal((await stage.performByName('organization-group.create', admins, former)).statusCode, 201)
  await run('api.create', { resource: API, groups: 'roles', group_words: ['corp/admins=root'] })
  const shown = (await stage.performByName('organization-group.show', admins, former)).json<Members>()
  assert.deepEqual(shown['named_by'], [{ kind: 'server', id: null, organization_id: null }])
  const kept = await stage.performByName('organization-group.delete', admins, former)
  assert.match(kept.body, /A record of the server names the group corp\/admins/)
  assert.ok(!kept.body.includes(API))
  await assert.rejects(run('group.delete', { group_id: 'corp/admins' }), /The API https:\/\/board.example names/)
  await run('organization.delete', CORP)
  const token = await makeCorp()
  const refused = await stage.performByName('organization-group.create', admins, token)
  assert.equal(refused.statusCode, 409)
  assert.match(refused.body, /A record of the server names an earlier group corp\/admins/)
  await assert.rejects(
    run('group.create', { group_id: 'corp/admins' }),
    /The API https:\/\/board.example names an earlier/,
  )
  await run('api.update', { resource: API, group_words: [] })
  assert.equal((await stage.performByName('organization-group.create', admins, token)).statusCode, 201)
})

test('a text that is a group, and a word of another group, is refused', async () => {
  await run('organization.create', { organization_id: 'x=y', name: 'X' })
  for (const group_id of ['x', 'x=y/fin']) await run('group.create', { group_id })
  const claim = { resource: API, groups: 'roles' }
  await assert.rejects(run('api.update', { ...claim, group_words: ['x=y/fin'] }), /x=y\/fin could be the group/)
  const words = ['x=y/other', 'x=y/fin=fin']
  assert.deepEqual((await run('api.update', { ...claim, group_words: words }))['group_words'], words)
})

test('the audit has the groups that an API, a client and a provider name', async () => {
  await run('group.create', { group_id: 'dev' })
  await run('api.update', { resource: API, groups: 'groups', group_words: ['dev=A b'] })
  const lost = { group_words_removed: 'x=y/other x=y/fin=fin' }
  assert.deepEqual(await lastOf('api.updated'), {
    resource: API,
    groups: 'groups',
    group_words_added: 'dev=A%20b',
    ...lost,
  })
  const client = { client_id: 'board', client_name: 'Board', redirect_uris: ['https://board.example/cb'] }
  await run('client.create', { ...client, rules: { groups: 'groups', group_words: ['dev'] } })
  assert.equal((await lastOf('client.created'))?.['group_words_added'], 'dev')
  await run('client.set-rules', { client_id: 'board', groups: 'groups', group_words: ['dev=Admin'] })
  const { groups, group_words_added: added, group_words_removed: removed } = (await lastOf('client.rules-set')) ?? {}
  assert.deepEqual([groups, added, removed], ['groups', 'dev=Admin', 'dev'])
  const provider = { id: 'idp', name: 'IdP', issuer: 'https://idp.example', client_id: 'grantor', client_secret: 's' }
  const { id: provider_id, ...settings } = provider
  await run('provider.create', { provider_id, template: 'oidc', ...settings })
  await run('provider.update', { provider_id, group_claim: 'teams', groups: ['CN=All staff=dev'] })
  const { group_claim: name, groups_added: pairs } = (await lastOf('provider.updated')) ?? {}
  assert.deepEqual([name, pairs], ['teams', 'CN=All%20staff=dev'])
})

test('a member is added until a time to come: an end that has passed, or is now, is refused, and adds no one', async () => {
  const { user_id } = await run('user.create', { email: 'until@acme.test' })
  await run('group.create', { group_id: 'guests' })
  const member = { group_id: 'guests', user_id }
  const now = stage.server.clock.now()
  for (const until of ['2020-01-01', new Date(now).toISOString()])
    await assert.rejects(run('group.add-member', { ...member, until }), /^AdminError: The end .* has passed\.$/)
  assert.deepEqual((await run('group.list-members', { group_id: 'guests' }))['members'], [])
  await run('group.add-member', { ...member, until: new Date(now + 3_600_000).toISOString() })
})
