import { AsyncLocalStorage } from 'node:async_hooks'
import type { Config } from '../config/config.ts'
import { openSpentBuckets } from '../endpoints/sign-in/throttle.ts'
import { openBudgets, type NodeBudgets } from '../http/limits.ts'
import { openStore, type OpenedStore } from './audit.ts'
import { refuseClosedStore } from './closing.ts'
import { openKeys } from './keys.ts'
import { openNodeClock, type NodeClock } from './background/node-clock.ts'
import { openMailing } from './mailing.ts'
import { openOutbound, openProviderSignIn } from './outbound.ts'
import { openStoreWatch, type StoreWatch } from './store-memory.ts'
import {
  configOfCommand,
  openStoredSecrets,
  recordIssuer,
  refusePendingRestore,
  warnOfOwnApis,
  type StoreUser,
} from './store.ts'
import type { Telemetry } from './telemetry.ts'
import { VERSION } from './version.ts'
import { openPlatform, type Platform } from './platform.ts'
import { openPasskeyVerifier } from '../passkeys/verifier.ts'
import { openEncryption } from '../keys/encryption.ts'
import { openPasswords } from '../passwords/passwords.ts'
import type { Context } from '../ports/context.ts'
import { makeClientPolicy } from '../clients/evaluate-client.ts'
import { readForeignFormats } from '../protocol/sign-in/password-formats.ts'
import { openDomainRules } from '../protocol/client/domain-rule.ts'
import { openRecentlyUsed } from '../base/recently-used.ts'
import { openSeenSessions, type SeenSessions } from './background/seen-sessions.ts'
import { openSingleFlight } from '../base/single-flight.ts'
import { openCachedList, openCachedValue } from '../store/cached-value.ts'
import { openBatchingStore } from '../store/batching-store.ts'
import { openTimelyWaits, timelyStore, UNLIMITED_WAITS } from '../store/timely-waits.ts'
import { openAuditRecorder, type AuditRecorder } from '../audit/recorder.ts'

/** What a command without a server needs: the context of the use-cases, and a way to close it. */
export interface Runtime {
  readonly context: NodeContext
  readonly close: () => Promise<void>
}

/** The context as it is made here: its budgets can be kept together with other nodes. */
export type NodeContext = Context & {
  readonly budgets: NodeBudgets
  readonly clockCheck: NodeClock
  readonly auditRecorder: AuditRecorder
  readonly seenSessions: SeenSessions
  readonly storeWatch: StoreWatch
}

/** The least number of dedupe keys that are kept. */
const SHARED_KEYS = 20_000
/** The least number of documents whose last failure is remembered; at most it is twice that. */
const DOCUMENT_FAILURES = 1000
/** Opens the context without a server: for a command, or for the supervisor of several workers. */
export async function openRuntime(
  config: Config,
  platform: Platform = openPlatform(config),
  user: StoreUser = 'command',
): Promise<Runtime> {
  const opened = await openStore(config, platform, user)
  const context = await openContext(config, platform, opened, { isStopping: () => false, isAdminTaken: () => false })
  return { context, close: () => closeDriver(opened, context) }
}

/** What a node knows of its process. */
type NodeState = Pick<Context, 'isStopping' | 'isAdminTaken'>

/** Creates the context; closes the store and the telemetry if that fails. */
export async function openContext(
  config: Config,
  platform: Platform,
  opened: OpenedStore,
  state: NodeState,
  telemetry?: Telemetry,
): Promise<NodeContext> {
  try {
    return await makeContext(config, platform, opened, state, telemetry)
  } catch (cause) {
    await Promise.all([opened.driver.close(), telemetry?.close()])
    throw cause
  }
}

