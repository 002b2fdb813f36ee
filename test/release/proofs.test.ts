import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { test } from 'node:test'
import { BY_HAND, DAILY, proofsOf } from '../../prove/daily/list.ts'
import { newestRuns, staleProofs } from '../../release/proofs.ts'

test('a release is refused without a proof of the last 21 days', () => {
  const runs = new Map([
    ['new', '2026-12-01'],
    ['old', '2026-11-10'],
    ['older', '2026-11-09'],
  ])
  assert.deepEqual(staleProofs(['new', 'old', 'older', 'none'], runs, '2026-12-01'), [
    'npm run prove older: the newest run is of 2026-11-09.',
    'npm run prove none: no run is kept.',
  ])
  assert.match(newestRuns().get('nodes') ?? '', /^2026-/)
})

test('the proofs of a day are those of what a release delivers and one long proof, and all long ones have their day', () => {
  const days = Array.from({ length: 10 }, (_, index) => proofsOf(20_000 + index))
  assert.deepEqual(new Set(days.map(({ length }) => length)), new Set([8]))
  assert.deepEqual(new Set(days.flat()), new Set(DAILY))
})

test('each program of prove/ is once in the list of a day, or there is a reason why not', () => {
  const programs = globSync('prove/*/run.ts').map((file) => basename(dirname(file)))
  const listed = [...DAILY.map(({ name }) => name), ...Object.keys(BY_HAND)]
  assert.deepEqual(listed.toSorted(), programs.toSorted())
})
