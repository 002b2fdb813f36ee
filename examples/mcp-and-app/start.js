// Grantor, an MCP server, its API and a browser application, each on a free port: npm start
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import express from 'express'
import { atEnd, freePort, listen, startGrantor } from '../start-grantor.js'
import { openApi } from './api.js'
import { openMcpServer } from './mcp-server.js'

const ports = { 8787: await freePort(), 8788: await freePort(), 8789: await freePort() }
const withPorts = (text) => text.replaceAll(/localhost:(878\d)/g, (_, port) => `localhost:${ports[port]}`)
const [resource, api, appOrigin] = [
  'http://localhost:8787/mcp',
  'http://localhost:8788/notes',
  'http://localhost:8789',
].map(withPorts)

const folder = mkdtempSync(join(tmpdir(), 'grantor-example-'))
atEnd(() => rmSync(folder, { recursive: true, force: true }))
const file = join(folder, 'grantor.yaml')
writeFileSync(file, withPorts(readFileSync(join(import.meta.dirname, 'grantor.yaml'), 'utf8')))
const { issuer, task, user } = await startGrantor(file)
const credentials = await task('POST', `apis/${encodeURIComponent(resource)}/credentials`)

const app = express()
  .get('/settings.json', (_request, response) => response.json({ issuer, api }))
  .get('/oidc-client-ts.js', (_request, response) => response.sendFile(libraryFile()))
  .get('/callback', (_request, response) => response.sendFile(join(import.meta.dirname, 'app', 'index.html')))
  .use(express.static(join(import.meta.dirname, 'app')))
for (const [port, server] of [
  [ports[8787], openMcpServer({ issuer, resource, credentials, api })],
  [ports[8788], openApi({ issuer, resource: api, appOrigin })],
  [ports[8789], app],
]) {
  await listen(server, port)
}
console.log(`Sign in as ${user.email} with the password ${user.password}
The application: ${appOrigin}
The MCP server, for Claude Code: claude mcp add --transport http notes ${resource}`)

function libraryFile() {
  return fileURLToPath(new URL('../browser/oidc-client-ts.min.js', import.meta.resolve('oidc-client-ts')))
}
