// Grantor and the application on free ports; the first start installs the packages: npm start
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, startGrantor, startProgram } from '../start-grantor.js'

const folder = import.meta.dirname
const next = join(folder, 'node_modules', 'next', 'dist', 'bin', 'next')
if (!existsSync(next)) {
  const { status } = spawnSync('npm', ['ci'], { cwd: folder, stdio: 'inherit', shell: process.platform === 'win32' })
  if (status !== 0) process.exit(status ?? 1)
}

const { issuer, task, user } = await startGrantor()
const port = await freePort()
const origin = `http://localhost:${port}`
const client = await task('POST', 'clients', {
  client_name: 'Board',
  redirect_uris: [`${origin}/api/auth/callback/grantor`],
})
await startProgram({
  command: [process.execPath, next, 'dev', '--hostname', 'localhost', '--port', String(port)],
  folder,
  environment: {
    ISSUER: issuer,
    CLIENT_ID: client.client_id,
    CLIENT_SECRET: client.client_secret,
    AUTH_SECRET: randomBytes(32).toString('base64url'),
    AUTH_URL: origin,
    NEXT_TELEMETRY_DISABLED: '1',
  },
  address: origin,
})
console.log(`Open ${origin} and sign in as ${user.email} with the password ${user.password}`)
