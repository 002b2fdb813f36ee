import type { Context } from '../ports/context.ts'
import type { GrantRecord } from '../ports/records.ts'
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

/** It is dead from now on, with everything that was issued on it. @throws AdminError when there is no such grant, or it is another organization's */
export async function revokeGrant(
  context: Needs<'findGrant' | 'revokeGrant'> & Pick<Context, 'clock'>,
  place: GrantPlace,
): Promise<GrantRecord> {
  const { id, clientId, userId, organizationId } = await findGrant(context, place)
  await context.store.revokeGrant({ id, now: context.clock(), about: { clientId, userId, organizationId } })
  return findGrant(context, place)
}
