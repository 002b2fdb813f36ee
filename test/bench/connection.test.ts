import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { openConnection } from '../../bench/load/connection.ts'

const HEAD = 'HTTP/1.1 201 Created\r\n'

for (const [how, pieces] of [
  ['with a length', [`${HEAD}Content-Length: 5\r\n\r\nhello`]],
  ['with a length, in pieces', [`${HEAD}content-`, 'length: 5\r\n\r\nhe', 'llo']],
  ['in chunks', [`${HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n`]],
  ['in chunks, in pieces', [`${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r`, '\nhel', 'lo\r\n0\r\n', '\r\n']],
] as const) {
  test(`an answer ${how} is read completely`, async (t) => {
    assert.deepEqual(await askOnce(t, pieces), { status: 201, body: 'hello' })
  })
}

test('an answer with neither a length nor chunks is a failure', async (t) => {
  await assert.rejects(askOnce(t, [`${HEAD}\r\nhello\r\n`]), /neither a Content-Length nor chunks/)
})

/** Sends a request to a server that answers with these pieces, each when the previous one has arrived. */
async function askOnce(t: TestContext, pieces: readonly string[]): Promise<{ status: number; body: string }> {
  const clients: Socket[] = []
  const keepClient = (message: unknown): void => void clients.push((message as { readonly socket: Socket }).socket)
  subscribe('net.client.socket', keepClient)
  t.after(() => unsubscribe('net.client.socket', keepClient))
  const server = createServer((socket) => {
    socket.setNoDelay(true).once('data', () => {
      void (async () => {
        const [client] = clients
        assert.ok(client)
        for (const piece of pieces) {
          const arrived = once(client, 'data')
          socket.write(piece)
          await arrived
        }
      })()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return new Promise((resolve, reject) => {
    const opened = openConnection((server.address() as AddressInfo).port, {
      onAnswer: (status, body) => resolve({ status, body }),
      onFailure: (reason) => reject(new Error(reason)),
    })
    opened.then((connection) => {
      t.after(() => connection.close())
      connection.send('GET / HTTP/1.1\r\n\r\n')
    }, reject)
  })
}
