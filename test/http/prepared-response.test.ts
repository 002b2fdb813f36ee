import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { TIMEOUTS } from '../../src/http/connection-limits.ts'
import { PreparedResponse } from '../../src/http/prepared-response.ts'

const HEADERS = ['Content-Type', 'application/json', 'Cache-Control', 'no-store']
const LINES = 'Content-Type: application/json\r\nCache-Control: no-store\r\n'

/** What a client receives for the requests, which are sent at once on one connection. The time is replaced. */
async function receive(t: TestContext, body: string, requests: readonly string[]): Promise<string> {
  const server = createServer({ ...TIMEOUTS, ServerResponse: PreparedResponse }, (message, response) => {
    if (message.url === '/set') response.setHeader('Connection', 'close')
    if (message.url !== '/node' && response.sendPrepared(201, LINES, body)) return
    response.writeHead(201, [...HEADERS, 'Content-Length', String(Buffer.byteLength(body))]).end(body)
  })
  t.after(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write(requests.join(''))
  let received = ''
  for await (const piece of socket) received += piece
  const [date = ''] = /Date: [^\r]+/.exec(received) ?? []
  assert.ok(Math.abs(Date.parse(date.slice(6)) - Date.now()) < 60_000, date)
  return received.replaceAll(/Date: [^\r]+/g, 'Date: now')
}

for (const [name, body] of Object.entries({ ascii: '{"a":1}', 'not ascii': '{"a":"Grüße, 你好"}', empty: '' })) {
  test(`a prepared answer has the bytes that Node.js would write (${name})`, async (t) => {
    const end = 'GET /node HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
    const ask = (path: string) => [
      `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`,
      `POST ${path} HTTP/1.1\r\nHost: x\r\n\r\n`,
      end,
    ]
    assert.equal(await receive(t, body, ask('/prepared')), await receive(t, body, ask('/node')))
  })
}

for (const [name, request] of Object.entries({
  'a request for the head alone':
    'HEAD / HTTP/1.1\r\nHost: x\r\n\r\nGET /node HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  'a request that closes its connection': 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  'a request of HTTP/1.0': 'GET / HTTP/1.0\r\n\r\n',
})) {
  test(`Node.js writes the head for ${name}`, async (t) => {
    assert.equal(await receive(t, '{}', [request]), await receive(t, '{}', [request.replace(' / ', ' /node ')]))
  })
}

test('Node.js writes the head where a header was set before', async (t) => {
  const answer = await receive(t, '{}', ['GET /set HTTP/1.1\r\nHost: x\r\n\r\n'])
  assert.match(answer, /^HTTP\/1\.1 201 Created\r\n/)
  assert.match(answer, /\r\nConnection: close\r\n/)
})

test('a response of Node.js finds its head where a prepared one writes it', () => {
  const response = new ServerResponse({ method: 'GET', httpVersionMajor: 1, httpVersionMinor: 1 } as never)
  assert.equal(response.headersSent, false)
  Object.assign(response, { _header: 'HTTP/1.1 200 OK\r\n\r\n' })
  assert.equal(response.headersSent, true)
})
