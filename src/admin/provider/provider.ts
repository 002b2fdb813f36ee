import type { Context } from '../../ports/context.ts'
import type { ProviderRecord } from '../../ports/records/provider.ts'
import type { ProviderId } from '../../protocol/sign-in/authentication.ts'
import {
  findProviderFault,
  PROVIDER_LIMIT,
  PROVIDER_TEMPLATES,
  type ProviderSettings,
  type ProviderTemplateName,
} from '../../protocol/sign-in/provider.ts'
import { conflict, unknown, type AdminError } from '../admin-error.ts'
import { groupsIn } from '../../protocol/access/provider-groups.ts'
import { requireGroups } from '../group/group-claim.ts'
import { requireOrganization } from '../organization/organization.ts'
import { isSameJson } from '../../base/json.ts'

/** What an operator says about a new provider. Members that are left out are those of the template. */
export interface ProviderInput {
  readonly id: ProviderId
  readonly template: ProviderTemplateName
  readonly name: string
  readonly clientId: string
  readonly clientSecret: string
  readonly settings: Partial<ProviderSettings>
}

interface ProviderChange {
  readonly settings: Partial<ProviderSettings>
  /** undefined: the secret does not change. */
  readonly clientSecret: string | undefined
}

/** Creates a provider. @throws AdminError when the settings contradict each other, the id or a domain is taken, or there are too many */
export async function createProvider(
  context: Context,
  { id, template, name, clientId, clientSecret, settings }: ProviderInput,
): Promise<ProviderRecord> {
  const { issuer, ...usual } = PROVIDER_TEMPLATES[template]
  const chosen = settings.issuer ?? issuer
  if (chosen === undefined) throw conflict('Give the issuer of the provider.')
  const provider: ProviderRecord = {
    id,
    settings: { ...usual, ...settings, issuer: chosen, name, clientId },
    encryptedSecret: context.providerSignIn.encryptSecret(id, clientSecret),
    createdAt: context.clock(),
    disabledAt: undefined,
  }
  await check(context, provider.settings, [])
  switch (await context.store.createProvider({ ...provider, limit: PROVIDER_LIMIT })) {
    case 'created':
      return provider
    case 'taken':
      throw conflict(`There is already a provider ${id}. See "grantor provider list".`)
    case 'domain-taken':
      throw domainTaken()
    case 'too-many':
      throw conflict(`A server has at most ${PROVIDER_LIMIT} providers.`)
  }
}

/** A provider after a change. `unchanged`: it had these settings and this secret already, and nothing was written. */
interface UpdatedProvider {
  readonly provider: ProviderRecord
  readonly outcome: 'changed' | 'unchanged'
}

/**
 * Replaces settings, and the secret if one is given. A declaration that every person belongs to the organization is about one
 * organization, so it ends when the provider gets another one; the groups end with the claim.
 *
 * @throws AdminError as `createProvider` does, or when there is no such provider
 */
export async function updateProvider(
  context: Context,
  id: ProviderId,
  { settings: changes, clientSecret }: ProviderChange,
): Promise<UpdatedProvider> {
  const before = await requireProvider(context, id)
  const { settings: previous } = before
  const { organizationId } = { ...previous, ...changes }
  const declared = organizationId === previous.organizationId ? previous.membership : PROVIDER_TEMPLATES.oidc.membership
  const isWithoutClaim = 'groupClaim' in changes && changes.groupClaim === undefined
  const groups = isWithoutClaim ? PROVIDER_TEMPLATES.oidc.groups : previous.groups
  const settings = { ...previous, membership: declared, groups, ...changes }
  await check(context, settings, previous.groups)
  const isSameSecret = clientSecret === undefined || context.providerSignIn.hasSecret(before, clientSecret)
  if (isSameSecret && areSame(previous, settings)) return { provider: before, outcome: 'unchanged' }
  const encryptedSecret = isSameSecret ? undefined : context.providerSignIn.encryptSecret(id, clientSecret)
  const outcome = await context.store.updateProvider({ id, previous, settings, encryptedSecret })
  if (outcome === 'domain-taken') throw domainTaken()
  if (outcome === 'conflict') throw conflict(`The provider ${id} was changed at the same time. Try again.`)
  return { provider: await requireProvider(context, id), outcome: 'changed' }
}

function areSame(one: ProviderSettings, other: ProviderSettings): boolean {
  const names = Object.keys({ ...one, ...other }) as (keyof ProviderSettings)[]
  return names.every((name) => isSameJson(one[name], other[name]))
}

/** @throws AdminError when there is no such provider */
export async function requireProvider({ store }: Context, id: ProviderId): Promise<ProviderRecord> {
  const provider = await store.findProvider(id)
  if (provider === undefined) throw noSuchProvider(id)
  return provider
}

/** `before`: the list of groups before the change. */
async function check(context: Context, settings: ProviderSettings, before: readonly string[]): Promise<void> {
  const fault = findProviderFault(settings, context.settings)
  if (fault !== undefined) throw conflict(fault)
  if (settings.organizationId !== undefined) await requireOrganization(context, settings.organizationId)
  await requireGroups(context, groupsIn(settings.groups), groupsIn(before))
}

function domainTaken(): AdminError {
  return conflict('A domain belongs to another provider. See "grantor provider list".')
}

export function noSuchProvider(id: string): AdminError {
  return unknown(`There is no provider ${id}. See "grantor provider list".`)
}
