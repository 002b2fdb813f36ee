import assert from 'node:assert/strict'
import * as z from 'zod'
import type { Context } from '../ports/context.ts'
import type { GrantRecord } from '../ports/records/grant.ts'
import type { GrantOwner } from '../ports/store.ts'
import type { ClientId, GrantId, OrganizationId, UserId } from '../protocol/ids.ts'
import { findGrantReason } from '../tokens/inactive-reason.ts'
import { findGrantType } from '../clients/grant-type.ts'
import { GRANT } from '../answers/grant.ts'
import { unknown } from './admin-error.ts'
import { findReaches, REACH, requireReach } from './administrators.ts'
import { CLIENT_ID, GRANT_ID, LIMIT, NEXT, ORGANIZATION_ID, USER_ID, pageStart } from './fields.ts'
import { findJwtAcceptance, JWT_ACCEPTANCE } from './jwt-acceptance.ts'
import { findNames, NAMES } from './names.ts'
import { listPage, searchPage, type Listed, type PageRequest } from './page.ts'
import { defineTask, type Task, type TaskContext } from './task.ts'

/** Grants that a page of one client's grants examines. */
const EXAMINED = { examined: 10_000, slice: 5000 } as const

const PATH = '/admin/v1/grants'
const ORGANIZATION_PATH = '/admin/v1/organizations/{organization_id}/grants'
const PAGE = z.object({
  limit: LIMIT,
  before: pageStart(GRANT_ID),
  client_id: CLIENT_ID.optional().describe(
    'Without a user or an organization, a page examines the next 10,000 grants, and may be empty. Then follow "next".',
  ),
  user_id: USER_ID.optional(),
})
const ONE = z.object({ grant_id: GRANT_ID })
const PLACE = { organization_id: ORGANIZATION_ID }

const GRANT_DOCUMENT = z.object(GRANT.shape).meta({ id: 'Grant' })
const ENDED_GRANT = GRANT_DOCUMENT.extend({
  ...JWT_ACCEPTANCE,
  was_revoked: z.boolean().describe('Whether the grant was already revoked; then nothing changed.'),
  other_grants: z
    .array(z.string())
    .describe(
      'Other active grants of the same user for the same client, among the newest 100. Their tokens keep working.',
    ),
}).meta({ id: 'EndedGrant' })
/** A grant in a list, and whether the account of its user is in reach. */
const LISTED_GRANT = GRANT_DOCUMENT.extend({ reach: REACH }).meta({ id: 'ListedGrant' })
/** One grant, with what the ids in it are called. */
const SHOWN_GRANT = LISTED_GRANT.extend({ names: NAMES }).meta({ id: 'ShownGrant' })
const GRANTS = z.object({ grants: z.array(LISTED_GRANT), names: NAMES, next: NEXT })

export type GrantDocument = z.output<typeof LISTED_GRANT>
export type ShownGrantDocument = z.output<typeof SHOWN_GRANT>
export type EndedGrantDocument = z.output<typeof ENDED_GRANT>

export const GRANT_TASKS: readonly Task[] = [
  defineTask({
    name: 'grant.list',
    method: 'GET',
    path: PATH,
    access: 'read-people',
    summary: 'List grants, newest first.',
    input: PAGE.extend({ organization_id: ORGANIZATION_ID.optional() }),
    output: GRANTS,
    run: answerList,
  }),
  defineTask({
    name: 'grant.show',
    method: 'GET',
    path: `${PATH}/{grant_id}`,
    access: 'read-people',
    summary: 'Show a grant.',
    input: ONE,
    output: SHOWN_GRANT,
    run: (context, { grant_id: id }) => answerGrant(context, { id, within: undefined }),
  }),
  defineTask({
    name: 'grant.revoke',
    method: 'POST',
    path: `${PATH}/{grant_id}/revoke`,
    access: 'support',
    touches: 'membership',
    anyClock: true,
    summary: 'Revoke a grant with all of its tokens. The client must ask the user again.',
    isFinal: true,
    input: ONE,
    output: ENDED_GRANT,
    run: (context, { grant_id: id }) => answerRevocation(context, { id, within: undefined }),
  }),
  defineTask({
    name: 'organization.list-grants',
    method: 'GET',
    path: ORGANIZATION_PATH,
    access: 'read-people',
    extent: 'organization',
    summary: 'List grants for an organization, newest first.',
    input: PAGE.extend(PLACE),
    output: GRANTS,
    run: answerList,
  }),
  defineTask({
    name: 'organization.show-grant',
    method: 'GET',
    path: `${ORGANIZATION_PATH}/{grant_id}`,
    access: 'read-people',
    extent: 'organization',
    summary: 'Show a grant for an organization.',
    input: ONE.extend(PLACE),
    output: SHOWN_GRANT,
    run: (context, { grant_id: id, organization_id: within }) => answerGrant(context, { id, within }),
  }),
  defineTask({
    name: 'organization.revoke-grant',
    method: 'POST',
    path: `${ORGANIZATION_PATH}/{grant_id}/revoke`,
    access: 'support',
    touches: 'membership',
    extent: 'organization',
    anyClock: true,
    summary: 'Revoke a grant for an organization with all of its tokens.',
    isFinal: true,
    input: ONE.extend(PLACE),
    output: ENDED_GRANT,
    run: (context, { grant_id: id, organization_id: within }) => answerRevocation(context, { id, within }),
  }),
]

