import { statSync } from 'node:fs'
import type { Server as HttpServer } from 'node:http'
import type { Config } from '../config/config.ts'
import { openListener, type Listener } from '../http/listener.ts'
import type { Listening } from '../http/listen.ts'
import { startSharing } from '../http/share-budgets.ts'
import { openRowCounts } from '../metrics/row-counts.ts'
import { renderMetrics } from '../metrics/exposition.ts'
import type { Sample } from '../metrics/families.ts'
import { listenForAdmin, logAnswers, openAdmin } from './admin.ts'
import { openStore, startAuditRecorder } from './audit.ts'
import { closeDriver, openContext, type NodeContext, type Runtime } from './context.ts'
import { startTryingProviders } from './background/suspect-providers.ts'
import { startKeepingKeys } from './keys.ts'
import { startMailing } from './background/mailer.ts'
import { openLogoutNotifier } from './background/logout-notifier.ts'
import { startSending } from './background/sender.ts'
import { openNodeLease, startHolding } from './background/node-lease.ts'
import { startNotingSessions } from './background/seen-sessions.ts'
import { startWatchingServerEnd, type ServerEndReason } from './store.ts'
import { openFigureWriter } from './background/figures.ts'
import { startCounting } from './background/row-counter.ts'
import { startSweeping } from './background/sweeper.ts'
import { startIndexing } from './background/user-indexer.ts'
import { openTelemetry, type Telemetry } from './telemetry.ts'
import { VERSION } from './version.ts'
import type { Platform } from './platform.ts'
import { openWriteWatch } from './background/write-watch.ts'

/** A node: everything but the HTTP server that receives the requests. */
export interface Node extends Runtime {
  readonly listener: Listener
  readonly telemetry: Telemetry
  /** The listener of the administration, on a port of its own; undefined when it is off. */
  readonly admin: HttpServer | undefined
  /** Returns the metrics of this process. `withRowCounts` adds the row counts of the store. */
  readonly sample: (withRowCounts: boolean) => Promise<readonly Sample[]>
  /** Returns the metrics of this process as Prometheus reads them. */
  readonly scrape: () => Promise<string>
  /** Starts the background work. */
  readonly start: () => void
  /** Listens for the administration, if it is on. */
  readonly listenForAdmin: () => Promise<void>
  /** Reports not ready from now on, but continues to serve requests. */
  readonly drain: () => void
  /** Stops the background work, then closes the store. `listening`: the public listeners, which complete their requests first. */
  readonly close: (listening?: readonly Listening[]) => Promise<void>
}

export interface NodeOptions {
  /** Returns the metrics of all workers when this process is one of several. undefined: those of this process. */
  readonly scrapeAll: (() => Promise<string>) | undefined
  /** Ends the process, or all service. With a replaced secret at once, because every credential is invalid. */
  readonly onServerEnd: (reason: ServerEndReason) => void
  /** The HTTP server is that of a host. */
  readonly isMounted: boolean
}

/** No line of the log waits longer for others to be written with. */
const LOG_FLUSH_MS = 250

