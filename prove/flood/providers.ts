import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startChild } from '../../tools/process/children.ts'
import { authorizeUrl, locationOf, PlainBrowser, registerClient, type RegisteredClient } from '../../tools/flow.ts'
import { freePorts } from '../../tools/process/free-ports.ts'
import { leadsTo, pressProvider } from '../../tools/provider-page.ts'
import { openRemoteServer } from '../../tools/remote-server.ts'
import { newSecret, openServerProcess, type ServerOptions } from '../../tools/process/server.ts'
import { openFolder } from '../../tools/process/session.ts'
import { summarizeTimes } from '../../tools/statistics.ts'
import { openFindings, printReport } from '../findings.ts'
import { CLIENT_ID, openSlowProvider, type SlowProvider } from './slow-provider.ts'

/** Strangers come back from a provider with codes that they made up, while other people sign in there. */
export interface ProvidersPlan {
  readonly strangers: Strangers
  readonly seconds: number
  /** Milliseconds until the provider answers a token request. */
  readonly latency: number
  /** Callbacks of each network at a time; of a site, in all. */
  readonly atOnce: number
}

/** Whose browsers make up codes. */
export interface Strangers {
  /** So many IPv4 addresses; or one IPv6 /48, of which each request has a random /64. */
  readonly from: { readonly addresses: number } | 'site'
  /** Whether the server has known their browsers for a day. */
  readonly areKnown: boolean
}

/** What became of the sign-ins of other people, and of the made-up codes. */
interface ProvidersResult {
  readonly signedInMs: readonly number[]
  /** The statuses of the others, and how many had each. */
  readonly refused: ReadonlyMap<number, number>
  readonly madeUp: ReadonlyMap<number, number>
}

interface FloodedServer {
  readonly port: number
  readonly client: RegisteredClient
  readonly provider: SlowProvider
  /** Cookies of browsers that the server has known for a day. */
  readonly cookies: (readonly [name: string, value: string])[]
}

/** The share of other people's sign-ins that may be refused. */
const REFUSED_SHARE = 0.1
/** A new browser every so often, from a network of its own. */
const PERSON_MS = 500
const LIMIT_MS = 30_000
/** States of one browser, fewer than its failures may be. */
const STATES = 40
/** Browsers that are known, more than the strangers use up. */
const KNOWN_BROWSERS = 400
/** Lets a server process live a bit more than a day ago. */
const YESTERDAY =
  'const D = Date, ago = () => D.now() - 87_000_000; globalThis.Date = class extends D { constructor(...v) { super(...(v.length === 0 ? [ago()] : v)) } static now() { return ago() } }'

/** Starts a server and a provider, and prints the result of the flood. */
export async function proveProviders(plan: ProvidersPlan): Promise<void> {
  const findings = openFindings()
  const { signedInMs, refused, madeUp } = await floodProvider(plan)
  const refusals = sum(refused)
  const all = signedInMs.length + refusals
  if (refusals > all * REFUSED_SHARE) findings.report(`${refusals} of ${all} sign-ins of other people were refused.`)
  const { from, areKnown } = plan.strangers
  const { p50Ms, p99Ms, worstMs } = summarizeTimes(signedInMs)
  printReport(
    'sqlite',
    [
      `made-up codes from ${from === 'site' ? 'one /48' : `${from.addresses} networks`}${areKnown ? ' with browsers known for a day' : ''}, ${plan.atOnce} at a time of each, for ${plan.seconds} s; the provider answers after ${plan.latency} ms`,
      `  ${describeCounts(madeUp)}`,
      `sign-ins of other people meanwhile: ${all}, refused: ${refusals} (${((100 * refusals) / Math.max(1, all)).toFixed(1)} %) ${describeCounts(refused)}`,
      `  callbacks: p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms, worst ${worstMs.toFixed(0)} ms`,
    ],
    findings,
  )
}

export async function floodProvider(plan: ProvidersPlan): Promise<ProvidersResult> {
  const folder = openFolder()
  const provider = await openSlowProvider(plan.latency)
  const [port = 0] = await freePorts(1)
  const settings = {
    DATABASE_URL: `sqlite:${join(folder, 'providers.db')}`,
    GRANTOR_SECRET: newSecret(),
    GRANTOR_TRUST_PROXY: '127.0.0.1',
    LOG_LEVEL: 'error',
  }
  const cookies = plan.strangers.areKnown ? await collectCookies({ port, folder, settings }) : []
  const server = openServerProcess({ port, folder, settings })
  await server.start()
  await createProvider(folder, server.settings, provider)
  const client = await registerClient(serverOf(port, () => '192.0.2.1'))
  const flooded = { port, client, provider, cookies }
  const signal = AbortSignal.timeout(plan.seconds * 1000)
  const madeUp = new Map<number, number>()
  const { from } = plan.strangers
  const networks = from === 'site' ? 1 : from.addresses
  const strangers = Array.from({ length: networks * plan.atOnce }, (_, index) => {
    const address = from === 'site' ? inSite : () => `203.0.113.${index % networks}`
    return makeUpCodes(flooded, address, signal, (status) => count(madeUp, status))
  })
  const others = await signIn(flooded, signal)
  await Promise.all(strangers)
  await server.stop()
  await provider.close()
  return { ...others, madeUp }
}

