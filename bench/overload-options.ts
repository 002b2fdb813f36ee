import { parseArgs } from 'node:util'
import { readBetween, readSaveName, readStore, readWhole } from './option-values.ts'

export interface OverloadOptions {
  /** The duration of each load. */
  readonly seconds: number
  /** The offered rates, relative to the server's capacity. */
  readonly factors: readonly number[]
  /** Numbers of connections of the floods, which never wait. */
  readonly floods: readonly number[]
  /** Numbers of connections with wrong credentials, for the loads together with healthy clients. */
  readonly hostile: readonly number[]
  /** Rounds of each such load, alternating with rounds without it. */
  readonly rounds: number
  /** The number of sockets that pipeline and never read. */
  readonly silent: number
  readonly endpoint: (typeof ENDPOINTS)[number]
  readonly store: 'sqlite' | 'postgres'
  readonly profileFolder: string | undefined
  readonly save: string | undefined
}

/** Endpoints whose request bodies do not depend on an earlier answer, which may be a refusal. */
const ENDPOINTS = ['client_credentials', 'opaque', 'register'] as const

export const USAGE = `npm run bench:overload -- [options]
  --seconds <n>       length of each load (5)
  --factors <list>    offered rates, relative to the capacity of the server (0.8,1.5,2,3)
  --floods <list>     numbers of connections that never wait, or none (500,2000,6000)
  --hostile <list>    numbers of connections with wrong credentials, or none (700,2000)
  --rounds <n>        rounds with each of these, alternating with rounds without (5)
  --silent <n>        sockets that pipeline and never read, for six times --seconds; 0 for none (200)
  --endpoint <name>   the endpoint to overload: ${ENDPOINTS.join(', ')} (client_credentials)
  --store postgres    use PostgreSQL
  --profile <folder>  write a CPU profile of the server to this folder
  --save <name>       write the result to bench/results/<date>-<name>.json`

/** Parses the command line. Throws an error if it is invalid. */
export function readOverloadOptions(args: readonly string[]): OverloadOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: 'string', default: '5' },
      factors: { type: 'string', default: '0.8,1.5,2,3' },
      floods: { type: 'string', default: '500,2000,6000' },
      hostile: { type: 'string', default: '700,2000' },
      rounds: { type: 'string', default: '5' },
      silent: { type: 'string', default: '200' },
      endpoint: { type: 'string', default: 'client_credentials' },
      store: { type: 'string', default: 'sqlite' },
      profile: { type: 'string' },
      save: { type: 'string' },
    },
  })
  const endpoint = ENDPOINTS.find((name) => name === values.endpoint)
  if (endpoint === undefined) throw new Error(`--endpoint takes one of: ${ENDPOINTS.join(', ')}.`)
  return {
    endpoint,
    seconds: readBetween('seconds', values.seconds, 0.1, 600),
    factors: listOf(values.factors).map((text) => readBetween('factors', text, 0.01, 100)),
    floods: listOf(values.floods).map((text) => readWhole('floods', text, 1, 9000)),
    hostile: listOf(values.hostile).map((text) => readWhole('hostile', text, 1, 9000)),
    rounds: readWhole('rounds', values.rounds, 1, 99),
    silent: readWhole('silent', values.silent, 0, 5000),
    store: readStore(values.store),
    profileFolder: values.profile,
    save: readSaveName(values.save),
  }
}

function listOf(text: string): readonly string[] {
  return text === 'none' ? [] : text.split(',')
}
