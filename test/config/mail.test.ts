import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ConfigError, readConfig } from '../../src/config/config.ts'

const FROM = 'no-reply@acme.test'

test('the address of the mail server says how it is reached, and with which login', () => {
  const cases = [
    ['smtps://mail.acme.test', ['mail.acme.test', 465, true, undefined]],
    ['smtp://mail.acme.test', ['mail.acme.test', 587, false, undefined]],
    ['smtp://[::1]:25/', ['::1', 25, false, undefined]],
    ['smtps://a%40b:p%3A%2F%25@mail.acme.test:1465', ['mail.acme.test', 1465, true, { user: 'a@b', password: 'p:/%' }]],
  ] as const
  for (const [url, [host, port, isTls, login]] of cases) {
    const { mail } = readConfig({ GRANTOR_SMTP_URL: url, GRANTOR_MAIL_FROM: FROM })
    assert.deepEqual(mail, { server: { host, port, isTls, login }, from: { name: undefined, address: FROM } })
  }
})

test('the sender has an address, and a name or none', () => {
  const cases = [
    ['Acme <no-reply@acme.test>', 'Acme'],
    ['"Acme, Inc." <no-reply@acme.test>', 'Acme, Inc.'],
    ['<no-reply@acme.test>', undefined],
    ['Ärzte & Co <no-reply@acme.test>', 'Ärzte & Co'],
  ] as const
  for (const [from, name] of cases) {
    const { mail } = readConfig({ GRANTOR_SMTP_URL: 'smtp://localhost', GRANTOR_MAIL_FROM: from })
    assert.deepEqual(mail?.from, { name, address: FROM })
  }
})

test('a mistake in the settings of mail is named, without the password', () => {
  const url = 'smtp://mail.acme.test'
  const cases: readonly (readonly [settings: Readonly<Record<string, string>>, mistake: RegExp])[] = [
    ...[
      'mail.acme.test',
      'https://mail.acme.test',
      'smtp:',
      'smtps://',
      'smtp://u:s3cret/x@h',
      'smtp://u:s3cret#x@h',
    ].map(
      (wrong) => [{ GRANTOR_SMTP_URL: wrong, GRANTOR_MAIL_FROM: FROM }, /^GRANTOR_SMTP_URL must be smtps:/] as const,
    ),
    ...['smtp://u:s3cret%@h', 'smtp://u@h', 'smtp://:s3cret@h', 'smtp://h?pool=true', 'smtp://h/x'].map(
      (wrong) => [{ GRANTOR_SMTP_URL: wrong, GRANTOR_MAIL_FROM: FROM }, /^GRANTOR_SMTP_URL must be smtps:/] as const,
    ),
    ...['Acme', 'a@b@c', 'a b@acme.test', 'Acme <a@acme.test>, b@acme.test', 'A\r\nBcc: x <a@acme.test>'].map(
      (from) => [{ GRANTOR_SMTP_URL: url, GRANTOR_MAIL_FROM: from }, /^GRANTOR_MAIL_FROM must be an address/] as const,
    ),
    [{ GRANTOR_SMTP_URL: url }, /^GRANTOR_SMTP_URL needs GRANTOR_MAIL_FROM$/],
    [{ GRANTOR_MAIL_FROM: FROM }, /^GRANTOR_MAIL_FROM needs GRANTOR_SMTP_URL$/],
    [
      { GRANTOR_SMTP_URL: url, GRANTOR_MAIL_FROM: FROM, GRANTOR_DELEGATE_URL: 'https://app.acme.test/' },
      /^GRANTOR_SMTP_URL must not be set where your application signs users in/,
    ],
  ]
  for (const [settings, mistake] of cases) {
    assert.throws(
      () => readConfig(settings),
      (cause: ConfigError) => {
        assert.equal(cause.mistakes.length, 1, JSON.stringify(settings))
        assert.match(cause.mistakes[0] ?? '', mistake)
        assert.doesNotMatch(cause.message, /s3cret/)
        return true
      },
    )
  }
})
