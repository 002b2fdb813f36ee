import * as z from 'zod'
import { iso, ISO, isoOrNull, ISO_OR_NULL } from '../../base/iso.ts'
import { forShell } from '../../base/shell.ts'
import type { ApiRecord } from '../../ports/records/api.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import type { GroupMemberRecord, GroupRecord } from '../../ports/records/group.ts'
import { isCounting } from '../../protocol/access/belonging.ts'
import { type GroupId, groupIdOf, type MemberSource, organizationOfGroup } from '../../protocol/access/group.ts'
import { type GroupClaim, groupsOfClaim } from '../../protocol/access/group-claim.ts'
import type { AccessRule } from '../../protocol/access/rule.ts'
import { namesGroup } from '../../protocol/access/provider-groups.ts'
import { listedIdOf } from '../../protocol/client/identifier.ts'
import type { ClientId, OrganizationId } from '../../protocol/ids.ts'
import { tableOf } from '../../answers/table.ts'
import { type AdminError, conflict, unknown } from '../admin-error.ts'
import { describeJwtAcceptance, findJwtAcceptance, type JwtAcceptance } from '../jwt-acceptance.ts'
import type { TaskContext } from '../task.ts'

const groupRows = tableOf<GroupRecord>()

/** A group in an answer. */
export const GROUP = groupRows.table({
  group_id: groupRows.row(z.string(), ({ id }) => id),
  organization_id: groupRows.row(
    z.string().nullable().describe('The organization that has the group; null: the server has it.'),
    ({ organizationId }) => organizationId ?? null,
  ),
  name: groupRows.row(z.string().describe('For people. Tokens have the id.'), ({ name }) => name),
  protected: groupRows.row(
    z
      .boolean()
      .describe(
        'Whether the members count as holders of a role: administrators with less than write access, and those of other organizations, cannot change their accounts.',
      ),
    ({ isProtected }) => isProtected,
  ),
  created_at: groupRows.row(ISO, ({ createdAt }) => iso(createdAt)),
})
export const GROUP_DOCUMENT = z.object(GROUP.shape).meta({ id: 'Group' })

const SOURCE_FORM = '(?:operator|application|provider:[a-z][a-z0-9-]{0,30})'
export const SOURCE = z
  .string()
  .regex(new RegExp(`^${SOURCE_FORM}$`), {
    error: 'This is not a source: operator, application, or provider:<id>.',
  })
  .meta({ examples: ['operator'] })
  .transform((text) => text as MemberSource)
/** The ids of a user and a source: a user has a row for each source. */
export const MEMBER_ROW = z
  .string()
  .regex(new RegExp(`^[A-Za-z0-9._~|:=-]{1,64} ${SOURCE_FORM}$`), { error: 'This is not the `next` of a page.' })
  .meta({ examples: ['gus_01a200f2d7f1OGrZM2nOk7CWgjISwIxFbQ operator'] })

/** Who says that a user is in a group, and until when. */
export const SAYING = z
  .object({
    source: z
      .string()
      .describe(
        'Who says it: `operator`, an administrator or an import; `application`, your application; or `provider:<id>`.',
      ),
    created_at: ISO,
    expires_at: ISO_OR_NULL.describe('The end; null: there is none.'),
    counts: z
      .boolean()
      .describe(
        'Whether it counts now: it has not ended, and its provider is enabled, names the group and is not newer. A group of an organization also needs an active membership.',
      ),
  })
  .meta({ id: 'GroupSource' })

/** Returns what a source says, in an answer. */
export async function sayings({ store, clock }: TaskContext) {
  const given = { now: clock(), providers: await store.listProviders() }
  return (row: GroupMemberRecord): z.output<typeof SAYING> => ({
    source: row.source,
    created_at: iso(row.createdAt),
    expires_at: isoOrNull(row.expiresAt),
    counts: isCounting(row, given),
  })
}

const READERS_AT_ONCE = 500
/** A record that names a group. */
export const NAMING = z
  .object({
    kind: z
      .enum(['access-rule', 'api', 'client', 'provider', 'server'])
      .describe('`server`: a record of the server, which administrators of one organization do not see.'),
    id: z
      .string()
      .nullable()
      .describe('The identifier of the API, or the id of the rule, the client or the provider; null: of `server`.'),
    organization_id: z
      .string()
      .nullable()
      .describe('The organization that has the access rule; null: the server has it, or it is no rule.'),
  })
  .meta({ id: 'NamesGroup' })

export type Naming = z.output<typeof NAMING>

/**
 * What names a group. While something does, it is not deleted; nor is it created, because a group with the id of an earlier one would get
 * what its words mean. An administrator of one organization learns no id of a record of the server (threats.md CON-08).
 */
