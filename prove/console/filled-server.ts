import { randomBytes } from 'node:crypto'
import { createAdminCredential } from '../../src/admin/admin.ts'
import { createInitialToken } from '../../src/admin/client/initial-token.ts'
import { setDomainRules } from '../../src/admin/domain.ts'
import { createUser, updateUser } from '../../src/admin/user/user.ts'
import { groupIdOf, sourceOfProvider, type GroupId } from '../../src/protocol/access/group.ts'
import { after } from '../../src/base/brand.ts'
import { DEFAULT_TEMPLATE } from '../../src/protocol/client/registration-template.ts'
import type { ProviderId } from '../../src/protocol/sign-in/authentication.ts'
import { mintOrganizationId, parseClientId, type OrganizationId, type UserId } from '../../src/protocol/ids.ts'
import type { Scope } from '../../src/protocol/token/scope.ts'
import { giveRole } from '../../tools/console-browser.ts'
import { obtainTokens, redeem, registerClient, silentCodes } from '../../tools/flow.ts'
import type { Grantor } from '../resource-servers/grantor.ts'

/** More than a page of a list has. */
const ROWS = 51
/** What a hostile client may call itself. */
export const HOSTILE = `"><script>alert(1)</script><img src=x onerror=alert(1)>\u202e${'W'.repeat(60)}`

/** Groups, by what is special about them. */
export const GROUPS = { protected: 'cluster-admins', empty: 'empty', own: 'finance' } as const

/** Access rules, by what is special about them. */
export const ACCESS_RULES = { whole: 'whole', report: 'report', own: 'own' } as const

/** Fills the server with lists of more than a page, and with hostile names. Returns the ids that pages are opened with. */
export async function fill(grantor: Grantor) {
  const { context } = grantor
  const clientIds: string[] = []
  const grants = { grant_types: ['authorization_code', 'refresh_token'], scope: 'projects:read builds:start' }
  for (let index = 0; index < ROWS; index += 1) {
    const made = await registerClient(grantor, { ...grants, client_name: `Build agent ${index}` })
    clientIds.push(made.client_id)
  }
  const only = await registerClient(grantor, { ...grants, client_name: 'The only one' })
  const codes = await silentCodes(grantor, only, ROWS)
  for (const code of codes) await redeem(grantor, only, code)
  const hostile = await registerClient(grantor, {
    client_name: HOSTILE,
    client_uri: 'https://evil.example/"><b>',
    redirect_uris: [`https://${'long-label.'.repeat(20)}example/cb`],
    scope: 'a'.repeat(200),
  })
  for (let index = 0; index < ROWS; index += 1) {
    const email = `person-${index}@acme.test`
    await createUser(context, { email, password: undefined, name: `Person ${index}` })
    await giveRole({ context }, 'read', email)
    const name = `Deployment pipeline of the platform team ${index}`
    await createAdminCredential(context, { name, access: 'read', organizationId: undefined, days: 1 + index })
  }
  const [ada, other] = await Promise.all(
    ['ada@acme.test', 'person-7@acme.test'].map((email) => context.store.findUserByEmail(email)),
  )
  if (ada === undefined || other === undefined) throw new Error('A user is missing.')
  const hostileUser = await createUser(context, {
    email: `${'w'.repeat(60)}@${'long-label.'.repeat(4)}example`,
    password: undefined,
    name: undefined,
  })
  await updateUser(context, hostileUser.id, { name: HOSTILE, profile: {} })
  const organizationId = mintOrganizationId(context.clock(), randomBytes)
  const since = { organizationId, createdAt: context.clock(), disabledAt: undefined, notBefore: context.clock() }
  await context.store.createOrganization({ ...since, id: organizationId, name: 'Acme' })
  await context.store.addMember({ ...since, userId: ada.id, mails: [] })
  const { emptyId, hostileOrganizationId } = await fillOrganizations(grantor, { organizationId, clientIds })
  await fillGroups(grantor, organizationId, ada.id)
  const cursor = await registerClient(grantor, { ...grants, client_name: 'Cursor' })
  const { access_token: token } = await obtainTokens(grantor, cursor, { org_id: organizationId })
  const [grant] = await context.store.listGrants({ organizationId, before: undefined, limit: 1 })
  if (grant === undefined) throw new Error('The organization has no grant.')
  return {
    userIds: [ada.id, other.id, hostileUser.id],
    clientIds,
    grantId: grant.id,
    organizationId,
    emptyId,
    hostileOrganizationId,
    hostileId: hostile.client_id,
    token,
  }
}

