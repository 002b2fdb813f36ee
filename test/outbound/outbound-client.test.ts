import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { promisify } from 'node:util'
import type { OutboundOutcome, ProviderAnswer } from '../../src/ports/outbound.ts'
import { openWebHost, sendJson } from '../support/hosts/web-host.ts'
import { briefly, getDocument, openClient, PATIENT, usualBudgets } from './open-client.ts'

test('OUT-10, OUT-11: a URL that may not be requested causes no connection, and the outcome names the rule', async (t) => {
  const host = await openWebHost(t, {}, sendJson({}))
  const client = openClient({
    policy: { issuer: 'http://localhost:3000', ports: [443], loopbackExcept: [3000, host.port] },
  })
  for (const url of [`http://localhost:${host.port}/`, `http://127.0.0.1:${host.port}/`, `https://[::1]:${host.port}/`])
    assert.equal(briefly(await getDocument(client, url)), 'unacceptable url leads to this server itself')
  assert.equal(
    briefly(await getDocument(client, 'https://app.test:8443/client.json')),
    'unacceptable url has a port that GRANTOR_OUTBOUND_PORTS does not name',
  )
  assert.equal(host.connections(), 0)
})

test('OUT-12: a thousand requests for one URL at the same time are one request', async (t) => {
  const host = await openWebHost(t, {}, sendJson({}))
  const client = openClient()
  const url = `http://localhost:${host.port}/client.json`
  const outcomes = await Promise.all(Array.from({ length: 1000 }, () => getDocument(client, url)))
  assert.deepEqual(new Set(outcomes.map(briefly)), new Set(['fetched']))
  assert.equal(host.requests.length, 1)
  await getDocument(client, url)
  assert.equal(host.requests.length, 2, 'a later request is another one')
})

test('OUT-12: two requests to one host are under way at most, and the others wait', async (t) => {
  let open: ServerResponse[] = []
  let most = 0
  const host = await openWebHost(t, {}, (_request, response) => {
    most = Math.max(most, open.push(response))
    if (open.length < 2) return
    for (const waiting of open) waiting.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    open = []
  })
  const client = openClient()
  const urls = Array.from({ length: 20 }, (_, index) => `http://localhost:${host.port}/${index}`)
  const outcomes = await Promise.all(urls.map((url) => getDocument(client, url)))
  assert.deepEqual(new Set(outcomes.map(briefly)), new Set(['fetched']))
  assert.deepEqual([host.requests.length, most], [20, 2])
})

test('UP-28: a request that gets no slot in time is busy, which says nothing about the host', async (t) => {
  const asked = Promise.withResolvers<void>()
  let requests = 0
  const host = await openWebHost(t, {}, () => (requests += 1) === 16 && asked.resolve())
  const limits = { ...PATIENT, provider: { ...PATIENT.provider, deadlineMs: 300 } }
  const client = openClient({ limits })
  const url = `http://localhost:${host.port}/token`
  const ask = (): Promise<ProviderAnswer> =>
    client.ask({ method: 'GET', url, headers: {}, body: undefined, privateHosts: ['localhost'] })
  const first = Array.from({ length: 16 }, ask)
  await asked.promise
  const late = Array.from({ length: 40 }, ask)
  assert.deepEqual(new Set((await Promise.all(first)).map((one) => briefly(one))), new Set(['unreachable timeout']))
  const reasons = (await Promise.all(late)).map((one) => briefly(one))
  // At most 16 of them got a slot in time, and then the host did not answer them.
  assert.ok(reasons.filter((reason) => reason === 'limited busy').length >= 24, reasons.join())
})

test('OUT-13: requests of a network that used up its rate are not sent, and the rate of a host is divided fairly', async (t) => {
  const host = await openWebHost(t, {}, sendJson({}))
  const now = Date.now()
  const client = openClient({ budgets: usualBudgets(), clock: () => now as never })
  const count = async (network: string, isRenewal: boolean, requests: number): Promise<readonly OutboundOutcome[]> => {
    const urls = Array.from({ length: requests }, (_, index) => `http://localhost:${host.port}/${network}/${index}`)
    const asked = { purpose: 'client-document', etag: undefined, isRenewal, network } as const
    return Promise.all(urls.map((url) => client.get({ ...asked, url })))
  }
  const tally = (outcomes: readonly OutboundOutcome[]) => outcomes.filter(({ kind }) => kind === 'fetched').length
  const first = await count('192.0.2.1', false, 40)
  assert.equal(tally(first), 30)
  assert.deepEqual(new Set(first.slice(30).map(briefly)), new Set(['limited budget']))
  let further = 0
  for (let index = 0; index < 30; index += 1) further += tally(await count(`2001:db8:1:${index}::/64`, false, 1))
  assert.ok(further > 0 && further <= 15, String(further))
  assert.ok(tally(await count('203.0.113.1', false, 2)) > 0, 'one site has not used up the host')
  assert.equal(tally(await count('9.9.9.9', true, 5)), 5, 'copies are renewed all the same')
})

