import { InvalidArgumentError, Option, type Command } from 'commander'
import { availableParallelism } from 'node:os'
import type { UserDocument } from '../../admin/user/tasks.ts'
import { readConfig, type Config } from '../../config/config.ts'
import type { Context } from '../../ports/context.ts'
import { consoleAddress } from '../../protocol/client/console.ts'
import type { Platform } from '../../server/platform.ts'
import { settingsHelp } from '../docs/settings.ts'
import { describeFailure, UsageError } from '../lib/failure.ts'
import type { Terminal } from '../lib/terminal.ts'
import { closeOnSignal, onStopSignal } from '../serve/close-on-signal.ts'
import type { Supervision } from '../serve/supervisor.ts'
import { DEMO_EMAIL, registrationRequest, welcomeLines, type Demo } from '../serve/welcome.ts'

interface ServeOptions {
  readonly json?: true
  readonly workers: number
}

/** The most workers that can share a port well. */
const WORKER_LIMIT = 256

/** `grantor serve` */
export function addServe(parent: Command, terminal: Terminal): void {
  parent
    .command('serve')
    .description('Start the server.')
    .option('--json', 'write only JSON log lines to standard output, even on a terminal')
    .option(
      '--workers <count>',
      'the number of processes that share the port; auto: one for each core; needs PostgreSQL',
      parseWorkers,
      1,
    )
    .addOption(settingInstead('--port <port>', 'PORT'))
    .addOption(settingInstead('--host <host>', 'GRANTOR_HOST'))
    .addOption(settingInstead('--issuer <url>', 'GRANTOR_ISSUER'))
    .addHelpText('after', () => `\n${settingsHelp()}`)
    .action(async (options: ServeOptions) => {
      try {
        await serve(options, terminal)
      } catch (cause) {
        if (options.json !== true) throw cause
        await logFailedStart(cause, terminal)
      }
    })
}

async function serve({ json, workers }: ServeOptions, terminal: Terminal): Promise<void> {
  const config = readConfig()
  const hasPerson = terminal.isTerminal && json !== true
  const greet = (platform: Platform, context: Context): Promise<void> =>
    sayReady(config, platform, context, hasPerson ? terminal : undefined)
  // A process that a supervisor started has a channel to the supervisor.
  if (workers === 1 && process.send === undefined) await serveAlone(config, greet)
  else await serveInSeveral(config, workers, greet)
}

/** A line as all others of `--json`, for the program that reads them. */
async function logFailedStart(cause: unknown, { stdout }: Terminal): Promise<void> {
  const { openLog } = await import('../../server/log.ts')
  const writer = { write: (line: string) => void stdout.write(line), flush: () => Promise.resolve() }
  openLog('error', writer, {}).error({ event: 'server.start-failed', message: describeFailure(cause) })
  process.exitCode = cause instanceof UsageError ? 2 : 1
}

/** An option that servers often have, and that is a setting here. */
function settingInstead(flags: string, setting: string): Option {
  return new Option(flags).hideHelp().argParser((value: string) => {
    throw new InvalidArgumentError(`It is a setting: ${setting}=${value} grantor serve`)
  })
}

type Greet = (platform: Platform, context: Context) => Promise<void>

/** The endpoints are loaded here, because the other commands need none of them. */
async function serveAlone(config: Config, greet: Greet): Promise<void> {
  const [{ allocateYoung, openServer, requireFreePorts }, { openPlatform }] = await Promise.all([
    import('../../server/server.ts'),
    import('../../server/platform.ts'),
  ])
  await requireFreePorts(config)
  const platform = openPlatform(config)
  const server = await openServer(config, platform)
  closeOnSignal(server, config.drainSeconds, process)
  await server.start()
  await greet(platform, server.context)
  allocateYoung()
}

