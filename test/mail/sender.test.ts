import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { createServer } from 'node:tls'
import { generate } from 'selfsigned'
import { openMailClient, type MailClient } from '../../src/mail/sender.ts'
import type { MailServer, OutgoingMail, SendOutcome } from '../../src/ports/mail.ts'
import { freePort } from '../../tools/process/free-ports.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { openMailHost, type Behaviour } from '../support/hosts/mail-host.ts'

const host = await openMailHost(WHOLE_FILE)
/** For a host that does not answer. */
const SHORT = { connectMs: 1000, greetingMs: 60, idleMs: 120, wholeMs: 300 }
/** For one that does, on a machine that is busy. */
const LONG = { connectMs: 20_000, greetingMs: 20_000, idleMs: 20_000, wholeMs: 20_000 }
const HERE = { host: '127.0.0.1', port: host.port, isTls: false, login: undefined }
const LOGIN = { user: 'u', password: 'p4ssw0rd' }
const NEVER = new AbortController().signal

function clientOf(server: Partial<MailServer>, limits = LONG): MailClient {
  return openMailClient({ ...HERE, ...server }, { name: 'Acme', address: 'no-reply@acme.test' }, 'id.acme.test', limits)
}

function mailTo(to: string): OutgoingMail {
  return { id: 'gYz', to, subject: 'Hello', text: 'Hello', html: '<p>Hello</p>', language: 'en' }
}

function sayOf(outcome: SendOutcome): string {
  if (outcome.kind === 'accepted') return 'accepted'
  return [outcome.reason, outcome.code, outcome.isFinal ? 'final' : undefined].filter(Boolean).join(' ')
}

/** Answers a command with one line. */
function at(start: string, answer: string): Behaviour {
  return (command) => (command.startsWith(start) ? answer : undefined)
}

const BEHAVIOURS: Readonly<Record<string, readonly [behaviour: Behaviour, outcome: string]>> = {
  'says nothing at first': [at('connection', ''), 'timeout'],
  'says nothing after the mail': [at('message', ''), 'timeout'],
  'never completes its greeting': [dripAt('connection'), 'timeout'],
  'never completes its last answer': [dripAt('message'), 'timeout'],
  'closes at first': [closeAt('connection'), 'unreachable'],
  'closes after the mail': [closeAt('message'), 'unreachable'],
  'is busy': [at('connection', '421 later'), 'unreachable 421'],
  'wants nothing of this host': [at('connection', '554 go away'), 'unreachable 554'],
  'does not take the sender': [at('MAIL', '550 no'), 'refused 550 final'],
  'does not know the recipient': [at('RCPT', '550 <ada@acme.test> unknown'), 'refused 550 final'],
  'has no room': [at('RCPT', '452 later'), 'deferred 452'],
  'refuses the text': [at('message', '554 spam'), 'refused 554 final'],
  'wants the text later': [at('message', '451 grey'), 'deferred 451'],
  'sends nonsense': [at('connection', 'x'.repeat(20_000)), 'unreachable'],
}

for (const [what, [behaviour, expected]] of Object.entries(BEHAVIOURS)) {
  test(`ACC-11: a mail server that ${what} is reported in bounded time`, async () => {
    const before = host.mails.length
    host.behave(behaviour)
    const { send } = clientOf({}, expected === 'timeout' ? SHORT : LONG)
    const outcome = await send(mailTo('ada@acme.test'), NEVER)
    host.behave(undefined)
    assert.equal(sayOf(outcome), expected)
    assert.equal(host.mails.length, before)
  })
}

test('a connection is encrypted, with a valid certificate, unless the mail server is on this machine', async (t) => {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }])
  const unknown = createServer({ key, cert }, (socket) => socket.end('220 mail.test\r\n')).listen(0, '127.0.0.1')
  await once(unknown, 'listening')
  t.after(() => unknown.close())
  const address = unknown.address()
  const port = address === null || typeof address === 'string' ? 0 : address.port
  const cases: readonly (readonly [server: Partial<MailServer>, outcome: string])[] = [
    [{}, 'accepted'],
    [{ isTls: true }, 'tls-failed'],
    [{ host: 'localhost', port, isTls: true }, 'tls-failed'],
    // It leads to this machine too, and is not one of its names. The server offers no STARTTLS.
    [{ host: '0.0.0.0' }, 'tls-failed 502'],
    [{ host: '0.0.0.0', login: LOGIN }, 'tls-failed 502'],
    [{ login: LOGIN }, 'login-refused 502'],
    [{ port: await freePort() }, 'unreachable'],
    [{ host: 'mail.invalid' }, 'unreachable'],
  ]
  for (const [server, expected] of cases) {
    const before = host.commands.length
    const { send, probe } = clientOf(server)
    assert.equal(sayOf(await send(mailTo('ada@acme.test'), NEVER)), expected, JSON.stringify(server))
    if (expected.startsWith('tls-failed'))
      assert.deepEqual(
        host.commands.slice(before).filter((one) => /^(MAIL|AUTH)/.test(one)),
        [],
      )
    assert.equal(sayOf(await probe()), expected, JSON.stringify(server))
  }
})

