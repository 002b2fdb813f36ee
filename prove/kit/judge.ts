import { lookup } from 'node:dns/promises'
import { BlockList } from 'node:net'
import { openBrowser, type Account } from './browser.ts'
import type { Case, Target, Verdict } from './case.ts'
import { ALL_CASES } from './cases/all.ts'
import type { Driver } from './drivers.ts'
import { openHttp } from './http.ts'
import { NotApplicable, openIssuer, readMetadata } from './issuer.ts'

/** What is judged, and with what. */
export interface Judged {
  readonly issuer: URL
  /** A second address of the same issuer. */
  readonly second: URL | undefined
  readonly driver: Driver
  /** A person for the run: undefined, what needs one is skipped. */
  readonly account: Account | undefined
  /** Kills the issuer and starts it again. undefined: what needs it is skipped. */
  readonly restart: (() => Promise<void>) | undefined
  /** Rounds of each race. */
  readonly rounds: number
  /** The ids of the cases; none: all. */
  readonly only: readonly string[]
  readonly seed: string
  /** The person who runs this has said that the issuer is theirs. */
  readonly isOwn: boolean
  /** Called when the run is interrupted: the clients are then removed at once. */
  readonly onInterrupt: (remove: () => Promise<number>) => void
}

export type ResultKind = 'passed' | 'failed' | 'warning' | 'skipped' | 'unclear'

/** What a case found. `seen`: why it did not pass. */
export interface Result {
  readonly id: string
  readonly title: string
  readonly level: Case['level']
  readonly source: string
  readonly result: ResultKind
  readonly seen: string
}

export interface Judgement {
  readonly issuer: string
  readonly seed: string
  readonly results: readonly Result[]
  /** Clients of the run that could not be removed. */
  readonly clientsLeft: number
}

/** What the kit does not do to an issuer, in one sentence. */
export class Refused extends Error {}

/** Loopback (RFC 1122, RFC 4291) and private addresses (RFC 1918, RFC 4193). */
const NEAR = new BlockList()
NEAR.addSubnet('127.0.0.0', 8)
NEAR.addSubnet('10.0.0.0', 8)
NEAR.addSubnet('172.16.0.0', 12)
NEAR.addSubnet('192.168.0.0', 16)
NEAR.addAddress('::1', 'ipv6')
NEAR.addSubnet('fc00::', 7, 'ipv6')
/** An issuer elsewhere gets at most 20 requests a second, apart from those at once. */
const GAP_MS = 50
const READY_LIMIT_MS = 60_000
const READY_GAP_MS = 50

/** Judges an issuer. @throws Refused; Error where it cannot be judged at all */
export async function judge(judged: Judged): Promise<Judgement> {
  const { issuer: url, second, driver, account, restart, only, seed } = judged
  const isNear = (await Promise.all([url, ...(second === undefined ? [] : [second])].map(isNearby))).every(Boolean)
  if (!isNear && !judged.isOwn)
    throw new Refused('The address is public. Judge an issuer of your own alone, and say so: --i-own-this.')
  const http = openHttp({ second, gapMs: isNear ? 0 : GAP_MS })
  try {
    const metadata = await readMetadata(http, url)
    const browser = openBrowser(http, url.origin, driver.fill, account)
    const issuer = openIssuer({ metadata, http, browser, hasAccount: account !== undefined, seed })
    judged.onInterrupt(issuer.removeClients)
    const target: Target = {
      issuer,
      rounds: judged.rounds,
      hasSecondAddress: second !== undefined,
      hasElsewhere: hasElsewhere(url),
      knowsCopiesByNetwork: driver.knowsCopiesByNetwork,
    }
    const chosen = ALL_CASES.filter(({ id }) => only.length === 0 || only.includes(id))
    const again = restart === undefined ? undefined : () => restart().then(() => untilReady(target))
    const results = await runAll(chosen, target, again)
    return { issuer: url.href, seed, results, clientsLeft: await issuer.removeClients() }
  } finally {
    http.close()
  }
}

async function runAll(
  cases: readonly Case[],
  target: Target,
  restart: (() => Promise<void>) | undefined,
): Promise<readonly Result[]> {
  const results: Result[] = []
  const prepared: { readonly one: Case; readonly look: () => Promise<Verdict> }[] = []
  for (const one of cases) {
    if (one.kind === 'running') results.push(await resultOf(one, () => one.run(target)))
    else if (restart === undefined)
      results.push({ ...claimOf(one), result: 'skipped', seen: 'Not run: it kills the issuer and needs --restart.' })
    else
      try {
        prepared.push({ one, look: await one.prepare(target) })
      } catch (cause) {
        results.push(withoutVerdict(one, cause))
      }
  }
  const restarted = prepared.length === 0 ? undefined : restart?.()
  for (const { one, look } of prepared) results.push(await resultOf(one, () => Promise.resolve(restarted).then(look)))
  return results.toSorted((a, b) => orderOf(a) - orderOf(b))
}

function orderOf({ id }: Result): number {
  return ALL_CASES.findIndex((one) => one.id === id)
}

async function resultOf(one: Case, run: () => Promise<Verdict>): Promise<Result> {
  try {
    const verdict = await run()
    if (verdict.kind === 'held') return { ...claimOf(one), result: 'passed', seen: '' }
    return { ...claimOf(one), result: one.level === 'must' ? 'failed' : 'warning', seen: verdict.seen }
  } catch (cause) {
    return withoutVerdict(one, cause)
  }
}

function withoutVerdict(one: Case, cause: unknown): Result {
  const { message } = cause as Error
  return { ...claimOf(one), result: cause instanceof NotApplicable ? 'skipped' : 'unclear', seen: message }
}

function claimOf({ id, title, level, source }: Case): Pick<Result, 'id' | 'title' | 'level' | 'source'> {
  return { id, title, level, source }
}

/** Whether all addresses of a host are of this machine or a private network. */
async function isNearby({ hostname }: URL): Promise<boolean> {
  const addresses = await lookup(hostname.replaceAll(/[[\]]/g, ''), { all: true })
  return addresses.every(({ address, family }) => NEAR.check(address, family === 6 ? 'ipv6' : 'ipv4'))
}

/** Linux sends from each address of 127.0.0.0/8. */
function hasElsewhere({ protocol, hostname }: URL): boolean {
  return process.platform === 'linux' && protocol === 'http:' && ['localhost', '127.0.0.1'].includes(hostname)
}

async function untilReady({ issuer: { http, metadata } }: Target): Promise<void> {
  const until = performance.now() + READY_LIMIT_MS
  for (;;) {
    const isReady = await readMetadata(http, metadata.issuer).then(
      () => true,
      () => false,
    )
    if (isReady) return
    if (performance.now() > until) throw new Error('After --restart the issuer did not answer within 60 s.')
    await new Promise((resolve) => void setTimeout(resolve, READY_GAP_MS))
  }
}
