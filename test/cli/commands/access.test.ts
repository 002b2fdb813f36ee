import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GroupId } from '../../../src/protocol/access/group.ts'
import { anAccessRule } from '../../support/store/access-rules.ts'
import type { RuleId } from '../../../src/protocol/access/rule.ts'
import type { EpochMs } from '../../../src/base/brand.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { perform } from '../../support/tasks.ts'
import { command, findingsAbout, openServerForCommands } from '../../support/command.ts'

/** "Why can Ada not …": questions that `grantor access explain` answers alone (docs/access-rules.md). */

const server = await openServerForCommands(WHOLE_FILE)

const PAY = 'https://pay.example'

/** The words of a command that must succeed. */
async function words(...typed: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await command(typed)
  assert.deepEqual([code, stderr], [0, ''], typed.join(' '))
  return stdout
}

const SCOPES = [
  { name: 'payments:read', sentence: 'Read', granted_to: 'users' },
  { name: 'payments:write', sentence: 'Pay', granted_to: 'users' },
  { name: 'payments:later', sentence: 'Later', granted_to: 'users-on-request' },
  { name: 'payments:machine', sentence: 'Machine', granted_to: 'users-and-machines' },
  { name: 'payments:all', sentence: 'All', granted_to: 'approved-clients' },
]
const { context } = server
await perform(context, 'api.create', {
  resource: PAY,
  scopes: SCOPES,
})
await perform(context, 'user.create', { email: 'ada@acme.test' })
await perform(context, 'organization.create', { name: 'Acme', organization_id: 'acme' })
await perform(context, 'group.create', { group_id: 'finance' })
await perform(context, 'client.create', {
  client_id: 'board',
  client_name: 'Board',
  redirect_uris: ['https://app.example/callback'],
  grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
})
await words('access-rule', 'create', 'payments', '--scope', `${PAY}=payments:write`, '--except-group', 'finance')

/** What the command says, without spaces that only align. */
async function explained(...more: readonly string[]): Promise<readonly string[]> {
  const said = await words('access', 'explain', '--user', 'ada@acme.test', '--client', 'board', ...more)
  return said
    .trimEnd()
    .split('\n')
    .map((line) => line.replaceAll(/ {2,}/g, ' | ').trimEnd())
}

test('ACS-04: why is a scope not given: a rule, with the group that the user was in', async () => {
  const taken = `${PAY} | payments:write | no | Rule payments takes it from everyone except finance.`
  assert.deepEqual(await explained('--api', PAY), [
    'API | SCOPE | GIVEN | WHY',
    `${PAY} | payments:read | yes`,
    taken,
    `${PAY} | payments:later | yes | Only to a request that names it.`,
    `${PAY} | payments:machine | yes`,
    `${PAY} | payments:all | no | It is given only to clients that are approved for it, and this one is not.`,
  ])
  await words('group', 'add-member', 'finance', 'ada@acme.test', '--until', '2099-01-01')
  const inside = await explained('--scope', 'payments:write')
  assert.deepEqual(inside.slice(1), [
    `${PAY} | payments:write | yes`,
    'In finance, said by operator, until 2099-01-02 00:00 UTC.',
  ])
  await words('group', 'remove-member', 'finance', 'ada@acme.test')
  const [, row = ''] = await explained('--scope', 'payments:write')
  assert.ok(row.startsWith(`${taken} The user was removed from finance (operator) at 20`), row)
})

test('ACS-04: why is a scope not given: a level that the account cannot reach, and a rule that is tried says so', async () => {
  await words('access-rule', 'create', 'strong', '--api', PAY, '--require', 'phr', '--max-age', '600')
  await words('access-rule', 'create', 'trial', '--scope', `${PAY}=payments:read`, '--state', 'report')
  const lines = await explained('--scope', 'payments:read')
  assert.deepEqual(lines.slice(1), [
    `${PAY} | payments:read | no | Rule strong needs phr of the last 600 seconds, for everyone. The account has no passkey with which it could sign in now.`,
    `The rule trial is tried, and would say: For everyone, ${PAY}=payments:read is not given at all clients.`,
  ])
  await words('access-rule', 'delete', 'strong')
  await words('access-rule', 'delete', 'trial')
})

