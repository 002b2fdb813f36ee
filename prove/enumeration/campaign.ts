import type { Response as LightMyRequestResponse } from 'light-my-request'
import { hashSync } from 'bcryptjs'
import { pbkdf2Sync, randomBytes } from 'node:crypto'
import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { EpochMs } from '../../src/base/brand.ts'
import { mintUserId, type UserId } from '../../src/protocol/ids.ts'
import { noteForeignHashes } from '../../src/doctor/foreign-hashes.ts'
import { readForeignHash } from '../../src/passwords/foreign-hash.ts'
import { createUser } from '../../src/admin/user/user.ts'
import { openAssertingProvider, type AssertingProvider } from '../../tools/asserting-provider.ts'
import {
  authorizeUrl,
  hiddenFields,
  locationOf,
  PlainBrowser,
  registerClient,
  type RegisteredClient,
} from '../../tools/flow.ts'
import { ASSERTION_GRANT_TYPES, identityAssertionForm } from '../../tools/identity-assertion.ts'
import { freePorts } from '../../tools/process/free-ports.ts'
import { openRemoteServer } from '../../tools/remote-server.ts'
import { openStoreOf } from '../../tools/runtime.ts'
import { formBody } from '../../tools/send.ts'
import { addApp } from '../../tools/sign-in/app.ts'
import { openAuthenticator } from '../../tools/sign-in/authenticator.ts'
import { givePasskey, ORIGIN, signedFields } from '../../tools/sign-in/passkeys.ts'
import { openServerProcess } from '../../tools/process/server.ts'
import { openFolder } from '../../tools/process/session.ts'

/**
 * `person`: an account with a password. `secure`: one with a password, and with an app (even numbers) or a passkey. `import`: one whose
 * hash another system made, by bcrypt (even numbers) or PBKDF2, and after as many of them one with a hash of this server. `nobody`: there is no account.
 */
export type AccountKind = 'person' | 'secure' | 'import' | 'nobody'

/**
 * What is sent: an address and a wrong password, an address alone, the answer of a passkey that no user has, for a user, an address
 * whose user forgot the password, the address that a user who is signed in wants to have, or an identity assertion of a provider for a
 * person whom it did not sign in, with the address.
 */
export type Way = 'password' | 'address' | 'passkey' | 'reset' | 'change' | 'assertion'

export interface Attempt {
  readonly way: Way
  readonly kind: AccountKind
  readonly index: number
  /** Each is a separate /64. */
  readonly network: number
}

/** `page`: the answer without what differs in each answer: the address that was typed, the challenge, and the id of the request. */
export interface Answer {
  readonly status: number
  readonly ms: number
  readonly page: string
}

/** A server, and browsers with its sign-in page. */
export interface SignInServer {
  readonly attempt: (attempt: Attempt) => Promise<Answer>
  /** From now on failed sign-ins are delayed as after an import. */
  readonly noteImport: () => Promise<void>
  /** Stops the server properly, so that all rows are written. */
  readonly stop: () => Promise<void>
}

const PASSWORD = 'not the password'
const BCRYPT_COST = 8
const PBKDF2_ROUNDS = 27_500
/** A server knows a new provider after a second. */
const KNOWN_MS = 1500
const URLS: Readonly<Record<Way, string>> = {
  password: '/v2/oauth/sign-in',
  address: '/v2/oauth/sign-in',
  passkey: '/v2/oauth/sign-in/passkey',
  reset: '/v2/oauth/sign-in/forgot',
  change: '/account/email',
  assertion: '/v2/oauth/token',
}
/** A lifetime that is longer than any campaign, so that one page is enough. */
const DAY_SECONDS = '86400'
/** Attempts by passkey of a browser. The server refuses a browser after 50. */
const BROWSER_ATTEMPTS = 48
/** Changes of address of a user who is signed in. The server refuses a sixth one in an hour. */
export const HOLDER_ATTEMPTS = 5
/** Headers that differ in each answer. */
const OWN_HEADERS = new Set(['date', 'x-request-id', 'retry-after'])

/** All names have the same length, so that answers have the same length too. `holder`: a user who changes the own address. */
function accountName(kind: AccountKind | 'holder', index: number): string {
  return `${kind}-${String(index).padStart(4, '0')}@acme.test`
}

/**
 * Starts a server on an empty database. The accounts up to `accounts` have a password; those up to twice that are `secure`, and those up to
 * four times that are `import`. As many others as `holders` change their address.
 */
