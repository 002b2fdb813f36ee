import type { Server as HttpServer } from 'node:http'
import type { Config } from '../config/config.ts'
import { openSpentBuckets } from '../endpoints/sign-in/throttle.ts'
import { createApp } from '../http/app.ts'
import { openBudgets, type NodeBudgets } from '../http/limits.ts'
import { listen, type Listening } from '../http/listen.ts'
import { startSharing } from '../http/share-budgets.ts'
import { listenForAdmin, logAnswers, openAdmin } from './admin.ts'
import { refuseClosedStore } from './closing.ts'
import { openStore, startAuditRecorder, type OpenedStore } from './audit.ts'
import { openKeys, startKeepingKeys } from './keys.ts'
import { startNotifying } from './logout-notifier.ts'
import { openNodeClock, type NodeClock } from './node-clock.ts'
import { openOutbound, openProviderSignIn } from './outbound.ts'
import {
  openStoredSecrets,
  refuseOtherIssuer,
  refusePendingRestore,
  startWatchingServerEnd,
  type StoreUser,
} from './store.ts'
import { openTelemetry, type Telemetry } from './telemetry.ts'
import { VERSION } from './version.ts'
import { openWorld, type World } from './world.ts'
import { openPasswords } from '../passwords/argon2.ts'
import { openRowCounts } from '../metrics/row-counts.ts'
import { renderMetrics } from '../metrics/exposition.ts'
import type { Sample } from '../metrics/families.ts'
import type { Context } from '../ports/context.ts'
import { openDomainRules } from '../protocol/domain-rule.ts'
import { openRecentlyUsed } from '../protocol/recently-used.ts'
import { openSeenSessions, startNotingSessions, type SeenSessions } from './seen-sessions.ts'
import { openSingleFlight } from '../protocol/single-flight.ts'
import { startSweeping } from './sweeper.ts'
import { openCachedValue } from '../store/cached-value.ts'
import { openBatchingStore } from '../store/batching-store.ts'
import { openAuditRecorder, type AuditRecorder } from '../audit/recorder.ts'

/** What a command without a server needs: the context of the use-cases, and a way to close it. */
export interface Runtime {
  readonly context: Context
  readonly close: () => Promise<void>
}

/** A server, not listening yet. */
export interface Server extends Runtime {
  readonly http: HttpServer
  /** The listener of the administration, on a port of its own; undefined when it is off. */
  readonly admin: HttpServer | undefined
  /** Returns the metrics of this process. `withRowCounts` adds the row counts of the store. */
  readonly sample: (withRowCounts: boolean) => Promise<readonly Sample[]>
  /** Starts the background work and listens. Returns the address. */
  readonly start: () => Promise<string>
  /** Reports not ready from now on, but continues to serve requests. */
  readonly drain: () => void
  /** Stops accepting connections, completes requests in flight, then closes the store. */
  readonly close: () => Promise<void>
}

/** The context as it is made here: its budgets can be kept together with other nodes. */
type NodeContext = Context & {
  readonly budgets: NodeBudgets
  readonly clockCheck: NodeClock
  readonly auditRecorder: AuditRecorder
  readonly seenSessions: SeenSessions
}

/** The least number of dedupe keys that are kept. */
const SHARED_KEYS = 20_000
/** No line of the log waits longer for others to be written with. */
const LOG_FLUSH_MS = 250

/** Opens the context without a server: for a command, or for the supervisor of several workers. */
export async function openRuntime(
  config: Config,
  world: World = openWorld(config),
  user: StoreUser = 'command',
): Promise<Runtime> {
  const opened = await openStore(config, world, user)
  const context = await openContext(config, world, opened, () => false)
  return { context, close: () => closeStore(opened, context) }
}