/** Opens the store and creates a node. */
export async function openNode(
  config: Config,
  platform: Platform,
  { scrapeAll, onServerEnd, isMounted }: NodeOptions,
): Promise<Node> {
  const { logger, monotonic } = platform
  for (const warning of config.warnings) logger.warn({ event: 'configuration.warning', warning })
  let isStopping = false
  let ownListening: readonly Listening[] | undefined
  const state = { isStopping: () => isStopping, isAdminTaken: () => ownListening?.length === 0 }
  const telemetry = await openTelemetry(config, VERSION, logger)
  const opened = await openStore(config, platform, 'server').catch(async (cause: unknown) => {
    await telemetry.close()
    throw cause
  })
  const context = await openContext(config, platform, opened, state, telemetry)
  const rowCounts = openRowCounts(context)
  const writeWatch = openWriteWatch(context.store, logger)
  const figures = openFigureWriter({ ...context, count: telemetry.metrics.count, logger })
  const sample: Node['sample'] = async (withRowCounts) => [
    ...(await telemetry.metrics.sample(withRowCounts ? rowCounts : undefined)),
    ...sampleState(context, config),
    ...writeWatch.sample(),
  ]
  const scrape = async (): Promise<string> => renderMetrics([{ worker: undefined, samples: await sample(true) }])
  const listener = openListener({
    context,
    branding: config.branding,
    trustedProxies: config.trustedProxies,
    log: logAnswers(logger),
    observer: telemetry.requests,
    isMounted,
  })
  const admin = openAdmin(config, context, platform, telemetry, scrapeAll ?? scrape)
  const { isOn } = config.settings.outbound
  const { mail } = context
  // Nodes that do different work for the others have leases of different names.
  const work = `${isOn ? 'background' : 'sweep'}${mail === undefined ? '' : '-mail'}`
  const lease = openNodeLease(context, work, monotonic)
  // A file has one server.
  const isShared = config.database.kind === 'postgres'
  const isHolder = isShared ? lease.isHeld : () => true
  let background: readonly (() => unknown)[] = []
  let flushing: NodeJS.Timeout | undefined
  let stopComparing: (() => void) | undefined

  function begin(): void {
    const keeping = [startKeepingKeys(context, logger), startAuditRecorder(context.auditRecorder)]
    background = [
      context.clockCheck.start(),
      ...(isShared ? [startHolding(lease)] : []),
      startSweeping({ ...context, monotonic }, logger, isHolder),
      startIndexing(context, { answered: telemetry.metrics.answered, monotonic }, logger, isHolder),
      startCounting({ ...context, monotonic }, logger, isHolder),
      writeWatch.start(),
      figures.start(),
      ...keeping,
      startSharing(context.budgets, context),
      startWatchingServerEnd(context, logger, onServerEnd),
      startNotingSessions(context.seenSessions),
      ...(mail === undefined ? [] : [startMailing({ ...context, mail }, logger, isHolder)]),
      ...(isOn ? [startSending(openLogoutNotifier(context, logger), isHolder), startTryingProviders(context)] : []),
    ]
  }

  /** Ends the work of this node on its own account. */
  async function end(): Promise<void> {
    const ending = background
    background = []
    await Promise.all(ending.map((stop) => stop()))
  }

  return {
    context,
    listener,
    telemetry,
    admin,
    sample,
    scrape,
    start() {
      if (!context.hasStoreGoneBack()) begin()
      stopComparing = context.storeWatch.start((hasGoneBack) => (hasGoneBack ? void end() : begin()))
      flushing = setInterval(() => void logger.flush(), LOG_FLUSH_MS).unref()
    },
    listenForAdmin: async () => void (ownListening = await listenForAdmin(admin, config, logger)),
    drain: () => void (isStopping = true),
    async close(listening = []) {
      isStopping = true
      const ends = [...listening, ...(ownListening ?? [])].map(({ close }) => close())
      stopComparing?.()
      await Promise.all([end(), ...ends])
      clearInterval(flushing)
      // The requests in flight are counted now.
      if (!context.hasStoreGoneBack()) await figures.close()
      await Promise.all([closeDriver(opened, context), telemetry.close()])
      logger.info({ event: 'server.stopped' })
      await logger.flush()
    },
  }
}

function sampleState(
  { clockCheck, hasStoreGoneBack }: Pick<NodeContext, 'clockCheck' | 'hasStoreGoneBack'>,
  { database }: Pick<Config, 'database'>,
): readonly Sample[] {
  const aheadMs = clockCheck.differenceMs()
  const path = database.kind === 'postgres' ? undefined : `${database.path}-wal`
  const logBytes = path === undefined ? undefined : (statSync(path, { throwIfNoEntry: false })?.size ?? 0)
  return [
    { name: 'grantor_clock_agrees', labels: [], value: aheadMs === 0 ? 1 : 0 },
    { name: 'grantor_clock_ahead_seconds', labels: [], value: aheadMs / 1000 },
    { name: 'grantor_store_went_back', labels: [], value: hasStoreGoneBack() ? 1 : 0 },
    ...(logBytes === undefined ? [] : [{ name: 'grantor_store_log_bytes', labels: [], value: logBytes } as const]),
  ]
}
