import { randomBytes } from 'node:crypto'
import type { AuditEvent, AuditLinkRecord } from '../../../src/ports/records/audit.ts'
import type { Reads } from '../../../src/ports/store.ts'
import type { EpochMs } from '../../../src/base/brand.ts'
import { openSecrets } from '../../../src/protocol/secrets.ts'
import { openChains, type Chains } from '../../../src/audit/chain.ts'
import { HOUR, NOW } from '../../support/records.ts'

/** The root secret of every chain in these tests. */
export const AUDIT_SECRETS = openSecrets('a root secret for the chains of tests')

let now: number = NOW

/** Starts new chains: no later link continues an earlier chain, whatever happened to it. */
export function startNewChains(): EpochMs {
  now += HOUR
  return now as EpochMs
}

/** Opens the chains of one process. Its clock does not advance, so that only the sequence orders its links. */
export function openTestChains(): Chains {
  return openChains({
    digest: (parts) => AUDIT_SECRETS.digest('audit', parts),
    clock: () => now as EpochMs,
    random: randomBytes,
  })
}

/** All links recorded at or after a time, newest first. */
export async function listLinks(
  store: Pick<Reads, 'listAuditLinks'>,
  since: EpochMs,
): Promise<readonly AuditLinkRecord[]> {
  return store.listAuditLinks({ before: undefined, limit: 10_000, since })
}

/** The events of the links, oldest first. */
export function eventsOf(links: readonly AuditLinkRecord[]): readonly AuditEvent[] {
  return links.toReversed().flatMap(({ events }) => JSON.parse(events) as readonly AuditEvent[])
}
