import assert from 'node:assert/strict'
import { test } from 'node:test'
import { subjectKey } from '../../../src/protocol/sign-in/interaction.ts'
import { APPLICATION_URL, openApplication, redirectOf, startAtClient } from '../../support/application.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { addMember, createOrganization } from '../../support/organizations.ts'
import { openTestServer } from '../../support/server.ts'
import { perform } from '../../support/tasks.ts'

const server = await openTestServer(WHOLE_FILE, { env: { GRANTOR_DELEGATE_URL: APPLICATION_URL } })
const { context } = server
const application = await openApplication(server)
const acme = await createOrganization(server, 'Acme')
const globex = await createOrganization(server, 'Globex')
for (const group_id of ['dev', 'finance']) await perform(context, 'group.create', { group_id })
for (const organization_id of [acme, globex])
  await perform(context, 'organization-group.create', { organization_id, group_id: 'ops' })

/** The answer of the application to a new interaction, and what the user belongs to afterwards, by group and source. */
async function answer(subject: string, groups: readonly string[] | undefined) {
  const { interaction } = await startAtClient(server)
  const accepted = await application.accept(interaction, { subject, ...(groups && { groups }) })
  return { interaction, accepted, said: await saidOf(subject) }
}

async function saidOf(subject: string): Promise<readonly string[] | undefined> {
  const identity = await context.store.findIdentity(subjectKey(subject))
  if (identity === undefined) return undefined
  return (await context.store.listGroupsOfUser(identity.userId)).map(({ groupId, source }) => `${groupId} ${source}`)
}

test('the groups of an answer replace those of the application, those of others stay, and without groups all stay', async () => {
  const subject = 'u_groups'
  assert.deepEqual((await answer(subject, ['finance', 'dev', 'dev'])).said, ['dev application', 'finance application'])
  const { userId } = (await context.store.findIdentity(subjectKey(subject))) ?? assert.fail()
  await perform(context, 'group.add-member', { group_id: 'dev', user_id: userId })
  const both = ['dev application', 'dev operator', 'finance application']
  assert.deepEqual((await answer(subject, undefined)).said, both)
  await addMember(server, userId, acme)
  const { interaction, accepted, said } = await answer(subject, [`${acme}/ops`, 'dev'])
  assert.deepEqual(said?.toSorted(), [`${acme}/ops application`, 'dev application', 'dev operator'].toSorted())
  const again = (groups: readonly string[]) => application.accept(interaction, { subject, groups })
  assert.equal(redirectOf(await again(['dev', `${acme}/ops`])), redirectOf(accepted))
  const other = await again(['dev'])
  assert.deepEqual([other.statusCode, other.json<Fault>().detail[0]?.type], [409, 'already_answered'])
  assert.deepEqual((await answer(subject, [])).said, ['dev operator'])
  const { groups } = (await context.store.findBelonging(userId)) ?? assert.fail()
  assert.deepEqual(
    groups.map(({ groupId }) => groupId),
    ['dev'],
  )
})

interface Fault {
  readonly detail: readonly { readonly type: string; readonly msg: string; readonly ctx: object }[]
}

test('groups that do not exist, or of an organization without an active membership, are refused by name; nothing is written', async () => {
  const subject = 'u_refused'
  const foreign = [`${acme}/ops`, `${globex}/ops`, 'finanz', 'initech/ops'].toSorted()
  const refuse = async (groups: readonly string[], named: readonly string[]) => {
    const before = await saidOf(subject)
    const { accepted, said } = await answer(subject, groups)
    assert.equal(accepted.statusCode, 409, accepted.body)
    const [{ type, msg, ctx } = assert.fail()] = accepted.json<Fault>().detail
    assert.deepEqual([type, ctx, said], ['unknown_groups', { groups: named }, before])
    assert.ok(msg.endsWith(`: ${named.join(', ')}`), msg)
  }
  await refuse(['dev', ...foreign], foreign)
  assert.equal(await saidOf(subject), undefined, 'no account was created')
  assert.deepEqual((await answer(subject, ['dev'])).said, ['dev application'])
  const { userId } = (await context.store.findIdentity(subjectKey(subject))) ?? assert.fail()
  await addMember(server, userId, acme)
  await refuse([`${acme}/ops`, `${globex}/ops`], [`${globex}/ops`])
  await context.store.disableMember({ userId, organizationId: acme, now: context.clock() })
  await refuse([`${acme}/ops`], [`${acme}/ops`])
})