test('ACC-11: a mail goes to one address, of which nothing is read twice; odd ones get none', async () => {
  const { send } = clientOf({})
  const label = 'a'.repeat(60)
  const good = [
    'ada+x@acme.test',
    "o'brien@acme.test",
    'ada@bücher.example',
    `${label}@${label}.${label}.${label}.test`,
  ]
  for (const to of good) {
    assert.equal(sayOf(await send(mailTo(to), NEVER)), 'accepted', to)
    assert.equal(host.mails.at(-1)?.to.length, 1)
    assert.deepEqual(host.mails.at(-1)?.from, 'no-reply@acme.test')
  }
  assert.deepEqual(
    host.mails.slice(-2).map(({ to }) => to),
    [['ada@xn--bcher-kva.example'], [good[3]]],
  )
  const before = host.commands.length
  const odd = [
    '',
    'ada',
    '@acme.test',
    'ada@',
    'a@b@acme.test',
    '"a b"@acme.test',
    '"x@evil.test"@acme.test',
    'ada@[127.0.0.1]',
    'ada@acme.test\r\nBcc: eve@evil.test',
    'ada@acme.test\nRCPT TO:<eve@evil.test>',
    'ada@acme.test,eve@evil.test',
    'Ada <ada@acme.test>',
    'g:ada@acme.test;',
    '(c)ada@acme.test',
    'ada@acme..test',
    '.ada@acme.test',
    'ada@-acme.test',
    'ada@acme.test ',
    ' ada@acme.test',
    `${'a'.repeat(65)}@acme.test`,
    `ada@${label}.${label}.${label}.${label}.acme.test`,
    'a\u0000b@acme.test',
  ]
  for (const to of odd) assert.equal(sayOf(await send(mailTo(to), NEVER)), 'address-invalid final', JSON.stringify(to))
  assert.equal(host.commands.length, before, 'nothing was sent')
})

test('RFC 6531 §3.2: an address that is not ASCII goes to a server that announces SMTPUTF8, and otherwise nothing is sent', async () => {
  const [to, domain] = ['jürgen@xn--bcher-kva.example', 'ada@bücher.example']
  const sent = async (address: string, answer: string | undefined, limits = LONG) => {
    host.behave(answer === undefined ? undefined : at('EHLO', answer))
    const before = host.commands.length
    const outcome = await clientOf({}, limits).send(mailTo(address), NEVER)
    host.behave(undefined)
    return [sayOf(outcome), host.commands.slice(before).find((command) => command.startsWith('MAIL'))]
  }
  const from = 'MAIL FROM:<no-reply@acme.test>'
  assert.deepEqual(await sent(to, undefined), ['accepted', `${from} SMTPUTF8`])
  assert.deepEqual(host.mails.at(-1)?.to, ['jürgen@bücher.example'])
  const without = '250-mail.test\r\n250-X-SMTPUTF8X\r\n250 8BITMIME'
  assert.deepEqual(await sent(to, without), ['smtputf8-missing final', undefined])
  assert.deepEqual(await sent(domain, without), ['accepted', from])
  assert.deepEqual(await sent(to, '', SHORT), ['timeout', undefined])
  const sender = { name: undefined, address: 'jürgen@acme.test' }
  host.behave(at('EHLO', without))
  const outcome = await openMailClient(HERE, sender, 'id.acme.test', LONG).send(mailTo('ada@acme.test'), NEVER)
  host.behave(undefined)
  // The operator can choose another sender while the mail waits.
  assert.equal(sayOf(outcome), 'smtputf8-missing')
})

test('a mail has one sender, says that no person wrote it, and has the id of its row', async () => {
  await clientOf({}).send(mailTo('ada@acme.test'), NEVER)
  const names = host.mails.at(-1)?.headers.map((line) => line.replace(/:.*/, '')) ?? []
  assert.equal(new Set(names).size, names.length)
  const headers = new Map(host.mails.at(-1)?.headers.map((line) => line.split(': ', 2) as [string, string]))
  assert.equal(headers.get('From'), 'Acme <no-reply@acme.test>')
  assert.equal(headers.get('Auto-Submitted'), 'auto-generated')
  assert.equal(headers.get('Message-ID'), '<gYz@id.acme.test>')
})

function dripAt(start: string): Behaviour {
  return (command, socket) => {
    if (!command.startsWith(start)) return undefined
    const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write('2')), 20)
    return ''
  }
}

function closeAt(start: string): Behaviour {
  return (command, socket) => {
    if (!command.startsWith(start)) return undefined
    socket.destroy()
    return ''
  }
}
