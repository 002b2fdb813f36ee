import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ALL_CASES } from '../../prove/kit/cases/all.ts'
import { judgePlanted, notPassed } from './kit-run.ts'

test('grantor-prove: a good issuer behind a proxy passes all cases', async (t) => {
  assert.deepEqual(notPassed(await judgePlanted(t, [])), {})
})

for (const { id, level } of ALL_CASES)
  test(`grantor-prove: ${id} alone finds its planted wrong`, async (t) => {
    assert.deepEqual(notPassed(await judgePlanted(t, [id])), { [id]: level === 'must' ? 'failed' : 'warning' })
  })
