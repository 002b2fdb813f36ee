import type { ProviderRecord } from '../../ports/records/provider.ts'
import type { ProviderFinding } from '../../ports/upstream.ts'
import type { ProviderId } from '../../protocol/sign-in/authentication.ts'
import { providerRedirectUri } from '../../protocol/sign-in/provider.ts'
import { findTwin } from '../provider/assertions.ts'
import { failed, ok, warning, type Finding } from './finding.ts'

/** What the probe of a provider found. */
export interface ProbedProvider extends Pick<ProviderRecord, 'id' | 'settings'> {
  readonly findings: readonly ProviderFinding[]
}

const CHECK = 'provider'

/** Reports the enabled providers that cannot be used, and why. `issuer`: of this server. */
export function checkProviders(probed: readonly ProbedProvider[], issuer: string): readonly Finding[] {
  return probed.flatMap((provider) => [
    ...checkAnswers(provider, issuer),
    ...checkMembership(provider),
    ...checkTwin(provider, probed),
  ])
}

function checkAnswers({ id, settings: { name }, findings }: ProbedProvider, issuer: string): readonly Finding[] {
  const faults = findings.filter(({ isOk }) => !isOk)
  const checks = findings.map(({ check }) => check).join(', ')
  if (faults.length === 0) return [ok(CHECK, `Users can sign in at ${name} (${id}). Checked: ${checks}.`)]
  return faults.map(({ check, detail }) =>
    failed(CHECK, `Users cannot sign in at ${name} (${id}): ${detail}`, remedyOf(check, id, issuer)),
  )
}

/** A provider that an earlier release accepted may have an organization and neither domains nor the declaration. */
function checkMembership({ id, settings }: ProbedProvider): readonly Finding[] {
  const { name, organizationId, membership, domains } = settings
  if (organizationId === undefined || membership === 'anybody' || domains.length > 0) return []
  return [
    warning(
      CHECK,
      `${name} (${id}) makes no user a member of ${organizationId}, because it has no domain. Members that it made before stay.`,
      `Give its domains: grantor provider update ${id} --domain <domain>. If every person of the provider belongs to the organization: grantor provider update ${id} --membership anybody. Look at the members: grantor org members ${organizationId} --outside-domains`,
    ),
  ]
}

/** Only usable providers are probed. */
function checkTwin(provider: ProbedProvider, probed: readonly ProbedProvider[]): readonly Finding[] {
  if (provider.settings.assertionClients.length === 0) return []
  const others = probed.map((other) => ({ ...other, disabledAt: undefined }))
  const twin = findTwin(provider, others)
  const remedy = `Empty the list of one of them: grantor provider update ${provider.id} --assertion-client '' --assertion-api ''`
  return twin === undefined ? [] : [warning(CHECK, `${provider.settings.name} (${provider.id}): ${twin}`, remedy)]
}

function remedyOf(check: ProviderFinding['check'], id: ProviderId, issuer: string): string {
  switch (check) {
    case 'discovery':
    case 'keys':
      return `The server reaches the provider without a proxy, and finds its name by DNS. Compare the issuer in "grantor provider show ${id}" with that of the provider.`
    case 'secret':
      return `Compare the client_id in "grantor provider show ${id}", and set the secret: grantor provider update ${id} --client-secret -`
    case 'assertions':
      return `Change the lists: grantor provider update ${id} --assertion-client <client_id> --assertion-api <resource>`
    case 'request':
      return `Register this redirect URI at the provider: ${providerRedirectUri(issuer, id)}`
  }
}