/** Serves as a worker, or as the supervisor of workers. The supervisor ends when the last worker has ended. */
async function serveInSeveral(config: Config, count: number, greet: Greet): Promise<void> {
  const [{ PATIENCE, supervise }, { forkWorker, isWorker, serveInWorker }] = await Promise.all([
    import('../serve/supervisor.ts'),
    import('../serve/workers.ts'),
  ])
  if (isWorker()) return serveInWorker(config)
  if (count === 1) return serveAlone(config, greet)
  if (config.database.kind === 'sqlite') {
    throw new UsageError(
      'Several workers need PostgreSQL: a SQLite file has one writer, and a second process would only wait for it. Set DATABASE_URL to a postgres:// address, or omit --workers.',
    )
  }
  const [{ openRuntime }, { openPlatform }] = await Promise.all([
    import('../../server/context.ts'),
    import('../../server/platform.ts'),
  ])
  const platform = openPlatform(config)
  // Migrates the database, and finds errors that would stop every worker.
  const runtime = await openRuntime(config, platform, 'server')
  const record: Supervision['record'] = (event) => {
    platform.logger.warn(event)
    void platform.logger.flush()
  }
  let isAdminTaken = false
  const fork: Supervision['fork'] = (events) => forkWorker(events, () => (isAdminTaken = true))
  const { allServe, ended, stop } = supervise({ count, fork, record, patience: PATIENCE })
  onStopSignal(process, stop)
  try {
    if (await allServe) await greet(platform, { ...runtime.context, isAdminTaken: () => isAdminTaken })
  } finally {
    await runtime.close()
  }
  const failure = await ended
  if (failure !== undefined) throw new Error(failure)
}

/**
 * Prints the welcome on a terminal, and logs `server.ready`, unless the store went back. The start of a loopback issuer without users and
 * clients also creates a demo.
 */
async function sayReady(
  config: Config,
  platform: Platform,
  context: Context,
  person: Terminal | undefined,
): Promise<void> {
  const { issuer, version } = context
  // The last line of the log is then `store.went-back`, which says what to do.
  if (context.hasStoreGoneBack()) return platform.logger.flush()
  const { isLoopbackIssuer } = config.settings
  // The warning `admin.not-listening` names the port of another program.
  const [admin, consoleUrl] = context.isAdminTaken() ? [] : [config.admin, config.settings.consoleUrl]
  // Only a trial is helped on. An installation starts even if a machine with users and clients is down.
  const isUntouched =
    isLoopbackIssuer &&
    !(await hasUsers(context)) &&
    (await context.store.listClients({ before: undefined, limit: 1 })).length === 0
  if (person !== undefined) {
    const isDemo = isUntouched && config.settings.passwords === 'on'
    const demo = isDemo ? await createDemo(context) : undefined
    const hasApis = (await context.store.listApis()).length > 0
    const { command } = person
    const logsRefusals = config.logLevel === 'debug' || config.logLevel === 'info'
    const welcome = {
      issuer,
      version,
      isLoopbackIssuer,
      hasApis,
      logsRefusals,
      consoleUrl,
      command,
      demo,
    }
    person.print(welcomeLines(welcome, person.paint))
  }
  platform.logger.info({
    event: 'server.ready',
    issuer,
    version,
    host: config.host,
    port: config.port,
    admin_host: admin?.host,
    admin_port: admin?.port,
    console: consoleUrl && consoleAddress(consoleUrl),
    ...(isUntouched ? { try: registrationRequest(issuer) } : {}),
  })
  await platform.logger.flush()
}

/**
 * The password is printed on the terminal and not stored in clear text. The address counts as verified, because many applications sign in no
 * other user. undefined: another server that starts on the same database creates the demo.
 */
async function createDemo(context: Context): Promise<Demo | undefined> {
  // Few starts need these tasks, and loading their schemas would make every start slower.
  const [{ inventPassword }, { SERVER }, { performOn }] = await Promise.all([
    import('../../admin/user/user.ts'),
    import('../../admin/administrators.ts'),
    import('../lib/perform-task.ts'),
  ])
  const perform = performOn(context, undefined, SERVER)
  const password = inventPassword(context.random)
  const user = { email: DEMO_EMAIL, email_verified: true, password, name: 'Demo' }
  try {
    const { user_id } = await perform<UserDocument>('user.create', user)
    await perform('role.set', { user_id, access: 'write', loopback_only: true })
  } catch (cause) {
    if (await hasUsers(context)) return undefined
    throw cause
  }
  return { email: DEMO_EMAIL, password }
}

async function hasUsers({ store }: Context): Promise<boolean> {
  return (await store.listUsers({ before: undefined, limit: 1 })).length > 0
}

function parseWorkers(text: string): number {
  if (text === 'auto') return availableParallelism()
  const count = Number(text)
  if (!/^\d+$/.test(text) || count < 1 || count > WORKER_LIMIT) {
    throw new InvalidArgumentError(`Give auto, or a whole number from 1 to ${WORKER_LIMIT}.`)
  }
  return count
}
