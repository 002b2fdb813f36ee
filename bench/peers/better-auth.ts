import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { oauthProvider } from '@better-auth/oauth-provider'
import { betterAuth, type BetterAuthOptions } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { toNodeHandler } from 'better-auth/node'
import { jwt } from 'better-auth/plugins'
import { FORM_TYPE, form, listen, REDIRECT_URI, serve, splitAtNumber } from './serve-peer.ts'
import { versionOf } from './version-of.ts'

/**
 * https://www.npmjs.com/package/better-auth with its OAuth provider plugin, on a SQLite file that is synced with every commit, like
 * Grantor's. A registration without an account creates a public client. Rate limits and telemetry are switched off.
 */
const folder = mkdtempSync(join(tmpdir(), 'grantor-bench-peer-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const database = new DatabaseSync(join(folder, 'auth.db'))
database.exec('pragma journal_mode = wal; pragma synchronous = full;')

const port = await listen(async (origin) => {
  const options: BetterAuthOptions = {
    baseURL: origin,
    database,
    secret: randomBytes(32).toString('base64url'),
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    emailAndPassword: { enabled: true },
    disabledPaths: ['/token'],
    plugins: [
      jwt({ jwks: { keyPairConfig: { alg: 'ES256' } } }),
      oauthProvider({
        loginPage: '/sign-in',
        consentPage: '/consent',
        scopes: ['offline_access', 'mcp:tools'],
        allowDynamicClientRegistration: true,
        allowUnauthenticatedClientRegistration: true,
      }),
    ],
  }
  const { runMigrations } = await getMigrations(options)
  await runMigrations()
  return toNodeHandler(betterAuth(options))
})

const metadata = {
  redirect_uris: [REDIRECT_URI, 'https://client.example/callback'],
  token_endpoint_auth_method: 'none',
  application_type: 'native',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  scope: 'offline_access mcp:tools',
  client_name: 'Bench client #',
  client_uri: 'https://client.example/',
}
const REGISTER = '/api/auth/oauth2/register'
const registered = await fetch(`http://127.0.0.1:${port}${REGISTER}`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(metadata),
})
const { client_id: clientId } = (await registered.json()) as { client_id?: string }
if (clientId === undefined) throw new Error(`Registration answered ${registered.status}.`)
const now = new Date().toISOString()
database
  .prepare('insert into user (id, name, email, emailVerified, createdAt, updatedAt) values (?, ?, ?, 1, ?, ?)')
  .run('ada', 'Ada', 'ada@bench.test', now, now)
const insert = database.prepare(
  'insert into oauthRefreshToken (id, token, clientId, userId, expiresAt, createdAt, authTime, scopes) values (?, ?, ?, ?, ?, ?, ?, ?)',
)

async function mint(): Promise<string> {
  const token = randomBytes(24).toString('hex')
  const hash = createHash('sha256').update(token).digest('base64url')
  const expires = new Date(Date.now() + 3_600_000).toISOString()
  insert.run(
    randomBytes(16).toString('hex'),
    hash,
    clientId ?? '',
    'ada',
    expires,
    now,
    now,
    JSON.stringify(['offline_access', 'mcp:tools']),
  )
  return token
}

serve(
  {
    name: 'better-auth',
    version: versionOf('better-auth'),
    keeps: 'Everything, in a SQLite file with synchronous = full.',
    port,
    endpoints: [
      {
        name: 'register',
        method: 'POST',
        path: REGISTER,
        contentType: 'application/json',
        status: 201,
        contains: '"client_id":"',
        repeats: false,
        load: { kind: 'numbered', ...splitAtNumber(metadata) },
      },
      {
        name: 'refresh',
        method: 'POST',
        path: '/api/auth/oauth2/token',
        contentType: FORM_TYPE,
        status: 200,
        contains: '"access_token":"',
        repeats: false,
        load: {
          kind: 'refresh-tokens',
          before: `${form({ grant_type: 'refresh_token', client_id: clientId })}&refresh_token=`,
        },
      },
    ],
  },
  mint,
)
