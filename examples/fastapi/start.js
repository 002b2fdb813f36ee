// Grantor and the API of main.py on free ports; the first start makes .venv with the packages of requirements.txt: npm start
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, startGrantor, startProgram } from '../start-grantor.js'

const { VENV = join(import.meta.dirname, '.venv') } = process.env
const python = join(VENV, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python')
if (!existsSync(python)) {
  run('python3', '-m', 'venv', VENV)
  run(python, '-m', 'pip', 'install', '-q', '-r', 'requirements.txt')
}

const { issuer, task, user } = await startGrantor()
const port = await freePort()
const origin = `http://localhost:${port}`
const scope = (name) => ({ name, sentence: 'See your orders', granted_to: 'users-and-machines' })
await task('POST', 'apis', { resource: `${origin}/orders`, name: 'Orders', scopes: [scope('orders:read')] })
await task('POST', 'apis', { resource: `${origin}/mcp`, name: 'Orders for agents', scopes: [scope('agent:orders')] })
const client = await task('POST', 'clients', {
  client_name: 'Report',
  grant_types: ['client_credentials'],
  redirect_uris: [],
})
await startProgram({
  command: [
    python,
    '-m',
    'uvicorn',
    'main:app',
    '--host',
    'localhost',
    '--port',
    String(port),
    '--log-level',
    'warning',
  ],
  folder: import.meta.dirname,
  environment: { ISSUER: issuer, ORIGIN: origin, PYTHONDONTWRITEBYTECODE: '1' },
  address: `${origin}/openapi.json`,
})
console.log(`Sign in as ${user.email} with the password ${user.password}
The MCP server, for Claude Code: claude mcp add --transport http orders ${origin}/mcp
The API, with a token of a program:
  curl -s ${issuer}/v2/oauth/token -u ${client.client_id}:${client.client_secret} -d grant_type=client_credentials -d resource=${origin}/orders
  curl -s ${origin}/orders -H 'Authorization: Bearer <access_token>'`)

function run(program, ...args) {
  const { status } = spawnSync(program, args, { cwd: import.meta.dirname, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
