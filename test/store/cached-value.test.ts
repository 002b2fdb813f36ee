import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiRecord } from '../../src/ports/records/api.ts'
import { StoreUnavailable } from '../../src/ports/store.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import { openCachedValue } from '../../src/store/cached-value.ts'
import { anApi } from '../support/records.ts'

/** A store that returns the given values and counts its reads. */
function openScript() {
  const script: { answer: readonly ApiRecord[] | Error; asked: number; now: number } = { answer: [], asked: 0, now: 0 }
  async function listApis(): Promise<readonly ApiRecord[]> {
    script.asked += 1
    if (script.answer instanceof Error) throw script.answer
    return script.answer
  }
  return { script, apis: openCachedValue(listApis, () => script.now as EpochMs) }
}

test('the declared APIs are read once a second, and once for all concurrent callers', async () => {
  const { script, apis } = openScript()
  await Promise.all([apis(), apis(), apis()])
  assert.equal(script.asked, 1)
  const api = anApi()
  script.answer = [api]
  script.now = 999
  assert.deepEqual(await apis(), [])
  script.now = 1000
  assert.deepEqual(await apis(), [api])
  assert.equal(script.asked, 2)
})

test('while the store is unavailable the last copy is returned, and the store is read again later', async () => {
  const { script, apis } = openScript()
  const api = anApi()
  script.answer = [api]
  await apis()
  script.answer = new StoreUnavailable('gone')
  script.now = 60_000
  assert.deepEqual(await apis(), [api])
  script.answer = []
  assert.deepEqual(await apis(), [api])
  script.now += 1000
  assert.deepEqual(await apis(), [])
})

test('without a copy, or after another error, the read fails', async () => {
  const { script, apis } = openScript()
  script.answer = new StoreUnavailable('gone')
  await assert.rejects(apis, StoreUnavailable)
  script.answer = []
  await apis()
  script.answer = new TypeError('a bug')
  script.now = 60_000
  await assert.rejects(apis, TypeError)
})
