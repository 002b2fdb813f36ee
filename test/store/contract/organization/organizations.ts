import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { perform, performAll, race, type Suite, tally, times } from '../harness.ts'
import type { OrganizationId, UserId } from '../../../../src/protocol/ids.ts'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import type { OrganizationRecord } from '../../../../src/ports/records/organization.ts'
import type { EpochMs } from '../../../../src/base/brand.ts'
import { anAdminCredential } from '../server/administrators.ts'
import { aLiveGrant } from '../token/tokens.ts'
import { approved } from '../token/authorizations.ts'
import { aRole } from '../user/roles.ts'
import { aProvider } from '../../../support/provider/provider-records.ts'
import {
  aClient,
  aGrant,
  aGroup,
  aMembership,
  anApproval,
  anAuthorization,
  anInstallation,
  anOrganization,
  at,
  aUser,
  HOUR,
  MINUTE,
  NOW,
} from '../../../support/records.ts'

/** Whether a row counts for an organization. */
type Counts = (store: StoreDriver, organization: OrganizationRecord) => Promise<boolean>
/** Stores a row of the organization, with this time. */
type Belonging = (store: StoreDriver, organization: OrganizationRecord, time: EpochMs) => Promise<Counts>

/** Each table that names an organization: by its column, and by the settings of a provider and the target of a consent. */
const BELONGINGS = {
  async memberships(store, { id: organizationId }, time) {
    const membership = aMembership({ organizationId, createdAt: time, notBefore: time })
    await perform(store, 'addMember', membership)
    return async (reading) => (await reading.findMembership(membership)) !== undefined
  },
  async installations(store, { id: organizationId }, time) {
    const installation = anInstallation({ organizationId, createdAt: time, notBefore: time })
    await perform(store, 'install', installation)
    return async (reading) => (await reading.findInstallation(installation)) !== undefined
  },
  async user_groups(store, { id: organizationId }, createdAt) {
    const group = aGroup({ organizationId, createdAt })
    await perform(store, 'createGroup', group)
    return async (reading) => (await reading.findGroup(group.id)) !== undefined
  },
  async roles(store, { id: organizationId }, setAt) {
    const user = aUser()
    await perform(store, 'createUser', user)
    await perform(store, 'setRole', aRole(user, { organizationId, setAt }))
    return async (reading) => (await reading.findRole(user.id)) !== undefined
  },
  async admin_credentials(store, { id: organizationId, createdAt: organizationSince }, time) {
    const credential = anAdminCredential({ organizationId, organizationSince }, time)
    await perform(store, 'createAdminCredential', credential)
    return async (reading, { createdAt }) =>
      (await reading.findAdminCredential(credential.id))?.organizationSince === createdAt
  },
  async providers(store, { id: organizationId }) {
    const { settings, ...provider } = aProvider()
    const ofOrganization = { ...settings, organizationId, membership: 'anybody' } as const
    await perform(store, 'createProvider', { ...provider, settings: ofOrganization })
    return async (reading, { id }) => {
      const found = await reading.findProvider(provider.id)
      const isOf = found?.settings.organizationId === id
      assert.deepEqual(found?.settings, isOf ? ofOrganization : settings)
      return isOf
    }
  },
  async grants(store, { id: organizationId }, time) {
    const { id } = await aLiveGrant(store, aGrant({ organizationId }, time))
    return async (reading, { notBefore }) => {
      const grant = await reading.findGrant(id)
      assert.ok(grant)
      return grant.revokedAt === undefined && grant.createdAt >= notBefore
    }
  },
  async authorizations(store, { id: organizationId }, now) {
    const { authorization } = await approved(store, { organizationId, now }, anAuthorization({}, now))
    return async (reading, { notBefore }) => {
      const { status } = (await reading.findAuthorization(authorization.id)) ?? {}
      return status?.kind === 'approved' && status.approvedAt >= notBefore
    }
  },
  async consents(store, { id: organizationId, notBefore: organization }, now) {
    const authorization = anAuthorization({ clientId: aClient().id }, now)
    const { remember } = anApproval(authorization)
    assert.ok(remember)
    const consent = { ...remember, organizationId, under: { server: 0 as EpochMs, organization } }
    await approved(store, { userId: consent.userId, organizationId, now, remember: consent }, authorization)
    return async (reading, { notBefore }) => {
      const under = { ...consent.under, organization: notBefore }
      return (await reading.findConsent({ ...consent, since: notBefore, under })) !== undefined
    }
  },
} satisfies Readonly<Record<string, Belonging>>