export async function openSignInServer(databaseUrl: string, accounts: number, holders: number): Promise<SignInServer> {
  const [port = 0] = await freePorts(1)
  const settings = {
    DATABASE_URL: databaseUrl,
    // Passkeys need a host that is a name.
    GRANTOR_ISSUER: ORIGIN,
    GRANTOR_TRUST_PROXY: '127.0.0.1',
    GRANTOR_AUTHORIZATION_LIFETIME: DAY_SECONDS,
    GRANTOR_AUTHORIZATION_RATE: '1000000000',
    LOG_LEVEL: 'error',
    // Nothing listens there.
    GRANTOR_SMTP_URL: 'smtp://127.0.0.1:9',
    GRANTOR_MAIL_FROM: 'no-reply@acme.test',
  }
  const server = openServerProcess({ port, folder: openFolder(), settings })
  const ids = await addAccounts(server.settings, accounts, holders)
  await server.start()
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const remote = openRemoteServer({ port, agent, limitMs: 10_000, host: new URL(ORIGIN).host })
  const client = await registerClient(remote, { grant_types: ASSERTION_GRANT_TYPES })
  const provider = await openAssertingProvider(server.settings, client, {})
  await delay(KNOWN_MS)
  const authenticator = openAuthenticator()
  const formIn = (browser: PlainBrowser, page: LightMyRequestResponse) => ({
    page,
    cookie: browser.cookieHeader,
    hidden: hiddenFields({ body: page.body.replaceAll(/<form[^>]*data-passkey[^]*?<\/form>/g, '') }),
  })
  const openPage = async () => {
    const browser = new PlainBrowser(remote)
    return formIn(browser, await browser.get(locationOf(await browser.get(authorizeUrl(client)))))
  }
  /** The form of an address, of a user who has just signed in. */
  const openHolder = async (index: number) => {
    const browser = new PlainBrowser(remote)
    const page = await browser.get(locationOf(await browser.get(URLS.change)))
    await browser.submit(page, { email: accountName('holder', index), password: PASSWORD.toUpperCase() })
    return formIn(browser, await browser.get(URLS.change))
  }
  const first = await openPage()
  let forPasskeys = first
  let byPasskey = 0
  let holder = first
  let changes = 0

  /** Names of no account get an id that no user has. */
  function idOf(name: string): UserId {
    const id = ids.get(name) ?? mintUserId(Date.now() as EpochMs, randomBytes)
    ids.set(name, id)
    return id
  }

  return {
    async attempt({ way, kind, index, network }) {
      const email = accountName(kind, index)
      if (way === 'passkey' && (byPasskey += 1) % BROWSER_ATTEMPTS === 0) forPasskeys = await openPage()
      if (way === 'change' && (changes += 1) % HOLDER_ATTEMPTS === 1)
        holder = await openHolder(Math.floor(changes / HOLDER_ATTEMPTS))
      const { page, cookie, hidden } = way === 'passkey' ? forPasskeys : way === 'change' ? holder : first
      const fields = (): Record<string, string> => {
        if (way === 'passkey') return signedFields(page, { userId: idOf(email), authenticator })
        if (way === 'assertion') return assertionFields(client, provider, email)
        return { ...hidden, email, ...(way === 'password' ? { password: PASSWORD } : {}) }
      }
      const url = URLS[way]
      const browser = way === 'assertion' ? {} : { cookie, 'sec-fetch-site': 'same-origin' }
      const own = { ...browser, 'x-forwarded-for': addressIn(network) }
      const { headers, body: payload } = formBody(fields(), own)
      const startedAt = performance.now()
      const answer = await remote.inject({ method: 'POST', url, headers, payload })
      const ms = performance.now() - startedAt
      if (way === 'passkey' && answer.statusCode === 401 && !answer.body.includes('passkey-unknown'))
        throw new Error(`The passkey was refused before it was looked up: ${answer.body}`)
      if (way === 'assertion' && !answer.body.includes('subject_refused'))
        throw new Error(`The assertion was refused for another reason: ${answer.body}`)
      return { status: answer.statusCode, ms, page: pageOf(answer, email) }
    },
    async noteImport() {
      const { context, close } = await openStoreOf(server.settings)
      await noteForeignHashes(
        context,
        importedHashes().map((text) => readHash(text).costs),
      )
      await close()
      await delay(KNOWN_MS)
    },
    async stop() {
      agent.destroy()
      provider.close()
      await server.stop()
    },
  }
}

function assertionFields(
  { client_id, client_secret = '' }: RegisteredClient,
  { assertion }: AssertingProvider,
  email: string,
): Record<string, string> {
  const claims = { sub: `at-idp-${email}`, email, name: undefined }
  return { client_id, client_secret, ...identityAssertionForm(assertion({ claims })) }
}

function pageOf({ headers, body }: Pick<LightMyRequestResponse, 'headers' | 'body'>, email: string): string {
  const kept = Object.entries(headers).filter(([name]) => !OWN_HEADERS.has(name))
  const shown = body
    .replaceAll(email, 'EMAIL')
    .replaceAll(String(headers['x-request-id']), 'ID')
    .replaceAll(/(challenge&quot;:&quot;)[^&]*|(Try again in )\d+/g, '$1$2')
  return JSON.stringify([kept, shown])
}

