import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OrganizationId, UserId } from '../../../src/protocol/ids.ts'
import { authorizeUrl, PlainBrowser, registerClient } from '../../../tools/flow.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { addMember, codeIn, createOrganization, createPerson, openConsent } from '../../support/organizations.ts'
import { openTestServer } from '../../support/server.ts'
import { execute } from '../../support/store/dump.ts'
import { perform } from '../../support/tasks.ts'

const server = await openTestServer(WHOLE_FILE)
const MINUTE_MS = 60_000

interface Remembering {
  readonly userId: UserId
  readonly organizationId: OrganizationId
}

/** What ends the consent, and whether the consent is one for an organization. */
const REVOCATIONS: Readonly<
  Record<string, readonly [forOrganization: boolean, end: (of: Remembering) => Promise<unknown>]>
> = {
  'token.revoke-all': [false, () => perform(server.context, 'token.revoke-all', { confirm: 'everything' })],
  'user.revoke-tokens': [false, ({ userId }) => perform(server.context, 'user.revoke-tokens', { user_id: userId })],
  'organization.revoke-tokens': [
    true,
    ({ organizationId: organization_id }) => perform(server.context, 'organization.revoke-tokens', { organization_id }),
  ],
  'organization.disable and enable': [
    true,
    async ({ organizationId: organization_id }) => {
      await perform(server.context, 'organization.disable', { organization_id })
      await perform(server.context, 'organization.enable', { organization_id })
    },
  ],
  'member.remove and add': [
    true,
    async ({ organizationId, userId }) => {
      await server.context.store.removeMember({ organizationId, userId, now: server.clock.now() })
      await addMember(server, userId, organizationId)
    },
  ],
}

for (const [name, [isForOrganization, end]] of Object.entries(REVOCATIONS)) {
  for (const aheadMs of [0, 20 * MINUTE_MS]) {
    test(`STO-13: after ${name} a consent that a clock gave ${aheadMs / MINUTE_MS} minutes ahead is not remembered, and a new one is`, async () => {
      const email = `${name.replaceAll(/\W/g, '-')}-${aheadMs}@acme.test`
      const userId = await createPerson(server, email)
      const organizationId = await createOrganization(server, name)
      if (isForOrganization) await addMember(server, userId, organizationId)
      const url = authorizeUrl(await registerClient(server))
      const isRemembered = async () => {
        const browser = new PlainBrowser(server)
        await openConsent(browser, authorizeUrl(await registerClient(server)), email)
        return codeIn(await browser.get(`${url}&prompt=none`)) !== undefined
      }
      const allow = async () => {
        const browser = new PlainBrowser(server)
        const page = await openConsent(browser, url, email)
        const choice = isForOrganization ? { organization: organizationId } : {}
        assert.equal((await browser.submit(page, { decision: 'allow', ...choice })).statusCode, 303)
      }
      await allow()
      assert.equal(await isRemembered(), true, 'before')
      execute(server, 'update consents set given_at = given_at + ? where user_id = ?', aheadMs, userId)
      await end({ userId, organizationId })
      server.clock.advance(aheadMs + MINUTE_MS)
      assert.equal(await isRemembered(), false, 'after')
      await allow()
      assert.equal(await isRemembered(), true, 'again')
    })
  }
}
