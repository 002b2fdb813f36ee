import type { Config } from '../config/config.ts'
import type { Log } from './log.ts'
import { openDriver, openRootSecret, type StoreUser } from './store.ts'
import type { Context } from '../ports/context.ts'
import type { StoreDriver } from '../ports/store.ts'
import type { Secrets } from '../protocol/secrets.ts'
import { openChains, type Chains } from '../audit/chain.ts'
import type { AuditRecorder } from '../audit/recorder.ts'

const FLUSH_INTERVAL_MS = 10_000

/** An open store driver, and the audit chains that are written with it. */
export interface OpenedStore {
  readonly driver: StoreDriver
  readonly chains: Chains
}

/** Opens the configured store. */
export async function openStore(
  config: Config,
  world: Pick<Context, 'clock' | 'random'> & { readonly logger: Log },
  user: StoreUser,
): Promise<OpenedStore> {
  const chains = openAuditChains(config, world)
  const onWaiting = (cause: unknown): void => world.logger.warn({ event: 'store.unavailable', err: cause })
  return { driver: await openDriver(config, user, onWaiting, chains), chains }
}

/**
 * Opens the audit chains of this process. The root secret is read at the first write, because the store is opened before the
 * secret is checked, and nothing is written to the audit until then.
 */
function openAuditChains(config: Config, { clock, random }: Pick<Context, 'clock' | 'random'>): Chains {
  let secrets: Secrets | undefined
  return openChains({
    clock,
    random,
    digest(parts) {
      secrets ??= openRootSecret(config)
      return secrets.digest('audit', parts)
    },
  })
}

/** Flushes the audit recorder at intervals. Returns the function that stops this. */
export function startAuditRecorder({ flush }: AuditRecorder): () => void {
  void flush()
  const timer = setInterval(() => void flush(), FLUSH_INTERVAL_MS)
  return () => clearInterval(timer)
}
