import type { Config } from '../config/config.ts'
import { OUTBOUND_LIMITS, openOutboundClient, type OutboundOptions } from '../outbound/outbound-client.ts'
import type { OutboundClient } from '../ports/outbound.ts'
import { VERSION } from './version.ts'

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
