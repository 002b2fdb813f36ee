import { existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chooseCores, stopChildren } from '../../tools/process/children.ts'
import { startDatabase } from '../../tools/postgres/database.ts'
import { names, number, readOptions, STORE, string, whole } from '../../tools/options.ts'
import { beginSession, openFolder } from '../../tools/process/session.ts'
import { median, medianInterval } from '../../tools/statistics.ts'
import { fixed, renderTable } from '../../tools/table.ts'
import type * as Codes from '../codes.ts'
import type * as Endpoints from '../endpoints.ts'
import { startGenerator } from '../load/generator.ts'
import { cpuMicros, openLoad, WARM_UP_ROUNDS } from '../load/turn.ts'
import { startServer } from '../server.ts'

/**
 * The processor time of a request in this checkout and in another one. Both servers run and get the same load in
 * turn, so that other load on the machine affects both. A pair is a slice of the other checkout and a slice of this
 * one. Their order alternates from pair to pair.
 */

const HOT_PATH = ['register', 'client_credentials', 'code', 'refresh', 'introspect'] as const
const HERE = new URL('../../', import.meta.url)

interface Comparison {
  readonly endpoint: string
  /** Microseconds of processor time for a request, one value for each pair. */
  readonly before: readonly number[]
  readonly after: readonly number[]
}

const options = readOptions(
  {
    with: string('folder', 'another checkout of Grantor, in which npm install was run (required)'),
    pairs: whole('pairs of slices for each endpoint', 9, [1, 100]),
    seconds: number('length of a slice', 1, [0.05, 60]),
    connections: whole('connections at once', 64, [1, 1024]),
    only: names('endpoints to compare', HOT_PATH, 'all'),
    store: { ...STORE, help: 'the database of both servers: sqlite or postgres' },
  },
  ({ with: folder }) =>
    folder !== undefined && existsSync(join(folder, 'src/cli/main.ts'))
      ? undefined
      : '--with takes the folder of another checkout of Grantor.',
)
const { pairs, seconds, connections } = options
const other = pathToFileURL(`${resolve(options.with ?? '')}/`)
beginSession(120_000 + options.only.length * (pairs + WARM_UP_ROUNDS) * (seconds + 2) * 4000)
const folder = openFolder()
const cores = chooseCores()
const database = options.store === 'postgres' ? await startDatabase(undefined) : undefined
console.log(render(await compareAll()))
await stopChildren()
await database?.close()

async function compareAll(): Promise<readonly Comparison[]> {
  const sides = [await openSide('before', other), await openSide('after', HERE)]
  const generator = await startGenerator(cores?.generator)
  const comparisons: Comparison[] = []
  for (const name of options.only) {
    console.error(`${name} …`)
    const loads = sides.map(({ server, endpoints }) => {
      const endpoint = endpoints.find((one) => one.name === name)
      if (endpoint === undefined) throw new Error(`There is no endpoint ${name}.`)
      return openLoad(generator, { pid: server.pid, port: server.port, database: undefined }, endpoint, options)
    })
    const micros: [number[], number[]] = [[], []]
    for (let round = -Math.min(WARM_UP_ROUNDS, pairs); round < pairs; round += 1) {
      for (const side of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
        const turn = await loads[side]?.next()
        if (turn !== undefined && round >= 0) micros[side].push(cpuMicros([turn]))
      }
    }
    comparisons.push({ endpoint: name, before: micros[0], after: micros[1] })
  }
  for (const { mint } of sides) await mint.close()
  return comparisons
}

/** Starts the server of a checkout, and prepares its load with the checkout's own bench/codes.ts and bench/endpoints.ts. */
async function openSide(name: string, checkout: URL) {
  const place = join(folder, name)
  mkdirSync(place)
  const databaseUrl = (await database?.open())?.url
  const server = await startServer({ folder: place, core: cores?.servers, databaseUrl, checkout })
  // Each checkout opens its own database, because their schemas may differ. Codes belong to the verifier of their checkout.
  const bench = new URL('bench/', checkout).href
  const { openCodeMint } = (await import(`${bench}codes.ts`)) as typeof Codes
  const { openEndpoints } = (await import(`${bench}endpoints.ts`)) as typeof Endpoints
  const mint = await openCodeMint(server.settings)
  return { server, mint, endpoints: await openEndpoints(server.port, mint) }
}

function render(comparisons: readonly Comparison[]): string {
  const ratiosOf = ({ before, after }: Comparison): readonly number[] =>
    after.map((value, pair) => value / (before[pair] ?? Number.NaN))
  const table = renderTable(comparisons, [
    ['endpoint', ({ endpoint }) => endpoint],
    ['before µs', ({ before }) => fixed(median(before), 0)],
    ['after µs', ({ after }) => fixed(median(after), 0)],
    ['after / before', (one) => fixed(median(ratiosOf(one)), 3)],
    [
      'interval',
      (one) =>
        medianInterval(ratiosOf(one))
          .map((value) => fixed(value, 3))
          .join(' to '),
    ],
  ])
  return `${pairs} pairs of slices of ${seconds} s, ${connections} connections, ${options.store}; medians, and the 95 % confidence interval of the median of the ratios\n\n${table}`
}