test('OUT-13: a network above its rate does not affect another one that requests the same URL at the same time', async (t) => {
  const host = await openWebHost(t, {}, sendJson({}))
  const now = Date.now()
  const client = openClient({ budgets: usualBudgets(), clock: () => now as never })
  const urlOf = (path: string): string => `http://localhost:${host.port}/${path}`
  for (let index = 0; index < 30; index += 1) await getDocument(client, urlOf(String(index)), '203.0.113.9')
  const networks = ['203.0.113.9', '203.0.113.9', '192.0.2.1', '192.0.2.2']
  const outcomes = await Promise.all(networks.map((network) => getDocument(client, urlOf('new'), network)))
  const isOver = 'limited budget'
  assert.deepEqual(outcomes.map(briefly), [isOver, isOver, 'fetched', 'fetched'])
})

test('each request is counted once, with its outcome, whether or not it was sent', async (t) => {
  const host = await openWebHost(t, {}, sendJson({}))
  const seen: string[] = []
  const client = openClient({ observe: (purpose, outcome) => void seen.push(`${purpose} ${briefly(outcome)}`) })
  const url = `http://localhost:${host.port}/client.json`
  await Promise.all([getDocument(client, url), getDocument(client, url)])
  await getDocument(client, 'http://localhost:3000/')
  assert.deepEqual(seen, ['client-document fetched', 'client-document unacceptable url leads to this server itself'])
})

test('OUT-13: with GRANTOR_OUTBOUND=off nothing is requested', async (t) => {
  const host = await openWebHost(t, {}, sendJson({}))
  const outcome = await getDocument(openClient({ isOn: false }), `http://localhost:${host.port}/`)
  assert.deepEqual([briefly(outcome), host.connections()], ['unreachable off', 0])
})

test('the connection is closed after the answer', async (t) => {
  const ended: Promise<unknown>[] = []
  const host = await openWebHost(t, {}, (request, response) => {
    ended.push(once(request.socket, 'close'))
    sendJson({})(request, response)
  })
  await getDocument(openClient(), `http://localhost:${host.port}/`)
  await Promise.all(ended)
  assert.equal(ended.length, 1)
})

test('OUT-15: what a request waits for a slot is not taken for a host that is slow', async (t) => {
  let answered = 0
  const host = await openWebHost(t, {}, (request, response) => {
    if (request.url?.startsWith('/slow') === true) return
    answered += 1
    sendJson({})(request, response)
  })
  const limits = { ...PATIENT, 'client-document': { ...PATIENT['client-document'], deadlineMs: 300 } }
  const client = openClient({ limits })
  const ask = (path: string) => getDocument(client, `http://localhost:${host.port}/${path}`)
  const slow = ['slow-1', 'slow-2'].map(ask)
  const waiting = ['a', 'b', 'c', 'd'].map(ask)
  assert.deepEqual((await Promise.all(slow)).map(briefly), ['unreachable timeout', 'unreachable timeout'])
  const kinds = (await Promise.all(waiting)).map(briefly)
  // Those that got a slot in the end had their whole time for the host.
  assert.ok(
    kinds.every((kind) => kind === 'fetched' || kind === 'limited busy'),
    kinds.join(),
  )
  assert.equal(kinds.filter((kind) => kind === 'fetched').length, answered)
})

test('OUT-15: a process that may open no further file says nothing about the host', async (t) => {
  const host = await openWebHost(t, {}, sendJson({}))
  const script = `
    import { openSync } from 'node:fs'
    import { briefly, getDocument, openClient } from ${JSON.stringify(import.meta.resolve('./open-client.ts'))}
    const ask = async (path) => briefly(await getDocument(openClient(), 'http://127.0.0.1:${host.port}/' + path))
    const before = await ask('before')
    try {
      for (;;) openSync('/dev/null')
    } catch {}
    process.stdout.write([before, await ask('after')].join())`
  const limited = 'ulimit -n 100 && exec "$0" --input-type=module -e "$1"'
  const { stdout } = await promisify(execFile)('sh', ['-c', limited, process.execPath, script])
  assert.equal(stdout, 'fetched,limited busy EMFILE')
})
