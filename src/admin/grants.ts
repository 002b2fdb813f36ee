import type { Context } from '../ports/context.ts'
import type { GrantRecord } from '../ports/records/grant.ts'
import type { GrantFilter } from '../ports/store.ts'
import type { GrantId, OrganizationId } from '../protocol/ids.ts'
import { unknown } from './admin-error.ts'
import { listPage, type Listed } from './page.ts'

type Needs<Name extends keyof Context['store']> = { readonly store: Pick<Context['store'], Name> }

/** A grant, searched in one organization only (threats.md ADM-03), or, with undefined, in all. */
export interface GrantPlace {
  readonly id: GrantId
  readonly within: OrganizationId | undefined
}

/** Lists the grants that match all filters, newest first. @throws AdminError when the limit is invalid */
export function listGrants(
  { store }: Needs<'listGrants'>,
  { before, limit, ...filter }: { readonly before: GrantId | undefined; readonly limit: number } & GrantFilter,
): Promise<Listed<GrantRecord, GrantId>> {
  return listPage((page) => store.listGrants({ ...filter, ...page }), { before, limit })
}

/** Finds a grant. @throws AdminError when there is no such grant, or it is for another organization */
export async function findGrant({ store }: Needs<'findGrant'>, { id, within }: GrantPlace): Promise<GrantRecord> {
  const grant = await store.findGrant(id)
  if (grant !== undefined && (within === undefined || grant.organizationId === within)) return grant
  throw unknown(`There is no grant ${id}${within === undefined ? '' : ' here'}. See "grantor grant list".`)
}

/** The result of a revocation. */
export interface RevokedGrant {
  readonly grant: GrantRecord
  /** Whether the grant was already revoked; then nothing changed. */
  readonly wasRevoked: boolean
  /** The active grants among the newest 100 of the same user and client, within the same organization if one was given. */
  readonly others: readonly GrantId[]
}

/** Revokes a grant with all of its tokens. @throws AdminError when there is no such grant, or it is for another organization */
export async function revokeGrant(
  context: Needs<'findGrant' | 'listGrants' | 'revokeGrant'> & Pick<Context, 'clock'>,
  place: GrantPlace,
): Promise<RevokedGrant> {
  const { store } = context
  const { id, clientId, userId, organizationId } = await findGrant(context, place)
  const now = context.clock()
  const outcome = await store.revokeGrant({ id, now, about: { clientId, userId, organizationId } })
  const [grant, found] = await Promise.all([
    findGrant(context, place),
    store.listGrants({ userId, clientId, organizationId: place.within, before: undefined, limit: 100 }),
  ])
  const live = found.filter((one) => one.revokedAt === undefined && one.expiresAt > now)
  return { grant, wasRevoked: outcome === 'known', others: live.map((one) => one.id) }
}
