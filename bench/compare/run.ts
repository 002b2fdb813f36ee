import { existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chooseCores, stopChildren } from '../../tools/process/children.ts'
import { startDatabase } from '../../tools/postgres/database.ts'
import { flag, names, number, readOptions, STORE, string, whole } from '../../tools/options.ts'
import { beginSession, openFolder } from '../../tools/process/session.ts'
import { median, medianInterval } from '../../tools/statistics.ts'
import { fixed, renderTable } from '../../tools/table.ts'
import type * as Codes from '../codes.ts'
import type * as Endpoints from '../endpoints.ts'
import { startGenerator } from '../load/generator.ts'
import { cpuMicros, openLoad, type Load } from '../load/turn.ts'
import { startServer } from '../server.ts'

/**
 * The processor time of a request in this checkout and in another one. Both servers run and get the same load in
 * turn, so that other load on the machine affects both. A pair is a slice of the other checkout and a slice of this
 * one. Their order alternates from pair to pair.
 *
 * Both servers start several times, because what V8 optimizes differs between two processes of one checkout.
 */

/**
 * What V8 decides by chance, or because a server waits while the other one is measured, gave a comparison of a commit with itself up to
 * 1.5 (docs/contributing/README.md). With these options it depends on the requests alone.
 */
const STEADY = [
  // Objects of requests stay young. The servers of this checkout choose that themselves, older ones do not.
  '--no-allocation-site-pretenuring',
  // After some seconds of waiting V8 shrinks the space for young objects from 32 MB to 1 MB, in one server before the other.
  '--no-memory-reducer',
  // Compilation and garbage collection do not depend on when the core runs their threads.
  '--single-threaded',
]

const HOT_PATH = ['register', 'client_credentials', 'code', 'refresh', 'introspect'] as const
/** Of all threads, and of the one that serves requests. */
const COSTS = ['cpuMs', 'mainMs'] as const
const HERE = new URL('../../', import.meta.url)

interface Comparison {
  readonly endpoint: string
  readonly before: Costs
  readonly after: Costs
}

/** Microseconds of processor time for a request, one value for each pair. */
type Costs = Readonly<Record<(typeof COSTS)[number], number[]>>

const options = readOptions(
  {
    with: string('folder', 'another checkout of Grantor, in which npm install was run (required)'),
    starts: whole('how often both servers start', 3, [1, 100]),
    pairs: whole('pairs of slices for each endpoint after each start', 5, [1, 100]),
    seconds: number('length of a slice', 0.5, [0.05, 60]),
    'warm-up': whole('requests that each endpoint answers before its pairs', 10_000, [0, 1_000_000]),
    connections: whole('connections at once', 64, [1, 1024]),
    only: names('endpoints to compare', HOT_PATH, 'all'),
    store: { ...STORE, help: 'the database of both servers: sqlite or postgres' },
    'all-cores': flag('let the servers use all cores, as where a thread of its own signs'),
  },
  ({ with: folder }) =>
    folder !== undefined && existsSync(join(folder, 'src/cli/main.ts'))
      ? undefined
      : '--with takes the folder of another checkout of Grantor.',
)
const { starts, pairs, seconds, connections, 'warm-up': warmUp, 'all-cores': hasAllCores } = options
const other = pathToFileURL(`${resolve(options.with ?? '')}/`)
beginSession(starts * (120_000 + options.only.length * (pairs * (seconds + 2) * 4000 + warmUp * 40)))
const folder = openFolder()
const cores = chooseCores()
const database = options.store === 'postgres' ? await startDatabase(undefined) : undefined
console.log(render(await compareAll()))
await stopChildren()
await database?.close()

async function compareAll(): Promise<readonly Comparison[]> {
  const generator = await startGenerator(cores?.generator)
  const noCosts = (): Costs => ({ cpuMs: [], mainMs: [] })
  const comparisons = options.only.map((endpoint) => ({ endpoint, before: noCosts(), after: noCosts() }))
  for (let start = 0; start < starts; start += 1) {
    const before = await openSide(`before-${start}`, other)
    const after = await openSide(`after-${start}`, HERE)
    for (const comparison of comparisons) {
      console.error(`${comparison.endpoint} …`)
      const loadOf = ({ server: { pid, port }, endpoints }: Side): Load => {
        const endpoint = endpoints.find(({ name }) => name === comparison.endpoint)
        if (endpoint === undefined) throw new Error(`There is no endpoint ${comparison.endpoint}.`)
        return openLoad(generator, { pid, port, database: undefined }, endpoint, options)
      }
      await addPairs(comparison, { before: loadOf(before), after: loadOf(after) })
    }
    for (const { mint, server } of [before, after]) {
      await mint.close()
      await server.stop()
    }
  }
  return comparisons
}

/** Warms both servers up, and adds the pairs of one endpoint after one start. */
async function addPairs(costs: Readonly<Record<Name, Costs>>, loads: Readonly<Record<Name, Load>>): Promise<void> {
  for (const { next } of Object.values(loads))
    for (let answered = 0; answered < warmUp;) answered += (await next()).total
  for (let pair = 0; pair < pairs; pair += 1) {
    const order = pair % 2 === 0 ? (['before', 'after'] as const) : (['after', 'before'] as const)
    for (const name of order) {
      const turn = await loads[name].next()
      for (const of of COSTS) costs[name][of].push(cpuMicros([turn], of))
    }
  }
}

type Name = 'before' | 'after'
type Side = Awaited<ReturnType<typeof openSide>>

/** Starts the server of a checkout, and prepares its load with the checkout's own bench/codes.ts and bench/endpoints.ts. */
async function openSide(name: string, checkout: URL) {
  const place = join(folder, name)
  mkdirSync(place)
  const databaseUrl = (await database?.open())?.url
  const core = hasAllCores ? undefined : cores?.servers
  const server = await startServer({ folder: place, core, databaseUrl, checkout, nodeArgs: STEADY })
  // Each checkout opens its own database, because their schemas may differ. Codes belong to the verifier of their checkout.
  const bench = new URL('bench/', checkout).href
  const { openCodeMint } = (await import(`${bench}codes.ts`)) as typeof Codes
  const { openEndpoints } = (await import(`${bench}endpoints.ts`)) as typeof Endpoints
  const mint = await openCodeMint(server.settings)
  return { server, mint, endpoints: await openEndpoints(server.port, mint) }
}

function render(comparisons: readonly Comparison[]): string {
  const rows = comparisons.flatMap(({ endpoint, before, after }) =>
    COSTS.map((of) => ({ endpoint, of, before: before[of], after: after[of] })),
  )
  const ratiosOf = ({ before, after }: (typeof rows)[number]): readonly number[] =>
    after.map((value, pair) => value / (before[pair] ?? Number.NaN))
  const table = renderTable(rows, [
    ['endpoint', ({ endpoint }) => endpoint],
    ['threads', ({ of }) => (of === 'cpuMs' ? 'all' : 'main')],
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
  return `${starts} starts, ${pairs} pairs of slices of ${seconds} s after each, ${connections} connections, ${options.store}, ${hasAllCores ? 'all cores' : 'one core'}; medians, and the 95 % confidence interval of the median of the ratios\n\n${table}`
}
