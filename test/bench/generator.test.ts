import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { runSlice } from '../../bench/load/generator.ts'
import type { Slice } from '../../bench/load/slice.ts'

test('every request is answered, and each connection has one request at a time', async (t) => {
  let underWay = 0
  let most = 0
  const slice = await sliceOn(t, (request, response) => {
    underWay += 1
    most = Math.max(most, underWay)
    request.resume().on('end', () => {
      underWay -= 1
      response.end(JSON.stringify({ token: String(Math.random()) }))
    })
  })
  const result = await runSlice(slice)
  assert.ok(result.answered > 0 && result.total >= result.answered)
  assert.ok(most <= slice.connections)
  assert.ok(result.p50Ms <= result.p99Ms)
})

test('a slice in which no answer comes in time lasts until the first one', async (t) => {
  const slice = await sliceOn(t, (_request, response) => void setTimeout(() => response.end('{"token":"a"}'), 50))
  const { answered, elapsedMs } = await runSlice({ ...slice, seconds: 0.01, connections: 1 })
  assert.equal(answered, 1)
  assert.ok(elapsedMs > 40, String(elapsedMs))
})

test('an unexpected status or body, a repeated answer or a closed connection ends the slice', async (t) => {
  const faults: readonly (readonly [RegExp, RequestListener])[] = [
    [
      /must answer 200/,
      (_request, response) => {
        response.statusCode = 500
        response.end('{"token":"a"}')
      },
    ],
    [/must answer with "token"/, (_request, response) => void response.end('{}')],
    [/same answer twice/, (_request, response) => void response.end('{"token":"a"}')],
    [/closed a connection/, (request) => void request.socket.destroy()],
  ]
  for (const [message, listener] of faults) {
    const slice = await sliceOn(
      t,
      (request, response) => void request.resume().on('end', () => listener(request, response)),
    )
    await assert.rejects(runSlice(slice), message)
  }
})

async function sliceOn(t: TestContext, listener: RequestListener): Promise<Slice> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return {
    port: (server.address() as AddressInfo).port,
    method: 'POST',
    path: '/',
    contentType: 'text/plain',
    connections: 4,
    seconds: 0.5,
    bodies: { kind: 'same', body: 'a=b' },
    status: 200,
    contains: '"token"',
    isFresh: true,
  }
}
