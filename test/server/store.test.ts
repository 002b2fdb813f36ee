import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openLog } from '../../src/server/log.ts'
import type { ServerEnd } from '../../src/ports/store.ts'
import { startWatchingServerEnd } from '../../src/server/store.ts'
import { openTestServer } from '../support/server.ts'

test('MOV-02: the end of a server is reported once, also by a database that takes longer than the interval', async (t) => {
  const { context } = await openTestServer(t)
  t.mock.timers.enable({ apis: ['setInterval'] })
  const answers: ((end: ServerEnd) => void)[] = []
  const findServerEnd = () => new Promise<ServerEnd>((resolve) => answers.push(resolve))
  const ends: string[] = []
  const logger = openLog('silent', { write: () => undefined, flush: async () => undefined }, {})
  const store = { ...context.store, findServerEnd }
  startWatchingServerEnd({ ...context, store }, logger, (reason) => ends.push(reason))
  t.mock.timers.tick(1000)
  t.mock.timers.tick(1000)
  assert.equal(answers.length, 2)
  for (const answer of answers) answer({ masterKeyCheck: undefined, closedAt: context.clock() })
  await nextTurn()
  assert.deepEqual(ends, ['closed'])
})
