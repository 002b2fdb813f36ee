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
  const clock = () => script.now as EpochMs
  const { read: apis, describe } = openCachedValue(listApis, { clock, within: (ask) => ask() })
  return { script, apis, describe }
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

test('a document waits briefly for a store that does not answer, and then not at all until it does', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { promise, resolve } = Promise.withResolvers<readonly ApiRecord[]>()
  const [old, api] = [anApi(), anApi()]
  const answers = [Promise.resolve([old]), promise, Promise.resolve([])]
  let now = 0
  const clock = () => now as EpochMs
  const { describe } = openCachedValue(() => answers.shift() ?? assert.fail(), { clock, within: (ask) => ask() })
  assert.deepEqual(await describe(), [old])
  now = 60_000
  const first = describe()
  t.mock.timers.tick(200)
  assert.deepEqual(await first, [old])
  // No timer runs from here on.
  assert.deepEqual(await describe(), [old])
  resolve([api])
  await promise
  assert.deepEqual(await describe(), [api])
  now = 120_000
  assert.deepEqual(await describe(), [])
})
