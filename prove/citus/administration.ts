import { randomBytes, randomInt } from 'node:crypto'
import type { Input } from '../../src/ports/operations/index.ts'
import type { AdminCredentialRecord } from '../../src/ports/records/admin.ts'
import type { FigureRecord } from '../../src/ports/records/figures.ts'
import type { OrganizationRecord } from '../../src/ports/records/organization.ts'
import type { RoleRecord } from '../../src/ports/records/role.ts'
import type { StoreDriver } from '../../src/ports/store.ts'
import { after, type EpochMs } from '../../src/base/brand.ts'
import type { GroupId } from '../../src/protocol/access/group.ts'
import { mintOrderedId, type AdminCredentialId, type OrganizationId, type UserId } from '../../src/protocol/ids.ts'
import type { Scope } from '../../src/protocol/token/scope.ts'
import { atOnce, type Nodes, type Race } from './at-once.ts'
import { aHash, aLink, aPerson, aUser, CLIENT_ID, HOUR_MS, now, perform } from './person.ts'

/** Races of what operators do, and of the figures that nodes write. */
export const ADMINISTRATION_RACES: Readonly<Record<string, Race>> = {
  'a link and the removal of the role of its maker': (nodes) =>
    makeAndEnd(nodes, (store, { userId }) => perform(store, 'removeRole', { userId })),
  'a link and another role of its maker': (nodes) =>
    makeAndEnd(nodes, (store, role) => perform(store, 'setRole', { ...role, setAt: after(now(), HOUR_MS) })),
  'a link and the end of the account of its maker': (nodes) =>
    makeAndEnd(nodes, (store, { userId: id }) => perform(store, 'disableUser', { id, now: now() })),
  'a link and the deletion of its maker': (nodes) =>
    makeAndEnd(nodes, (store, { userId }) => perform(store, 'deleteUser', { id: userId })),
  async 'a link and the revocation of the credentials it was made with'(nodes) {
    const { one } = nodes
    const id = aHash() as string as AdminCredentialId
    await perform(one, 'createAdminCredential', aCredential(id))
    return useAndEnd(one, { madeWith: id }, () => perform(nodes.other, 'revokeAdminCredential', { id, now: now() }))
  },
  'credentials of an organization and its deletion'(nodes) {
    const id = aHash() as string as AdminCredentialId
    return beginAgain(
      nodes,
      (store, { id: organizationId, createdAt: organizationSince }) => {
        const credential = { ...aCredential(id), organizationId, organizationSince }
        return perform(store, 'createAdminCredential', credential)
      },
      async (store) => (await store.findAdminCredential(id)) !== undefined,
    )
  },
  async 'a role for an organization and its deletion'(nodes) {
    const { id: userId } = await aUser(nodes.one)
    return beginAgain(
      nodes,
      (store, { id }) => perform(store, 'setRole', aRole(userId, id)),
      async (store) => (await store.findRole(userId)) !== undefined,
    )
  },
  async 'a member of an organization and its deletion'(nodes) {
    const { id: userId } = await aUser(nodes.one)
    return beginAgain(
      nodes,
      (store, { id }) => perform(store, 'addMember', { userId, organizationId: id, ...since(), mails: [] }),
      async (store) => (await store.listMemberships(userId)).length > 0,
    )
  },
  'an installation for an organization and its deletion': (nodes) =>
    beginAgain(
      nodes,
      (store, { id: organizationId }) => {
        const installation = { clientId: CLIENT_ID, organizationId, scope: 'read' as Scope, actsForMembers: false }
        return perform(store, 'install', { ...installation, ...since() })
      },
      async (store, { id: organizationId }) =>
        (await store.findInstallation({ clientId: CLIENT_ID, organizationId })) !== undefined,
    ),
  async 'members of a group and its deletion'({ one, other }) {
    const id = aHash() as string as GroupId
    const group = { id, organizationId: undefined, name: 'Group', isProtected: false, createdAt: now() }
    await perform(one, 'createGroup', group)
    const users = [await aUser(one), await aUser(one)]
    const add = (store: StoreDriver) => async () => {
      const member = { groupId: id, source: 'operator', createdAt: now(), expiresAt: undefined } as const
      for (const { id: userId } of users) await perform(store, 'addGroupMember', { ...member, userId })
    }
    await atOnce(add(one), () => perform(other, 'deleteGroup', group))
    const left = await other.listGroupMembers({ groupId: id, before: undefined, limit: 1 })
    return left.length === 0 ? undefined : 'a deleted group has a member'
  },
  async 'two merges of figures, of which one is repeated'({ one, other }) {
    const first = someFigures()
    const second = someFigures(first.beganAt)
    for (const figures of [first, second]) await perform(one, 'writeFigures', figures)
    const both = (store: StoreDriver, all: readonly FigureRecord[]) => async () => {
      for (const figures of all) await perform(store, 'mergeFigures', figures)
    }
    await atOnce(both(one, [first, second]), both(other, [second, second]))
    return isSum(other, first, 2)
  },
  async 'figures that a process writes late and their merge by a sweep'({ one, other }) {
    const figures = someFigures()
    await perform(one, 'writeFigures', figures)
    const late = { ...figures, endedAt: after(figures.endedAt, 1), counts: { tokens: { refresh_token: 2 } } }
    const [written] = await atOnce(
      () => perform(one, 'writeFigures', late),
      () => perform(other, 'sweepExpired', { ...NOTHING, figuresLeftBefore: after(figures.beganAt, 1) }),
    )
    const again = await perform(one, 'writeFigures', late)
    return again === 'written' ? 'a merged row was written again' : isSum(other, figures, written === 'written' ? 2 : 1)
  },
}

