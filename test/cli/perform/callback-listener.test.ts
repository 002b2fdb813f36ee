import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openCallbackListener } from '../../../src/cli/perform/callback-listener.ts'

/** No other timer has it. Other files of the process may leave some that end meanwhile. */
const LIMIT_MS = 61_234

test('the listener keeps a timer until the redirect comes or the listener is closed', async (t) => {
  const set = t.mock.method(globalThis, 'setTimeout')
  const cleared = t.mock.method(globalThis, 'clearTimeout')
  const countTimers = (): number => {
    const timers = set.mock.calls.filter(({ arguments: [, ms] }) => ms === LIMIT_MS).map(({ result }) => result)
    const ended = new Set<unknown>(cleared.mock.calls.map(({ arguments: [timer] }) => timer))
    return timers.filter((timer) => timer?.hasRef() === true && !ended.has(timer)).length
  }
  const answered = await openCallbackListener()
  const answer = answered.answer(LIMIT_MS)
  assert.equal(countTimers(), 1)
  await (await fetch(`${answered.redirectUri}?code=a`)).text()
  assert.equal((await answer).get('code'), 'a')
  answered.close()
  assert.equal(countTimers(), 0)
  const closed = await openCallbackListener()
  void closed.answer(LIMIT_MS)
  assert.equal(countTimers(), 1)
  closed.close()
  assert.equal(countTimers(), 0)
})

test('the page of a redirect says whether access was allowed, and has nothing of the redirect', async () => {
  for (const [query, heading] of [
    ['code=secret-code', 'Allowed'],
    ['error=access_denied&error_description=<b>no</b>', 'Not allowed'],
  ] as const) {
    const listener = await openCallbackListener()
    const answer = listener.answer(60_000)
    const page = await fetch(`${listener.redirectUri}?${query}`)
    assert.match(page.headers.get('content-security-policy') ?? '', /^default-src 'none'/)
    const text = await page.text()
    assert.match(text, new RegExp(`<h1>${heading}</h1>`))
    assert.doesNotMatch(text, /secret-code|<b>/)
    await answer
    listener.close()
  }
})
