import type { Config } from '../config/config.ts'
import type { Log } from './log.ts'
import { openDriver, openRootSecret, type StoreUser } from './store.ts'
import type { Context } from '../ports/context.ts'
import type { StoreDriver } from '../ports/store.ts'
import type { Secrets } from '../protocol/secrets.ts'
import { openChains, type Chains } from '../audit/chain.ts'
import type { AuditRecorder } from '../audit/recorder.ts'

const KEEPING_INTERVAL_MS = 10_000

/** A store, and the audit that is written into it. */
export interface OpenedStore {
  readonly driver: StoreDriver
  readonly chains: Chains
}

/** Opens the store that the configuration names. */
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
 * The chains that this process writes. The store is opened before its secret is known to be the right one; nothing is written
 * to the audit until then, so the secret is not read before it is needed.
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

/** Keeps the audit while time goes on. Answers how to stop. */
export function startAuditRecorder({ keep }: AuditRecorder): () => void {
  void keep()
  const timer = setInterval(() => void keep(), KEEPING_INTERVAL_MS)
  return () => clearInterval(timer)
}