/** Opens the store and creates the server. `scrapeAll` returns the metrics of all workers when this process is one of several. */
export async function openServer(
  config: Config,
  world: World = openWorld(config),
  scrapeAll?: () => Promise<string>,
): Promise<Server> {
  const { logger } = world
  for (const warning of config.warnings) logger.warn({ event: 'configuration.warning', warning })
  let isStopping = false
  const telemetry = await openTelemetry(config, VERSION, logger)
  const opened = await openStore(config, world, 'server').catch(async (cause: unknown) => {
    await telemetry.close()
    throw cause
  })
  const context = await openContext(config, world, opened, () => isStopping, telemetry)
  const rowCounts = openRowCounts(context)
  const sample: Server['sample'] = async (withRowCounts) => [
    ...(await telemetry.metrics.sample(withRowCounts ? rowCounts : undefined)),
    ...sampleClock(context.clockCheck),
  ]
  const scrapeAlone = async (): Promise<string> => renderMetrics([{ worker: undefined, samples: await sample(true) }])
  const http = createApp({
    context,
    branding: config.branding,
    trustedProxies: config.trustedProxies,
    log: logAnswers(logger),
    observer: telemetry.requests,
  })
  telemetry.metrics.countConnections(http)
  const admin = openAdmin(config, context, logger, telemetry, scrapeAll ?? scrapeAlone)
  let background: readonly (() => unknown)[] = []
  let flushing: NodeJS.Timeout | undefined
  const listening: Listening[] = []
  return {
    http,
    admin,
    context,
    sample,
    async start() {
      const keeping = [startKeepingKeys(context, logger), startAuditRecorder(context.auditRecorder)]
      background = [
        context.clockCheck.start(),
        startSweeping(context, logger),
        ...keeping,
        startSharing(context.budgets, context),
        startWatchingServerEnd(context, logger),
        startNotingSessions(context.seenSessions),
        ...(config.settings.outbound.isOn ? [startNotifying(context, logger)] : []),
      ]
      flushing = setInterval(() => void logger.flush(), LOG_FLUSH_MS)
      const main = await listen(http, config)
      listening.push(main)
      if (admin !== undefined) listening.push(...(await listenForAdmin(admin, config, logger)))
      return main.address
    },
    drain: () => void (isStopping = true),
    async close() {
      isStopping = true
      await Promise.all([...background.map((stop) => stop()), ...listening.map(({ close }) => close())])
      clearInterval(flushing)
      await Promise.all([closeStore(opened, context), telemetry.close()])
      logger.info({ event: 'server.stopped' })
      await logger.flush()
    },
  }
}

async function closeStore({ driver }: OpenedStore, { auditRecorder }: NodeContext): Promise<void> {
  await auditRecorder.close()
  await driver.close()
}

/** Creates the context; closes the store again if that fails. */
async function openContext(
  config: Config,
  world: World,
  opened: OpenedStore,
  isStopping: () => boolean,
  telemetry?: Telemetry,
): Promise<NodeContext> {
  try {
    return await makeContext(config, world, opened, isStopping, telemetry)
  } catch (cause) {
    await Promise.all([opened.driver.close(), telemetry?.close()])
    throw cause
  }
}

async function makeContext(
  config: Config,
  world: World,
  { driver, chains, keyChains, user }: OpenedStore,
  isStopping: () => boolean,
  telemetry: Telemetry | undefined,
): Promise<NodeContext> {
  const { random, logger, network } = world
  const budgets = openBudgets(config.rates)
  const store = openBatchingStore(driver, telemetry?.store)
  if (user === 'server') {
    await refuseClosedStore(store)
    await refusePendingRestore(store, config)
  }
  const secrets = await openStoredSecrets(store, config, random)
  keyChains(secrets)
  if (user === 'server') await refuseOtherIssuer(store, config)
  const databaseNow = () => world.databaseClock(store.ping)
  const clockCheck = await openNodeClock({ ...world, databaseNow, store })
  const { clock } = clockCheck
  const observe = telemetry?.metrics.countOutbound ?? (() => undefined)
  const outbound = openOutbound(config, { network, budgets, clock, observe })
  const keys = await openKeys(store, secrets, config, { clock, databaseNow, logger, outbound, random })
  const onFailure = telemetry?.metrics.countAuditFailure
  const auditRecorder = openAuditRecorder({ clock, store, chains, logger, onFailure })
  const seenSessions = openSeenSessions({ store, logger })
  return {
    issuer: config.issuer,
    version: VERSION,
    clock,
    clockCheck,
    random,
    secrets,
    store,
    actingAs: store.actingAs,
    apis: openCachedValue(store.listApis, clock),
    domainRules: openCachedValue(async () => openDomainRules(await store.listDomainRules()), clock),
    notBefore: openCachedValue(store.findNotBefore, clock),
    ...keys,
    passwords: openPasswords(random),
    budgets,
    outbound,
    upstream: openProviderSignIn(
      secrets,
      { clock, outbound, random },
      telemetry?.metrics.countUpstream ?? (() => undefined),
    ),
    providers: openCachedValue(store.listProviders, clock),
    documentLoads: openSingleFlight(),
    spentBuckets: openSpentBuckets(),
    sharedKeys: openRecentlyUsed(SHARED_KEYS),
    settings: config.settings,
    record: logger.warn,
    report: auditRecorder.report,
    issued: auditRecorder.issued,
    auditRecorder,
    sessionSeen: seenSessions.sessionSeen,
    seenSessions,
    isStopping,
  }
}

function sampleClock({ differenceMs }: NodeClock): readonly Sample[] {
  const aheadMs = differenceMs()
  return [
    { name: 'grantor_clock_agrees', labels: [], value: aheadMs === 0 ? 1 : 0 },
    { name: 'grantor_clock_ahead_seconds', labels: [], value: aheadMs / 1000 },
  ]
}
