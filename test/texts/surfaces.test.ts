import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { TEXTS } from '../../src/texts/generated.ts'
import { cut } from '../../src/texts/texts.ts'
import { SURFACES } from './surfaces.ts'

for (const [path, text] of Object.entries(SURFACES)) {
  test(`${path} has what a reader gets: npm run docs`, async () => {
    assert.equal(await text(), readFileSync(path, 'utf8'))
  })
}

/** Texts that no sample shows, and those of the links below each page, which the files leave out. */
const UNSEEN = [
  'footer',
  'terms',
  'privacy',
  'languages',
  'languageName',
  'addressUnknown',
  'codeUsed',
  'copied',
  'providerDownRequired',
  'providerFailed',
  'connectByPasskey',
  'account.removeImpliedConsequence',
  'account.removeAssertedConsequence',
  'account.signedInBy.recovery',
  'account.passkeyProblems.passkeys-full',
  'account.stays.factor',
  'account.recoveryLeft',
  'account.confirmBy.passkeyReplaceable',
  'account.confirmBy.identity',
  'device.signIn',
]

test('each text is on a page or in a mail that a sample shows', async () => {
  let seen = ''
  for (const path of ['test/texts/pages.txt', 'test/texts/mails.txt']) seen += (await SURFACES[path]?.()) ?? ''
  const unseen = Object.entries(TEXTS.en).filter(([, text]) =>
    cut(text).strings.some((part) => !seen.includes(part.trim())),
  )
  assert.deepEqual(
    unseen.map(([id]) => id),
    UNSEEN,
  )
})
