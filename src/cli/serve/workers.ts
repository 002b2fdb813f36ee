import cluster from 'node:cluster'
import type { Config } from '../../config/config.ts'
import { openServer, openWorld } from '../../server/server.ts'
import { openWorkerMetrics, openWorkerAggregator, type WorkerMetrics } from '../../metrics/worker-aggregator.ts'
import { drainAndClose } from './close-on-signal.ts'
import type { WorkerEvents, WorkerProcess } from './supervisor.ts'

/** What the two kinds of process say to each other. */
const SERVING = 'serving'
const STOP = 'stop'

/** Whether this process is one that a supervisor started. */
export function isWorker(): boolean {
  return cluster.isWorker
}

/** Of the workers that serve. */
const rollCall = openWorkerMetrics()

/** Starts a process like this one, which shares its port. When this one is gone, however it ended, so is the other. */
export function forkWorker({ onServing, onEnd }: WorkerEvents): WorkerProcess {
  cluster.schedulingPolicy = cluster.SCHED_RR
  const worker = cluster.fork()
  let attendance: WorkerMetrics | undefined
  worker.on('message', (message) => {
    if (message === SERVING) {
      attendance = rollCall.join((said) => {
        if (worker.isConnected()) worker.send(said)
      })
      onServing()
    } else attendance?.receive(message)
  })
  worker.once('exit', (code: number | null, signal: string | null) => {
    attendance?.leave()
    onEnd({ code, signal })
  })
  // It could not be started; then there is no exit.
  worker.process.once('error', () => {
    if (worker.process.pid === undefined) onEnd({ code: 1, signal: null })
  })
  return {
    pid: worker.process.pid,
    stop() {
      if (worker.isConnected()) worker.send(STOP)
    },
    kill: () => void worker.process.kill('SIGKILL'),
  }
}

/** Serves until the supervisor says so, or somebody ends this one worker. */
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
  // Ctrl-C reaches every process of the terminal. It is for the supervisor to decide.
  process.on('SIGINT', () => undefined)
  const world = openWorld(config)
  process.on('message', (message) => {
    if (message === STOP) stop()
  })
  const server = await openServer(config, { ...world, logger: world.logger.with({ pid: process.pid }) }, caller.ask)
  process.on('message', (message) => caller.receive(message, server.sample))
  await server.start()
  close = () => drainAndClose(server, config.drainSeconds, process)
  process.send?.(SERVING)
}
