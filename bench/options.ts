import { parseArgs } from 'node:util'
import { ENDPOINT_NAMES, type EndpointName } from './endpoints.ts'
import { readBetween, readNames, readSaveName, readStore, readWhole } from './option-values.ts'
import { PEER_NAMES, type PeerName } from './peer-subject.ts'

/** The options of a run. */
export interface Options {
  /** Numbers of concurrent connections. Each endpoint is measured with each of them. */
  readonly connections: readonly number[]
  readonly rounds: number
  /** The length of a slice. */
  readonly seconds: number
  readonly only: readonly EndpointName[]
  /** Print the result as JSON. */
  readonly isJson: boolean
  /** The name of the result in bench/results. */
  readonly save: string | undefined
  /** Whether a ratio below its gate fails the run. */
  readonly isGated: boolean
  readonly profileFolder: string | undefined
  /** With `postgres` the server on SQLite is measured as well, unless there are several workers. */
  readonly store: 'sqlite' | 'postgres'
  /** Processes that share the port. With more than one, a single process is measured as well. */
  readonly workers: number
  /** The runtime of Grantor. The bare server and the load always run on Node.js. */
  readonly runtime: 'node' | 'bun'
  /** Other servers that are measured in the same run. */
  readonly peers: readonly PeerName[]
}

export const USAGE = `npm run bench -- [options]
  --connections <n>   connections at once (64), or several numbers: 1,8,64,256
  --rounds <n>        slices per server and endpoint (5)
  --seconds <n>       length of a slice (1)
  --only <names>      endpoints to measure: ${ENDPOINT_NAMES.join(',')}
  --gate              fail if a ratio is below its gate
  --json              print the result as JSON
  --save <name>       write the result to bench/results/<date>-<name>.json
  --profile <folder>  write a CPU profile of the server to this folder
  --store postgres    also measure on PostgreSQL
  --workers <n>       also measure this number of processes on PostgreSQL (1)
  --runtime bun       run the flow tests on Bun, then Grantor on Bun (npm install --prefix bench/peers)
  --peers <names>     also measure other servers: all, or names of ${PEER_NAMES.join(',')}`

/** Parses the command line. Throws an error with the usage if it is invalid. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      connections: { type: 'string', default: '64' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '1' },
      only: { type: 'string', default: ENDPOINT_NAMES.join(',') },
      gate: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      save: { type: 'string' },
      profile: { type: 'string' },
      store: { type: 'string', default: 'sqlite' },
      workers: { type: 'string', default: '1' },
      peers: { type: 'string', default: '' },
      runtime: { type: 'string', default: 'node' },
    },
  })
  const only = readNames('only', ENDPOINT_NAMES, values.only)
  const peers = values.peers === 'all' ? PEER_NAMES : readNames('peers', PEER_NAMES, values.peers)
  const { runtime } = values
  const store = readStore(values.store)
  if (runtime !== 'node' && runtime !== 'bun') throw new Error('--runtime takes node or bun.')
  if (runtime === 'bun' && values.profile !== undefined) throw new Error('--profile needs --runtime node.')
  const workers = readWhole('workers', values.workers, 1, 64)
  if (workers > 1 && store === 'sqlite') throw new Error('--workers needs --store postgres.')
  return {
    store,
    workers,
    peers,
    runtime,
    connections: values.connections.split(',').map((text) => readWhole('connections', text, 1, 1024)),
    rounds: readWhole('rounds', values.rounds, 1, 100),
    seconds: readBetween('seconds', values.seconds, 0.05, 60),
    only,
    isJson: values.json,
    save: readSaveName(values.save),
    isGated: values.gate,
    profileFolder: values.profile,
  }
}
