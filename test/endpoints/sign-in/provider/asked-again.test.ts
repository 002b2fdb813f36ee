import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authorizeUrl, locationOf } from '../../../../tools/flow.ts'
import { perform } from '../../../support/tasks.ts'
import { ADA_CLAIMS, addProvider } from '../../../support/provider/providers.ts'
import { execute } from '../../../support/store/dump.ts'
import { isSignedIn, openServerWithProvider } from './server-with-provider.ts'
import { sentence } from '../../../texts/page-texts.ts'

const AGAIN = sentence('signInAgain')
const DOWN = 'Acme ID</bdi> does not answer right now.'
const PASSKEY = sentence('passkeySignIn')
const BUTTON = 'Continue with'

test('who is signed in and is asked again reads both why, and that the only provider is down or was removed', async (t) => {
  const { server, host, client, arrive } = await openServerWithProvider(
    t,
    { signUp: 'anybody' },
    { env: { GRANTOR_PASSWORDS: 'off' } },
  )
  const { browser, page } = await arrive()
  assert.ok(isSignedIn(await browser.get(host.approve(locationOf(page), ADA_CLAIMS))))
  server.clock.advance(60_000)
  const ask = async (parameters: Readonly<Record<string, string>>) =>
    browser.get(locationOf(await browser.get(authorizeUrl(client, parameters))))
  const shown = async (parameters: Readonly<Record<string, string>>) => {
    const { statusCode, body } = await ask(parameters)
    return [statusCode, ...[AGAIN, DOWN, PASSKEY, BUTTON].filter((text) => body.includes(text))]
  }

  const leaving = await ask({ prompt: 'login' })
  assert.match(locationOf(leaving), /^http:\/\/127\.0\.0\.1:\d+\/.*max_age=0/)

  const showAll = async () => {
    // The node has read the providers a second ago.
    server.clock.advance(1500)
    return [await shown({ prompt: 'login' }), await shown({ max_age: '30' })]
  }
  await perform(server.context, 'provider.delete', { provider_id: 'idp' })
  assert.deepEqual(await showAll(), [
    [200, AGAIN, PASSKEY],
    [200, AGAIN, PASSKEY],
  ])
  await addProvider(server, { issuer: 'http://127.0.0.1:9' }, {}, { id: 'down' })
  assert.deepEqual(await showAll(), [
    [503, AGAIN, DOWN, PASSKEY, BUTTON],
    [503, AGAIN, DOWN, PASSKEY, BUTTON],
  ])
  await perform(server.context, 'provider.disable', { provider_id: 'down' })
  assert.deepEqual(await showAll(), [
    [200, AGAIN, PASSKEY],
    [200, AGAIN, PASSKEY],
  ])
  assert.match((await ask({})).body, /name="decision"/, 'the session goes on')

  execute(server, 'update users set disabled_at = 1')
  assert.deepEqual(await shown({ prompt: 'login' }), [200, PASSKEY], 'a session of a disabled user does not count')
})
