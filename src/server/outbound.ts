import type { Config } from '../config/config.ts'
import { OUTBOUND_LIMITS, openOutboundClient, type OutboundOptions } from '../outbound/outbound-client.ts'
import { openClientSignatures } from '../keys/client-signatures.ts'
import { decrypt, encrypt } from '../keys/encryption.ts'
import { openFetchedKeys, PROVIDER_KEY_TIMES } from '../keys/fetched-keys.ts'
import type { Context } from '../ports/context.ts'
import type { OutboundClient } from '../ports/outbound.ts'
import type { ProviderSignIn, ProviderSignInObserver } from '../ports/provider-sign-in.ts'
import type { Secrets } from '../protocol/secrets.ts'
import { openProviderRequests } from '../providers/provider-sign-in.ts'
import { VERSION } from './version.ts'

/** Opens the sign-in at providers. */
export function openProviderSignIn(
  { encryptionKey }: Pick<Secrets, 'encryptionKey'>,
  context: Pick<Context, 'clock' | 'outbound' | 'random'>,
  observe: ProviderSignInObserver,
): ProviderSignIn {
  return openProviderRequests({
    ...context,
    encrypt: (name, secret) => encrypt(Buffer.from(secret), name, context.random, encryptionKey),
    decrypt: (name, text) => decrypt(text, name, encryptionKey).toString(),
    openSignatures: (outbound) => openClientSignatures(openFetchedKeys(outbound, context.clock, PROVIDER_KEY_TIMES)),
    observe,
  })
}

/** Opens the way out of this process, as it is configured. */
export function openOutbound(
  { issuer, settings }: Pick<Config, 'issuer' | 'settings'>,
  context: Pick<OutboundOptions, 'budgets' | 'clock' | 'network' | 'observe'>,
): OutboundClient {
  return openOutboundClient({
    ...context,
    policy: settings.outbound,
    isOn: settings.outbound.isOn,
    userAgent: `grantor/${VERSION} (${issuer})`,
    limits: OUTBOUND_LIMITS,
  })
}
