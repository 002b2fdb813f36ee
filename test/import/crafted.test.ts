import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EpochMs } from '../../src/base/brand.ts'
import { base32 } from '../../src/protocol/sign-in/totp.ts'
import { listLinks } from '../store/contract/chains.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { addProvider } from '../support/provider/providers.ts'
import { openTestServer } from '../support/server.ts'
import { aUserLine, importFile, writeInput, writeRecords } from './importing.ts'

const server = await openTestServer(WHOLE_FILE)
const { store } = server.context
await addProvider(server, { issuer: 'https://idp.example' })

test('IMP-09: crafted lines are refused, and the others imported', async (t) => {
  const good = (id: string) => Buffer.from(JSON.stringify(aUserLine(id)))
  const nested = `{"type":"user","id":"n","profile":${'['.repeat(50_000)}${']'.repeat(50_000)}}`
  const lines: readonly (string | Buffer)[] = [
    Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), good('c-1'), Buffer.from('\r')]),
    '{"type":"user","id":"c-2","__proto__":{"disabled":true}}',
    nested,
    `{"type":"user","id":"c-3","name":"${'x'.repeat(1024 * 1024)}"}`,
    String.raw`{"type":"user","id":"c-4","name":"a\u0000"}`,
    '{"type":"user","id":"c-4","name":"a\0"}',
    String.raw`{"type":"user","id":"c-5","name":"\ud800"}`,
    Buffer.concat([Buffer.from('{"type":"user","id":"c-6","name":"'), Buffer.from([0xff]), Buffer.from('"}')]),
    '[1]',
    '{"type":"constructor","id":"c-7"}',
    '',
    JSON.stringify(aUserLine('=HYPERLINK("x")', { email: 'formula@acme.test' })),
    good('c-8'),
  ]
  const file = writeInput(t, Buffer.concat(lines.flatMap((line) => [Buffer.from(line), Buffer.from('\n')])))
  const { report } = await importFile(t, server, file)
  assert.deepEqual(
    report.map(({ line, reason }) => [line, reason]),
    [
      [1, 'needs_link'],
      ...[2, 3, 4, 5, 6, 7, 8, 9].map((line) => [line, 'line_malformed']),
      [10, 'record_malformed'],
      [12, 'id_replaced needs_link'],
      [13, 'needs_link'],
    ],
  )
  const gzip = writeInput(t, Buffer.from([0x1f, 0x8b, 8, 0]))
  await assert.rejects(importFile(t, server, gzip), /is compressed/)
  await assert.rejects(importFile(t, server, '/nowhere/at/all'), /cannot be read: ENOENT/)
})

test('IMP-10: neither the report, the log, the audit nor an error has an address, a name, a hash or a secret', async (t) => {
  const values = {
    email: 'secretive@acme.test',
    name: 'Secretive Person',
    password_hash: `$2b$04$${'k'.repeat(53)}`,
    totp: base32(Buffer.from('another secret of an app')),
    nickname: 'very-secretive',
    subject: 'subject-of-secretive',
    client_secret: 'Zy9xW8vU7tS6rQ5pO4n',
  }
  const { email, name, password_hash, nickname, totp, subject, client_secret } = values
  const whole = {
    email,
    name,
    password_hash,
    profile: { nickname },
    totp: { secret: totp },
    identities: [{ provider: 'idp', subject }],
  }
  const { text } = await importFile(
    t,
    server,
    writeRecords(t, [
      aUserLine('s-1', whole),
      aUserLine('s-2', whole),
      aUserLine('s-3', { ...whole, [email]: 1 }),
      aUserLine('s-4', { ...whole, email: `${email}@`, profile: { [nickname]: name } }),
      {
        type: 'client',
        client_id: 's-board',
        client_name: 'Board',
        client_secret,
        redirect_uris: ['https://board.example/cb'],
      },
      { type: 'client', client_id: 's-other', client_name: 'B', client_secret, grant_types: [client_secret] },
    ]),
  )
  const audit = JSON.stringify(await listLinks(store, 0 as EpochMs))
  for (const [what, value] of Object.entries(values))
    for (const place of [text, server.log(), audit]) assert.ok(!place.includes(value), what)
})
