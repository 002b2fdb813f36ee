import type { Input, Outcome } from '../../../ports/operations/index.ts'
import type { AuditEvent } from '../../../ports/records/audit.ts'
import type { ProviderRecord } from '../../../ports/records/provider.ts'
import { isSameJson } from '../../../base/json.ts'
import type { AuditEventName } from '../../../protocol/audit/event-names.ts'
import type { OrganizationId } from '../../../protocol/ids.ts'
import { organizationOfGroup } from '../../../protocol/access/group.ts'
import { groupsIn } from '../../../protocol/access/provider-groups.ts'
import type { ProviderId } from '../../../protocol/sign-in/authentication.ts'
import { domainOf } from '../../../protocol/sign-in/email-address.ts'
import { PROVIDER_TEMPLATES, type ProviderSettings, isListed } from '../../../protocol/sign-in/provider.ts'
import { asOneWord, differences, idOf, type NounOperations, when } from '../../noun.ts'
import { DECLARING_PROVIDER, setting } from '../server/settings.ts'
import { change, findBy, type Forget, forgetNothing, rows, shared, type Steps } from '../../shared/statement.ts'
import { bigint, json, table, text, isUnchanged, previousValues } from '../../table.ts'
import { openUnchangedRows } from '../../unchanged-rows.ts'

const DEFAULTS: Readonly<Record<string, unknown>> = PROVIDER_TEMPLATES.oidc
/** Members that earlier providers lack. */
const LATER: readonly string[] = [
  'membership',
  'multiFactor',
  'listing',
  'assertionClients',
  'assertionApis',
  'groupClaim',
  'groups',
  'groupDays',
  'graphHost',
] satisfies readonly (keyof ProviderSettings)[]

/**
 * The members are stored in one order, because an update compares the text. For the same reason a member that earlier providers lack is
 * stored only if it is not the default.
 */
const storedSettings = json<ProviderSettings>(
  'settings',
  (declared) =>
    Object.fromEntries(
      Object.entries(declared)
        .filter(([name, value]) => !LATER.includes(name) || !isSameJson(value, DEFAULTS[name]))
        .toSorted(([one], [other]) => (one < other ? -1 : 1)),
    ),
  (stored) => ({ ...PROVIDER_TEMPLATES.oidc, ...(stored as ProviderSettings) }),
)

/** The column that an update compares with what its caller read. */
const PROVIDER_SETTINGS = table<Pick<ProviderRecord, 'settings'>>({ settings: storedSettings })

export const PROVIDERS = table<ProviderRecord>({
  id: text('provider_id'),
  settings: storedSettings,
  encryptedSecret: text('encrypted_secret'),
  createdAt: bigint('created_at'),
  disabledAt: bigint('disabled_at'),
})

const LIST = shared('select * from providers order by created_at, provider_id')
const FIND = shared('select * from providers where provider_id = :id')
const INSERT = shared(`insert into providers (${PROVIDERS.names}) values (${PROVIDERS.parameters})`)
const UPDATE = shared(
  `update providers set settings = :settings, encrypted_secret = coalesce(cast(:secret as text), encrypted_secret)
   where provider_id = :id and ${isUnchanged(PROVIDER_SETTINGS)} returning provider_id`,
)
const DELETE = shared('delete from providers where provider_id = :id returning provider_id')
const DELETE_IDENTITIES = shared('delete from identities where provider_id = :id returning identity_key, user_id')
/** The proofs that are still valid are found by the index on their end. The sweep removes the others. */
const DELETE_PROOFS = shared('delete from identity_proofs where expires_at > :now and provider_id = :id')
const FORGET_SECRETS = shared('update providers set encrypted_secret = null')
/** A domain is a text of the JSON, in its quotation marks. */
const LIST_OF_DOMAIN = shared('select * from providers where strpos(settings, :quoted) > 0')
const IS_ENABLED = shared('select provider_id from providers where provider_id = :providerId and disabled_at is null')

/** All changes of providers are applied one after the other. */
export const PROVIDER_KEYS: readonly string[] = ['providers']

const readProviders = openUnchangedRows('provider_id', PROVIDERS.read)

const operations = {
  createProvider: {
    keys: () => PROVIDER_KEYS,
    cache: 'kept',
    event: when('created', aboutSettings('provider.created')),
    *run(provider) {
      yield* setting(DECLARING_PROVIDER, provider.id)
      const known = yield* listProviders()
      if (known.some(({ id }) => id === provider.id)) return 'taken'
      if (known.length >= provider.limit) return 'too-many'
      if (sharesDomain(known, provider.id, provider.settings)) return 'domain-taken'
      yield* rows(INSERT, PROVIDERS.values(provider))
      return 'created'
    },
  },
  updateProvider: {
    keys: () => PROVIDER_KEYS,
    cache: 'kept',
    event: when('changed', aboutSettings('provider.updated')),
    *run({ id, previous, settings, encryptedSecret: secret }) {
      yield* setting(DECLARING_PROVIDER, id)
      if (sharesDomain(yield* listProviders(), id, settings)) return 'domain-taken'
      const before = previousValues(PROVIDER_SETTINGS, { settings: previous })
      const values = { id, secret, ...PROVIDER_SETTINGS.values({ settings }), ...before }
      return (yield* rows(UPDATE, values)).length === 1 ? 'changed' : 'conflict'
    },
  },
  disableProvider: {
    keys: () => PROVIDER_KEYS,
    cache: 'kept',
    event: when('changed', aboutProvider('provider.disabled')),
    run: change(
      'update providers set disabled_at = coalesce(disabled_at, :now) where provider_id = :id returning provider_id',
    ),
  },
  enableProvider: {
    keys: () => PROVIDER_KEYS,
    cache: 'kept',
    event: when('changed', aboutProvider('provider.enabled')),
    run: change('update providers set disabled_at = null where provider_id = :id returning provider_id'),
  },
  deleteProvider: {
    keys: () => PROVIDER_KEYS,
    cache: 'kept',
    event: when('deleted', aboutProvider('provider.deleted')),
    run: (deletion) => deleteProvider(deletion, forgetNothing),
  },
} satisfies NounOperations

