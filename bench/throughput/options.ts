import { choice, flag, list, names, number, SAVE, STORE, string, whole, type ValuesOf } from '../../tools/options.ts'
import { ENDPOINT_NAMES } from '../endpoints.ts'
import { PEER_NAMES } from './peer-server.ts'

export const OPTIONS = {
  connections: list(whole('connections at once, or several numbers: 1,8,64,256', 64, [1, 1024]), '64'),
  rounds: whole('slices per server and endpoint', 5, [1, 100]),
  seconds: number('length of a slice', 1, [0.05, 60]),
  only: names('endpoints to measure', ENDPOINT_NAMES, 'all'),
  gate: flag('fail if a ratio is below its gate'),
  json: flag('print the result as JSON'),
  save: SAVE,
  profile: string('folder', 'write a CPU profile of the server to this folder'),
  store: { ...STORE, help: 'postgres: also measure on PostgreSQL' },
  workers: whole('also measure this number of processes on PostgreSQL', 1, [1, 64]),
  runtime: choice('bun: run the flow tests on Bun, then Grantor on Bun (npm install --prefix bench/peers)', [
    'node',
    'bun',
  ]),
  peers: names('also measure other servers', PEER_NAMES, ''),
}
export type Options = ValuesOf<typeof OPTIONS>

/** Returns what is wrong with the options together. */
export function checkOptions({ runtime, profile, workers, store }: Options): string | undefined {
  if (runtime === 'bun' && profile !== undefined) return '--profile needs --runtime node.'
  if (workers > 1 && store === 'sqlite') return '--workers needs --store postgres.'
  return undefined
}
