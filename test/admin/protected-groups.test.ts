import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asAdministrator, COMMAND_LINE } from '../../src/admin/administrators.ts'
import { runTask } from '../../src/admin/run-task.ts'
import { requireTask } from '../../src/admin/tasks.ts'
import { PASSWORD } from '../../tools/flow.ts'
import { type Members } from '../support/tasks.ts'
import { assertRefused, openOffice } from './office.ts'

test('GRP-06: an administrator for a trial, or of an organization, decides about no protected group', async (t) => {
  const { perform, stage } = await openOffice(t)
  const [organization_id, { id: actor }, { id: user_id }] = [
    await stage.makeOrganization(),
    await stage.makeUser(),
    await stage.makeUser(),
  ]
  await perform('member.add', { organization_id, user_id })
  const [guarded, plain] = [`${organization_id}/root`, `${organization_id}/plain`]
  await perform('group.create', { group_id: guarded, protected: true })
  await perform('group.create', { group_id: plain })
  for (const bounds of [{ isLoopbackOnly: true }, { organizationId: organization_id }]) {
    const administrator = asAdministrator(stage.server.context, { ...COMMAND_LINE, actor, ...bounds })
    const order = (verb: string, group_id: string, input: Members = {}) =>
      runTask(
        administrator,
        requireTask(`organization-group.${verb}`),
        { organization_id, group_id, ...input },
        () => undefined,
      )
    const refused = (...asked: Parameters<typeof order>) =>
      assertRefused(order(...asked), 'conflict', /^Only an administrator of the server, whose role counts for more/)
    await refused('create', 'other', { protected: true })
    await refused('update', plain, { protected: true })
    await refused('update', guarded, { protected: false })
    await refused('add-member', guarded, { user_id })
    await refused('delete', guarded)
    await order('update', guarded, { name: 'Root' })
    await order('add-member', plain, { user_id })
    await order('remove-member', plain, { user_id })
    assert.equal((await stage.server.context.store.findGroup(guarded as never))?.name, 'Root')
  }
})

test('GRP-06: a protected group takes a prepared account only with a confirmation, which the error asks for', async (t) => {
  const { perform, stage } = await openOffice(t)
  const users = asAdministrator(stage.server.context, { ...COMMAND_LINE, access: 'users' })
  const known = { email: 'boss@acme.test', email_verified: true, password: PASSWORD }
  const { user_id } = (await runTask(users, requireTask('user.create'), known, () => undefined)) as Members
  await perform('group.create', { group_id: 'cluster-admins', protected: true })
  await perform('group.create', { group_id: 'dev' })
  const member = { group_id: 'cluster-admins', user_id }
  await assertRefused(perform('group.add-member', member), 'conflict', /^An administrator for a trial, or with less/)
  await perform('group.add-member', { group_id: 'dev', user_id })
  const protection = { group_id: 'dev', protected: true }
  await assertRefused(perform('group.update', protection), 'conflict', /grantor group members dev\. .* \(--yes\)/)
  await perform('group.update', { ...protection, confirmed: true })
  await perform('group.add-member', member)
})