/** The address of a network. Each number is a different /64. */
function addressIn(network: number): string {
  return `2001:db8:${Math.floor(network / 65_536).toString(16)}:${(network % 65_536).toString(16)}::1`
}

/** Of the right password, by bcrypt and PBKDF2, which take less time than a hash of the server, and more. */
function importedHashes(): readonly [bcrypt: string, pbkdf2: string] {
  const salt = randomBytes(16)
  const hash = pbkdf2Sync(PASSWORD.toUpperCase(), salt, PBKDF2_ROUNDS, 32, 'sha256')
  const texts = [salt, hash].map((bytes) => bytes.toString('base64')).join('$')
  return [hashSync(PASSWORD.toUpperCase(), BCRYPT_COST), `$pbkdf2-sha256$i=${PBKDF2_ROUNDS}$${texts}`]
}

function readHash(text: string): Exclude<ReturnType<typeof readForeignHash>, string> {
  const read = readForeignHash(text)
  if (typeof read === 'string') throw new Error(read)
  return read
}

/** Creates the accounts. Returns their ids by name. */
async function addAccounts(
  settings: Readonly<Record<string, string>>,
  count: number,
  holders: number,
): Promise<Map<string, UserId>> {
  const { context, close } = await openStoreOf(settings)
  const ids = new Map<string, UserId>()
  const passwordHash = await context.passwords.hash(PASSWORD.toUpperCase(), undefined)
  for (let index = 0; index < 2 * count; index += 1) {
    const kind = index < count ? 'person' : 'secure'
    const email = accountName(kind, index)
    const { id } = await createUser(context, { email, isVerified: true, password: undefined, name: undefined })
    // The passkey is first, because it ends the password, and the app is last, because a new password ends what began before it.
    if (kind === 'secure' && index % 2 === 1) await givePasskey({ context }, id)
    await context.store.setPassword({ id, passwordHash, now: context.clock(), mails: [] })
    if (kind === 'secure' && index % 2 === 0) {
      await delay(2)
      await addApp({ context }, email)
    }
    ids.set(email, id)
  }
  const imported = importedHashes()
  for (let index = 2 * count; index < 4 * count; index += 1) {
    const email = accountName('import', index)
    const foreign = readHash(imported[index % 2 === 0 ? 0 : 1]).stored
    const { id } = await createUser(context, { email, isVerified: true, password: undefined, name: undefined })
    await context.store.setPassword({
      id,
      passwordHash: index < 3 * count ? foreign : passwordHash,
      now: context.clock(),
      mails: [],
    })
  }
  for (let index = 0; index < holders; index += 1) {
    const email = accountName('holder', index)
    const { id } = await createUser(context, { email, isVerified: true, password: undefined, name: undefined })
    await context.store.setPassword({ id, passwordHash, now: context.clock(), mails: [] })
  }
  await close()
  return ids
}

/** The times of two kinds of accounts. Their order is random within each pair. */
export type Times = readonly [first: readonly number[], second: readonly number[]]

export interface Comparison {
  readonly way: Way
  readonly kinds: readonly [AccountKind, AccountKind]
  readonly status: number
  readonly pairs: number
  /** Warm-up attempts that are not counted. */
  readonly warmUp: number
  /** The shortest time between attempts in milliseconds, so that the rate limit of the server refuses none. */
  readonly everyMs: number
  /** The account and the network of a pair. Both kinds are tried from the same number of networks. */
  readonly chooseAccount: (pair: number) => number
  readonly chooseNetwork: (attempt: number) => number
}

/** Answers with another status, which occur when a window of counts ends, are left out. More of them than this are an error. */
const OTHER_LIMIT = 200

/** Tries an account of each kind in turn, in a random order within each pair. */
export async function compare({ attempt }: SignInServer, comparison: Comparison): Promise<Times> {
  const { way, kinds, status, pairs, warmUp, everyMs, chooseAccount, chooseNetwork } = comparison
  const times: readonly [number[], number[]] = [[], []]
  let attempts = 0
  let others = 0
  for (let pair = -warmUp; times[0].length < pairs || times[1].length < pairs; pair += 1) {
    for (const one of randomBytes(1).readUInt8() < 128 ? ([0, 1] as const) : ([1, 0] as const)) {
      const next = everyMs === 0 ? undefined : delay(everyMs)
      const network = chooseNetwork((attempts += 1))
      const answer = await attempt({ way, kind: kinds[one], index: chooseAccount(pair + warmUp), network })
      await next
      if (answer.status !== status && (others += 1) > OTHER_LIMIT)
        throw new Error(`Attempts were answered ${answer.status} instead of ${status}.`)
      if (answer.status === status && pair >= 0) times[one].push(answer.ms)
    }
  }
  return times
}
