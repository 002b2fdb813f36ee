import { randomBytes } from 'node:crypto'
import type { AuditEvent, AuditLinkRecord } from '../../src/ports/records/audit.ts'
import type { Reads } from '../../src/ports/store.ts'
import type { EpochMs } from '../../src/protocol/brand.ts'
import { openSecrets } from '../../src/protocol/secrets.ts'
import { openChains, type Chains } from '../../src/audit/chain.ts'
import { HOUR, NOW } from './records.ts'

/** Under which every chain of these tests is written. */
export const AUDIT_SECRETS = openSecrets('a root secret for the chains of tests')

let now: number = NOW

/** From now on all chains are new ones: whatever became of the earlier ones, nobody goes on with them. */
export function startNewChains(): EpochMs {
  now += HOUR
  return now as EpochMs
}

/** What one process has. Its clock stands still, so that nothing but the sequence orders its links. */
export function openTestChains(): Chains {
  return openChains({
    digest: (parts) => AUDIT_SECRETS.digest('audit', parts),
    clock: () => now as EpochMs,
    random: randomBytes,
  })
}

/** Every link since a moment, newest first. */
export async function listLinks(
  store: Pick<Reads, 'listAuditLinks'>,
  since: EpochMs,
): Promise<readonly AuditLinkRecord[]> {
  return store.listAuditLinks({ before: undefined, limit: 10_000, since })
}

/** What they tell, oldest first. */
export function eventsOf(links: readonly AuditLinkRecord[]): readonly AuditEvent[] {
  return links.toReversed().flatMap(({ events }) => JSON.parse(events) as readonly AuditEvent[])
}
