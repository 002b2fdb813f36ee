import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOTICE_KINDS } from '../../src/ports/records/mail.ts'
import { noticesWithoutBrowser } from '../../src/users/mails.ts'
import { createAccount } from '../support/accounts.ts'
import { deliver, openMailHost } from '../support/hosts/mail-host.ts'
import { openTestServer } from '../support/server.ts'
import { openNodeSettings } from '../support/store/migrated-database.ts'

test('two nodes that both send what waits send each mail once', async (t) => {
  const host = await openMailHost(t)
  const env = { ...host.env, ...(await openNodeSettings(t)) }
  const first = await openTestServer(t, { env })
  const second = await openTestServer(t, { env, clock: first.clock })
  const { store } = first.context
  const user = await createAccount(first, {
    email: 'ada@acme.test',
    isVerified: true,
    password: undefined,
    name: 'Ada',
  })
  const mails = NOTICE_KINDS.flatMap((notice) => noticesWithoutBrowser(first.context, user, notice))
  assert.equal(mails.length, NOTICE_KINDS.length)
  await store.setPassword({ id: user.id, passwordHash: 'hash', now: first.clock.now(), mails })
  await Promise.all([first, second, first, second].map(deliver))
  const ids = host.mails.map(({ headers }) => headers.find((line) => line.startsWith('Message-ID:')))
  assert.deepEqual([ids.length, new Set(ids).size], [mails.length, mails.length])
  assert.deepEqual(await store.listDueMails({ now: first.clock.now(), limit: 99 }), [])
})
