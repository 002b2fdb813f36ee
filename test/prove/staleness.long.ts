import assert from 'node:assert/strict'
import { test } from 'node:test'
import { END_KINDS, measureStaleness } from '../../prove/staleness/campaign.ts'
import { openCluster } from '../../prove/cluster/cluster.ts'
import { openStoreOf } from '../../tools/runtime.ts'
import { openTestDatabase } from '../support/store/postgres.ts'

test('decision 0005: what ends on one node is inactive on another, a revocation from the first request after its response', async (t) => {
  const databaseUrl = await openTestDatabase(t)
  const cluster = await openCluster({ databaseUrls: [databaseUrl], nodes: 2, drainSeconds: 0, limitMs: 20_000 })
  t.after(cluster.close)
  const { context, close } = await openStoreOf(cluster.settings)
  t.after(close)
  const results = await measureStaleness(cluster, context, { rounds: 4, lanes: 4 })
  assert.deepEqual(
    results.map(({ kind, sightings }) => [kind, sightings.length]),
    END_KINDS.map((kind) => [kind, 4]),
  )
  const revocations = results.find(({ kind }) => kind === 'revocation')?.sightings ?? []
  assert.deepEqual(new Set(revocations.map(({ stale }) => stale)), new Set([0]))
})
