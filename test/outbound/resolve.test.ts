import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { test, type TestContext } from 'node:test'
import { openResolver } from '../../src/outbound/resolve.ts'
import { isPublicAddress, SPECIAL_USE_RANGES } from '../../src/outbound/special-use-addresses.ts'
import { openNameServer, type NameAnswer } from '../support/hosts/name-server.ts'
import { openWebHost, sendJson, type WebHost } from '../support/hosts/web-host.ts'
import { briefly, getDocument, openClient } from './open-client.ts'

const PUBLIC = '127.0.0.2'
const PRIVATE = '127.0.0.1'

/** Counts the connections that this process tries to open. */
function countConnections(t: TestContext): () => number {
  let count = 0
  const onSocket = (): void => void (count += 1)
  subscribe('net.client.socket', onSocket)
  t.after(() => unsubscribe('net.client.socket', onSocket))
  return () => count
}

/** Opens a name server, and a client for which 127.0.0.2 is a public address and 127.0.0.1 is not. */
async function openNamed(t: TestContext, port: number, answer: NameAnswer, deadlineMs = 60_000) {
  const { address, questions } = await openNameServer(t, answer)
  const limits = { body: 5120, deadlineMs }
  const client = openClient({
    policy: { issuer: 'https://auth.example', ports: [port], loopbackExcept: undefined },
    network: { resolve: openResolver([address]), isPublicAddress: (one) => one === PUBLIC },
    limits: { 'client-document': limits, 'client-keys': limits, provider: limits, 'logout-notice': limits },
  })
  return { questions, get: (name: string) => getDocument(client, `https://${name}:${port}/client.json`) }
}

/** A host with a certificate for app.test, and a canary at the private address with the same port. */
async function openPair(t: TestContext): Promise<{ readonly host: WebHost; readonly canary: WebHost }> {
  const host = await openWebHost(t, { address: PUBLIC, tlsName: 'app.test' }, sendJson({}))
  const canary = await openWebHost(t, { address: PRIVATE, port: host.port, tlsName: 'app.test' }, sendJson({}))
  return { host, canary }
}

test('OUT-01: no connection is tried to a name whose address has a special use', async (t) => {
  const connections = countConnections(t)
  let address = ''
  const { address: server } = await openNameServer(t, (_name, type) =>
    (type === 'AAAA') === address.includes(':') ? [address] : [],
  )
  const client = openClient({
    policy: { issuer: 'https://auth.example', ports: [443], loopbackExcept: undefined },
    network: { resolve: openResolver([server]), isPublicAddress },
  })
  for (const { range } of SPECIAL_USE_RANGES) {
    address = range.split('/')[0] ?? ''
    const outcome = await getDocument(client, 'https://app.test/client.json')
    assert.equal(briefly(outcome), 'unacceptable address', range)
  }
  assert.equal(connections(), 0)
})

test('OUT-02: a name is resolved once, so a second answer of the name server changes nothing', async (t) => {
  const { host, canary } = await openPair(t)
  let answers = 0
  const { questions, get } = await openNamed(t, host.port, (_name, type) => {
    if (type === 'AAAA') return []
    answers += 1
    return [answers === 1 ? PUBLIC : PRIVATE]
  })
  assert.equal(briefly(await get('app.test')), 'fetched')
  assert.deepEqual(questions.toSorted(), ['A app.test', 'AAAA app.test'])
  assert.deepEqual([host.requests.length, canary.connections()], [1, 0])
  assert.equal(host.requests[0]?.headers.host, `app.test:${host.port}`)
})

test('OUT-03: a name with a public and a private address is refused', async (t) => {
  const { host, canary } = await openPair(t)
  const answers: readonly (readonly string[])[] = [
    [PUBLIC, PRIVATE],
    [PRIVATE, PUBLIC],
  ]
  for (const addresses of answers) {
    const { get } = await openNamed(t, host.port, (_name, type) => (type === 'A' ? addresses : []))
    assert.equal(briefly(await get('app.test')), 'unacceptable address', addresses.join())
  }
  const { get } = await openNamed(t, host.port, (_name, type) => (type === 'A' ? [PUBLIC] : ['::1']))
  assert.equal(briefly(await get('app.test')), 'unacceptable address', 'the other family')
  assert.deepEqual([host.connections(), canary.connections()], [0, 0])
})

test('OUT-06: a name server that is silent delays a request no longer than its deadline', async (t) => {
  const { get } = await openNamed(t, 8443, () => 'silent', 300)
  assert.equal(briefly(await get('app.test')), 'unreachable timeout')
})

test('a name without an address is unreachable', async (t) => {
  const { get } = await openNamed(t, 8443, () => [])
  assert.equal(briefly(await get('app.test')), 'unreachable name-unresolved')
})

test('OUT-09: the certificate must be valid for the name', async (t) => {
  const { host } = await openPair(t)
  const { get } = await openNamed(t, host.port, (_name, type) => (type === 'A' ? [PUBLIC] : []))
  t.mock.method(process, 'emitWarning', () => undefined)
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
  t.after(() => delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'])
  assert.equal(briefly(await get('other.test')), 'unreachable connection-failed ERR_TLS_CERT_ALTNAME_INVALID')
  assert.equal(host.requests.length, 0)
  assert.equal(briefly(await get('app.test')), 'fetched')
})

test('a proxy of the environment is not used, because it would resolve the name again', async (t) => {
  const { host, canary } = await openPair(t)
  const { get } = await openNamed(t, host.port, (_name, type) => (type === 'A' ? [PUBLIC] : []))
  for (const [name, value] of [
    ['HTTPS_PROXY', `http://${PRIVATE}:${canary.port}`],
    ['NODE_USE_ENV_PROXY', '1'],
  ] as const) {
    process.env[name] = value
    t.after(() => delete process.env[name])
  }
  assert.equal(briefly(await get('app.test')), 'fetched')
  assert.equal(canary.connections(), 0)
})
