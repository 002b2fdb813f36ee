import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MailContent } from '../../src/ports/mail.ts'
import { renderMail } from '../../src/web/mail/mail.ts'
import { LINK, MAIL_BRANDING, MAIL_CONTENTS, SECURITY } from './mail-samples.ts'
import { languages } from './samples.ts'

const HOSTILE = `"<img/src=x>"'&\u202e@acme.test`

for (const language of languages) {
  test(`${language}: mails load nothing, name no user in the subject, and have at most one address to open`, () => {
    const subjects = MAIL_CONTENTS.map((content) => {
      const { subject, text, html } = renderMail(MAIL_BRANDING, { content, address: HOSTILE, language })
      assert.doesNotMatch(html, /<(img|script|link|style|iframe|object|form)\b|\ssrc=|url\(|@import/i)
      assert.doesNotMatch(html + text, /\u202e/u)
      assert.doesNotMatch(subject, /acme\.test|[\r\n]/)
      assert.ok(html.includes(`lang="${language}"`))
      const addresses = new Set([...html.matchAll(/href="([^"]+)"/g)].map(([, address]) => address))
      const plain = new Set(text.match(/https?:\S+/g))
      const expected = addressesOf(content)
      assert.deepEqual([[...addresses], [...plain]], [expected, expected])
      return subject
    })
    assert.equal(new Set(subjects).size, MAIL_CONTENTS.length)
  })
}

/** The previous address of an account gets no link to pages that its reader may no longer open. */
function addressesOf(content: MailContent): readonly string[] {
  if ('link' in content) return [LINK]
  return content.kind === 'notice' && content.notice !== 'email-changed' ? [SECURITY] : []
}

test('a mail says how long its link or code is valid, and a notice when it happened', () => {
  const textOf = (index: number, language: 'en' | 'de') =>
    renderMail(MAIL_BRANDING, { content: MAIL_CONTENTS[index] as MailContent, address: 'ada@acme.test', language }).text
  assert.match(textOf(0, 'en'), /valid for 7 days/)
  assert.match(textOf(0, 'de'), /gilt 7 Tage/)
  assert.match(textOf(1, 'en'), /valid for 1 hour/)
  assert.match(textOf(1, 'de'), /gilt 1 Stunde/)
  assert.match(textOf(3, 'en'), /Replies are not read\. Contact: help@desk\.test\n$/)
  assert.match(textOf(2, 'en'), /\n1234 5678\n[^]*valid for 15 minutes/)
  assert.match(textOf(2, 'de'), /gilt 15 Minuten/)
  assert.match(textOf(4, 'en'), /When: 24 November 2026 at 00:46 UTC\nBrowser: Firefox on Linux/)
  assert.match(textOf(4, 'de'), /Wann: 24\. November 2026 um 00:46 UTC\nBrowser: Firefox auf Linux/)
})
