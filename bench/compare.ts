import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { beginBench, readOptionsOrExit } from './begin.ts'
import { chooseCores, type Children, type Cores } from './children.ts'
import type * as Codes from './codes.ts'
import type { CodeMint } from './codes.ts'
import { startDatabase, type BenchDatabase } from './database.ts'
import type * as Endpoints from './endpoints.ts'
import type { Endpoint, EndpointName } from './endpoints.ts'
import { readBetween, readNames, readStore, readWhole } from './option-values.ts'
import { medianInterval, quantile } from './statistics.ts'
import { startSubject } from './subject.ts'
import { renderTable } from './table.ts'
import { cpuMicros, openLoad, WARM_UP_ROUNDS, type LoadedServer } from './turn.ts'

/**
 * `npm run bench:compare -- --with ../grantor-before` compares the processor time of a request in this checkout and in another
 * one. Both servers run and get the same load in turn, so that other load on the machine affects both. A pair is a slice of
 * the other checkout and a slice of this one. Their order alternates from pair to pair.
 */

const USAGE = `npm run bench:compare -- --with <folder> [options]
  --with <folder>     another checkout of Grantor, in which npm install was run
  --pairs <n>         pairs of slices for each endpoint (9)
  --seconds <n>       length of a slice (1)
  --connections <n>   connections at once (64)
  --only <names>      endpoints, as for npm run bench
  --store postgres    compare on PostgreSQL`

const HOT_PATH: readonly EndpointName[] = ['register', 'client_credentials', 'code', 'refresh', 'introspect']

interface Comparison {
  readonly endpoint: string
  /** Microseconds of processor time for a request, one value for each pair. */
  readonly before: readonly number[]
  readonly after: readonly number[]
}

interface Side {
  readonly server: LoadedServer & { readonly database: undefined }
  readonly endpoints: readonly Endpoint[]
  readonly mint: CodeMint
}

const options = readOptionsOrExit(readOptions, USAGE)
const { folder, children } = beginBench(
  120_000 + options.only.length * (options.pairs + WARM_UP_ROUNDS) * (options.seconds + 2) * 4000,
)
const database = options.store === 'postgres' ? await startDatabase(undefined) : undefined
console.log(render(await compareAll(children, chooseCores(), database)))
await children.end()
await database?.close()

async function compareAll(
  started: Children,
  cores: Cores | undefined,
  shared: BenchDatabase | undefined,
): Promise<readonly Comparison[]> {
  const before = await openSide(started, 'before', options.other, cores, shared)
  const after = await openSide(started, 'after', undefined, cores, shared)
  const generator = started.start({ script: new URL('./generator.ts', import.meta.url), core: cores?.generator })
  await once(generator, 'message')
  const comparisons: Comparison[] = []
  for (const name of options.only) {
    console.error(`${name} …`)
    const loads = [before, after].map(({ server, endpoints }) => {
      const endpoint = endpoints.find((one) => one.name === name)
      if (endpoint === undefined) throw new Error(`There is no endpoint ${name}.`)
      return openLoad(generator, server, endpoint, { connections: options.connections, seconds: options.seconds })
    })
    const micros: [number[], number[]] = [[], []]
    for (let round = -Math.min(WARM_UP_ROUNDS, options.pairs); round < options.pairs; round += 1) {
      for (const side of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
        const turn = await loads[side]?.next()
        if (turn !== undefined && round >= 0) micros[side].push(cpuMicros([turn]))
      }
    }
    comparisons.push({ endpoint: name, before: micros[0], after: micros[1] })
  }
  await Promise.all([before.mint.close(), after.mint.close()])
  return comparisons
}

async function openSide(
  started: Children,
  name: string,
  checkout: URL | undefined,
  cores: Cores | undefined,
  shared: BenchDatabase | undefined,
): Promise<Side> {
  const place = join(folder, name)
  mkdirSync(place)
  const databaseUrl = (await shared?.open())?.url
  const { servers: core } = cores ?? { servers: undefined }
  const rest = { profileFolder: undefined, workers: 1, runtime: undefined, databaseUrl, core }
  const subject = await startSubject(started, { folder: place, ...rest, ...(checkout && { checkout }) })
  // Each checkout opens its own database, because their schemas may differ. Codes belong to the verifier of their checkout.
  const bench = new URL('bench/', checkout ?? new URL('../', import.meta.url)).href
  const { openCodeMint } = (await import(`${bench}codes.ts`)) as typeof Codes
  const { openEndpoints } = (await import(`${bench}endpoints.ts`)) as typeof Endpoints
  const mint = await openCodeMint(subject.settings)
  return { server: { ...subject, database: undefined }, mint, endpoints: await openEndpoints(subject.port, mint) }
}

function render(comparisons: readonly Comparison[]): string {
  const heads = ['endpoint', 'before µs', 'after µs', 'after / before', 'interval']
  const rows = comparisons.map(({ endpoint, before, after }) => {
    const ratios = after.map((value, pair) => value / (before[pair] ?? Number.NaN))
    const [low, high] = medianInterval(ratios)
    return [
      endpoint,
      quantile(before, 0.5).toFixed(0),
      quantile(after, 0.5).toFixed(0),
      quantile(ratios, 0.5).toFixed(3),
      `${low.toFixed(3)} to ${high.toFixed(3)}`,
    ]
  })
  return `${options.pairs} pairs of slices of ${options.seconds} s, ${options.connections} connections, ${options.store}; medians, and the 95 % confidence interval of the median of the ratios\n\n${renderTable(heads, rows)}`
}

interface Options {
  readonly other: URL
  readonly pairs: number
  readonly seconds: number
  readonly connections: number
  readonly only: readonly EndpointName[]
  readonly store: 'sqlite' | 'postgres'
}

function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      with: { type: 'string', default: '' },
      pairs: { type: 'string', default: '9' },
      seconds: { type: 'string', default: '1' },
      connections: { type: 'string', default: '64' },
      only: { type: 'string', default: HOT_PATH.join(',') },
      store: { type: 'string', default: 'sqlite' },
    },
  })
  const other = resolve(values.with)
  if (values.with === '' || !existsSync(join(other, 'src/cli/main.ts')))
    throw new Error('--with takes the folder of another checkout of Grantor.')
  return {
    other: pathToFileURL(`${other}/`),
    pairs: readWhole('pairs', values.pairs, 1, 100),
    seconds: readBetween('seconds', values.seconds, 0.05, 60),
    connections: readWhole('connections', values.connections, 1, 1024),
    only: readNames('only', HOT_PATH, values.only),
    store: readStore(values.store),
  }
}
