import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathParameters, type Task } from '../../../src/admin/task.ts'
import { TASKS } from '../../../src/admin/tasks.ts'
import { mintOrganizationId } from '../../../src/protocol/ids.ts'
import { assertStoreUnchanged } from '../../support/store/dump.ts'
import { openAdminServer, type PeopledOrganization } from '../../support/admin-server.ts'
import { type Members } from '../../support/tasks.ts'

const OWN = TASKS.filter(({ extent }) => extent === 'organization')
/** The tasks about one thing in an organization. Any client may be installed anywhere: that is no look at another's things. */
const NESTED = OWN.filter((task) => pathParameters(task).length > 1 && task.name !== 'installation.install')

test('ADM-03: records of another organization cannot be read, changed or deleted below an own organization', async (t) => {
  const stage = await openAdminServer(t)
  const mine = await stage.makePeopledOrganization()
  const other = await stage.makePeopledOrganization()
  const { token } = await stage.issue('write', mine.organization_id)
  const { token: everywhere } = await stage.issue('write')
  assert.ok(NESTED.length > 6)
  for (const task of NESTED) {
    const input = { ...partsFor(task, other), organization_id: mine.organization_id }
    // Not even those who may see both find the one's things below the other.
    for (const held of [token, everywhere]) {
      const answer = await assertStoreUnchanged(stage.server, () => stage.perform(task, input, held), task.name)
      assert.equal(answer.statusCode, 404, `${task.name}: ${answer.body}`)
      assert.equal(answer.json<{ error: string }>().error, 'not_found')
    }
  }
})

test('ADM-03: a list of one organization has no rows of another with any filter', async (t) => {
  const stage = await openAdminServer(t)
  const mine = await stage.makePeopledOrganization()
  const other = await stage.makePeopledOrganization()
  const { token } = await stage.issue('read', mine.organization_id)
  const lists = OWN.filter((task) => 'before' in task.input.shape && pathParameters(task).length === 1)
  assert.equal(lists.length, 5)
  const user = await stage.server.context.store.findUser(other.user_id)
  const foreign = { user_id: other.user_id, client_id: other.client_id, grant_id: other.grant_id, email: user?.email }
  for (const task of lists) {
    const filters = Object.keys(task.input.shape).filter((name): name is keyof typeof foreign => name in foreign)
    for (const filter of [undefined, ...filters]) {
      const more = filter === undefined ? {} : { [filter]: foreign[filter] }
      const answer = await stage.perform(task, { organization_id: mine.organization_id, ...more }, token)
      assert.equal(answer.statusCode, 200, answer.body)
      for (const id of [other.organization_id, ...Object.values(foreign)]) {
        assert.ok(!answer.body.includes(String(id)), `${task.name} by ${filter}: ${answer.body}`)
      }
      if (filter === undefined) assert.ok(answer.body.includes(mine.organization_id))
    }
  }
})

test('ADM-03: the answers for another organization and for one that does not exist are the same', async (t) => {
  const stage = await openAdminServer(t)
  const { token } = await stage.issue('read', await stage.makeOrganization())
  const other = await stage.makeOrganization()
  const { clock, random } = stage.server.context
  const nowhere = mintOrganizationId(clock(), random)
  const answers = await Promise.all(
    [other, nowhere].map((id) => stage.performByName('organization.show', { organization_id: id }, token)),
  )
  const [real, made] = answers.map(({ body }, index) => body.replaceAll([other, nowhere][index] ?? '', 'ID'))
  assert.equal(real, made)
  for (const id of ['x', '..', '%00', '*', 'undefined']) {
    const answer = await stage.performByName('organization.show', { organization_id: id }, token)
    assert.equal(answer.statusCode, 404, id)
  }
})

test('ADM-03: only administrators of the server find users who belong to no organization', async (t) => {
  const stage = await openAdminServer(t)
  const organization_id = await stage.makeOrganization()
  const { id: user_id, email } = await stage.makeUser()
  const own = await stage.issue('write', organization_id)
  for (const who of [{ user_id }, { email }, { email: 'nobody@acme.test' }]) {
    const answer = await stage.performByName('member.add', { organization_id, ...who }, own.token)
    assert.equal(answer.statusCode, 403)
  }
  const everywhere = await stage.issue('write')
  const added = await stage.performByName('member.add', { organization_id, email }, everywhere.token)
  assert.equal(added.statusCode, 201, added.body)
})

test('ADM-03: administrators of an organization cannot rename, disable, enable or delete it', async (t) => {
  const stage = await openAdminServer(t)
  const { organization_id, user_id } = await stage.makePeopledOrganization()
  const { token } = await stage.issue('write', organization_id)
  for (const [name, more] of [
    ['rename', { name: 'Another one that its members know' }],
    ['disable', {}],
    ['enable', {}],
    ['delete', {}],
  ] as const) {
    const input = { organization_id, ...more }
    const answer = await assertStoreUnchanged(
      stage.server,
      () => stage.performByName(`organization.${name}`, input, token),
      name,
    )
    assert.equal(answer.statusCode, 403, name)
  }
  // What they may do one by one they may do at once.
  for (const [name, input] of [
    ['organization.revoke-tokens', { organization_id }],
    ['member.remove', { organization_id, user_id }],
  ] as const) {
    assert.equal((await stage.performByName(name, input, token)).statusCode, 200, name)
  }
})

test('GRP-01: administrators of an organization create groups of it alone, whatever id they name', async (t) => {
  const stage = await openAdminServer(t)
  const [organization_id, other] = [await stage.makeOrganization(), await stage.makeOrganization()]
  const { token } = await stage.issue('write', organization_id)
  const create = (group_id: string) =>
    stage.performByName('organization-group.create', { organization_id, group_id }, token)
  const refused = await assertStoreUnchanged(stage.server, () => create(`${other}/cluster-admins`))
  assert.equal(refused.statusCode, 409)
  assert.match(refused.body, /has no id of another one/)
  for (const group_id of ['cluster-admins', `${organization_id}/ops`]) {
    const { group_id: id } = (await create(group_id)).json<{ readonly group_id: string }>()
    assert.equal(id, `${organization_id}/${group_id.split('/').at(-1)}`)
  }
  const ofServer = await stage.performByName('group.create', { group_id: `${organization_id}/dev` }, token)
  assert.equal(ofServer.statusCode, 403)
})

/** Another organization's ids for what a task's path names, and whatever else it needs. */
function partsFor(task: Task, { user_id, client_id, grant_id, group_id }: PeopledOrganization): Members {
  const names = [...pathParameters(task), ...task.exactlyOneOf]
  const ids = { user_id, client_id, grant_id, group_id }
  return Object.fromEntries(Object.entries(ids).filter(([name]) => names.includes(name)))
}
