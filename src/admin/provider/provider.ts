import type { Context } from '../../ports/context.ts'
import type { ProviderRecord } from '../../ports/records/provider.ts'
import type { ProviderFinding } from '../../ports/upstream.ts'
import type { ProviderId } from '../../protocol/sign-in/authentication.ts'
import {
  findProviderFault,
  PROVIDER_LIMIT,
  PROVIDER_TEMPLATES,
  providerRedirectUri,
  type ProviderSettings,
  type ProviderTemplateName,
} from '../../protocol/sign-in/provider.ts'
import { conflict, unknown, type AdminError } from '../admin-error.ts'

type Needs<Name extends keyof Context['store']> = { readonly store: Pick<Context['store'], Name> }
type Checking = Needs<'findOrganization'> & Pick<Context, 'settings'>

/** What an operator says about a new provider. Members that are left out are those of the template. */
export interface ProviderWish {
  readonly id: ProviderId
  readonly template: ProviderTemplateName
  readonly name: string
  readonly clientId: string
  readonly clientSecret: string
  readonly settings: Partial<ProviderSettings>
}

/** Creates a provider. @throws AdminError when the settings contradict each other, the id or a domain is taken, or there are too many */
export async function createProvider(
  context: Checking & Needs<'createProvider'> & Pick<Context, 'clock' | 'upstream'>,
  { id, template, name, clientId, clientSecret, settings }: ProviderWish,
): Promise<ProviderRecord> {
  const { issuer, ...usual } = PROVIDER_TEMPLATES[template]
  const chosen = settings.issuer ?? issuer
  if (chosen === undefined) throw conflict('Give the issuer of the provider.')
  const provider: ProviderRecord = {
    id,
    settings: { ...usual, ...settings, issuer: chosen, name, clientId },
    encryptedSecret: context.upstream.encryptSecret(id, clientSecret),
    createdAt: context.clock(),
    disabledAt: undefined,
  }
  await check(context, provider.settings)
  switch (await context.store.createProvider(provider)) {
    case 'created':
      return provider
    case 'taken':
      throw conflict(`There is a provider ${id} already. See "grantor provider list".`)
    case 'domain-taken':
      throw domainTaken()
    case 'too-many':
      throw conflict(`A server has at most ${PROVIDER_LIMIT} providers.`)
  }
}

/**
 * Replaces settings, and the secret if one is given. A declaration that every person belongs to the organization is about one
 * organization, so it ends when the provider gets another one.
 *
 * @throws AdminError as `createProvider` does, or when there is no such provider
 */
export async function updateProvider(
  context: Checking & Needs<'findProvider' | 'updateProvider'> & Pick<Context, 'upstream'>,
  id: ProviderId,
  change: { readonly settings: Partial<ProviderSettings>; readonly clientSecret: string | undefined },
): Promise<ProviderRecord> {
  const { settings: previous } = await requireProvider(context, id)
  const { organizationId } = { ...previous, ...change.settings }
  const declared = organizationId === previous.organizationId ? previous.membership : PROVIDER_TEMPLATES.oidc.membership
  const settings = { ...previous, membership: declared, ...change.settings }
  await check(context, settings)
  const { clientSecret } = change
  const encryptedSecret = clientSecret === undefined ? undefined : context.upstream.encryptSecret(id, clientSecret)
  const outcome = await context.store.updateProvider({ id, previous, settings, encryptedSecret })
  if (outcome === 'domain-taken') throw domainTaken()
  if (outcome === 'conflict') throw conflict(`The provider ${id} was changed at the same time. Try again.`)
  return requireProvider(context, id)
}

/** Disables a provider. Sessions and grants of its users stay. @throws AdminError when there is no such provider */
export async function disableProvider(
  context: Needs<'disableProvider' | 'findProvider'> & Pick<Context, 'clock'>,
  id: ProviderId,
): Promise<ProviderRecord> {
  await context.store.disableProvider({ id, now: context.clock() })
  return requireProvider(context, id)
}

/** @throws AdminError when there is no such provider */
export async function enableProvider(
  context: Needs<'enableProvider' | 'findProvider'>,
  id: ProviderId,
): Promise<ProviderRecord> {
  await context.store.enableProvider(id)
  return requireProvider(context, id)
}

/** Deletes a provider with all identities. @throws AdminError when there is no such provider */
export async function deleteProvider(
  { clock, store }: Needs<'deleteProvider'> & Pick<Context, 'clock'>,
  id: ProviderId,
): Promise<void> {
  if ((await store.deleteProvider({ id, now: clock() })) === 'unknown') throw noSuchProvider(id)
}

/** Checks the provider as a sign-in uses it. @throws AdminError when there is no such provider */
export async function testProvider(
  context: Needs<'findProvider'> & Pick<Context, 'issuer' | 'upstream'>,
  id: ProviderId,
): Promise<readonly ProviderFinding[]> {
  return context.upstream.probe(await requireProvider(context, id), providerRedirectUri(context.issuer, id))
}

/** @throws AdminError when there is no such provider */
export async function requireProvider({ store }: Needs<'findProvider'>, id: ProviderId): Promise<ProviderRecord> {
  const provider = await store.findProvider(id)
  if (provider === undefined) throw noSuchProvider(id)
  return provider
}

async function check({ settings, store }: Checking, wished: ProviderSettings): Promise<void> {
  const fault = findProviderFault(wished, settings)
  if (fault !== undefined) throw conflict(fault)
  const { organizationId } = wished
  if (organizationId === undefined || (await store.findOrganization(organizationId)) !== undefined) return
  throw unknown(`There is no organization ${organizationId}. See "grantor org list".`)
}

function domainTaken(): AdminError {
  return conflict('A domain belongs to another provider. See "grantor provider list".')
}

function noSuchProvider(id: string): AdminError {
  return unknown(`There is no provider ${id}. See "grantor provider list".`)
}
