import { parseArgs } from 'node:util'
import { readBetween, readSaveName, readStore, readWhole } from './option-values.ts'

export interface SoakOptions {
  readonly minutes: number
  readonly connections: number
  /** Requests per second. undefined: each connection sends the next request after an answer. */
  readonly rate: number | undefined
  /** The rows of each kind at the start. */
  readonly rows: number
  /** The number of changes of the signing key. */
  readonly rotations: number
  readonly sampleSeconds: number
  /** The time between the end of the load and the count of the rows. */
  readonly settleSeconds: number
  readonly store: 'sqlite' | 'postgres'
  readonly save: string | undefined
}

export const USAGE = `npm run bench:soak -- [options]
  --minutes <n>       duration of the load (30)
  --connections <n>   concurrent connections (32)
  --rate <n>          requests a second (as fast as the answers come)
  --rows <n>          clients, families and redeemed codes at the start (100000)
  --rotations <n>     changes of the signing key (6)
  --sample <seconds>  time between two samples (10)
  --settle <seconds>  pause after the load in which sweeps end, before rows are counted (30)
  --store postgres    use PostgreSQL
  --save <name>       write the result to bench/results/<date>-<name>.json`

/** The most rotations. The oldest keys are withdrawn, so that the server never publishes more keys than it may. */
const MOST_ROTATIONS = 60

/** Parses the command line. Throws an error if it is invalid. */
export function readSoakOptions(args: readonly string[]): SoakOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '30' },
      connections: { type: 'string', default: '32' },
      rate: { type: 'string' },
      rows: { type: 'string', default: '100000' },
      rotations: { type: 'string', default: '6' },
      sample: { type: 'string', default: '10' },
      settle: { type: 'string', default: '30' },
      store: { type: 'string', default: 'sqlite' },
      save: { type: 'string' },
    },
  })
  return {
    minutes: readBetween('minutes', values.minutes, 0.1, 24 * 60),
    connections: readWhole('connections', values.connections, 1, 500),
    rate: values.rate === undefined ? undefined : readBetween('rate', values.rate, 1, 1e6),
    rows: readWhole('rows', values.rows, 1, 1e7),
    rotations: readWhole('rotations', values.rotations, 0, MOST_ROTATIONS),
    sampleSeconds: readBetween('sample', values.sample, 1, 600),
    settleSeconds: readBetween('settle', values.settle, 0, 600),
    store: readStore(values.store),
    save: readSaveName(values.save),
  }
}
