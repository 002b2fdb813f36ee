import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EpochMs } from '../../../src/base/brand.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { createAda } from '../../support/accounts.ts'
import { command, findingsAbout, openServerForCommands } from '../../support/command.ts'
import { openMailHost } from '../../support/hosts/mail-host.ts'
import { aLink } from '../../support/records.ts'
import { aMail } from '../../support/sign-in/factor-records.ts'
import { EMAIL } from '../../../tools/flow.ts'

const { context } = await openServerForCommands(WHOLE_FILE)
const host = await openMailHost(WHOLE_FILE)
const HERE = `127.0.0.1:${host.port}`

test('mail test sends a mail at once, and prints the answer; without a mail server it says what to set', async () => {
  const off = await command(['mail', 'test', EMAIL])
  assert.deepEqual([off.code, off.stdout], [1, ''])
  assert.match(off.stderr, /No mail server is configured\. Set GRANTOR_SMTP_URL/)
  assert.deepEqual(await findingsAbout('mail'), [])
  Object.assign(process.env, host.env)
  const sent = await command(['mail', 'test', EMAIL])
  assert.deepEqual(
    [sent.stdout, sent.stderr],
    [`The mail server accepted a mail to ${EMAIL}. The answer: 250 kept\n`, ''],
  )
  assert.deepEqual(host.mails[0]?.to, [EMAIL])
  assert.match(host.mails[0].text, /The mail settings of Grantor work/)
  host.behave((said) => (said.startsWith('RCPT') ? '550 no\u001b[31m such user' : undefined))
  const refused = await command(['mail', 'test', EMAIL])
  host.behave(undefined)
  assert.equal(
    refused.stdout,
    `No mail was sent to ${EMAIL}: refused (docs/mail.md). The answer: 550 no\\u{1b}[31m such user\n`,
  )
})

test('doctor connects to the mail server, and reports a mail that no node sends', async () => {
  assert.deepEqual(await findingsAbout('mail'), [['ok', `${HERE} can be reached.`]])
  host.behave((said) => (said === 'connection' ? '554 go away' : undefined))
  const [refused] = await findingsAbout('mail')
  host.behave(undefined)
  assert.equal(refused?.[0], 'failed')
  assert.match(String(refused), new RegExp(`No mail can be sent by ${HERE} \\(unreachable\\): .*554 go away`))
  await createAda({ context })
  const { id: userId = '' as never } = (await context.store.findUserByEmail(EMAIL)) ?? {}
  const dueAt = (context.clock() - 11 * 60_000) as EpochMs
  await context.store.createLink({ ...aLink({ userId }), mails: [aMail({ userId, address: EMAIL, dueAt })] })
  const late = ['warning', 'A mail has been due for 11 minutes, and no node has sent it.']
  assert.deepEqual((await findingsAbout('mail'))[1], late)
  for (const name of Object.keys(host.env)) delete process.env[name]
  assert.deepEqual(await findingsAbout('mail'), [late], 'also without a mail server')
})
