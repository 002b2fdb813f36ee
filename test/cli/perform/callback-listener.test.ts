import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openCallbackListener } from '../../../src/cli/perform/callback-listener.ts'

test('the listener keeps a timer until the redirect comes or the listener is closed', async () => {
  const before = countTimers()
  const answered = await openCallbackListener()
  const answer = answered.answer(60_000)
  assert.equal(countTimers(), before + 1)
  await (await fetch(`${answered.redirectUri}?code=a`)).text()
  assert.equal((await answer).get('code'), 'a')
  answered.close()
  const closed = await openCallbackListener()
  void closed.answer(60_000)
  closed.close()
  assert.equal(countTimers(), before)
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

function countTimers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
}
