import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { signInAndAllow } from '../../../src/cli/perform/page-walker.ts'
import { EMAIL, PASSWORD, redeem, type Tokens } from '../../../tools/flow.ts'
import { createAda } from '../../support/accounts.ts'
import { addMember, createOrganization, createPerson } from '../../support/organizations.ts'
import { addProvider } from '../../support/provider/providers.ts'
import { openTestServer } from '../../support/server.ts'
import { openListener, startClient } from '../../browser/tab.ts'

for (const [count, meant] of [
  [1, 'the organization'],
  [2, 'no organization'],
] as const) {
  test(`perform acts for ${meant} when the user is a member of ${count}`, async (t) => {
    const server = await openTestServer(t, { listen: true })
    const { port, next } = await openListener(t)
    const ada = await createPerson(server)
    const organizations = []
    for (let index = 0; index < count; index += 1) organizations.push(await createOrganization(server, `Acme ${index}`))
    for (const organization of organizations) await addMember(server, ada, organization)
    const redirectUri = `http://127.0.0.1:${port}/callback`
    const { client, link } = await startClient(server, redirectUri, {}, {})
    await signInAndAllow(link, redirectUri, { email: EMAIL, password: PASSWORD })
    const code = (await next()).searchParams.get('code') ?? ''
    const tokens = (await redeem(server, client, code, { redirect_uri: redirectUri })).json<Tokens>()
    assert.equal(decodeJwt(tokens.access_token)['org_id'], count === 1 ? organizations[0] : undefined)
  })
}

test('perform signs in with a password on a page that has buttons of providers', async (t) => {
  const server = await openTestServer(t, { listen: true })
  const { port, next } = await openListener(t)
  await createAda(server)
  for (const id of ['one', 'two']) await addProvider(server, { issuer: `https://${id}.example` }, {}, { id })
  const redirectUri = `http://127.0.0.1:${port}/callback`
  const { link } = await startClient(server, redirectUri, {}, {})
  await signInAndAllow(link, redirectUri, { email: EMAIL, password: PASSWORD })
  assert.ok((await next()).searchParams.has('code'))
})
