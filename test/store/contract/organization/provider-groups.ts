import assert from 'node:assert/strict'
import type { SignInGroups } from '../../../../src/ports/operations/session.ts'
import type { IdentityRecord, ProviderRecord } from '../../../../src/ports/records/provider.ts'
import type { UserRecord } from '../../../../src/ports/records/user.ts'
import { sourceOfProvider } from '../../../../src/protocol/access/group.ts'
import { groupsIn } from '../../../../src/protocol/access/provider-groups.ts'
import { anIdentity, aProvider } from '../../../support/provider/provider-records.ts'
import {
  aGroup,
  anOrganization,
  aSession,
  aSessionStart,
  aUserOfProvider,
  at,
  HOUR,
  NOW,
} from '../../../support/records.ts'
import { perform, performAll, race, times, type Stores, type Suite } from '../harness.ts'

/** A provider that says two groups of the server and one of an organization, whose values are their ids. */
async function aWorld({ first }: Stores) {
  const organization = anOrganization()
  await perform(first, 'createOrganization', organization)
  const groups = [aGroup(), aGroup(), aGroup({ organizationId: organization.id })]
  await performAll(first, 'createGroup', groups)
  const ids = groups.map(({ id }) => id)
  const made = aProvider()
  const settings = { ...made.settings, groupClaim: 'groups', groups: ids.map((id) => `${id}=${id}`) }
  const provider = { ...made, settings }
  await perform(first, 'createProvider', provider)
  return { organization, ids, provider, ...(await aPerson(first, provider)) }
}

async function aPerson(store: Stores['first'], { id: providerId }: ProviderRecord) {
  const user = aUserOfProvider()
  const identity = anIdentity({ userId: user.id, providerId })
  await perform(store, 'provisionUser', { user, identity })
  return { user, identity }
}

function starting(
  { user, identity }: { readonly user: UserRecord; readonly identity: IdentityRecord },
  { id: providerId, settings: readBy }: ProviderRecord,
  groups: SignInGroups['groups'],
  differing: Partial<SignInGroups> = {},
) {
  const session = aSession({ userId: user.id, authentication: { methods: ['fed'], at: NOW, providerId } })
  const said = { groups, expiresAt: at(HOUR), readBy, ...differing }
  return aSessionStart({
    session,
    identity: identity.key,
    passwordHash: undefined,
    isSecondStepDone: true,
    groups: said,
  })
}

export const providerGroupCases: Suite = (check) => {
  check(
    'startSession replaces what the provider says, if it still reads the groups as the sign-in did',
    async (stores) => {
      const { first, second } = stores
      const { ids, provider, ...person } = await aWorld(stores)
      const [one = assert.fail(), two = assert.fail(), ofOrganization = assert.fail()] = ids
      const start = (groups: SignInGroups['groups'], differing?: Partial<SignInGroups>) =>
        perform(first, 'startSession', starting(person, provider, groups, differing))
      const rows = () => second.listGroupsOfUser(person.user.id)
      const own = await start([one, two, ofOrganization])
      assert.partialDeepStrictEqual(own, { kind: 'started', groups: { added: [one, two], removed: [] } })
      const source = sourceOfProvider(provider.id)
      const row = { userId: person.user.id, source, createdAt: NOW, expiresAt: at(HOUR) }
      assert.deepEqual(
        await rows(),
        [one, two].toSorted().map((groupId) => ({ ...row, groupId })),
      )
      for (const readBy of [
        { ...provider.settings, groupClaim: 'roles' },
        { ...provider.settings, groups: provider.settings.groups.slice(1) },
      ])
        assert.deepEqual(await start([two], { readBy }), { kind: 'user-changed' })
      assert.equal((await rows()).length, 2)
      assert.partialDeepStrictEqual(await start([two]), { groups: { added: [], removed: [one] } })
      const silent = { ...starting(person, provider, []), groups: undefined }
      assert.equal('groups' in (await perform(first, 'startSession', silent)), false)
      assert.equal((await rows()).length, 1)
      assert.deepEqual(
        (await second.findBelonging(person.user.id)).groups.map(({ groupId }) => groupId),
        [two],
      )
    },
  )

  check('sign-ins that say the same groups in other orders all start', async (stores) => {
    const { ids, provider } = await aWorld(stores)
    const persons = await Promise.all(times(6, () => aPerson(stores.first, provider)))
    const starts = persons.map((person, index) => starting(person, provider, index % 2 === 0 ? ids : ids.toReversed()))
    for (const outcome of await race(stores, 'startSession', starts)) assert.equal(outcome.kind, 'started')
    assert.equal(
      (await stores.second.listGroupMembers({ groupId: ids[0] ?? assert.fail(), before: undefined, limit: 9 })).length,
      6,
    )
  })

  check(
    'no provider says the groups of a deleted organization, which another one with its id may have',
    async (stores) => {
      const { first, second } = stores
      const { organization, ids, provider } = await aWorld(stores)
      const other = aProvider()
      const settings = { ...other.settings, groupClaim: 'groups', groups: [`a=${organization.id}/ops`] }
      await perform(first, 'createProvider', { ...other, settings })
      await perform(first, 'deleteOrganization', { id: organization.id, now: at(1) })
      const left = await second.findProvider(provider.id)
      assert.deepEqual(groupsIn(left?.settings.groups ?? []), ids.slice(0, 2))
      assert.deepEqual((await second.findProvider(other.id))?.settings, { ...settings, groups: [] })
    },
  )
}
