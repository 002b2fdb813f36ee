import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authorizeUrl, locationOf, PlainBrowser, registerClient } from '../../tools/flow.ts'
import { openProviderHost } from '../support/provider/provider-host.ts'
import { addProvider, signInAt } from '../support/provider/providers.ts'
import { openTestServer } from '../support/server.ts'
import { selectAll } from '../support/store/dump.ts'

test('a person signs in at GitHub: the number of the account is the subject, and the primary address counts if it is verified', async (t) => {
  const server = await openTestServer(t)
  const host = await openProviderHost(t)
  await addProvider(server, host, { signUp: 'anybody' }, { id: 'github', template: 'github', name: 'GitHub' })
  const client = await registerClient(server)
  const people = [
    { id: 1, name: 'Ada', emails: [{ email: 'ada@acme.test', primary: true, verified: true }] },
    { id: 2, name: 'Bob', emails: [{ email: 'bob@acme.test', primary: true, verified: false }] },
    { id: 3, name: null, emails: [{ email: 'eve@acme.test', primary: false, verified: true }] },
    { id: 4, name: 'Dan', emails: { message: 'Not Found' } },
  ]
  for (const claims of people) {
    const browser = new PlainBrowser(server)
    const page = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
    const answer = await signInAt({ browser, page, host }, claims, { callback: { iss: null } }, 'github')
    assert.equal(answer.statusCode, 303, answer.body)
  }
  assert.deepEqual(
    selectAll(
      server,
      'select subject, users.email, name from identities join users using (user_id) order by subject',
    ).map((row) => ({ ...row })),
    [
      { subject: '1', email: 'ada@acme.test', name: 'Ada' },
      { subject: '2', email: null, name: 'Bob' },
      { subject: '3', email: null, name: 'ada' },
      { subject: '4', email: null, name: 'Dan' },
    ],
  )
})

test('an answer of GitHub without an account number signs no user in', async (t) => {
  const server = await openTestServer(t)
  const host = await openProviderHost(t)
  await addProvider(server, host, { signUp: 'anybody' }, { id: 'github', template: 'github', name: 'GitHub' })
  const client = await registerClient(server)
  for (const id of [undefined, 'ada', 1.5, null]) {
    const browser = new PlainBrowser(server)
    const page = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
    const answer = await signInAt({ browser, page, host }, { id }, { callback: { iss: null } }, 'github')
    assert.equal(answer.statusCode, 403)
  }
  assert.deepEqual(selectAll(server, 'select * from users'), [])
})
