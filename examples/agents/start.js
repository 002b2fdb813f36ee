// Grantor, an API, two services, and an agent that acts for a user in two processes: npm start
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRemoteJWKSet, exportJWK, generateKeyPair, jwtVerify } from 'jose'
import * as openid from 'openid-client'
import { atEnd, freePort, listen, startGrantor } from '../start-grantor.js'
import { tokenOfService, withKey, withSecret } from './service.js'

const { issuer, task, user } = await startGrantor()
const port = await freePort()
const resource = `http://localhost:${port}/reports`
const callback = `http://localhost:${port}/callback`
const scope = 'reports:read'
await task('POST', 'apis', {
  resource,
  name: 'Reports',
  scopes: [{ name: scope, sentence: 'Read your reports', granted_to: 'users-and-machines' }],
})

const keys = createRemoteJWKSet(new URL(`${issuer}/v2/oauth/jwks`))
let signedIn
const server = createServer(async (request, response) => {
  if (request.url.startsWith('/callback')) {
    response.end('You may close this page.')
    return signedIn(new URL(request.url, callback))
  }
  const [, token = ''] = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '') ?? []
  const options = { issuer, audience: resource, typ: 'at+jwt' }
  const found = await jwtVerify(token, keys, options).catch(() => undefined)
  if (found === undefined) return response.writeHead(401).end()
  const { sub, client_id: client } = found.payload
  return response.end(sub === client ? `reports of ${client}` : `reports of ${sub}, by ${client}`)
})
await listen(server, port)

const machine = { grant_types: ['client_credentials'], redirect_uris: [], scope }
const withASecret = await task('POST', 'clients', { ...machine, client_name: 'Nightly export' })
const { privateKey, publicKey } = await generateKeyPair('ES256')
const withAKey = await task('POST', 'clients', {
  ...machine,
  client_name: 'Billing',
  token_endpoint_auth_method: 'private_key_jwt',
  jwks: { keys: [{ ...(await exportJWK(publicKey)), kid: 'billing', alg: 'ES256', use: 'sig' }] },
})
for (const [name, clientId, authentication] of [
  ['a service with a secret', withASecret.client_id, withSecret(withASecret.client_secret)],
  ['a service with a key', withAKey.client_id, withKey({ key: privateKey, kid: 'billing' })],
]) {
  const token = await tokenOfService({ issuer, clientId, authentication, resource, scope })
  const answer = await fetch(resource, { headers: { authorization: `Bearer ${token}` } })
  console.log(`${name}: ${await answer.text()}`)
}

// RFC 7591: the agent registers itself.
const options = { execute: [openid.allowInsecureRequests] }
const grantor = await openid.dynamicClientRegistration(
  new URL(issuer),
  {
    client_name: 'Agent',
    redirect_uris: [callback],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
    scope,
  },
  openid.None(),
  options,
)
const [verifier, state] = [openid.randomPKCECodeVerifier(), openid.randomState()]
const link = openid.buildAuthorizationUrl(grantor, {
  redirect_uri: callback,
  scope,
  resource,
  state,
  code_challenge: await openid.calculatePKCECodeChallenge(verifier),
  code_challenge_method: 'S256',
})
console.log(`Open ${link.href}\nand sign in as ${user.email} with the password ${user.password}`)
const arrived = await new Promise((resolve) => (signedIn = resolve))
const checks = { pkceCodeVerifier: verifier, expectedState: state }
const tokens = await openid.authorizationCodeGrant(grantor, arrived, checks, { resource })

const folder = mkdtempSync(join(tmpdir(), 'grantor-example-'))
atEnd(() => rmSync(folder, { recursive: true, force: true }))
const file = join(folder, 'agent.json')
const { client_id: client } = grantor.clientMetadata()
writeFileSync(file, JSON.stringify({ issuer, client, resource, refreshToken: tokens.refresh_token }), { mode: 0o600 })
const agents = [1, 2].map(() =>
  spawn(process.execPath, [join(import.meta.dirname, 'agent.js'), file], { stdio: ['ignore', 'inherit', 'inherit'] }),
)
const codes = await Promise.all(agents.map((agent) => once(agent, 'exit')))
if (codes.some(([code]) => code !== 0)) throw new Error('A process of the agent was refused.')
console.log('Both processes are signed in. Ctrl-C ends the example.')
