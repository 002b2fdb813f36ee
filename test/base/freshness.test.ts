import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshSeconds, type CachingHeaders } from '../../src/base/freshness.ts'

const DATE = 'Sun, 22 Nov 2026 12:00:00 GMT'
const LATER = 'Sun, 22 Nov 2026 12:10:00 GMT'

const CASES: readonly (readonly [headers: CachingHeaders, seconds: number | undefined])[] = [
  [{}, undefined],
  [{ 'cache-control': 'public' }, undefined],
  [{ 'cache-control': 'max-age=60' }, 60],
  [{ 'cache-control': 'Public, Max-Age=60, s-maxage=5' }, 60],
  [{ 'cache-control': 'max-age="60"' }, 60],
  [{ 'cache-control': 'max-age=60', age: '20' }, 40],
  [{ 'cache-control': 'max-age=60', age: '90' }, 0],
  [{ 'cache-control': 'max-age=60', age: 'old' }, 60],
  [{ 'cache-control': 'max-age=60', expires: LATER, date: DATE }, 60],
  [{ expires: LATER, date: DATE }, 600],
  [{ expires: LATER, date: DATE, age: '100' }, 500],
  [{ expires: DATE, date: LATER }, 0],
  [{ expires: '0', date: DATE }, 0],
  [{ expires: LATER }, 0],
  [{ 'cache-control': 'max-age=-1' }, 0],
  [{ 'cache-control': 'max-age=1.5' }, 0],
  [{ 'cache-control': 'max-age=soon' }, 0],
  [{ 'cache-control': 'max-age' }, 0],
  [{ 'cache-control': 'max-age=60, no-store' }, 0],
  [{ 'cache-control': 'no-cache, max-age=60' }, 0],
]

test('RFC 9111 §4.2: how long a response is fresh; what is malformed is stale', () => {
  for (const [headers, seconds] of CASES) assert.equal(freshSeconds(headers), seconds, JSON.stringify(headers))
})
