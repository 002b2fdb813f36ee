import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import inject, { type InjectOptions } from 'light-my-request'
import type * as Administrators from '../../src/admin/administrators.ts'
import type * as RunTask from '../../src/admin/run-task.ts'
import type * as Tasks from '../../src/admin/tasks.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import type * as Configuration from '../../src/config/config.ts'
import type * as Outbound from '../../src/outbound/outbound-client.ts'
import type * as Logs from '../../src/server/log.ts'
import type * as Servers from '../../src/server/server.ts'
import {
  authorizeUrl,
  EMAIL,
  PASSWORD,
  PlainBrowser,
  postForm,
  redeem,
  REDIRECT_URI,
  refresh,
  registerClient,
  requestToken,
  type RegisteredClient,
  type RequestTarget,
  type Tokens,
} from '../../tools/flow.ts'
import { serveCalls } from '../../tools/process/worker.ts'
import type { Answer } from './compare.ts'

/** A process with the server of one checkout. The requests are those of this checkout, whichever the server is. */

interface Recording {
  readonly checkout: string
  readonly requests: number
  /** For the database. */
  readonly folder: string
}

/** The server of a checkout that records its answers, and its tasks. */
interface Recorded extends RequestTarget {
  readonly answers: readonly Answer[]
  readonly perform: (
    name: string,
    input: Readonly<Record<string, unknown>>,
  ) => Promise<Readonly<Record<string, string>>>
  readonly close: () => Promise<void>
}

/** What the server is filled with. */
interface Filled {
  readonly userId: string
  /** Of the API `JWT_API`, which introspects. */
  readonly api: Readonly<Record<string, string>>
  readonly board: RegisteredClient
}

const START = Date.UTC(2026, 11, 1, 12)
/** Between two requests. */
const STEP_MS = 7
/** Until filled data is used. */
const PAUSE_MS = 2000
const JWT_API = 'https://jwt.example'
const OPAQUE_API = 'https://opaque.example'
const ORGANIZATION = 'acme'
/** Also scopes that need a request or an approved client, so that some are refused. */
const SCOPES = [
  'openid email jwt:read jwt:status',
  'jwt:read jwt:later',
  'jwt:export jwt:read',
  'openid offline_access',
  'jwt:export',
]
/** The most pages and redirects of one authorization: a start, a sign-in and a consent, each with a redirect, are five. */
const MOST_STEPS = 8

export const RECORDER = { record }
serveCalls(RECORDER)

async function record(recording: Recording): Promise<readonly Answer[]> {
  const server = await openRecorded(recording)
  const filled = await fill(server)
  for (const name of ['oauth-authorization-server', 'openid-configuration'])
    await server.inject({ url: `/.well-known/${name}` })
  for (let round = 0; server.answers.length < recording.requests; round += 1) await runRound(server, filled, round)
  await server.close()
  return server.answers
}

async function openRecorded({ checkout, folder }: Recording): Promise<Recorded> {
  const load = async <Module>(path: string): Promise<Module> =>
    (await import(pathToFileURL(join(checkout, 'src', path)).href)) as Module
  const { openServer } = await load<typeof Servers>('server/server.ts')
  const { readConfig } = await load<typeof Configuration>('config/config.ts')
  const { openLog } = await load<typeof Logs>('server/log.ts')
  const { SYSTEM_NETWORK } = await load<typeof Outbound>('outbound/outbound-client.ts')
  const { runTask } = await load<typeof RunTask>('admin/run-task.ts')
  const { requireTask } = await load<typeof Tasks>('admin/tasks.ts')
  const { asAdministrator, COMMAND_LINE } = await load<typeof Administrators>('admin/administrators.ts')
  const config = readConfig({
    PORT: '3000',
    GRANTOR_ADMIN_PORT: '3001',
    DATABASE_URL: `sqlite:${join(folder, 'grantor.db')}`,
    LOG_LEVEL: 'silent',
    GRANTOR_REGISTRATION_RATE: '1000000',
    GRANTOR_AUTHORIZATION_RATE: '1000000',
  })
  const answers: Answer[] = []
  // Each task and each request is at a time of its own, which is the same in each run.
  let now = START
  const clock = (): EpochMs => now as EpochMs
  const server = await openServer(config, {
    clock,
    monotonic: clock,
    databaseClock: async (ping) => ((await ping()) === undefined ? undefined : clock()),
    random: openRandom(),
    logger: openLog(config.logLevel, { write: () => undefined, flush: async () => undefined }, {}),
    network: SYSTEM_NETWORK,
    pageGapMs: 0,
  })
  return {
    answers,
    close: server.close,
    async perform(name, input) {
      now += PAUSE_MS
      const administrator = asAdministrator(server.context, COMMAND_LINE)
      return (await runTask(administrator, requireTask(name), input, () => undefined)) as Record<string, string>
    },
    async inject(options) {
      now += STEP_MS
      const sent: InjectOptions = { ...options, headers: { host: new URL(config.issuer).host, ...options.headers } }
      const answer = await inject((message, response) => server.http.emit('request', message, response), sent)
      const { date: _, ...headers } = answer.headers
      answers.push({
        method: options.method ?? 'GET',
        url: typeof options.url === 'string' ? options.url : '',
        payload: typeof options.payload === 'string' ? options.payload : '',
        status: answer.statusCode,
        headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
        body: answer.body,
      })
      return answer
    },
  }
}

