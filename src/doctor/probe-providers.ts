import type { ProbedProvider } from '../checks/providers.ts'
import type { Config } from '../config/config.ts'
import type { StoreInspection } from '../ports/inspection.ts'
import type { OutboundClient } from '../ports/outbound.ts'
import { usableProviders } from '../users/provider-routing.ts'
import { providerRedirectUri } from '../protocol/sign-in/provider.ts'
import { openProviderSignIn } from '../server/outbound.ts'
import { inspectSecret } from './inspect-store.ts'
import type { Platform } from '../server/platform.ts'

/** Providers that are asked at the same time: as many as one host gets requests, so that none waits and seems to be away. */
const AT_ONCE = 16

/** Asks each usable provider as the server does, for `grantor doctor`. None without the key that encrypts their secrets. */
export async function probeProviders(
  config: Config,
  { database, clients }: StoreInspection,
  context: Pick<Platform, 'clock' | 'random'> & { readonly outbound: OutboundClient },
): Promise<readonly ProbedProvider[]> {
  const usable = usableProviders(config.settings, clients?.providers ?? [])
  const { secrets } = inspectSecret(config, database.kind === 'opened' ? database.masterKey : undefined)
  if (secrets === undefined) return []
  const providerSignIn = openProviderSignIn(secrets, context, () => undefined)
  const probed: ProbedProvider[] = []
  const waiting = usable.entries()
  async function probeNext(): Promise<void> {
    for (const [index, { id, settings, ...provider }] of waiting) {
      const findings = await providerSignIn.probe({ id, settings, ...provider }, providerRedirectUri(config.issuer, id))
      probed[index] = { id, settings, findings }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, probeNext))
  return probed
}