export const organizationCases: Suite = (check) => {
  check('createOrganization stores the whole organization', async ({ first, second }) => {
    const organizations = [anOrganization(), anOrganization({ disabledAt: at(3), notBefore: at(4) })]
    assert.deepEqual(await performAll(first, 'createOrganization', organizations), ['created', 'created'])
    for (const organization of organizations)
      assert.deepEqual(await second.findOrganization(organization.id), organization)
  })

  check(
    'an organization cannot replace another with the same id, and two may have the same name',
    async ({ first }) => {
      const organization = anOrganization()
      await perform(first, 'createOrganization', organization)
      const others = [{ ...organization, name: 'Another' }, anOrganization({ name: organization.name })]
      assert.deepEqual(await performAll(first, 'createOrganization', others), ['id-taken', 'created'])
      assert.deepEqual(await first.findOrganization(organization.id), organization)
    },
  )

  check('CID-01: of concurrent creations of one chosen organization id exactly one succeeds', async (stores) => {
    const { first, second } = stores
    const made = times(8, (index) => anOrganization({ id: 'acme' as OrganizationId, name: `Acme ${index}` }))
    const outcomes = await race(stores, 'createOrganization', made)
    assert.deepEqual(tally(outcomes), { created: 1, 'id-taken': 7 })
    for (const store of [first, second])
      assert.deepEqual(await store.findOrganization('acme' as OrganizationId), made[outcomes.indexOf('created')])
  })

  check('CID-03: a user and an organization with one id are not mistaken for each other', async (stores) => {
    const { first, second } = stores
    const organization = anOrganization({ id: 'twin' as OrganizationId })
    const user = aUser({ id: 'twin' as UserId })
    await perform(first, 'createOrganization', organization)
    await perform(first, 'createUser', user)
    for (const store of [first, second, first, second]) {
      assert.deepEqual(await store.findOrganization(organization.id), organization)
      assert.deepEqual(await store.findUser(user.id), user)
    }
    await perform(first, 'disableOrganization', { id: organization.id, now: at(1) })
    assert.equal((await first.findOrganization(organization.id))?.disabledAt, at(1))
    assert.equal((await first.findUser(user.id))?.disabledAt, undefined)
  })

  check('ids that do not exist find no organization, membership or installation', async ({ first }) => {
    assert.equal(await first.findOrganization(anOrganization().id), undefined)
    assert.equal(await first.findMembership(aMembership()), undefined)
    assert.equal(await first.findInstallation(anInstallation()), undefined)
    assert.deepEqual(await first.listMemberships(aMembership().userId), [])
  })

  check(
    'texts that a store cannot hold, or that look like two ids, find nothing and do not affect other queries',
    async ({ first }) => {
      const organization = anOrganization()
      const [member, installation] = [aMembership(), anInstallation()]
      await perform(first, 'createOrganization', organization)
      await perform(first, 'addMember', member)
      await perform(first, 'install', installation)
      for (const text of ['\0', '', ' ', '\ud800', `${member.userId} ${member.organizationId}`, `${member.userId} `]) {
        const odd = text as never
        const found = await Promise.all([
          first.findMembership({ userId: odd, organizationId: member.organizationId }),
          first.findMembership({ userId: member.userId, organizationId: odd }),
          first.findMembership({ userId: odd, organizationId: '' as never }),
          first.findInstallation({ clientId: odd, organizationId: installation.organizationId }),
          first.findInstallation({ clientId: installation.clientId, organizationId: odd }),
        ])
        assert.deepEqual(
          found,
          times(5, () => undefined),
          JSON.stringify(text),
        )
        const sound = await Promise.all([
          first.findOrganization(organization.id),
          first.findMembership(member),
          first.findInstallation(installation),
        ])
        assert.deepEqual(sound, [organization, member, installation])
      }
    },
  )

  check('a text that a store cannot hold finds no organization', async ({ first }) => {
    for (const text of ['\0', '', '\ud800', `${anOrganization().id}\0`])
      assert.equal(await first.findOrganization(text as never), undefined)
  })

  check('renameOrganization changes only the name, and a cached record shows it at once', async (stores) => {
    const { first } = stores
    const [organization, other] = [anOrganization(), anOrganization()]
    await performAll(first, 'createOrganization', [organization, other])
    await first.findOrganization(organization.id)
    assert.equal(await perform(first, 'renameOrganization', { id: organization.id, name: 'New' }), 'changed')
    assert.deepEqual(await first.findOrganization(organization.id), { ...organization, name: 'New' })
    assert.deepEqual(await first.findOrganization(other.id), other)
    const names = ['A', 'B', 'C'].map((name) => ({ id: organization.id, name, previous: 'New' }))
    assert.deepEqual(tally(await race(stores, 'renameOrganization', names)), { changed: 1, conflict: 2 })
  })

  check('a second disableOrganization keeps the first time and moves the not-before time', async ({ first }) => {
    const organization = anOrganization()
    const { id } = organization
    await perform(first, 'createOrganization', organization)
    await first.findOrganization(id)
    const moments = [at(5), at(9), at(7)].map((now) => ({ id, now }))
    assert.deepEqual(await performAll(first, 'disableOrganization', moments), ['changed', 'changed', 'changed'])
    assert.deepEqual(await first.findOrganization(id), { ...organization, disabledAt: at(5), notBefore: at(10) })
    assert.equal(await perform(first, 'enableOrganization', { id, now: at(8) }), 'changed')
    assert.deepEqual(await first.findOrganization(id), { ...organization, notBefore: at(10) })
    await perform(first, 'disableOrganization', { id, now: at(20) })
    assert.deepEqual(await first.findOrganization(id), { ...organization, disabledAt: at(20), notBefore: at(20) })
  })

  check(
    'a token that a node issued for a disabled organization stays invalid after enableOrganization',
    async (stores) => {
      const { first } = stores
      const [organization, other] = [anOrganization(), anOrganization()]
      const { id } = organization
      await performAll(first, 'createOrganization', [organization, other])
      await perform(first, 'disableOrganization', { id, now: at(5) })
      const moments = [at(9), at(12)].map((now) => ({ id, now }))
      // The second call enables an organization that is enabled already, which revokes nothing.
      assert.deepEqual(await performAll(first, 'enableOrganization', moments), ['changed', 'changed'])
      assert.deepEqual(await first.findOrganization(id), { ...organization, notBefore: at(9) })
      assert.deepEqual(await first.findOrganization(other.id), other)
    },
  )

  check(
    'revokeOrganizationTokens revokes what was issued before, and never makes anything valid again',
    async ({ first }) => {
      const organization = anOrganization({ notBefore: at(4) })
      const { id } = organization
      await perform(first, 'createOrganization', organization)
      assert.equal(await perform(first, 'revokeOrganizationTokens', { id, now: at(3) }), 'changed')
      assert.deepEqual(await first.findOrganization(id), { ...organization, notBefore: at(5) })
      assert.equal(await perform(first, 'revokeOrganizationTokens', { id, now: at(9) }), 'changed')
      assert.deepEqual(await first.findOrganization(id), { ...organization, notBefore: at(9) })
    },
  )

  check('a change of an organization that does not exist returns unknown and creates none', async ({ first }) => {
    const { id } = anOrganization()
    assert.equal(await perform(first, 'renameOrganization', { id, name: 'x' }), 'unknown')
    assert.equal(await perform(first, 'disableOrganization', { id, now: NOW }), 'unknown')
    assert.equal(await perform(first, 'enableOrganization', { id, now: NOW }), 'unknown')
    assert.equal(await perform(first, 'revokeOrganizationTokens', { id, now: NOW }), 'unknown')
    assert.equal(await perform(first, 'deleteOrganization', { id, now: NOW }), 'unknown')
    assert.equal(await first.findOrganization(id), undefined)
  })

  check('deleteOrganization removes its memberships and installations, and no others', async ({ first }) => {
    const [gone, kept] = [anOrganization(), anOrganization()]
    await performAll(first, 'createOrganization', [gone, kept])
    const { userId } = aMembership()
    const { clientId } = anInstallation()
    const members = [gone, kept].map(({ id }) => aMembership({ userId, organizationId: id }))
    const installations = [gone, kept].map(({ id }) => anInstallation({ clientId, organizationId: id }))
    await performAll(first, 'addMember', members)
    await performAll(first, 'install', installations)
    const readAll = async () => [
      ...(await Promise.all(members.map(first.findMembership))),
      ...(await Promise.all(installations.map(first.findInstallation))),
    ]
    assert.deepEqual(await readAll(), [...members, ...installations])
    assert.equal(await perform(first, 'deleteOrganization', { id: gone.id, now: NOW }), 'deleted')
    assert.deepEqual(await readAll(), [undefined, members[1], undefined, installations[1]])
    assert.deepEqual(await first.listMemberships(userId), [members[1]])
    assert.equal(await first.findOrganization(gone.id), undefined)
    assert.deepEqual(await first.findOrganization(kept.id), kept)
  })

  check('of concurrent deletions of one organization exactly one succeeds', async (stores) => {
    const organization = anOrganization()
    await perform(stores.first, 'createOrganization', organization)
    const outcomes = await race(
      stores,
      'deleteOrganization',
      times(10, () => ({ id: organization.id, now: NOW })),
    )
    assert.deepEqual(tally(outcomes), { deleted: 1, unknown: 9 })
  })

  check(
    'CID-05: an organization with the id of a deleted one inherits nothing, also not what was stored meanwhile or is from later',
    async ({ first, second }) => {
      const old = anOrganization({ id: 'acme' as OrganizationId })
      const next = anOrganization({ id: old.id }, at(2 * MINUTE))
      const kept = anOrganization({ id: 'beta' as OrganizationId })
      await performAll(first, 'createOrganization', [old, kept])
      const all: { readonly what: string; readonly isKept: boolean; readonly counts: Counts }[] = []
      for (const [table, belongs] of Object.entries<Belonging>(BELONGINGS)) {
        for (const time of [NOW, at(MINUTE), at(HOUR)])
          all.push({ what: `${table} at ${time - NOW}`, isKept: false, counts: await belongs(first, old, time) })
        all.push({ what: `${table} of another one`, isKept: true, counts: await belongs(second, kept, NOW) })
      }
      for (const { what, isKept, counts } of all) assert.ok(await counts(first, isKept ? kept : old), what)
      assert.equal(await perform(second, 'deleteOrganization', { id: old.id, now: at(MINUTE) }), 'deleted')
      // What each of these reads is older than the deletion.
      for (const table of ['installations', 'memberships', 'providers', 'roles'] as const)
        all.push({ what: `${table} meanwhile`, isKept: false, counts: await BELONGINGS[table](second, old, NOW) })
      assert.equal(await perform(first, 'createOrganization', next), 'created')
      for (const store of [first, second])
        for (const { what, isKept, counts } of all)
          assert.equal(await counts(store, isKept ? kept : next), isKept, what)
      const page = { organizationId: next.id, before: undefined, limit: 10 }
      assert.deepEqual([await first.listMembers(page), await first.listInstallations(page)], [[], []])
    },
  )

  check(
    'CID-05: an organization inherits nothing of one that was deleted by a node whose clock is ahead',
    async ({ first, second }) => {
      const old = anOrganization({ id: 'acme' as OrganizationId })
      const next = anOrganization({ id: old.id }, at(MINUTE))
      const kept = anOrganization({ id: 'beta' as OrganizationId })
      await performAll(first, 'createOrganization', [old, kept])
      const all: { readonly what: string; readonly isKept: boolean; readonly counts: Counts }[] = []
      for (const [table, belongs] of Object.entries<Belonging>(BELONGINGS)) {
        all.push({ what: table, isKept: false, counts: await belongs(first, old, at(MINUTE + 40)) })
        all.push({ what: `${table} of another one`, isKept: true, counts: await belongs(first, kept, at(MINUTE + 40)) })
      }
      assert.equal(await perform(first, 'deleteOrganization', { id: old.id, now: at(MINUTE + 60) }), 'deleted')
      assert.equal(await perform(second, 'createOrganization', next), 'created')
      for (const store of [first, second])
        for (const { what, isKept, counts } of all)
          assert.equal(await counts(store, isKept ? kept : next), isKept, what)
    },
  )

  check('CID-05: each table that names an organization is known', async () => {
    const folder = new URL('../../../../src/store/migrations/', import.meta.url)
    const schema = readdirSync(folder).map((file) => readFileSync(new URL(file, folder), 'utf8'))
    const tables = [...schema.join('\n').matchAll(/^create table (\w+) \(\n([^]*?)^\)/gm)]
    const naming = tables
      .filter(([, , columns]) => /^ {2}organization_id /m.test(columns ?? ''))
      .map(([, table]) => table)
    assert.deepEqual(
      naming.filter((table) => table !== 'organizations' && !Object.hasOwn(BELONGINGS, table ?? '')),
      [],
    )
  })

  check('listOrganizations pages newest first, `before` exclusive', async ({ first }) => {
    const organizations = times(4, (index) => anOrganization({}, at(index)))
    await performAll(first, 'createOrganization', organizations)
    const expected = organizations.toReversed()
    assert.deepEqual(await first.listOrganizations({ before: undefined, limit: 3 }), expected.slice(0, 3))
    assert.deepEqual(await first.listOrganizations({ before: expected[2]?.id, limit: 3 }), expected.slice(3))
    assert.deepEqual(await first.listOrganizations({ before: expected[3]?.id, limit: 3 }), [])
  })

  check('a batch creates an organization, its members and its installations, in its order', async ({ first }) => {
    const organization = anOrganization()
    const member = aMembership({ organizationId: organization.id })
    const installation = anInstallation({ organizationId: organization.id })
    const { id } = organization
    const results = await first.commit([
      { name: 'renameOrganization', input: { id, name: 'Too early' } },
      { name: 'createOrganization', input: organization },
      { name: 'addMember', input: { ...member, mails: [] } },
      { name: 'addMember', input: { ...member, mails: [] } },
      { name: 'install', input: installation },
      { name: 'disableMember', input: { ...member, now: at(1) } },
      { name: 'removeMember', input: { ...member, now: NOW } },
      { name: 'enableMember', input: { ...member, now: at(20) } },
      { name: 'addMember', input: { ...member, createdAt: at(2), mails: [] } },
      { name: 'deleteOrganization', input: { id, now: NOW } },
      { name: 'removeMember', input: { ...member, now: NOW } },
      { name: 'uninstall', input: installation },
    ])
    const expected = ['unknown', 'created', 'added', 'member-already', 'installed', 'changed', 'removed', 'unknown']
    assert.deepEqual(
      results.map((result) => result.kind === 'done' && result.outcome),
      [...expected, 'added', 'deleted', 'unknown', 'unknown'],
    )
  })
}