/** Other organizations, and members and installations of one; rules for domains, and initial access tokens. */
async function fillOrganizations(
  { context }: Grantor,
  { organizationId, clientIds }: { readonly organizationId: OrganizationId; readonly clientIds: readonly string[] },
) {
  const { store, clock } = context
  const now = clock()
  const since = { organizationId, createdAt: now, disabledAt: undefined, notBefore: now }
  const ids: OrganizationId[] = []
  for (let index = 0; index < ROWS; index += 1) {
    const at = after(now, -(index + 1) * 60_000)
    const id = mintOrganizationId(at, randomBytes)
    const name = index === 0 ? 'Globex' : index === 1 ? `"><b>${'W'.repeat(60)}` : `Customer ${index}`
    await store.createOrganization({
      id,
      name,
      createdAt: at,
      disabledAt: index === 3 ? now : undefined,
      notBefore: at,
    })
    ids.push(id)
    const user = await store.findUserByEmail(`person-${index}@acme.test`)
    if (user !== undefined)
      await store.addMember({ ...since, userId: user.id, disabledAt: index === 4 ? now : undefined, mails: [] })
    const scope = 'projects:read builds:start' as Scope
    const clientId = parseClientId(clientIds[index] ?? '')
    if (clientId !== undefined) await store.install({ ...since, clientId, scope, actsForMembers: index % 2 === 0 })
    const host = index === 2 ? `${'long-label.'.repeat(20)}example` : `host-${index}.example`
    await setDomainRules(context, [host], {
      verdict: index % 3 === 0 ? 'blocked' : 'trusted',
      note: index === 2 ? '"><script>alert(1)</script>' : undefined,
    })
    const template = {
      ...DEFAULT_TEMPLATE,
      trustLevel: index % 4 === 0 ? ('verified' as const) : DEFAULT_TEMPLATE.trustLevel,
      redirectHosts: index === 2 ? ['board.example', '*.app.example'] : undefined,
    }
    await createInitialToken(context, { name: `Deployments ${index}`, uses: 5, days: 7, template })
  }
  const [emptyId = organizationId, hostileOrganizationId = organizationId] = ids
  return { emptyId, hostileOrganizationId }
}

/** Groups of the server and of an organization: with members from several sources, some of which ended, and with hostile names. */
async function fillGroups({ context }: Grantor, organizationId: OrganizationId, adaId: UserId): Promise<void> {
  const { store, clock } = context
  const now = clock()
  const create = async (own: string, owner: OrganizationId | undefined, more: object = {}): Promise<GroupId> => {
    const id = groupIdOf(own, owner)
    await store.createGroup({ id, organizationId: owner, name: own, isProtected: false, createdAt: now, ...more })
    return id
  }
  for (let index = 0; index < ROWS; index += 1) {
    await create(`team-${index}`, undefined, { name: index === 2 ? HOSTILE : `Team ${index}` })
    await create(`team-${index}`, organizationId, { name: `Team ${index} of Acme` })
  }
  await create('g'.repeat(64), undefined, { name: 'A group with a long id' })
  await create(GROUPS.empty, undefined)
  const admins = await create(GROUPS.protected, undefined, { name: 'Cluster admins', isProtected: true })
  const finance = await create(GROUPS.own, organizationId, { name: 'Finance' })
  const said = { userId: adaId, createdAt: now, expiresAt: undefined }
  for (const groupId of [admins, finance]) await store.addGroupMember({ ...said, groupId, source: 'operator' })
  const groups = [admins, finance]
  await store.setGroupsOfSource({
    userId: adaId,
    source: sourceOfProvider('acme' as ProviderId),
    groups,
    since: now,
    now,
    expiresAt: after(now, 86_400_000),
  })
  for (let index = 0; index < ROWS; index += 1) {
    const user = await store.findUserByEmail(`person-${index}@acme.test`)
    const end = index % 3 === 0 ? after(now, (index - 10) * 86_400_000) : undefined
    if (user === undefined) continue
    for (const groupId of groups)
      await store.addGroupMember({ userId: user.id, groupId, source: 'operator', createdAt: now, expiresAt: end })
  }
}
