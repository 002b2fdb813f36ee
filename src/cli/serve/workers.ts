import cluster from 'node:cluster'
import type { Config } from '../../config/config.ts'
import { openPlatform } from '../../server/platform.ts'
import { openWorkerMetrics, openWorkerAggregator, type WorkerMetrics } from '../../metrics/worker-aggregator.ts'
import { drainAndClose } from './close-on-signal.ts'
import type { WorkerEvents, WorkerProcess } from './supervisor.ts'

/** The messages between a worker and its supervisor. */
const SERVING = 'serving'
const ADMIN_TAKEN = 'admin-taken'
const STOP = 'stop'
const PING = 'ping'
const PONG = 'pong'
const DEBUGGED_PONG = 'debugged-pong'

/** Whether this process was started by a supervisor. */
export function isWorker(): boolean {
  return cluster.isWorker
}

/** Collects the metrics of all workers that serve. */
const workerMetrics = openWorkerMetrics()

/** Starts a worker process that shares the port. The worker ends when this process ends. `onAdminTaken`: another program has that port. */
export function forkWorker({ onServing, onPong, onEnd }: WorkerEvents, onAdminTaken: () => void): WorkerProcess {
  cluster.schedulingPolicy = cluster.SCHED_RR
  const worker = cluster.fork()
  let membership: WorkerMetrics | undefined
  worker.on('message', (message) => {
    if (message === SERVING) {
      membership = workerMetrics.join((said) => {
        if (worker.isConnected()) worker.send(said)
      })
      onServing()
    } else if (message === ADMIN_TAKEN) onAdminTaken()
    else if (message === PONG || message === DEBUGGED_PONG) onPong(message === DEBUGGED_PONG)
    else membership?.receive(message)
  })
  worker.once('exit', (code: number | null, signal: string | null) => {
    membership?.leave()
    onEnd({ code, signal })
  })
  // A process that could not be started emits no exit event.
  worker.process.once('error', () => {
    if (worker.process.pid === undefined) onEnd({ code: 1, signal: null })
  })
  return {
    pid: worker.process.pid,
    stop() {
      if (worker.isConnected()) worker.send(STOP)
    },
    kill: () => void worker.process.kill('SIGKILL'),
    ping() {
      if (worker.isConnected()) worker.send(PING)
    },
  }
}

/** Serves until the supervisor stops this worker, or the process receives SIGTERM. */
export async function serveInWorker(config: Config): Promise<void> {
  let close = (): void => process.exit(0)
  let isStopping = false
  const stop = (): void => {
    if (isStopping) return
    isStopping = true
    close()
  }
  const caller = openWorkerAggregator((message) => {
    if (process.connected) process.send?.(message)
  })
  process.on('SIGTERM', stop)
  // Ctrl-C reaches every process of the terminal. Only the supervisor handles it.
  process.on('SIGINT', () => undefined)
  const platform = openPlatform(config)
  process.on('message', (message) => {
    if (message === STOP) stop()
    if (message === PING && process.connected) process.send?.(isDebugged() ? DEBUGGED_PONG : PONG)
  })
  const { allocateYoung, openServer } = await import('../../server/server.ts')
  const server = await openServer(
    config,
    { ...platform, logger: platform.logger.with({ pid: process.pid }) },
    caller.ask,
  )
  process.on('message', (message) => caller.receive(message, server.sample))
  await server.start()
  allocateYoung()
  close = () => drainAndClose(server, config.drainSeconds, process)
  if (server.context.isAdminTaken()) process.send?.(ADMIN_TAKEN)
  process.send?.(SERVING)
}

/** Whether a debugger can attach to this process: from its start, or after a SIGUSR1. */
function isDebugged(): boolean {
  return process.getBuiltinModule('node:inspector').url() !== undefined
}
