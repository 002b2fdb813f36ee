import { parseArgs } from 'node:util'
import { readBetween, readSaveName, readStore, readWhole } from './option-values.ts'

export interface OverloadOptions {
  /** Of each load. */
  readonly seconds: number
  /** What is offered, in parts of what the server can do. */
  readonly factors: readonly number[]
  /** Connections that never wait, of each flood. */
  readonly floods: readonly number[]
  readonly endpoint: (typeof ENDPOINTS)[number]
  readonly store: 'sqlite' | 'postgres'
  readonly profileFolder: string | undefined
  readonly save: string | undefined
}

/** Their bodies need nothing of an answer, which may be a refusal. */
const ENDPOINTS = ['client_credentials', 'opaque', 'register'] as const

export const USAGE = `npm run bench:overload -- [options]
  --seconds <n>       length of each load (5)
  --factors <list>    requests that are offered, in parts of what the server can do (0.8,1.5,2,3)
  --floods <list>     connections that never wait, or none (500,2000,6000)
  --endpoint <name>   which is overloaded: ${ENDPOINTS.join(', ')} (client_credentials)
  --store postgres    on PostgreSQL
  --profile <folder>  write a CPU profile of the server there
  --save <name>       keep the result as bench/results/<date>-<name>.json`

/** Reads the command line. Throws when it makes no sense. */
export function readOverloadOptions(args: readonly string[]): OverloadOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: 'string', default: '5' },
      factors: { type: 'string', default: '0.8,1.5,2,3' },
      floods: { type: 'string', default: '500,2000,6000' },
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
    store: readStore(values.store),
    profileFolder: values.profile,
    save: readSaveName(values.save),
  }
}

function listOf(text: string): readonly string[] {
  return text === 'none' ? [] : text.split(',')
}
