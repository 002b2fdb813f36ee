import { randomFillSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Server as HttpServer } from 'node:http'
import { sweep } from './admin/sweep.ts'
import type { Config } from './config.ts'
import { createApp } from './http/app.ts'
import { openBudgets, type NodeBudgets } from './http/limits.ts'
import { listen, type Listening } from './http/listen.ts'
import { startSharing } from './http/share-budgets.ts'
import { openLineWriter, openLog, type Log } from './log.ts'
import { openKeys, startKeepingKeys } from './open-keys.ts'
import { openDriver, openRootSecret, refuseOtherSecret, type StoreUser } from './open-store.ts'
import { openPasswords } from './passwords/argon2.ts'
import type { Context, Settings } from './ports/context.ts'
import type { StoreDriver, Swept } from './ports/store.ts'
import type { EpochMs } from './protocol/brand.ts'
import type { Random } from './protocol/ids.ts'
import { openCatalogue } from './store/catalogue.ts'
import { openTurns } from './store/turns.ts'

/** Where time and chance come from, and the log goes to; tests put their own here. */
export interface World {
  readonly clock: () => EpochMs
  readonly random: Random
  readonly logger: Log
}

/** What commands beside the server need: the use-cases' context and an end. */
export interface Workshop {
  readonly context: Context
  readonly close: () => Promise<void>
}

/** A server, not listening yet. */
export interface Server extends Workshop {
  readonly http: HttpServer
  /** Starts the background work and listens. Answers the address. */
  readonly start: () => Promise<string>
  /** From now on it is not ready, though it still serves what comes. */
  readonly drain: () => void
  /** Accepts no connection any more, finishes what is under way, then closes the store. */
  readonly close: () => Promise<void>
}

/** The context as it is made here: its budgets can be kept together with other nodes. */
type NodeContext = Context & { readonly budgets: NodeBudgets }

const STANDARD_OUTPUT = 1
const SWEEP_INTERVAL_MS = 10_000
/** No line of the log waits longer for others to be written with. */
const LOG_FLUSH_MS = 250

export const VERSION = (
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
).version

/** The real world. */
export function openWorld(config: Config): World {
  return {
    clock: () => Date.now() as EpochMs,
    random: openRandom(),
    logger: openLog(config.logLevel, openLineWriter(STANDARD_OUTPUT), {}),
  }
}

/** Opens the store without a server: for a command that runs and ends, or for what starts several servers. */
export async function openWorkshop(
  config: Config,
  world: World = openWorld(config),
  user: StoreUser = 'command',
): Promise<Workshop> {
  const driver = await openDriver(config, user, (cause) => world.logger.warn({ event: 'store.absent', err: cause }))
  return { context: await openContext(config, world, driver, () => false), close: driver.close }
}

/** Opens the store and makes the server over it. */
export async function openServer(config: Config, world: World = openWorld(config)): Promise<Server> {
  const driver = await openDriver(config, 'server', (cause) => world.logger.warn({ event: 'store.absent', err: cause }))
  let isStopping = false
  const context = await openContext(config, world, driver, () => isStopping)
  const { logger } = world
  const http = createApp({
    context,
    branding: config.branding,
    trustedProxies: config.trustedProxies,
    log(line, cause) {
      if (cause !== undefined) logger.error({ ...line, err: cause })
      else logger.info(line)
    },
  })
  let background: readonly (() => void)[] = []
  let flushing: NodeJS.Timeout | undefined
  let listening: Listening | undefined
  return {
    http,
    context,
    async start() {
      // A SQLite file has one server: nobody to share with.
      const sharing = config.database.kind === 'postgres' ? [startSharing(context.budgets, context)] : []
      background = [startSweeping(context, logger), startKeepingKeys(context, logger), ...sharing]
      flushing = setInterval(() => void logger.flush(), LOG_FLUSH_MS)
      listening = await listen(http, config)
      return listening.address
    },
    drain: () => void (isStopping = true),
    async close() {
      isStopping = true
      for (const stop of background) stop()
      await listening?.close()
      clearInterval(flushing)
      await driver.close()
      logger.info({ event: 'server.stopped' })
      await logger.flush()
    },
  }
}

/** Closes the store again when nothing can be made of it. */
async function openContext(
  config: Config,
  world: World,
  driver: StoreDriver,
  isStopping: () => boolean,
): Promise<NodeContext> {
  try {
    return await makeContext(config, world, driver, isStopping)
  } catch (cause) {
    await driver.close()
    throw cause
  }
}

async function makeContext(
  config: Config,
  world: World,
  driver: StoreDriver,
  isStopping: () => boolean,
): Promise<NodeContext> {
  const { clock, random, logger } = world
  const store = openTurns(driver)
  const secrets = openRootSecret(config)
  await refuseOtherSecret(store, secrets, config)
  const keys = await openKeys(store, secrets, config, world)
  return {
    issuer: config.issuer,
    version: VERSION,
    clock,
    random,
    secrets,
    store,
    apis: openCatalogue(store, clock),
    ...keys,
    passwords: openPasswords(random),
    budgets: openBudgets({
      registration: config.rates.registration,
      authorization: config.rates.authorization,
      'client-authentication': config.rates.clientAuthentication,
    }),
    settings: settingsOf(config),
    record: logger.warn,
    isStopping,
  }
}

function settingsOf(config: Config): Settings {
  return {
    lifetimes: config.lifetimes,
    redirectSchemes: new Set(config.redirectSchemes),
    isLoopbackIssuer: config.isLoopbackIssuer,
    redirectErrors: config.redirectErrors,
    keyRotation: config.keyRotation,
  }
}

function startSweeping(context: Context, logger: Log): () => void {
  let grantsAfter: Swept['grantsAfter'] = ''
  const timer = setInterval(() => {
    sweep(context, grantsAfter).then(
      (swept) => {
        grantsAfter = swept.grantsAfter
        logger.debug({ event: 'store.swept', ...swept })
      },
      (cause: unknown) => logger.error({ event: 'store.sweep-failed', err: cause }),
    )
  }, SWEEP_INTERVAL_MS)
  return () => clearInterval(timer)
}

/** Random bytes from a pool, because asking the system costs more per call than per byte. Each byte is used once. */
function openRandom(): Random {
  const pool = Buffer.allocUnsafe(8192)
  let next = pool.length
  return (bytes) => {
    if (next + bytes > pool.length) {
      randomFillSync(pool)
      next = 0
    }
    const taken = Buffer.from(pool.subarray(next, next + bytes))
    pool.fill(0, next, next + bytes)
    next += bytes
    return taken
  }
}