/** The role of the maker of two links ends while one of them is used. */
async function makeAndEnd(
  { one, other }: Nodes,
  end: (store: StoreDriver, role: RoleRecord) => Promise<unknown>,
): Promise<string | undefined> {
  const maker = await aUser(one)
  const role = aRole(maker.id)
  await perform(one, 'setRole', role)
  const madeBy = { userId: maker.id, roleSince: role.setAt, notBefore: maker.notBefore }
  return useAndEnd(one, { madeBy }, () => end(other, role))
}

/** Of two links one is used while the right of their maker ends. After the end the other one must open nothing. */
async function useAndEnd(
  store: StoreDriver,
  made: Parameters<typeof aLink>[4],
  end: () => Promise<unknown>,
): Promise<string | undefined> {
  const aMadeLink = async () => aLink(store, await aPerson(store), aHash(), 'operator', made)
  const [use, useAfter] = [await aMadeLink(), await aMadeLink()]
  const [, outcome] = await atOnce(
    () => use(store),
    async () => {
      await end()
      return useAfter(store)
    },
  )
  return outcome === 'used' ? 'a link works after the end of the right of its maker' : undefined
}

/** An organization gets something while it is deleted. Another one with the same chosen id must not have it. */
async function beginAgain(
  { one, other }: Nodes,
  give: (store: StoreDriver, organization: NewOrganization) => Promise<unknown>,
  has: (store: StoreDriver, organization: NewOrganization) => Promise<boolean>,
): Promise<string | undefined> {
  const organization = anOrganization()
  const { id } = organization
  await perform(one, 'createOrganization', organization)
  await atOnce(
    async () => void ((await one.findOrganization(id)) === undefined || (await give(one, organization))),
    () => perform(other, 'deleteOrganization', { id, now: now() }),
  )
  const another = { ...organization, createdAt: after(now(), 1) }
  const isNew = (await perform(other, 'createOrganization', another)) === 'created'
  const isKept = (await has(one, another)) || (await has(other, another))
  return isNew && !isKept ? undefined : 'another organization has what one got that ended'
}

type NewOrganization = Omit<OrganizationRecord, 'accessRules'>

/** With a chosen id. */
export function anOrganization(): NewOrganization {
  return { id: `x${aHash()}` as OrganizationId, name: '', ...since() }
}

function aRole(userId: UserId, organizationId?: OrganizationId): RoleRecord {
  return { userId, access: 'write', organizationId, isLoopbackOnly: false, setAt: now() }
}

function aCredential(id: AdminCredentialId): AdminCredentialRecord {
  const rights = { access: 'write', organizationId: undefined, organizationSince: undefined } as const
  const times = { createdAt: now(), expiresAt: after(now(), HOUR_MS), revokedAt: undefined }
  return { id, name: '', secretHash: aHash(), ...rights, ...times }
}

function since() {
  const createdAt = now()
  return { createdAt, disabledAt: undefined, notBefore: createdAt }
}

/** Nothing has expired. */
const NEVER = 0 as EpochMs
const NOTHING: Input<'sweepExpired'> = {
  now: NEVER,
  limit: 100,
  revocationsBefore: NEVER,
  unusedSince: NEVER,
  unusedClients: 1_000_000,
  evictedBefore: NEVER,
  authorizationsBefore: NEVER,
  evidenceBefore: NEVER,
  initialTokensBefore: NEVER,
  logoutNoticesBefore: NEVER,
  auditBefore: NEVER,
  figuresBefore: { '5m': NEVER, '1h': NEVER, '1d': NEVER },
  figuresLeftBefore: NEVER,
  authorizationsAfter: '',
  removedTo: {},
}

/** A row of one token in a span of long ago, which no other race has. */
function someFigures(beganAt = randomInt(1, 1e12) as EpochMs): FigureRecord {
  const id = mintOrderedId(beganAt, randomBytes)
  return { id, node: aHash(), span: '1d', beganAt, endedAt: beganAt, counts: { tokens: { refresh_token: 1 } } }
}

/** Whether all rows of a span are one, with the sum. */
async function isSum(store: StoreDriver, { span, beganAt: begun }: FigureRecord, sum: number) {
  const rows = await store.listFigures({ span, since: begun, until: after(begun, 1), before: undefined, limit: 9 })
  const found = rows.map(({ node, counts }) => `${node}${counts.tokens?.['refresh_token']}`).join()
  return found === String(sum) ? undefined : `the figures are ${found} instead of ${sum}`
}
