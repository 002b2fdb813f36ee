import { randomBytes } from 'node:crypto'
import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { createUser } from '../../src/admin/user/user.ts'
import { authorizeUrl, hiddenFields, locationOf, PlainBrowser, registerClient } from '../../tools/flow.ts'
import { freePorts } from '../../tools/process/free-ports.ts'
import { openRemoteServer } from '../../tools/remote-server.ts'
import { openStoreOf } from '../../tools/runtime.ts'
import { formBody } from '../../tools/send.ts'
import { openServerProcess } from '../../tools/process/server.ts'
import { openFolder } from '../../tools/process/session.ts'

/** A server, and a browser with its sign-in page. */
export interface SignInServer {
  /** Tries a wrong password, and returns the status and the milliseconds. Each `network` is a separate /64. */
  readonly attempt: (email: string, network: number) => Promise<{ readonly status: number; readonly ms: number }>
  /** Stops the server properly, so that all rows are written. */
  readonly stop: () => Promise<void>
}

const PASSWORD = 'not the password'
/** A lifetime that is longer than any campaign, so that one page is enough. */
const DAY_SECONDS = '86400'

export function accountName(isKnown: boolean, index: number): string {
  // Both kinds of names have the same length, so that answers have the same length too.
  return `${isKnown ? 'person' : 'nobody'}-${String(index).padStart(4, '0')}@acme.test`
}

/** Starts a server on an empty database, and creates accounts for the first `accounts` known names. */
export async function openSignInServer(databaseUrl: string, accounts: number): Promise<SignInServer> {
  const [port = 0] = await freePorts(1)
  const settings = {
    DATABASE_URL: databaseUrl,
    GRANTOR_TRUST_PROXY: '127.0.0.1',
    GRANTOR_AUTHORIZATION_LIFETIME: DAY_SECONDS,
    LOG_LEVEL: 'error',
  }
  const server = openServerProcess({ port, folder: openFolder(), settings })
  await addAccounts(server.settings, accounts)
  await server.start()
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const remote = openRemoteServer({ port, agent, limitMs: 10_000 })
  const browser = new PlainBrowser(remote)
  const client = await registerClient(remote)
  const page = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const hidden = hiddenFields(page)

  return {
    async attempt(email, network) {
      const own = { cookie, 'sec-fetch-site': 'same-origin', 'x-forwarded-for': addressIn(network) }
      const { headers, body: payload } = formBody({ ...hidden, email, password: PASSWORD }, own)
      const startedAt = performance.now()
      const { statusCode } = await remote.inject({ method: 'POST', url: '/v2/oauth/sign-in', headers, payload })
      return { status: statusCode, ms: performance.now() - startedAt }
    },
    async stop() {
      agent.destroy()
      await server.stop()
    },
  }
}

/** The address of a network. Each number is a different /64. */
function addressIn(network: number): string {
  return `2001:db8:${Math.floor(network / 65_536).toString(16)}:${(network % 65_536).toString(16)}::1`
}

/** Creates the accounts, several at a time. */
async function addAccounts(settings: Readonly<Record<string, string>>, count: number): Promise<void> {
  const { context, close } = await openStoreOf(settings)
  for (let index = 0; index < count; index += 1)
    await createUser(context, { email: accountName(true, index), password: PASSWORD.toUpperCase(), name: undefined })
  await close()
}

/** The times of known and unknown accounts. Their order is random within each pair. */
export interface Times {
  readonly known: readonly number[]
  readonly unknown: readonly number[]
}

export interface Comparison {
  readonly status: number
  readonly pairs: number
  /** Warm-up attempts that are not counted. */
  readonly warmUp: number
  /** The shortest time between attempts in milliseconds, so that the rate limit of the server refuses none. */
  readonly everyMs: number
  /** The account and the network of a pair. Known and unknown accounts are tried from the same number of networks. */
  readonly chooseAccount: (pair: number) => number
  readonly chooseNetwork: (attempt: number) => number
}

/** Answers with another status, which occur when a window of counts ends, are left out. More of them than this are an error. */
const OTHER_LIMIT = 200

/** Tries a known and an unknown account in turn, in a random order within each pair. */
export async function compare({ attempt }: SignInServer, comparison: Comparison): Promise<Times> {
  const { status, pairs, warmUp, everyMs, chooseAccount, chooseNetwork } = comparison
  const times = { known: [] as number[], unknown: [] as number[] }
  let attempts = 0
  let others = 0
  for (let pair = -warmUp; times.known.length < pairs || times.unknown.length < pairs; pair += 1) {
    const isKnownFirst = randomBytes(1).readUInt8() < 128
    for (const isKnown of [isKnownFirst, !isKnownFirst]) {
      const email = accountName(isKnown, chooseAccount(pair + warmUp))
      const next = everyMs === 0 ? undefined : delay(everyMs)
      const answer = await attempt(email, chooseNetwork((attempts += 1)))
      await next
      if (answer.status !== status && (others += 1) > OTHER_LIMIT)
        throw new Error(`Attempts were answered ${answer.status} instead of ${status}.`)
      if (answer.status === status && pair >= 0) times[isKnown ? 'known' : 'unknown'].push(answer.ms)
    }
  }
  return times
}
