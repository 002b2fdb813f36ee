import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mintUserId } from '../../../src/protocol/ids.ts'
import { authorizeUrl, locationOf, registerClient } from '../../../tools/flow.ts'
import { command, openServerForCommands } from '../../support/command.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { aUserOfProvider, anOrganization } from '../../support/records.ts'
import { openTestServer } from '../../support/server.ts'
import { signedInBy } from '../../support/sign-in/sessions.ts'
import { perform } from '../../support/tasks.ts'
import { sentence } from '../../texts/page-texts.ts'

/** A person without an address has taken the address of another person as the name. Each place says that it is a name. */

const NAME = 'boss@acme.test'
const server = await openServerForCommands(WHOLE_FILE)
const { clock, random, store } = server.context
const now = clock()
const user = aUserOfProvider({ id: mintUserId(now, random), name: NAME, createdAt: now, notBefore: now })
assert.equal(await store.createUser(user), 'created')
const organization = anOrganization({ createdAt: now, notBefore: now }, now)
await store.createOrganization(organization)
const member = { organization_id: organization.id, user_id: user.id }
await perform(server.context, 'member.add', member)
await perform(server.context, 'role.set', { user_id: user.id, access: 'read' })
const pages = await openTestServer(WHOLE_FILE)
const visitor = { ...user, createdAt: pages.clock.now(), notBefore: pages.clock.now() }
assert.equal(await pages.context.store.createUser(visitor), 'created')
const client = await registerClient(pages)
const { browser } = await signedInBy(pages, visitor, ['pop', 'mfa'])
const AS_NAME = /a user named \\*"boss@acme\.test\\*"/

/** What operators read, in which the name appears where an address may. */
const OF_OPERATORS: Readonly<Record<string, () => Promise<string>>> = {
  'role list': async () => (await command(['role', 'list'])).stdout,
  'audit list': async () => (await command(['audit', 'list', '--user', user.id, '--json'])).stdout,
  'the answer to role.list': async () => JSON.stringify(await perform(server.context, 'role.list', { limit: 10 })),
  'the message about a second membership': async () =>
    (await command(['org', 'add-member', organization.id, user.id])).stderr,
}

for (const [place, read] of Object.entries(OF_OPERATORS)) {
  test(`CON-36: ${place} shows a name that looks like an address as a name`, async () => {
    const text = await read()
    assert.match(text, AS_NAME)
    assert.doesNotMatch(text.replaceAll(new RegExp(AS_NAME, 'g'), ''), /boss@acme/)
  })
}

/** The pages on which the person reads whose account it is. */
const OF_PERSONS: Readonly<Record<string, (language: string) => Promise<string>>> = {
  'the account page': async (language) => (await browser.get(`/account?ui_locales=${language}`)).body,
  'the consent page': async (language) =>
    (await browser.get(locationOf(await browser.get(authorizeUrl(client, { ui_locales: language }))))).body,
  'the page of a sign-out': async (language) =>
    (await browser.get(`/v2/oauth/end-session?ui_locales=${language}`)).body,
}

for (const [place, read] of Object.entries(OF_PERSONS)) {
  for (const [language, words] of [
    ['en', sentence('withoutEmail')],
    ['de', 'ohne E-Mail-Adresse'],
  ] as const) {
    test(`CON-36: ${place} (${language}) says that the account has no address beside its name`, async () => {
      assert.match(await read(language), new RegExp(`boss@acme\\.test[^]{0,60}${words}`))
    })
  }
}
