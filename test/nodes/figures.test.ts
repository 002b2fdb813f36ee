import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EpochMs } from '../../src/base/brand.ts'
import type { FiguresDocument } from '../../src/admin/figures.ts'
import { registerClient, requestToken } from '../../tools/flow.ts'
import { openTestServer } from '../support/server.ts'
import { openNodeSettings } from '../support/store/migrated-database.ts'
import { perform } from '../support/tasks.ts'

test('the figures of two nodes add up, and neither loses any when it stops', async (t) => {
  const env = await openNodeSettings(t)
  const a = await openTestServer(t, { env })
  const b = await openTestServer(t, { env, clock: a.clock })
  const client = await registerClient(a)
  const ask = (node: typeof a) => requestToken(node, client, { grant_type: 'client_credentials' })
  for (const node of [a, b, b]) assert.equal((await ask(node)).statusCode, 200)
  await requestToken(b, client, { grant_type: 'client_credentials', scope: '"' })
  await Promise.all([a.close(), b.close()])
  const again = await b.reopen()
  const page = { span: '1d', since: 0 as EpochMs, until: again.context.clock(), before: undefined, limit: 9 } as const
  assert.equal((await again.context.store.listFigures(page)).length, 1, 'both have merged their rows')
  for (const span of [{ period: '1d' }, { period: '7d' }]) {
    const { totals } = await perform<FiguresDocument>(again.context, 'server.figures', span)
    assert.deepEqual(
      [totals.tokens, totals.registrations, totals.refusals, totals.events],
      [{ client_credentials: 3 }, { registration: 1 }, { scope_malformed: 1 }, { scope_refused: 1 }],
      span.period,
    )
    assert.ok((totals.p99_ms['token'] ?? 0) > 0)
  }
})
