import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { sharedBrowser } from '../support/browser.ts'
import { openIssuer, openTab, press, signIn } from './tab.ts'
import { perform } from '../support/tasks.ts'
import { registerClient } from '../../tools/flow.ts'

/** A client that is a script in a page of another origin, such as the MCP Inspector. */

const browser = await sharedBrowser()

test('REG-24: a page of another origin discovers, registers, redeems and refreshes by fetch()', async (t) => {
  const server = await openIssuer(t, {})
  const origin = await openPage(t)
  const { tab, complaints } = await openTab(t, browser, [], {})
  await tab.goto(`${origin}/`)
  const link = await tab.evaluate<string>(`(${START})('${server.origin}')`)
  await tab.goto(link)
  await signIn(tab)
  await press(tab, 'Allow')
  await tab.waitForURL(`${origin}/callback?*`)
  const tokens = await tab.evaluate<Record<string, unknown>>(`(${FINISH})('${server.origin}')`)
  assert.equal(tokens['first'], 'Bearer')
  assert.equal(tokens['second'], 'Bearer')
  assert.equal(tokens['keys'], 3)
  assert.deepEqual(
    complaints.filter((one) => !/^(loads|request): /.test(one)),
    [],
  )
})

test('REG-24: a script of another origin can read errors, and how long to wait', async (t) => {
  const server = await openIssuer(t, { GRANTOR_REGISTRATION_RATE: '1' })
  const origin = await openPage(t)
  const { tab } = await openTab(t, browser, [], {})
  await tab.goto(`${origin}/`)
  const [wrong, many] = await tab.evaluate<readonly Record<string, unknown>[]>(`(async () => {
    const register = async (body) => {
      const response = await fetch('${server.origin}/v2/oauth/register', {
        method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body),
      })
      return {
        status: response.status, error: (await response.json()).error,
        wait: response.headers.get('retry-after'), limit: response.headers.get('ratelimit'),
      }
    }
    return [await register({ redirect_uris: ['http://app.example/'] }), await register({})]
  })()`)
  assert.deepEqual(wrong, { status: 400, error: 'invalid_redirect_uri', wait: null, limit: null })
  assert.equal(many?.['status'], 429)
  assert.equal(many?.['error'], 'temporarily_unavailable')
  assert.match(String(many?.['wait']), /^\d+$/)
  assert.match(String(many?.['limit']), /^"registration";r=0;t=\d+$/)
})

test('DP-13: a script of another origin proves a key of the browser, reads the nonce for a wrong clock, and gets a bound token', async (t) => {
  const server = await openIssuer(t, {})
  const { client_id: id, client_secret: secret } = await registerClient(server)
  const { tab } = await openTab(t, browser, [], {})
  await tab.goto(`${await openPage(t)}/`)
  const answers = await tab.evaluate<readonly Record<string, unknown>[]>(
    `(${PROVE})('${server.origin}/v2/oauth/token', '${id}:${secret}')`,
  )
  const [refused, granted] = answers
  assert.deepEqual([refused?.['status'], refused?.['error'], refused?.['type']], [400, 'use_dpop_nonce', undefined])
  assert.match(String(refused?.['nonce']), /^[\w-]{22}$/)
  assert.deepEqual([granted?.['status'], granted?.['type'], granted?.['nonce']], [200, 'DPoP', null])
})

test("REG-24: a script of another origin cannot read the server's pages, nor any answer to a request with cookies", async (t) => {
  const server = await openIssuer(t, {})
  const origin = await openPage(t)
  const { tab } = await openTab(t, browser, [], {})
  await tab.goto(`${origin}/`)
  for (const request of [
    `fetch('${server.origin}/v2/oauth/sign-out')`,
    `fetch('${server.origin}/v2/oauth/sign-out', { credentials: 'include' })`,
    `fetch('${server.origin}/v2/oauth/jwks', { credentials: 'include' })`,
  ]) {
    assert.equal(await tab.evaluate(`${request}.then(() => 'read', (error) => error.name)`), 'TypeError', request)
  }
})

test('OpenID Connect Core 1.0 §3.1.2.1: a hidden frame with prompt=none has the session of the user only on the same site', async (t) => {
  const server = await openIssuer(t, {})
  const loopback = await openPage(t)
  for (const [origin, answer] of [
    [loopback.replace('127.0.0.1', 'localhost'), 'code'],
    [loopback, 'login_required'],
  ] as const) {
    const { tab } = await openTab(t, browser, [], {})
    await tab.goto(`${origin}/`)
    const link = await tab.evaluate<string>(`(${START})('${server.origin}')`)
    await perform(server.context, 'client.verify', { client_id: new URL(link).searchParams.get('client_id') ?? '' })
    await tab.goto(link)
    await signIn(tab)
    await press(tab, 'Allow')
    await tab.waitForURL(`${origin}/callback?*`)
    const query = new URLSearchParams(await tab.evaluate<string>(`(${IN_FRAME})('${link}&prompt=none')`))
    assert.equal(query.get('error') ?? (query.has('code') ? 'code' : 'nothing'), answer, origin)
  }
})