type ListInput = z.output<typeof PAGE> & { readonly organization_id?: OrganizationId | undefined }

async function answerList(
  context: TaskContext,
  { client_id: clientId, user_id: userId, organization_id: organizationId, ...page }: ListInput,
): Promise<z.output<typeof GRANTS>> {
  const owner = ownerOf(userId, organizationId)
  const { rows, next } =
    owner === undefined && clientId !== undefined
      ? await listOfClient(context, clientId, page)
      : await listPage<GrantRecord, GrantId>(
          (slice) => context.store.listGrants(owner === undefined ? slice : { ...slice, ...owner, clientId }),
          page,
        )
  return { grants: await listed(context, rows), names: await findNames(context, namedIn(rows)), next }
}

async function answerGrant(context: TaskContext, place: GrantPlace): Promise<ShownGrantDocument> {
  const grant = await requireGrant(context, place)
  const [shown] = await listed(context, [grant])
  assert(shown)
  return { ...shown, names: await findNames(context, namedIn([grant])) }
}

async function listed(context: TaskContext, grants: readonly GrantRecord[]): Promise<GrantDocument[]> {
  const reachOf = await findReaches(
    context,
    grants.map(({ userId }) => userId),
  )
  return Promise.all(
    grants.map(async (grant) => ({ ...(await describeGrant(context, grant)), reach: reachOf(grant.userId) })),
  )
}

/** The ids in grants that have a name. */
function namedIn(grants: readonly GrantRecord[]) {
  return {
    users: grants.map(({ userId }) => userId),
    clients: grants.map(({ clientId }) => clientId),
    organizations: grants.map(({ organizationId }) => organizationId),
  }
}

function ownerOf(userId: UserId | undefined, organizationId: OrganizationId | undefined): GrantOwner | undefined {
  if (userId !== undefined) return { userId, organizationId }
  return organizationId === undefined ? undefined : { organizationId }
}

/** No index finds the grants of a client, so they are searched among all. */
function listOfClient(
  { store }: Context,
  clientId: ClientId,
  page: PageRequest<GrantId>,
): Promise<Listed<GrantRecord, GrantId>> {
  return searchPage<GrantRecord, GrantId>(
    { store },
    { list: 'grants', ...EXAMINED, read: (slice) => store.listGrants({ ...slice, clientId }) },
    page,
  )
}

async function answerRevocation(context: TaskContext, place: GrantPlace): Promise<z.output<typeof ENDED_GRANT>> {
  const { grant, wasRevoked, others } = await endGrant(context, place)
  const { revokedAt = context.clock(), resources } = grant
  return {
    ...(await describeGrant(context, grant)),
    was_revoked: wasRevoked,
    other_grants: [...others],
    ...(await findJwtAcceptance(context, { endedAt: revokedAt, resources })),
  }
}

async function describeGrant(context: TaskContext, grant: GrantRecord): Promise<z.output<typeof GRANT_DOCUMENT>> {
  const client = await context.store.findClient(grant.clientId)
  return GRANT.show(grant, {
    grant_type: findGrantType(grant, client) ?? null,
    inactive_reason: (await findGrantReason(context, client, grant, context.clock())) ?? null,
  })
}

/** A grant, searched in one organization only (threats.md ADM-03), or, with undefined, in all. */
interface GrantPlace {
  readonly id: GrantId
  readonly within: OrganizationId | undefined
}

/** Finds a grant. @throws AdminError when there is no such grant, or it is for another organization */
async function requireGrant({ store }: Context, { id, within }: GrantPlace): Promise<GrantRecord> {
  const grant = await store.findGrant(id)
  if (grant !== undefined && (within === undefined || grant.organizationId === within)) return grant
  throw unknown(`There is no grant ${id}${within === undefined ? '' : ' here'}. See "grantor grant list".`)
}

/** The result of a revocation. */
interface RevokedGrant {
  readonly grant: GrantRecord
  /** Whether the grant was already revoked; then nothing changed. */
  readonly wasRevoked: boolean
  /** The active grants among the newest 100 of the same user and client, within the same organization if one was given. */
  readonly others: readonly GrantId[]
}

/**
 * Revokes a grant with all of its tokens.
 *
 * @throws AdminError when there is no such grant, it is for another organization, or its user is out of the reach of the administrator
 */
async function endGrant(context: TaskContext, place: GrantPlace): Promise<RevokedGrant> {
  const { store } = context
  const { id, clientId, userId, organizationId } = await requireGrant(context, place)
  await requireReach(context, userId, 'membership')
  const now = context.clock()
  const outcome = await store.revokeGrant({ id, now, about: { clientId, userId, organizationId } })
  const [grant, found] = await Promise.all([
    requireGrant(context, place),
    store.listGrants({ userId, clientId, organizationId: place.within, before: undefined, limit: 100 }),
  ])
  const live = found.filter((one) => one.revokedAt === undefined && one.expiresAt > now)
  return { grant, wasRevoked: outcome === 'known', others: live.map((one) => one.id) }
}
