import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { mintUserId } from '../../../src/protocol/ids.ts'
import { authorizeUrl, locationOf, PASSWORD, PlainBrowser, registerClient } from '../../../tools/flow.ts'
import { addApp } from '../../../tools/sign-in/app.ts'
import { openAuthenticator } from '../../../tools/sign-in/authenticator.ts'
import { givePasskey, passkeyFormOf, signedFields } from '../../../tools/sign-in/passkeys.ts'
import { createAccount } from '../../support/accounts.ts'
import { openTestServer } from '../../support/server.ts'

test('PK-07: until the first step was right, the answer is the same with an app, a passkey or neither, and without an account', async (t) => {
  const server = await openTestServer(t)
  const { context, clock } = server
  const client = await registerClient(server)
  const browser = new PlainBrowser(server)
  const page = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
  const names = ['plain@acme.test', 'hasap@acme.test', 'haspk@acme.test', 'nobod@acme.test']
  for (const email of names.slice(0, 3)) await createAccount(server, { email, password: PASSWORD, name: undefined })
  clock.advance(1)
  await addApp(server, names[1])
  const owner = await context.store.findUserByEmail(names[2] ?? '')
  assert.ok(owner)
  await givePasskey(server, owner.id)
  const masked = (body: string, email: string) =>
    body.replaceAll(email, '').replaceAll(/(challenge&quot;:&quot;)[^&]*/g, '$1')
  for (const fields of [{}, { password: 'a wrong password' }]) {
    const pages = new Set<string>()
    for (const email of names) {
      const { statusCode, body } = await browser.submit(page, { email, ...fields })
      pages.add(`${statusCode} ${masked(body, email)}`)
    }
    assert.equal(pages.size, 1, [...pages].join('\n'))
  }
  const authenticator = openAuthenticator()
  const answers = new Set<string>()
  for (const userId of [owner.id, mintUserId(clock.now(), randomBytes)]) {
    const fields = signedFields(page, { userId, authenticator })
    const { statusCode, body } = await browser.post(passkeyFormOf(page).action, fields)
    assert.match(body, /belongs to no account here/)
    assert.doesNotMatch(body, new RegExp(authenticator.credentialId))
    answers.add(`${statusCode} ${masked(body, '')}`)
  }
  assert.equal(answers.size, 1, [...answers].join('\n'))
})
