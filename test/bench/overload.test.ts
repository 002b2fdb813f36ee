import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { runOverload } from '../../bench/overload/load.ts'
import type { OverloadPlan } from '../../bench/overload/plan.ts'

test('requests are sent when they are due, whatever the answers are, and refusals are counted separately', async (t) => {
  let count = 0
  const plan = await planOn(t, (_request, response) => {
    count += 1
    if (count % 2 === 0) response.writeHead(503, { 'Retry-After': '1', 'X-Own': 'a: b', 'Content-Length': 13 })
    response.end('{"token":"a"}')
  })
  const result = await runOverload({ ...plan, rate: 500 })
  assert.deepEqual([result.wrong, result.kinds.map(({ kind }) => kind)], [0, ['served', 'shed']])
  assert.equal(
    result.kinds.reduce((sum, kind) => sum + kind.count, 0),
    result.sent,
  )
  assert.equal(result.shed?.headers.join(' '), 'Retry-After 1 X-Own a: b Content-Length 13')
  assert.ok(result.recoveredMs >= 0)
})

test('a time starts when the request is due, even if every connection is waiting', async (t) => {
  const plan = await planOn(t, (_request, response) => void setTimeout(() => response.end('{"token":"a"}'), 20))
  const { kinds } = await runOverload({ ...plan, connections: 1, rate: 500 })
  assert.ok((kinds[0]?.worstMs ?? 0) > 100)
})

test('another status, a 503 without Retry-After, a 503 where none is allowed, and a cut connection are wrong', async (t) => {
  const faults: readonly (readonly [RegExp, RequestListener, Partial<OverloadPlan['requests'][0]>])[] = [
    [/token: 500/, (_request, response) => void response.writeHead(500).end(), {}],
    [/token: 503/, (_request, response) => void response.writeHead(503).end(), {}],
    [
      /token: 503/,
      (_request, response) => void response.writeHead(503, { 'Retry-After': '1' }).end(),
      { maybeShed: false },
    ],
    [/token: 200/, (_request, response) => void response.end('{}'), {}],
    [/closed a connection/, (request) => void request.socket.destroy(), {}],
  ]
  for (const [reason, listener, request] of faults) {
    let count = 0
    const plan = await planOn(t, (message, response) => {
      count += 1
      if (count === 2) listener(message, response)
      else response.end('{"token":"a"}')
    })
    const result = await runOverload({ ...plan, requests: plan.requests.map((one) => ({ ...one, ...request })) })
    assert.equal(result.wrong, 1)
    assert.match(result.wrongs.join(), reason)
  }
})

async function planOn(t: TestContext, listener: RequestListener): Promise<OverloadPlan> {
  const server = createServer((request, response) => void request.resume().on('end', () => listener(request, response)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return {
    port: (server.address() as AddressInfo).port,
    connections: 4,
    addresses: ['127.0.0.1'],
    seconds: 0.3,
    rate: undefined,
    requests: [
      {
        name: 'token',
        method: 'POST',
        path: '/',
        contentType: 'text/plain',
        bodies: { kind: 'same', body: 'a=b' },
        status: 200,
        contains: '"token"',
        maybeShed: true,
      },
    ],
  }
}
