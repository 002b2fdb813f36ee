import assert from 'node:assert/strict'
import type { Config } from '../config/config.ts'
import type { Log } from './log.ts'
import { openDriver, type StoreUser } from './store.ts'
import type { Context } from '../ports/context.ts'
import type { BatchReport } from '../ports/observers.ts'
import type { StoreDriver } from '../ports/store.ts'
import type { Secrets } from '../protocol/secrets.ts'
import { openChains, type Chains } from '../audit/chain.ts'
import { eventLine } from '../audit/event-line.ts'
import type { AuditRecorder } from '../audit/recorder.ts'
import { auditEvents } from '../store/effects.ts'

const FLUSH_INTERVAL_MS = 10_000

/** An open store driver, and the audit chains that are written with it. */
export interface OpenedStore {
  readonly driver: StoreDriver
  readonly chains: Chains
  /** Gives the chains their key. Until then nothing is written to the audit. */
  readonly keyChains: (secrets: Secrets) => void
  readonly user: StoreUser
}

/** Opens the configured store. */
export async function openStore(
  config: Config,
  platform: Pick<Context, 'clock' | 'random'> & { readonly logger: Log },
  user: StoreUser,
): Promise<OpenedStore> {
  let secrets: Secrets | undefined
  const chains = openChains({
    ...platform,
    digest(parts) {
      assert(secrets, 'The audit is written before its key is known.')
      return secrets.digest('audit', parts)
    },
  })
  const onWaiting = (cause: unknown): void => platform.logger.warn({ event: 'store.unavailable', err: cause })
  const driver = await openDriver(config, user, onWaiting, chains)
  return { driver, chains, user, keyChains: (opened) => void (secrets = opened) }
}

/** Flushes the audit recorder at intervals. Returns the function that stops this. */
export function startAuditRecorder({ flush }: AuditRecorder): () => void {
  void flush()
  const timer = setInterval(() => void flush(), FLUSH_INTERVAL_MS).unref()
  return () => clearInterval(timer)
}

/**
 * Logs what administrators changed, with the ids of their objects. A log that is kept on another machine then outlives the
 * database, and shows what to repeat after a restore (docs/operations/backup.md).
 */
export function logChanges(logger: Log, { batch, results }: BatchReport): void {
  // Nearly every batch: requests of clients and users have no administrator.
  if (batch.every(({ asked }) => asked.by === undefined)) return
  const events = batch.flatMap(({ asked }, index) => {
    const result = results?.[index]
    return asked.by === undefined || result?.kind !== 'done' ? [] : auditEvents([asked], [result.outcome])
  })
  for (const event of events) logger.info(eventLine(event))
  // The lines must not be lost with the process: they may be all that is left of the changes.
  if (events.length > 0) void logger.flush()
}