export async function listNaming(
  { store, administrator }: Pick<TaskContext, 'store' | 'administrator'>,
  id: GroupId,
): Promise<readonly Naming[]> {
  const names = (claim: GroupClaim | undefined) => groupsOfClaim(claim).includes(id)
  const apis = (await store.listApis()).filter(({ groups }) => names(groups))
  const providers = (await store.listProviders()).filter(({ settings }) => namesGroup(settings.groups, id))
  const clients: ClientRecord[] = []
  for (let before: ClientId | undefined; ;) {
    const page = await store.listGroupReaders({ before, limit: READERS_AT_ONCE })
    clients.push(...page.filter(({ rules }) => names(rules.groupClaim)))
    if (page.length < READERS_AT_ONCE) break
    before = page.at(-1)?.id
  }
  const owner = organizationOfGroup(id)
  const rulesOfOwner = owner === undefined ? [] : ((await store.findOrganization(owner))?.accessRules ?? [])
  const ofServer = [
    ...rulesNaming(await store.listAccessRules(), id, null),
    ...apis.map(({ resource }) => namingOf('api', resource)),
    ...clients.map((client) => namingOf('client', listedIdOf(client))),
    ...providers.map((provider) => namingOf('provider', provider.id)),
  ]
  const seen = administrator.organizationId === undefined ? ofServer : ofServer.map(() => namingOf('server', null))
  return [...rulesNaming(rulesOfOwner, id, owner ?? null), ...seen]
}

function namingOf(kind: Naming['kind'], id: string | null): Naming {
  return { kind, id, organization_id: null }
}

function rulesNaming(rules: readonly AccessRule[], id: GroupId, owner: OrganizationId | null): readonly Naming[] {
  return rules
    .filter(({ people: { only, except } }) => [...only, ...except].includes(`group:${id}`))
    .map((rule) => ({ kind: 'access-rule', id: rule.id, organization_id: owner }))
}

/**
 * Until when APIs may accept JWTs that say what a member of the group had, after the member was removed: any of them if an access rule names the
 * group, and otherwise those of the APIs that read it.
 */
export async function findRemovalAcceptance(context: TaskContext, id: GroupId): Promise<JwtAcceptance> {
  const owner = organizationOfGroup(id)
  const [ofServer, apis, organization] = await Promise.all([
    context.store.listAccessRules(),
    context.store.listApis(),
    owner === undefined ? undefined : context.store.findOrganization(owner),
  ])
  const endedAt = context.clock()
  const isRuled = rulesNaming([...ofServer, ...(organization?.accessRules ?? [])], id, null).length > 0
  if (isRuled) return findJwtAcceptance(context, { endedAt, resources: undefined })
  const reads = ({ groups: claim }: ApiRecord): boolean =>
    claim !== undefined && (claim.words.length === 0 || groupsOfClaim(claim).includes(id))
  const resources = apis.filter(reads).map(({ resource }) => resource)
  return resources.length === 0
    ? describeJwtAcceptance(context, undefined)
    : findJwtAcceptance(context, { endedAt, resources })
}

/**
 * Finds a group. Below the path of an organization the id may lack that of the organization, and groups of others do not exist.
 *
 * @throws AdminError when there is no such group
 */
export async function requireGroup(
  { store }: TaskContext,
  given: GroupId,
  organizationId: OrganizationId | undefined,
): Promise<GroupRecord> {
  const id = idWithin(given, organizationId)
  const group = id === undefined ? undefined : await store.findGroup(id)
  if (group === undefined) throw noSuchGroup(given, organizationId)
  return group
}

/** The id of a group below the path of an organization, or below none; undefined: it is that of a group of another one. */
export function idWithin(given: GroupId, organizationId: OrganizationId | undefined): GroupId | undefined {
  const owner = organizationOfGroup(given)
  if (owner === undefined) return groupIdOf(given, organizationId)
  return organizationId === undefined || owner === organizationId ? given : undefined
}

function noSuchGroup(id: string, organizationId: OrganizationId | undefined): AdminError {
  const missing = `There is no group ${id}.`
  return unknown(
    organizationId === undefined
      ? `${missing} See "grantor group list".`
      : `${missing} See "grantor group list --organization ${forShell(organizationId)}".`,
  )
}

const NAMED = { 'access-rule': 'access rule', api: 'API', client: 'client', provider: 'provider' } as const

/** The error for a group that something names. */
export function namedBy(id: GroupId, naming: readonly Naming[]): AdminError {
  return conflict(
    isOfServer(naming)
      ? `${sayNaming(naming, `the group ${id}`)} Only an administrator of the server can remove it there.`
      : `${sayNaming(naming, `the group ${id}`)} Remove it there first. To see what does: grantor group show ${forShell(id)}`,
  )
}

/** @throws AdminError while something names the group */
export async function refuseNamed(context: TaskContext, id: GroupId): Promise<void> {
  const naming = await listNaming(context, id)
  if (naming.length > 0) throw namedBy(id, naming)
}

/** @throws AdminError when there is no such group, and something still names its id */
export async function refuseNamedBefore(context: TaskContext, id: GroupId): Promise<void> {
  const naming = (await context.store.findGroup(id)) === undefined ? await listNaming(context, id) : []
  if (naming.length === 0) return
  const remedy = isOfServer(naming) ? 'Choose another id' : 'Remove it there first, or choose another id'
  throw conflict(
    `${sayNaming(naming, `an earlier group ${id}`)} ${remedy}, so that this group does not get its rights.`,
  )
}

/** Whether the administrator sees no record that names the group. */
function isOfServer([first]: readonly Naming[]): boolean {
  return first?.kind === 'server'
}

function sayNaming(naming: readonly Naming[], what: string): string {
  const [first] = naming
  const others = naming.length > 1 ? `, and ${naming.length - 1} more` : ''
  const name =
    first === undefined || first.kind === 'server' ? 'A record of the server' : `The ${NAMED[first.kind]} ${first.id}`
  return `${name} names ${what}${others}.`
}