test('ACS-04: why does a client get nothing: it is disabled, the membership is, or nothing declares the scope', async () => {
  await words('client', 'disable', 'board')
  const [stopped = '', , row = ''] = await explained('--scope', 'payments:read')
  assert.match(stopped, /^Nothing is given\. The client is disabled since 20/)
  assert.equal(row, `${PAY} | payments:read | no`)
  await words('client', 'enable', 'board')
  await words('org', 'add-member', 'acme', 'ada@acme.test')
  await words('org', 'disable-member', 'acme', 'ada@acme.test')
  const [membership = ''] = await explained('--scope', 'openid', '--organization', 'acme')
  assert.match(membership, /^Nothing is given\. The membership is disabled since 20/)
  await words('org', 'enable-member', 'acme', 'ada@acme.test')
  assert.deepEqual((await explained('--scope', 'groups payments:gone', '--organization', 'acme')).slice(1), [
    'sign-in | groups | no | The client has no claim for groups.',
    'sign-in | payments:gone | no | No API declares it.',
  ])
})

test('ACS-04: why may a client not act for a member: its installation, or a rule, because no user signs in', async () => {
  await perform(context, 'installation.install', {
    organization_id: 'acme',
    client_id: 'board',
    scope: 'payments:machine',
    acts_for_members: true,
  })
  await perform(context, 'access-rule.create', { rule_id: 'strong', apis: [PAY], require: 'phr' })
  const lines = await explained('--scope', 'payments:read payments:machine', '--organization', 'acme')
  const own = lines.slice(lines.indexOf('The client for the user, who does not sign in:'))
  assert.deepEqual(own.slice(2), [
    `${PAY} | payments:read | no | It is given only to clients that are approved for it, and this one is not.`,
    `${PAY} | payments:machine | no | Rule strong needs phr, for everyone. No user signs in.`,
  ])
})

test('doctor names rules that name what is gone, match no user, are only tried, or leave out a group without members', async () => {
  const { store } = context
  assert.deepEqual(await findingsAbout('access'), [
    ['warning', 'The access rule payments leaves out a group without members: group finance. No user is in it.'],
  ])
  for (const group_id of ['empty', 'lost']) await perform(context, 'group.create', { group_id })
  const gone = { clients: ['gone', 'https://app.example/client.json'], groups: ['empty', 'lost'] }
  await perform(context, 'access-rule.create', { rule_id: 'idle', clients: ['gone'] })
  await perform(context, 'access-rule.create', { rule_id: 'part', ...gone, state: 'report' })
  await perform(context, 'organization-access-rule.create', {
    organization_id: 'acme',
    rule_id: 'own',
    scopes: [`${PAY}=payments:later`],
  })
  const tried = anAccessRule({ id: 'tried' as RuleId, state: 'report', updatedAt: 1 as EpochMs })
  await store.setAccessRule({ rule: tried, previous: undefined })
  // What a race left.
  await store.deleteGroup({ id: 'lost' as GroupId, isProtected: false })
  await perform(context, 'api.update', {
    resource: PAY,
    scopes: SCOPES.filter(({ name }) => name !== 'payments:later'),
  })
  const found = (await findingsAbout('access')).map(([, message]) => message)
  assert.deepEqual(found, [
    'The access rule idle names what does not exist: client gone. So it takes nothing from any user.',
    'The access rule part names what does not exist: client gone, group lost.',
    'The access rule payments leaves out a group without members: group finance. No user is in it.',
    'The access rule tried is only tried, for more than 30 days.',
    `The access rule own of acme names what does not exist: scope ${PAY}=payments:later. So it takes nothing from any user.`,
  ])
})
