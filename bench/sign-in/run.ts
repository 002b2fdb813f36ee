import { Agent } from 'node:http'
import { createDelegateCredentials } from '../../src/admin/delegate.ts'
import { createProvider } from '../../src/admin/provider/provider.ts'
import { createUser } from '../../src/admin/user/user.ts'
import type { ProviderId } from '../../src/protocol/sign-in/authentication.ts'
import { stopChildren } from '../../tools/process/children.ts'
import {
  authorizeUrl,
  EMAIL,
  locationOf,
  PASSWORD,
  PlainBrowser,
  registerClient,
  type RegisteredClient,
} from '../../tools/flow.ts'
import { freePorts } from '../../tools/process/free-ports.ts'
import { readMachine, today } from '../../tools/machine.ts'
import { flag, readOptions, SAVE, whole } from '../../tools/options.ts'
import type { ServerProcess } from '../../tools/process/server.ts'
import { readTreeUsage } from '../../tools/process/usage.ts'
import { ORIGIN } from '../../tools/sign-in/passkeys.ts'
import { openRemoteServer, type RemoteServer } from '../../tools/remote-server.ts'
import { openStoreOf } from '../../tools/runtime.ts'
import { beginSession, openFolder } from '../../tools/process/session.ts'
import { summarizeTimes } from '../../tools/statistics.ts'
import { saveResult } from '../results.ts'
import { startServer } from '../server.ts'
import {
  signInAt,
  signInAtApplication,
  signInByPasskey,
  signInByPassword,
  signInByPasswordAndCode,
  type SignIn,
} from './methods.ts'
import { CLIENT, startProvider } from './provider.ts'
import { renderSignIns, type MeasuredSignIn, type SignInResult } from './report.ts'

/**
 * Whole sign-ins by each method, from the authorization request to the session. Each is in a new browser, of a
 * network of its own. The processor time is that of the server, and the rate that of all processes on this machine.
 */

const LIMIT_MS = 15 * 60_000
const PROVIDER = 'bench' as ProviderId
/** One address may send more than a person would. */
const SETTINGS = {
  GRANTOR_AUTHORIZATION_RATE: '1000000000',
  GRANTOR_TRUST_PROXY: '127.0.0.1',
  // Passkeys need a host that is a name.
  GRANTOR_ISSUER: ORIGIN,
}

const { count, browsers, json, save } = readOptions({
  // Beyond 1,500 attempts a minute the server may refuse those of the network that makes most of them. A code is an attempt too.
  count: whole('sign-ins by each method', 300, [1, 350]),
  browsers: whole('browsers at the same time', 4, [1, 8]),
  json: flag('print the result as JSON'),
  save: SAVE,
})
beginSession(LIMIT_MS)
const folder = openFolder()
const agent = new Agent({ keepAlive: true })
const rows = [...(await measureOwnMethods()), await measureApplication()]
const result: SignInResult = { kind: 'sign-in', date: today(), machine: readMachine(), count, browsers, rows }
console.log(json ? JSON.stringify(rows) : renderSignIns(result))
saveResult(result, save)
await stopChildren()
agent.destroy()

async function measureOwnMethods(): Promise<readonly MeasuredSignIn[]> {
  const provider = await startProvider()
  const server = await startServer({ folder, databaseUrl: `sqlite:${folder}/own.db`, settings: SETTINGS })
  const { context, close } = await openStoreOf(server.settings)
  await createUser(context, { email: EMAIL, password: PASSWORD, name: 'Ada' })
  const input = { id: PROVIDER, template: 'oidc', name: 'Bench', ...CLIENT } as const
  await createProvider(context, { ...input, settings: { issuer: provider.issuer, signUp: 'anybody' } })
  const byPasskey = await signInByPasskey(context)
  const byCode = await signInByPasswordAndCode(context, 2 * count)
  await close()
  const measured = [
    await measure(server, 'password', signInByPassword),
    await measure(server, 'password and code', byCode),
    await measure(server, 'passkey', byPasskey),
    await measure(server, 'provider', signInAt(provider, PROVIDER)),
  ]
  await server.stop()
  provider.close()
  return measured
}

async function measureApplication(): Promise<MeasuredSignIn> {
  const [adminPort = 0] = await freePorts(1)
  const settings = {
    ...SETTINGS,
    GRANTOR_ADMIN_PORT: String(adminPort),
    GRANTOR_DELEGATE_URL: 'http://localhost:1/consent',
  }
  const server = await startServer({ folder, databaseUrl: `sqlite:${folder}/delegated.db`, settings })
  const { context, close } = await openStoreOf(server.settings)
  const { token } = await createDelegateCredentials(context, 1)
  await close()
  const measured = await measure(server, 'delegated', signInAtApplication({ port: adminPort, token, agent }))
  await server.stop()
  return measured
}

/** Measures the second half: the first one creates the accounts, and warms the server up, which has counted no attempts before. */
async function measure(started: ServerProcess, method: string, signIn: SignIn): Promise<MeasuredSignIn> {
  await started.stop()
  await started.start()
  const { port, pid } = started
  const server = openRemoteServer({ port, agent, limitMs: 60_000, host: new URL(ORIGIN).host })
  const client = await registerClient(server)
  await signInAll(server, client, signIn)
  const before = readTreeUsage(pid)
  const startedAt = performance.now()
  const tookMs = await signInAll(server, client, signIn)
  const seconds = (performance.now() - startedAt) / 1000
  const used = readTreeUsage(pid)
  const { p50Ms, p99Ms } = summarizeTimes(tookMs)
  const cpuMs = before === undefined || used === undefined ? undefined : (used.cpuMs - before.cpuMs) / count
  return { method, perSecond: count / seconds, p50Ms, p99Ms, cpuMs }
}

async function signInAll(server: RemoteServer, client: RegisteredClient, signIn: SignIn): Promise<readonly number[]> {
  const tookMs: number[] = []
  let next = 0
  async function work(): Promise<void> {
    while (next < count) {
      const number = next++
      const startedAt = performance.now()
      await signInOnce(server, client, signIn, number)
      tookMs.push(performance.now() - startedAt)
    }
  }
  await Promise.all(Array.from({ length: browsers }, work))
  return tookMs
}

async function signInOnce(server: RemoteServer, client: RegisteredClient, signIn: SignIn, number: number) {
  const forwarded = { 'x-forwarded-for': `203.0.${Math.floor(number / 250)}.${(number % 250) + 1}` }
  const browser = new PlainBrowser({
    inject: (sent) => server.inject({ ...sent, headers: { ...sent.headers, ...forwarded } }),
  })
  const start = await browser.get(authorizeUrl(client))
  const page = await browser.get(locationOf(start))
  // The sign-in page leads to the application by itself.
  const last = await signIn(browser, page.statusCode === 303 ? await browser.get(locationOf(page)) : page, number)
  const isSignedIn = last.cookies.some(({ name }) => name.includes('session'))
  if (!isSignedIn) throw new Error(`A sign-in started no session (${last.statusCode}): ${last.body}`)
}