/** A site with an empty page at every address. */
async function openPage(t: TestContext): Promise<string> {
  const site = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>Inspector</title>')
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    site.closeAllConnections()
    site.close()
  })
  return `http://127.0.0.1:${(site.address() as AddressInfo).port}`
}

/**
 * Runs in the page: from the issuer to the authorization link. The extra headers cause preflights, as those of the SDK do.
 */
const START = `async (issuer) => {
  const headers = { 'MCP-Protocol-Version': '2025-11-25' }
  const metadata = await (await fetch(issuer + '/.well-known/oauth-authorization-server', { headers })).json()
  const redirect_uri = location.origin + '/callback'
  const registration = await fetch(metadata.registration_endpoint, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      client_name: 'Inspector', redirect_uris: [redirect_uri],
      grant_types: ['authorization_code', 'refresh_token'], token_endpoint_auth_method: 'client_secret_basic',
    }),
  })
  const client = await registration.json()
  const base64 = (bytes) => btoa(String.fromCharCode(...bytes)).replace(/\\+/g, '-').replace(/\\//g, '_').replace(/=/g, '')
  const verifier = base64(crypto.getRandomValues(new Uint8Array(32)))
  const challenge = base64(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))))
  sessionStorage.setItem('kept', JSON.stringify({ client, verifier, metadata }))
  const link = new URL(metadata.authorization_endpoint)
  link.search = new URLSearchParams({
    response_type: 'code', client_id: client.client_id, redirect_uri, state: 'the-state',
    code_challenge: challenge, code_challenge_method: 'S256',
  })
  return link.href
}`

/** Runs in the client's callback page: redeems the code, refreshes the token, reads the keys. */
const FINISH = `async (issuer) => {
  const { client, verifier, metadata } = JSON.parse(sessionStorage.getItem('kept'))
  const answer = new URLSearchParams(location.search)
  if (answer.get('iss') !== issuer) throw new Error('iss')
  const request = async (form) => {
    const response = await fetch(metadata.token_endpoint, {
      method: 'POST',
      headers: { Authorization: 'Basic ' + btoa(client.client_id + ':' + client.client_secret) },
      body: new URLSearchParams(form),
    })
    return response.json()
  }
  const first = await request({
    grant_type: 'authorization_code', code: answer.get('code'), code_verifier: verifier,
    redirect_uri: location.origin + '/callback',
  })
  const second = await request({ grant_type: 'refresh_token', refresh_token: first.refresh_token })
  const { keys } = await (await fetch(metadata.jwks_uri, { headers: { 'MCP-Protocol-Version': '2025-11-25' } })).json()
  return { first: first.token_type, second: second.token_type, keys: keys.length }
}`

/** Runs in a page of the client: requests a token with a proof whose time is wrong, and again with the nonce that it got. */
const PROVE = `async (address, credentials) => {
  const base64 = (bytes) => btoa(String.fromCharCode(...bytes)).replace(/\\+/g, '-').replace(/\\//g, '_').replace(/=/g, '')
  const encode = (value) => base64(new TextEncoder().encode(JSON.stringify(value)))
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const { privateKey, publicKey } = await crypto.subtle.generateKey(algorithm, false, ['sign', 'verify'])
  const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', publicKey)
  const request = async (nonce) => {
    const claims = { htm: 'POST', htu: address, iat: 0, jti: crypto.randomUUID(), nonce }
    const signed = encode({ typ: 'dpop+jwt', alg: 'ES256', jwk: { kty, crv, x, y } }) + '.' + encode(claims)
    const signature = await crypto.subtle.sign(algorithm, privateKey, new TextEncoder().encode(signed))
    const response = await fetch(address, {
      method: 'POST',
      headers: { Authorization: 'Basic ' + btoa(credentials), DPoP: signed + '.' + base64(new Uint8Array(signature)) },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    })
    const { error, token_type: type } = await response.json()
    return { status: response.status, nonce: response.headers.get('dpop-nonce'), error, type }
  }
  const first = await request(undefined)
  return [first, await request(first.nonce)]
}`

/** Runs in a page of the client: opens a link in a hidden frame, and returns the query of the page of the client that ends up there. */
const IN_FRAME = `(link) => new Promise((resolve) => {
  const frame = document.createElement('iframe')
  frame.hidden = true
  frame.onload = () => resolve(frame.contentWindow.location.search)
  frame.src = link
  document.body.append(frame)
})`
