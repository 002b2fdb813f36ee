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

function countTimers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
}
