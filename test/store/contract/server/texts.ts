import assert from 'node:assert/strict'
import type { Scope } from '../../../../src/protocol/token/scope.ts'
import { approved } from '../token/authorizations.ts'
import { performAll, type Suite } from '../harness.ts'
import { aClient, aGrant, anAuthorization, aRedemption } from '../../../support/records.ts'

/** Texts that could be confused with the separators in which a store writes many values in one text. */
const ODD_TEXTS = [
  '',
  ' ',
  'a\nb',
  '\n',
  '\r\n',
  '\\n',
  '\\',
  '"',
  '\\"',
  ',',
  '{}',
  '{a,"b"}',
  'NULL',
  'null',
  '\t',
  '\u001f',
  '\u2028',
  '\u{1f600}',
  '$1',
]

export const textCases: Suite = (check) => {
  check('every text is read back unchanged, however many one batch writes', async ({ first, second }) => {
    const clients = ODD_TEXTS.map((text) =>
      aClient({ metadata: { ...aClient().metadata, client_name: text, contacts: [text, text] } }),
    )
    await performAll(first, 'registerClient', clients)
    const authorizations = ODD_TEXTS.map((text) => anAuthorization({ state: text, loginHint: text }))
    await performAll(first, 'startAuthorization', authorizations)
    const redemptions = await Promise.all(
      ODD_TEXTS.map(async (text) =>
        aRedemption((await approved(first)).approval, { grant: aGrant({ scope: text as Scope }) }),
      ),
    )
    await performAll(first, 'redeemCode', redemptions)
    for (const client of clients) assert.deepEqual(await second.findClient(client.id), client)
    for (const one of authorizations) assert.deepEqual(await second.findAuthorization(one.id), one)
    for (const { grant } of redemptions) assert.deepEqual(await second.findGrant(grant.id), grant)
  })
}
