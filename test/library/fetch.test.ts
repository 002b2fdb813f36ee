import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Caller, Grantor } from '../../src/library/grantor.ts'
import { openGrantor } from './host.ts'

const FROM = { address: '203.0.113.7' }

function register(issuer: string, body: BodyInit): Request {
  const headers = { 'content-type': 'application/json' }
  return new Request(`${issuer}/v2/oauth/register`, { method: 'POST', headers, body })
}

async function tokenOf(grantor: Grantor, issuer: string): Promise<Response> {
  const metadata = { client_name: 'Notes', grant_types: ['client_credentials'] }
  const registered = await grantor.fetch(register(issuer, JSON.stringify(metadata)), FROM)
  assert.equal(registered.status, 201)
  const { client_id, client_secret } = (await registered.json()) as { client_id: string; client_secret: string }
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
  return grantor.fetch(new Request(`${issuer}/v2/oauth/token`, { method: 'POST', body }), FROM)
}

test('a request of Fetch registers a client, and the next one gets its token', async (t) => {
  const { grantor, issuer } = await openGrantor(t)
  const answer = await tokenOf(grantor, issuer)
  assert.deepEqual([answer.status, answer.headers.get('cache-control')], [200, 'no-store'])
  assert.match(((await answer.json()) as { access_token: string }).access_token, /^ey/)
})

test('the address of the caller is required, and each caller has limits of its own', async (t) => {
  const { grantor, issuer } = await openGrantor(t, { settings: { registrationRate: 1 } })
  for (const from of [undefined, {}, { address: undefined }, { address: '' }, { address: '203.0.113.7:4711' }]) {
    await assert.rejects(grantor.fetch(register(issuer, '{}'), from as Caller), /Give the address of the caller/)
  }
  const statusFrom = async (address: string): Promise<number> =>
    (
      await grantor.fetch(register(issuer, '{"client_name":"Notes","redirect_uris":["https://app.example/"]}'), {
        address,
      })
    ).status
  assert.deepEqual(
    [await statusFrom('203.0.113.7'), await statusFrom('203.0.113.7'), await statusFrom('2001:db8::1')],
    [201, 429, 201],
  )
})

test('a body that is too large gets 413, one that was read 500, and HEAD has no body', async (t) => {
  const { grantor, issuer } = await openGrantor(t)
  assert.equal((await grantor.fetch(register(issuer, `"${'a'.repeat(20_000)}"`), FROM)).status, 413)
  const read = register(issuer, '{}')
  await read.text()
  assert.equal((await grantor.fetch(read, FROM)).status, 500)
  const address = `${issuer}/v2/oauth/jwks`
  const head = await grantor.fetch(new Request(address, { method: 'HEAD' }), FROM)
  const get = await grantor.fetch(new Request(address), FROM)
  assert.equal(head.headers.get('content-length'), get.headers.get('content-length'))
  assert.deepEqual([head.status, await head.text()], [200, ''])
})

test('LIB-07: a body that the caller breaks off gets an answer, and does not end the process', async (t) => {
  const { grantor, issuer } = await openGrantor(t)
  const headers = { 'content-type': 'application/json' }
  for (const [method, path, status] of [
    ['POST', '/v2/oauth/register', 400],
    ['DELETE', '/v2/oauth/register', 401],
    ['POST', '/v2/oauth/token', 415],
    ['POST', '/v2/oauth/jwks', 405],
    ['OPTIONS', '/v2/oauth/jwks', 204],
    ['POST', '/nothing', 404],
  ] as const) {
    const body = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>()
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.from('{'))
        body.resolve(controller)
      },
    })
    const request = new Request(issuer + path, { method, headers, body: stream, duplex: 'half' } as RequestInit)
    const answer = grantor.fetch(request, FROM)
    const controller = await body.promise
    await nextTurn()
    controller.error(new Error('The caller is gone.'))
    assert.equal((await answer).status, status, `${method} ${path}`)
    // An uncaught error would be one of this test.
    await nextTurn()
  }
})

test('LIB-07: a request whose signal is aborted does not stay open', async (t) => {
  const { grantor, issuer } = await openGrantor(t)
  const gone = new AbortController()
  const options = { method: 'POST', headers: { 'content-type': 'application/json' }, duplex: 'half' }
  const endless = (): Request =>
    new Request(`${issuer}/v2/oauth/register`, { ...options, body: new ReadableStream(), signal: gone.signal })
  const waiting = grantor.fetch(endless(), FROM)
  await nextTurn()
  gone.abort()
  assert.equal((await waiting).status, 400)
  assert.equal((await grantor.fetch(endless(), FROM)).status, 400)
})

test('NET-18: a body that is too large, or is not used, is not read further after the answer', async (t) => {
  const { grantor, issuer } = await openGrantor(t)
  for (const [path, status] of [
    ['/v2/oauth/register', 413],
    ['/nothing', 404],
  ] as const) {
    let pieces = 0
    const body = new ReadableStream({
      async pull(controller) {
        await nextTurn()
        controller.enqueue(Buffer.alloc(16_384))
        pieces += 1
      },
    })
    const headers = { 'content-type': 'application/json' }
    const request = new Request(issuer + path, { method: 'POST', headers, body, duplex: 'half' } as RequestInit)
    assert.equal((await grantor.fetch(request, FROM)).status, status)
    const answeredAt = pieces
    for (let turn = 0; turn < 50; turn += 1) await nextTurn()
    assert.ok(pieces <= answeredAt + 2, `${path}: ${answeredAt} pieces before the answer, ${pieces} later`)
  }
})

test('NET-01: plain HTTP from another machine is rejected for an https issuer, and https is not', async (t) => {
  const people = { current: () => undefined, signInAddress: () => '/login' }
  const { grantor } = await openGrantor(t, { issuer: 'https://auth.example.com', people })
  const statusOf = async (address: string): Promise<number> => (await grantor.fetch(new Request(address), FROM)).status
  assert.equal(await statusOf('http://auth.example.com/v2/oauth/jwks'), 400)
  assert.equal(await statusOf('https://auth.example.com/v2/oauth/jwks'), 200)
  const signIn = 'auth.example.com/v2/oauth/host-sign-in?interaction=gin_x'
  assert.deepEqual([await statusOf(`http://${signIn}`), await statusOf(`https://${signIn}`)], [404, 303])
})

test('NET-14: above the limit of a network a request of Fetch gets 503 at once, and other networks are answered', async (t) => {
  const { grantor, issuer } = await openGrantor(t, { trustProxy: ['198.51.100.1'] })
  const statusFrom = async (address: string, forwarded?: string): Promise<number> => {
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
    return (await grantor.fetch(new Request(`${issuer}/v2/oauth/jwks`, { headers }), { address })).status
  }
  const gone = new AbortController()
  const options = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    duplex: 'half',
    signal: gone.signal,
  }
  const held = Array.from({ length: 2000 }, () =>
    grantor.fetch(new Request(`${issuer}/v2/oauth/register`, { ...options, body: new ReadableStream() }), FROM),
  )
  assert.equal(await statusFrom(FROM.address), 503)
  assert.equal(await statusFrom('198.51.100.1', FROM.address), 503)
  assert.equal(await statusFrom('198.51.100.1', '203.0.113.8'), 200)
  gone.abort()
  assert.deepEqual(new Set((await Promise.all(held)).map(({ status }) => status)), new Set([400]))
  assert.equal(await statusFrom(FROM.address), 200)
})