async function makeContext(
  given: Config,
  platform: Platform,
  { driver, chains, keyChains, user }: OpenedStore,
  state: NodeState,
  telemetry: Telemetry | undefined,
): Promise<NodeContext> {
  const { random, logger, monotonic, network } = platform
  const budgets = openBudgets(given.rates)
  const requests = new AsyncLocalStorage<string>()
  const currentRequest = () => requests.getStore()
  const store = openBatchingStore(driver, telemetry?.store, currentRequest, monotonic)
  const config = user === 'command' ? await configOfCommand(given, store) : given
  if (user === 'server') {
    await refuseClosedStore(store)
    await refusePendingRestore(store, config)
  }
  const isNew = user === 'server' && (await store.findMasterKey()).check === undefined
  const secrets = await openStoredSecrets(store, config, random)
  keyChains(secrets)
  const storeWatch = openStoreWatch({ store, chains, secrets, logger, issuer: config.issuer, path: config.stateFile })
  if (user === 'server') {
    await recordIssuer(store, config, logger)
    await warnOfOwnApis(store, config, logger)
    await storeWatch.open(isNew)
  }
  const databaseNow = () => platform.databaseClock(store.ping)
  const clockCheck = await openNodeClock({ ...platform, databaseNow, store })
  const { clock } = clockCheck
  const observe = telemetry?.metrics.countOutbound ?? (() => undefined)
  // What runs beside the requests, and what they share, has the store without their limit.
  const waits = config.database.kind === 'postgres' ? openTimelyWaits() : UNLIMITED_WAITS
  const caching = { clock, within: waits.within }
  const apis = openCachedList(store.listApis, caching)
  const outbound = openOutbound(config, { network, budgets, clock, observe })
  const keys = await openKeys(store, secrets, config, {
    clock,
    databaseNow,
    logger,
    outbound,
    random,
    within: waits.within,
  })
  const onFailure = telemetry?.metrics.countAuditFailure
  const auditRecorder = openAuditRecorder({
    clock,
    store,
    chains,
    logger,
    refreshIdleMs: config.settings.lifetimes.refreshIdle * 1000,
    onFailure,
    currentRequest,
  })
  const seenSessions = openSeenSessions({ store, logger })
  return {
    issuer: config.issuer,
    version: VERSION,
    clock,
    clockCheck: { ...clockCheck, compare: () => waits.within(clockCheck.compare) },
    random,
    secrets,
    store: timelyStore(store, waits),
    actingAs: store.actingAs,
    inTime: waits.inTime,
    apis: apis.read,
    describedApis: apis.describe,
    clientPolicy: openCachedValue(
      async () => makeClientPolicy(config.settings, openDomainRules(await store.listDomainRules())),
      caching,
    ).read,
    accessRules: openCachedList(store.listAccessRules, caching),
    countLeftOut: telemetry?.metrics.countLeftOut ?? (() => undefined),
    notBefore: openCachedValue(store.findNotBefore, caching).read,
    ...keys,
    passwords: openPasswords(
      random,
      openCachedValue(async () => readForeignFormats(await store.findPasswordFormats()).costs, caching).read,
    ),
    passkeys: openPasskeyVerifier(),
    encryption: openEncryption(secrets.encryptionKey, random),
    budgets,
    outbound,
    mail: openMailing(config, random, logger),
    providerSignIn: openProviderSignIn(
      secrets,
      { clock, outbound, random },
      telemetry?.metrics.countUpstream ?? (() => undefined),
    ),
    providers: openCachedValue(store.listProviders, caching).read,
    documentLoads: openSingleFlight(),
    documentFailures: openRecentlyUsed(DOCUMENT_FAILURES),
    spentBuckets: openSpentBuckets(),
    sharedKeys: openRecentlyUsed(SHARED_KEYS),
    settings: config.settings,
    record: ({ redirectUri, leftOut, ...event }) =>
      logger.warn({ ...event, redirect_uri: redirectUri, left_out: leftOut, request_id: currentRequest() }),
    inRequest: (id, work) => requests.run(id, work),
    report: auditRecorder.report,
    issued: auditRecorder.issued,
    auditRecorder,
    sessionSeen: seenSessions.sessionSeen,
    seenSessions,
    storeWatch,
    hasStoreGoneBack: storeWatch.hasGoneBack,
    isOriginalStore: storeWatch.isOriginal,
    ...state,
  }
}

export async function closeDriver(
  { driver }: OpenedStore,
  { auditRecorder, storeWatch }: Pick<NodeContext, 'auditRecorder' | 'storeWatch'>,
): Promise<void> {
  await auditRecorder.close()
  await storeWatch.close()
  await driver.close()
}