/** Bytes that look random and are the same in each run. */
function openRandom(): (bytes: number) => Buffer {
  let count = 0
  return (bytes) => {
    const parts: Buffer[] = []
    for (let made = 0; made < bytes; made += 32) {
      parts.push(createHash('sha256').update(String(count)).digest())
      count += 1
    }
    return Buffer.concat(parts).subarray(0, bytes)
  }
}

async function fill({ perform }: Recorded): Promise<Filled> {
  const scopesOf = (api: string): readonly object[] =>
    [
      ['read', 'users'],
      ['status', 'users-and-machines'],
      ['later', 'users-on-request'],
      ['export', 'approved-clients'],
    ].map(([name, granted_to]) => ({ name: `${api}:${name}`, sentence: `See ${name}`, granted_to }))
  const { user_id: userId = '' } = await perform('user.create', { email: EMAIL, name: 'Ada' })
  await perform('user.set-password', { user_id: userId, password: PASSWORD })
  await perform('api.create', { resource: JWT_API, scopes: scopesOf('jwt') })
  await perform('api.create', { resource: OPAQUE_API, scopes: scopesOf('opaque'), tokens: { format: 'opaque' } })
  const { id = '', secret = '' } = await perform('api.create-credentials', { resource: JWT_API })
  await perform('organization.create', { organization_id: ORGANIZATION, name: 'Acme' })
  await perform('member.add', { organization_id: ORGANIZATION, user_id: userId })
  const board = await perform('client.create', {
    client_id: 'board',
    client_name: 'Board',
    redirect_uris: [REDIRECT_URI],
    grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
  })
  await perform('installation.install', {
    organization_id: ORGANIZATION,
    client_id: 'board',
    scope: 'jwt:status',
    acts_for_members: true,
  })
  return { userId, api: { client_id: id, client_secret: secret }, board: { ...board, client_id: 'board' } }
}

/** A user authorizes a client, which uses its tokens and revokes them; then a machine asks for tokens. Rounds differ by their numbers. */
async function runRound(server: Recorded, { userId, api, board }: Filled, round: number): Promise<void> {
  const client = round % 3 === 2 ? board : await registerClient(server, { client_name: `App ${round}` })
  const credentials = { client_id: client.client_id, client_secret: client.client_secret ?? '' }
  const browser = new PlainBrowser(server)
  const scope = SCOPES[round % SCOPES.length] ?? ''
  const code = await authorize(
    browser,
    authorizeUrl(client, {
      scope,
      ...(round % 5 !== 3 && { resource: JWT_API }),
      ...(round % 4 === 1 && { org_id: ORGANIZATION }),
    }),
    round % 2 === 0 ? ORGANIZATION : 'none',
  )
  const answer = await redeem(server, client, code ?? 'none')
  if (answer.statusCode === 200) {
    const { access_token: token, refresh_token: refreshToken = 'none' } = answer.json<Tokens>()
    await refresh(server, client, refreshToken)
    await postForm(server, '/v2/oauth/introspect', { ...credentials, token })
    await postForm(server, '/v2/oauth/introspect', { ...api, token })
    await server.inject({ url: '/v2/oauth/userinfo', headers: { authorization: `Bearer ${token}` } })
    await browser.get(authorizeUrl(client, { scope, resource: JWT_API, prompt: 'none' }))
    await postForm(server, '/v2/oauth/revoke', { ...credentials, token: refreshToken })
  }
  const machine = { grant_type: 'client_credentials', resource: JWT_API }
  await requestToken(server, board, machine)
  await requestToken(server, board, { ...machine, scope: 'jwt:status', org_id: ORGANIZATION, user_id: userId })
  await requestToken(server, board, { ...machine, resource: OPAQUE_API, scope: 'opaque:status' })
  await requestToken(server, board, { ...machine, resource: OPAQUE_API, scope: 'opaque:read' })
}

/** Returns the code; undefined: the request was refused, at the client or on a page. `organization`: for which the user allows it. */
async function authorize(browser: PlainBrowser, url: string, organization: string): Promise<string | undefined> {
  let page = await browser.get(url)
  for (let step = 0; step < MOST_STEPS && page.statusCode < 400; step += 1) {
    const { location } = page.headers
    if (location?.startsWith(REDIRECT_URI) === true) return new URL(location).searchParams.get('code') ?? undefined
    if (location !== undefined) page = await browser.get(location)
    else if (page.body.includes('type="password"'))
      page = await browser.submit(page, { email: EMAIL, password: PASSWORD })
    else
      page = await browser.submit(page, {
        decision: 'allow',
        ...(page.body.includes('name="organization"') && { organization }),
      })
  }
  return undefined
}
