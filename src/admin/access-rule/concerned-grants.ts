import * as z from 'zod'
import { iso, ISO } from '../../base/iso.ts'
import type { GrantRecord } from '../../ports/records/grant.ts'
import type { AccessRule } from '../../protocol/access/rule.ts'
import { listedIdOf } from '../../protocol/client/identifier.ts'
import type { OrganizationId } from '../../protocol/ids.ts'
import { scopeTokens } from '../../protocol/token/scope.ts'
import { findConcerned } from '../../tokens/access-rules.ts'
import { findNames, NAMES } from '../names.ts'
import type { TaskContext } from '../task.ts'

/** The newest grants that are examined, and those that are listed. */
const EXAMINED = 1000
const LISTED = 50
/** Grants that are judged at the same time. */
const AT_ONCE = 50

/** The grants that a rule is about, in an answer. */
export const CONCERNED = {
  grants: z
    .array(
      z.object({
        grant_id: z.string(),
        user_id: z.string(),
        client_id: z.string(),
        organization_id: z.string().nullable(),
        created_at: ISO,
        scopes: z.array(z.string()).describe('The scopes of the grant about which the rule is.'),
      }),
    )
    .describe(
      `At most ${LISTED} of the newest ${EXAMINED} grants: those that have not ended and that the rule is about, whatever its state is.`,
    ),
  names: NAMES,
}
export type ConcernedGrants = z.output<z.ZodObject<typeof CONCERNED>>

/** Finds grants that a rule is about, newest first. A rule of an organization is about its grants alone. */
export async function listConcerned(
  context: TaskContext,
  rule: AccessRule,
  organizationId: OrganizationId | undefined,
): Promise<ConcernedGrants> {
  const { clock, store } = context
  const now = clock()
  const only = [{ ...rule, state: 'on' }] as const
  const page = { before: undefined, limit: EXAMINED }
  const newest = await store.listGrants(organizationId === undefined ? page : { ...page, organizationId })
  const live = newest.filter(({ expiresAt, revokedAt }) => revokedAt === undefined && expiresAt > now)
  const found: ConcernedGrants['grants'] = []
  for (let at = 0; at < live.length && found.length < LISTED; at += AT_ONCE) {
    const some = await Promise.all(live.slice(at, at + AT_ONCE).map((grant) => describeConcerned(context, only, grant)))
    found.push(...some.filter((one) => one !== undefined))
  }
  const grants = found.slice(0, LISTED)
  const shown = live.filter(({ id }) => grants.some((one) => one.grant_id === id))
  const names = await findNames(context, {
    users: shown.map(({ userId }) => userId),
    clients: shown.map(({ clientId }) => clientId),
    organizations: shown.map((grant) => grant.organizationId),
  })
  return { grants, names }
}

async function describeConcerned(
  context: TaskContext,
  only: readonly [AccessRule],
  { id, userId, clientId, organizationId, scope, resources, createdAt }: GrantRecord,
): Promise<ConcernedGrants['grants'][number] | undefined> {
  const client = await context.store.findClient(clientId)
  if (client === undefined) return undefined
  const concerned = await findConcerned(context, only, { client, userId, organizationId, scope, resources })
  if (concerned === undefined) return undefined
  return {
    grant_id: id,
    user_id: userId,
    client_id: listedIdOf(client),
    organization_id: organizationId ?? null,
    created_at: iso(createdAt),
    scopes: [...scopeTokens(concerned)],
  }
}