/** Lets browsers come to the server a day ago. Returns the cookies by which it knows them. */
async function collectCookies(options: ServerOptions): Promise<FloodedServer['cookies']> {
  const nodeArgs = [`--import=data:text/javascript,${encodeURIComponent(YESTERDAY)}`]
  const server = openServerProcess({ ...options, nodeArgs })
  await server.start()
  const client = await registerClient(serverOf(options.port, () => '192.0.2.1'))
  const cookies: [string, string][] = []
  for (let index = 0; index < KNOWN_BROWSERS; index += 1) {
    const browser = new PlainBrowser(serverOf(options.port, () => `10.200.${index % 250}.1`))
    await browser.get(locationOf(await browser.get(authorizeUrl(client))))
    cookies.push(...[...browser.cookies].filter(([name]) => name.includes('browser')))
  }
  await server.stop()
  return cookies
}

/** An address of one /48, of another /64 each time. */
function inSite(): string {
  return `2001:db8:1:${Math.floor(Math.random() * 65_536).toString(16)}::1`
}

/** Creates the provider as an operator does. The server takes it up within a second. */
async function createProvider(
  folder: string,
  env: Readonly<Record<string, string>>,
  { issuer }: SlowProvider,
): Promise<void> {
  const file = join(folder, 'secret.txt')
  writeFileSync(file, 'the-secret-of-grantor-at-the-provider')
  const words = ['provider', 'create', 'oidc', '--id', 'idp', '--name', 'Acme', '--issuer', issuer]
  const args = [...words, '--client-id', CLIENT_ID, '--client-secret-file', file, '--sign-up', 'anybody']
  const script = new URL('../../src/cli/main.ts', import.meta.url)
  const [code] = await once(startChild({ script, args, env, logPath: join(folder, 'create.log') }), 'exit')
  if (code !== 0) throw new Error(`grantor provider create ended with ${code}.`)
  await delay(1500)
}

function serverOf(port: number, address: () => string) {
  const agent = new Agent({ keepAlive: false })
  const remote = openRemoteServer({ port, agent, limitMs: LIMIT_MS })
  const inject: typeof remote.inject = (request) =>
    remote.inject({ ...request, headers: { ...request.headers, 'x-forwarded-for': address() } })
  return { inject }
}

async function openPage(
  { port, client }: FloodedServer,
  address: () => string,
  cookie?: FloodedServer['cookies'][number],
) {
  const browser = new PlainBrowser(serverOf(port, address))
  if (cookie !== undefined) browser.cookies.set(...cookie)
  const start = await browser.get(authorizeUrl(client))
  return { browser, page: await browser.get(locationOf(start)) }
}

/** Browsers come back with made-up codes, one after the other, and at least once, however busy this machine is. */
async function makeUpCodes(
  flooded: FloodedServer,
  address: () => string,
  signal: AbortSignal,
  onAnswer: (status: number) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const { browser, page } = await openPage(flooded, address, flooded.cookies.pop())
      let index = 0
      do {
        const callback = new URL(flooded.provider.callbackOf(leadsTo(await pressProvider(browser, page)), 'nobody'))
        callback.searchParams.set('code', `made-up-${index}`)
        onAnswer((await browser.get(callback.href)).statusCode)
        index += 1
      } while (index < STATES && !signal.aborted)
    } catch {
      // The network has used up a rate, or the provider counts as down: no page leads to it.
      onAnswer(0)
      await delay(PERSON_MS)
    }
  }
}

/** A person of another network each time, who has a right code. */
async function signIn(flooded: FloodedServer, signal: AbortSignal): Promise<Omit<ProvidersResult, 'madeUp'>> {
  const signedInMs: number[] = []
  const refused = new Map<number, number>()
  const people: Promise<void>[] = []
  for (let index = 0; !signal.aborted; index += 1) {
    people.push(signInOne(index))
    await delay(PERSON_MS)
  }
  await Promise.all(people)
  return { signedInMs, refused }

  async function signInOne(index: number): Promise<void> {
    const opened = await openPage(flooded, () => `10.${index % 250}.${Math.floor(index / 250)}.1`).catch(
      () => undefined,
    )
    // An overloaded server has no page.
    if (opened === undefined) return count(refused, 0)
    const { browser, page } = opened
    const away = await pressProvider(browser, page)
    if (away.statusCode !== 200) return count(refused, away.statusCode)
    const callback = flooded.provider.callbackOf(leadsTo(away), `person-${index}`)
    const startedAt = performance.now()
    const { statusCode } = await browser.get(callback)
    if (statusCode === 303) signedInMs.push(performance.now() - startedAt)
    else count(refused, statusCode)
  }
}

function count(counts: Map<number, number>, status: number): void {
  counts.set(status, (counts.get(status) ?? 0) + 1)
}

function sum(counts: ReadonlyMap<number, number>): number {
  return [...counts.values()].reduce((total, one) => total + one, 0)
}

function describeCounts(counts: ReadonlyMap<number, number>): string {
  return [...counts].map(([status, times]) => `${times} × ${status}`).join(', ')
}
