import type { ProviderRecord } from '../ports/records/provider.ts'
import type { Context } from '../ports/context.ts'
import type { ProviderFinding } from '../ports/provider-sign-in.ts'
import { namesGroup } from '../protocol/access/provider-groups.ts'
import type { ProviderId } from '../protocol/sign-in/authentication.ts'
import { providerRedirectUri, type ProviderSettings } from '../protocol/sign-in/provider.ts'
import type { ClientInspection } from '../ports/inspection.ts'
import { findAssertionFaults } from './assertions.ts'
import { failed, ok, warning, type Finding } from './finding.ts'
import { forShell } from '../base/shell.ts'

/** What the probe of a provider found. */
export interface ProbedProvider extends Pick<ProviderRecord, 'id' | 'settings'> {
  readonly findings: readonly ProviderFinding[]
}

/** A provider that gave no acceptable answer of late, and has signed in no user after that. */
export interface FailingProvider {
  readonly id: ProviderId
  readonly name: string
  /** How often it gave no acceptable answer. */
  readonly count: number
  /** As `provider.failed` has them. */
  readonly reasons: readonly string[]
  /** A try of this node got no answer either. */
  readonly isDown: boolean
}

const CHECK = 'provider'
/** The most usable providers that the report names one by one. */
const NAMED = 20

/**
 * Reports the enabled providers that cannot be used, and why, the disabled ones without which no user of a domain can sign in, and which
 * assertions of a provider are refused. `known`: undefined if the store cannot be read; then none was probed.
 */
export function checkProviders(
  probed: readonly ProbedProvider[],
  known: Pick<ClientInspection, 'providers' | 'missingGroups' | 'listed' | 'apis'> | undefined,
  { issuer, settings }: Pick<Context, 'issuer' | 'settings'>,
): readonly Finding[] {
  const usable = probed.filter(({ findings }) => findings.every(({ isOk }) => isOk))
  return [
    ...(usable.length > NAMED
      ? [ok(CHECK, `Users can sign in at ${usable.length} providers.`)]
      : usable.map(sayUsable)),
    ...probed.flatMap((provider) => [
      ...checkAnswers(provider, issuer),
      ...checkMembership(provider),
      ...checkReach(provider),
    ]),
    ...(known === undefined || settings.delegate !== undefined ? [] : known.providers.flatMap(checkRequired)),
    ...(known === undefined ? [] : known.providers.flatMap((provider) => checkLists(provider, known))),
    ...(known === undefined ? [] : known.providers.flatMap((provider) => checkGroups(provider, known))),
  ]
}

function sayUsable({ id, settings: { name }, findings }: ProbedProvider): Finding {
  const checks = findings.map(({ check }) => check).join(', ')
  return ok(CHECK, `Users can sign in at ${name} (${id}). Checked: ${checks}.`)
}

function checkAnswers({ id, settings: { name }, findings }: ProbedProvider, issuer: string): readonly Finding[] {
  const faults = findings.filter(({ isOk }) => !isOk)
  return faults.map(({ check, detail }) =>
    failed(CHECK, `Users cannot sign in at ${name} (${id}): ${detail}`, remedyOf(check, id, issuer)),
  )
}

/** No user can get into a group that does not exist. A later one with its id would get the persons of the provider. */
function checkGroups(
  { id, settings }: Pick<ProviderRecord, 'id' | 'settings'>,
  { missingGroups }: Pick<ClientInspection, 'missingGroups'>,
): readonly Finding[] {
  const missing = missingGroups.filter((group) => namesGroup(settings.groups, group))
  if (missing.length === 0) return []
  return [
    warning(
      CHECK,
      `${settings.name} (${id}) names groups that do not exist: ${missing.join(', ')}.`,
      `Create them, or name the others alone: grantor provider update ${forShell(id)} --group <value>=<group>`,
    ),
  ]
}

/** A provider that an earlier release accepted may have an organization and neither domains nor the declaration. */
function checkMembership({ id, settings }: ProbedProvider): readonly Finding[] {
  const { name, organizationId, membership, domains } = settings
  if (organizationId === undefined || membership === 'anybody' || domains.length > 0) return []
  return [
    warning(
      CHECK,
      `${name} (${id}) makes no user a member of ${organizationId}, because it has no domain. Members that it made before stay.`,
      `Give its domains: grantor provider update ${forShell(id)} --domain <domain>. If every person of the provider belongs to the organization: grantor provider update ${forShell(id)} --membership anybody. Look at the members: grantor org members ${forShell(organizationId)} --outside-domains`,
    ),
  ]
}

