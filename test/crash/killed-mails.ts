import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createUser } from '../../src/admin/user/user.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import { EMAIL, PASSWORD } from '../../tools/flow.ts'
import { freePort } from '../../tools/process/free-ports.ts'
import { openServerProcess } from '../../tools/process/server.ts'
import { openRemoteServer } from '../../tools/remote-server.ts'
import { openStoreOf } from '../../tools/runtime.ts'
import { openOwner } from '../endpoints/account/owner.ts'
import { openMailHost, type MailHost } from '../support/hosts/mail-host.ts'
import { temporaryFolder } from '../support/server.ts'
import { openMigratedDatabase } from '../support/store/migrated-database.ts'
import { pageSays } from '../texts/page-texts.ts'

const NEXT = 'another long horse'
const EVER = Number.MAX_SAFE_INTEGER as EpochMs

/** Two kills of a server, and three starts. */
export async function checkKilledMails(t: TestContext, kind: 'SQLite' | 'PostgreSQL'): Promise<void> {
  const host = await openMailHost(t)
  const folder = temporaryFolder(t)
  const port = await freePort()
  const url = kind === 'SQLite' ? `sqlite:${join(folder, 'grantor.db')}` : await openMigratedDatabase(t)
  const server = openServerProcess({ port, folder, settings: { ...host.env, DATABASE_URL: url } })
  t.after(() => server.kill())
  /** Returns the mails that wait, and makes them due, as if the time had passed. */
  const waiting = async (): Promise<number> => {
    const { context, close } = await openStoreOf(server.settings)
    const mails = await context.store.listDueMails({ now: EVER, limit: 9 })
    for (const mail of mails)
      await context.store.rescheduleMail({ ...mail, until: 0 as EpochMs, attempts: mail.attempts })
    await close()
    return mails.length
  }

  host.behave(closed)
  await server.start()
  const { context, close } = await openStoreOf(server.settings)
  await createUser(context, { email: EMAIL, password: PASSWORD, name: 'Ada', isVerified: true })
  await close()
  const agent = new Agent()
  t.after(() => agent.destroy())
  const owner = openOwner(openRemoteServer({ port, agent, limitMs: 60_000 }))
  const page = await owner.open('/account/security/password')
  const changed = await owner.submit(page, 'password', { password: NEXT, repeated: NEXT })
  assert.match(changed.body, pageSays('account.notices.password-changed'))
  server.kill()
  assert.deepEqual([await waiting(), host.mails.length], [1, 0])

  const killed = onMessage(host, () => server.kill())
  // It is killed soon after it is ready, or before.
  await server.start().catch(() => undefined)
  await killed
  assert.deepEqual([await waiting(), host.mails.length], [1, 1], 'the store does not know that it was accepted')

  const sent = onMessage(host, () => undefined)
  await server.start()
  await sent
  await server.stop()
  assert.deepEqual([await waiting(), host.mails.length], [0, 2])
  const ids = host.mails.map(({ headers }) => headers.find((line) => line.startsWith('Message-ID:')))
  assert.equal(ids[0], ids[1])
}

/** From now on the host accepts mails, and does something before it says so. Resolves with the first. */
function onMessage(host: MailHost, act: () => void): Promise<void> {
  return new Promise((resolve) => {
    host.behave((command) => {
      if (command !== 'message') return undefined
      act()
      resolve()
      return undefined
    })
  })
}

function closed(_command: string, socket: { readonly destroy: () => unknown }): string {
  socket.destroy()
  return ''
}