const reads = {
  listProviders,
  findProvider: findBy(PROVIDERS, FIND),
}

export const providers = { operations, reads }

/** `forget`: runs with the removed identities. */
export function* deleteProvider(
  { id, now }: Input<'deleteProvider'>,
  forget: Forget,
): Steps<Outcome<'deleteProvider'>> {
  const deleted = yield* rows(DELETE, { id })
  yield* forget('identities', yield* rows(DELETE_IDENTITIES, { id }))
  yield* rows(DELETE_PROOFS, { id, now })
  return deleted.length === 1 ? 'deleted' : 'unknown'
}

/**
 * The providers of an organization no longer make members of it, and no provider says its groups. Changes of providers at the same time are
 * awaited.
 */
export function* leaveOrganization(id: OrganizationId): Steps<void> {
  const isOfIt = (pair: string): boolean => groupsIn([pair]).some((group) => organizationOfGroup(group) === id)
  const ofOrganization = function* (): Steps<readonly ProviderRecord[]> {
    return (yield* listProviders()).filter(
      ({ settings }) => settings.organizationId === id || settings.groups.some(isOfIt),
    )
  }
  if ((yield* ofOrganization()).length === 0) return
  yield* setting(DECLARING_PROVIDER, id)
  for (const { id: provider, settings: previous } of yield* ofOrganization()) {
    const groups = previous.groups.filter((pair) => !isOfIt(pair))
    const isOwn = previous.organizationId === id
    const own = { organizationId: undefined, membership: PROVIDER_TEMPLATES.oidc.membership }
    const left = { ...previous, groups, ...(isOwn && own) }
    // What only the organization saw is not shown to each visitor without a decision of the operator.
    const settings = isListed(left) && !isListed(previous) ? { ...left, listing: 'hidden' as const } : left
    const before = previousValues(PROVIDER_SETTINGS, { settings: previous })
    yield* rows(UPDATE, { id: provider, secret: null, ...PROVIDER_SETTINGS.values({ settings }), ...before })
  }
}

function* listProviders(): Steps<readonly ProviderRecord[]> {
  return readProviders(yield* rows(LIST))
}

function sharesDomain(known: readonly ProviderRecord[], id: ProviderId, { domains }: ProviderSettings): boolean {
  const wanted = new Set(domains)
  return known.some((other) => other.id !== id && other.settings.domains.some((domain) => wanted.has(domain)))
}

/** Whether users may sign in at the provider. */
export function* isProviderEnabled(providerId: ProviderId): Steps<boolean> {
  return (yield* rows(IS_ENABLED, { providerId })).length === 1
}

/**
 * The only provider where an account with the address may sign in (threats.md UP-19); undefined: there is none. Nodes have copies of the
 * providers; this is what is stored.
 */
export function* findRequiredProvider(email: string | null): Steps<ProviderId | undefined> {
  const domain = email === null ? undefined : domainOf(email)
  if (domain === undefined) return undefined
  const named = (yield* rows(LIST_OF_DOMAIN, { quoted: JSON.stringify(domain) })).map(PROVIDERS.read)
  return named.find(({ settings }) => settings.routing === 'required' && settings.domains.includes(domain))?.id
}

/** Whether an account with the address may sign in at another provider only. `providerId`: undefined: at this server. */
export function* isRequiredElsewhere(email: string | null, providerId: ProviderId | undefined): Steps<boolean> {
  const required = yield* findRequiredProvider(email)
  return required !== undefined && required !== providerId
}

/** Forgets the secrets of all providers, because the key is gone that they were encrypted under. */
export function* forgetProviderSecrets(): Steps<void> {
  yield* rows(FORGET_SECRETS)
}

function aboutSettings(event: AuditEventName) {
  return ({ id, settings, previous }: SettingsChange): AuditEvent => ({
    event,
    organizationId: settings.organizationId,
    details: {
      provider: id,
      client_id: settings.clientId,
      ...differences('assertion_clients', previous?.assertionClients ?? [], settings.assertionClients),
      ...differences('assertion_apis', previous?.assertionApis ?? [], settings.assertionApis),
      ...(previous?.groupClaim !== settings.groupClaim && { group_claim: settings.groupClaim ?? '' }),
      ...differences('groups', (previous?.groups ?? []).map(asOneWord), settings.groups.map(asOneWord)),
    },
  })
}

export interface SettingsChange extends Pick<ProviderRecord, 'id' | 'settings'> {
  readonly previous?: ProviderSettings
}

function aboutProvider(event: AuditEventName) {
  return (input: ProviderId | { readonly id: ProviderId }): AuditEvent => ({
    event,
    details: { provider: idOf(input) },
  })
}
