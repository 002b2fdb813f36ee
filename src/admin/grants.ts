import type { Context } from '../ports/context.ts'
import type { GrantRecord } from '../ports/records/grant.ts'
import type { GrantFilter } from '../ports/store.ts'
import type { GrantId, OrganizationId } from '../protocol/ids.ts'
import { unknown } from './admin-error.ts'
import { listPage, type Listed } from './page.ts'

type Needs<Name extends keyof Context['store']> = { readonly store: Pick<Context['store'], Name> }

/** A grant, looked for among those of one organization only (threats.md ADM-03); undefined: among all. */
export interface GrantPlace {
  readonly id: GrantId
  readonly within: OrganizationId | undefined
}

/** What people allowed clients, newest first; of all filters that are given, what fits. @throws AdminError when the limit is none */
export function listGrants(
  { store }: Needs<'listGrants'>,
  { before, limit, ...filter }: { readonly before: GrantId | undefined; readonly limit: number } & GrantFilter,
): Promise<Listed<GrantRecord, GrantId>> {
  return listPage((page) => store.listGrants({ ...filter, ...page }), { before, limit })
}

/** @throws AdminError when there is no such grant, or it is another organization's */
export async function findGrant({ store }: Needs<'findGrant'>, { id, within }: GrantPlace): Promise<GrantRecord> {
  const grant = await store.findGrant(id)
  if (grant !== undefined && (within === undefined || grant.organizationId === within)) return grant
  throw unknown(`There is no grant ${id}${within === undefined ? '' : ' here'}. See "grantor grant list".`)
}

/** What a revocation found. */
export interface RevokedGrant {
  readonly grant: GrantRecord
  /** It was revoked before, and nothing changed. */
  readonly wasRevoked: boolean
  /** Of the newest 100 of the same user and client, in the place where the grant was looked for, those that are live. */
  readonly others: readonly GrantId[]
}

/** Revokes a grant, with everything that was issued on it. @throws AdminError when there is no such grant, or it is another organization's */
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