/** Nothing leads a person to a hidden provider without domains who does not come for its organization. */
function checkReach({ id, settings }: ProbedProvider): readonly Finding[] {
  const { name, listing, domains, organizationId } = settings
  if (listing !== 'hidden' || domains.length > 0 || organizationId !== undefined) return []
  return [
    warning(
      CHECK,
      `${name} (${id}) is hidden, and has neither domains nor an organization, so that nothing leads to it.`,
      `Give its domains, or show it: grantor provider update ${forShell(id)} --listing shown`,
    ),
  ]
}

/** The rule for the domains also holds while the provider is disabled (threats.md UP-19). */
function checkRequired({ id, settings, disabledAt }: ProviderRecord): readonly Finding[] {
  const { name, routing, domains } = settings
  if (routing !== 'required' || disabledAt === undefined) return []
  return [
    warning(
      CHECK,
      `${name} (${id}) is disabled and required for ${domains.join(', ')}, so that no account with such an address can sign in.`,
      remedyOfDisabled(id, routing),
    ),
  ]
}

function checkLists(
  provider: ProviderRecord,
  { providers, listed: clients, apis }: Pick<ClientInspection, 'providers' | 'listed' | 'apis'>,
): readonly Finding[] {
  const { id, settings, disabledAt } = provider
  if (settings.assertionClients.length === 0) return []
  const name = `${settings.name} (${id})`
  if (disabledAt !== undefined) {
    return [
      warning(
        CHECK,
        `${name} lists clients for its assertions, but is disabled, so that they are refused.`,
        `Enable it: grantor provider enable ${forShell(id)}. Or empty its lists: grantor provider update ${forShell(id)} --assertion-client '' --assertion-api ''`,
      ),
    ]
  }
  return findAssertionFaults(provider, { providers, clients, apis }).map((fault) =>
    warning(CHECK, `Some assertions of ${name} are refused: ${fault}`, remedyOf('assertions', id, '')),
  )
}

/** Reports a provider whose sign-ins fail now. A browser can cause a failure, so that only a try of the server is a fault of the provider. */
export function checkFailures({ id, name, count, reasons, isDown }: FailingProvider): Finding {
  const often = `${count === 1 ? 'once' : `${count} times`} in the last 15 minutes (${reasons.join(', ')})`
  const message = isDown
    ? `Users cannot sign in at ${name} (${id}), because it does not answer.`
    : `${name} (${id}) gave no acceptable answer ${often}, and has signed in no user since.`
  const screen = { path: `/console/providers/${id}`, label: 'Open the provider' }
  return (isDown ? failed : warning)(
    CHECK,
    message,
    `Look what does not work: grantor provider test ${forShell(id)}`,
    screen,
  )
}

function remedyOf(check: ProviderFinding['check'], id: ProviderId, issuer: string): string {
  switch (check) {
    case 'state':
      return remedyOfDisabled(id, 'offered')
    case 'discovery':
    case 'keys':
      return `The server reaches the provider without a proxy, and finds its name by DNS. Compare the issuer in "grantor provider show ${forShell(id)}" with that of the provider.`
    case 'secret':
      return `Compare the client_id in "grantor provider show ${forShell(id)}", and set the secret: grantor provider update ${forShell(id)} --client-secret -`
    case 'assertions':
      return `Change the lists: grantor provider update ${forShell(id)} --assertion-client <client_id> --assertion-api <resource>`
    case 'request':
      return `Register this redirect URI at the provider: ${providerRedirectUri(issuer, id)}`
  }
}

/** What lets persons sign in while a provider is disabled. The accounts of its domains have no other way if it is required. */
export function remedyOfDisabled(id: string, routing: ProviderSettings['routing']): string {
  const enable = `Enable it: grantor provider enable ${forShell(id)}`
  return routing === 'required'
    ? `${enable}. Or let such accounts sign in without it: grantor provider update ${forShell(id)} --routing offered`
    : enable
}
