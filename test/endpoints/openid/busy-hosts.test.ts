import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { StoreUnavailable, type Store } from '../../../src/ports/store.ts'
import { openLogoutNotifier } from '../../../src/server/background/logout-notifier.ts'
import { PlainBrowser } from '../../../tools/flow.ts'
import { signOut } from '../../../tools/sign-out.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { openNotifiedHost } from '../../support/hosts/notified-host.ts'
import { openClient, PATIENT } from '../../outbound/open-client.ts'
import { execute, selectAll } from '../../support/store/dump.ts'
import { login } from './login.ts'
import { notifying, openNotified, openNotifier } from './notified.ts'

/** Notices of logout to many hosts, of which some hang, and from a store that fails. */

const { server, host, notifiedClient, endedSession, delivered, waiting, copyRows } = await openNotified(WHOLE_FILE)
/** In that time requests of one turn have reached their hosts, unless they wait for a place. */
const CONNECTED_MS = 250
/** On a busy machine sixty requests take longer than a server waits for one. */
const patient = { ...server.context, outbound: openClient() }

test('LO-22: a thousand applications at a slow or silent host do not delay the notices to others', async (t) => {
  const other = await openNotifiedHost(t)
  const listeners: readonly RequestListener[] = [(request) => void request.socket.destroy(), () => undefined]
  for (const [index, listener] of listeners.entries()) {
    other.answer(listener)
    const attacker = new PlainBrowser(server)
    const client = await notifiedClient({ uri: other.uri() })
    await login(server, client, { prompt: 'consent' }, attacker)
    for (const table of ['clients', 'logout_notices']) copyRows(table, client, 1100, index * 10_000)
    await signOut(attacker)
    server.clock.advance(2000)
    await endedSession()
    const notifier = openNotifier({ context: patient })
    const before = host.notices.length
    for (let round = 0; round < 12; round += 1) await notifier.round()
    while (host.notices.length === before) await nextTurn()
    await notifier.close()
    execute(server, 'delete from logout_notices')
  }
})

test('LO-23: 64 hosts that hang, or answer slowly again and again, do not take the places of others', async (t) => {
  const held: (() => void)[] = []
  const hosts = await Promise.all(Array.from({ length: 64 }, () => openNotifiedHost(t)))
  for (const slow of hosts) slow.answer((_request, response) => void held.push(() => void response.end()))
  for (const answersLate of [false, true]) {
    const attacker = new PlainBrowser(server)
    const uri = hosts[0]?.uri() ?? ''
    const client = await notifiedClient({ uri })
    await login(server, client, { prompt: 'consent' }, attacker)
    for (const [index, slow] of hosts.entries()) {
      const from = 100_000 + (answersLate ? 1000 : 0) + index * 10
      for (const table of ['clients', 'logout_notices']) copyRows(table, client, 4, from, [uri, slow.uri()])
    }
    await signOut(attacker)
    const notifier = openNotifier({ context: patient })
    await notifier.round()
    const board = await endedSession()
    const boardNotices = (): readonly Record<string, unknown>[] =>
      selectAll(server, 'select due_at from logout_notices where client_id = ? and due_at is not null', board.client_id)
    const isWaiting = (): boolean => boardNotices().length > 0
    // A notice that was sent is not due again for half a minute, and one that was refused or given up for ten seconds.
    const isSent = (): boolean => boardNotices().some((one) => Number(one['due_at']) > server.clock.now() + 15_000)
    // The requests are real, and a busy machine takes longer than a few turns to connect them.
    const pass = async (): Promise<void> => {
      const until = performance.now() + CONNECTED_MS
      while (isSent() || (performance.now() < until && isWaiting())) await nextTurn()
    }
    for (let seconds = 0; isWaiting(); seconds += 1) {
      assert.ok(seconds < 5, 'the notice of another host is sent within 5 seconds')
      server.clock.advance(1000)
      if (answersLate) for (const answer of held.splice(0)) answer()
      await pass()
      await notifier.round()
      await pass()
    }
    await notifier.close()
    execute(server, 'delete from logout_notices')
    server.clock.advance(60_000)
  }
})

test('LO-24: an application whose endpoint refuses, fails or hangs stops no notice to the others at its host', async () => {
  const answers: Readonly<Record<string, RequestListener>> = {
    403: (_request, response) => void response.writeHead(403).end(),
    503: (_request, response) => void response.writeHead(503).end(),
    hangs: () => undefined,
    'closes the connection': (request) => void request.socket.destroy(),
  }
  const limits = { ...PATIENT, 'logout-notice': { body: 0, deadlineMs: 200 } }
  for (const [name, answer] of Object.entries(answers)) {
    host.answer((request, response) => (request.url === '/failing' ? answer(request, response) : response.end()))
    const browser = new PlainBrowser(server)
    await login(server, await notifiedClient({ uri: host.uri('/failing') }), { prompt: 'consent' }, browser)
    await signOut(browser)
    const notifier = openNotifier({ context: { ...server.context, outbound: openClient({ limits }) } })
    await notifying(notifier)
    assert.equal(waiting().length, 1, name)
    await endedSession()
    await notifying(notifier)
    assert.equal(waiting().length, 1, `${name}: the other is notified meanwhile`)
    execute(server, 'delete from logout_notices')
  }
  host.answer((_request, response) => void response.end())
})

test('LO-22: notices that wait for a busy host are read once in a round, and not after each answer', async () => {
  const client = await notifiedClient()
  const browser = new PlainBrowser(server)
  await login(server, client, { prompt: 'consent' }, browser)
  execute(
    server,
    `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 200)
     insert into logout_notices select user_id || n, root_id, client_id, sid, session_started_at, expires_at, 0, 0
       from logout_notices, numbers`,
  )
  let readPast = 0
  const { listDueLogoutNotices } = server.context.store
  const store: Store = {
    ...server.context.store,
    async listDueLogoutNotices(due) {
      readPast += due.except.length
      return listDueLogoutNotices(due)
    },
  }
  const before = host.notices.length
  await notifying(openNotifier({ context: { ...server.context, store } }))
  assert.deepEqual([host.notices.length - before, readPast], [200, 1])
  await signOut(browser)
  await delivered()
})

test('LO-11: an attempt that ends with a fault of the store gives the place at its host back', async () => {
  await endedSession()
  let faults = 5
  const { rescheduleLogoutNotice } = server.context.store
  const store: Store = {
    ...server.context.store,
    async rescheduleLogoutNotice(change) {
      faults -= 1
      if (faults >= 0) throw new StoreUnavailable('the disk is full')
      return rescheduleLogoutNotice(change)
    },
  }
  const logged: string[] = []
  const log = ({ event }: { readonly event: string }): void => void logged.push(event)
  const notifier = openLogoutNotifier({ ...server.context, store }, { error: log, warn: log })
  for (let round = 0; round < 5; round += 1) await notifying(notifier)
  assert.ok(logged.includes('store.unavailable'), logged.join())
  assert.equal(waiting().length, 1)
  await notifying(notifier)
  assert.deepEqual(waiting(), [])
})

test('LO-11: a store that refuses to write is asked for notices once in a round', async () => {
  await endedSession()
  execute(
    server,
    `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 9)
     insert into logout_notices select user_id || n, root_id, client_id, sid, session_started_at, expires_at, 0, 0
       from logout_notices, numbers`,
  )
  let looks = 0
  let claims = 0
  const { listDueLogoutNotices } = server.context.store
  const store: Store = {
    ...server.context.store,
    async listDueLogoutNotices(due) {
      looks += 1
      return looks > 50 ? [] : listDueLogoutNotices(due)
    },
    async rescheduleLogoutNotice() {
      claims += 1
      // The claims of a round fail one after the other.
      for (let turn = claims % 2; turn >= 0; turn -= 1) await nextTurn()
      throw new StoreUnavailable('the disk is full')
    },
  }
  const notifier = openLogoutNotifier({ ...server.context, store }, { error: () => undefined, warn: () => undefined })
  await notifying(notifier)
  assert.equal(looks, 1)
  while (waiting().length > 0) assert.notDeepEqual(await delivered(), [])
})

test('LO-23: the deadline of a request begins when it is sent, and the next one follows the first that completes', async (t) => {
  const hosts = await Promise.all(Array.from({ length: 32 }, () => openNotifiedHost(t)))
  const held: (() => void)[] = []
  for (const other of hosts) other.answer((_request, response) => void held.push(() => void response.end()))
  const browser = new PlainBrowser(server)
  const uri = hosts[0]?.uri() ?? ''
  const client = await notifiedClient({ uri })
  await login(server, client, { prompt: 'consent' }, browser)
  for (const [index, other] of hosts.entries())
    for (const table of ['clients', 'logout_notices'])
      copyRows(table, client, 2, 200_000 + index * 10, [uri, other.uri()])
  await signOut(browser)
  const { rescheduleLogoutNotice } = server.context.store
  let claims = 0
  const store: Store = {
    ...server.context.store,
    async rescheduleLogoutNotice(change) {
      claims += 1
      // All 64 have begun, and none is sent.
      if (claims === 64) server.clock.advance(1000)
      return rescheduleLogoutNotice(change)
    },
  }
  const notifier = openNotifier({ context: { ...patient, store } })
  await notifier.round()
  while (held.length < 64) await nextTurn()
  for (const other of hosts) other.answer((_request, response) => void response.end())
  const next = notifier.round()
  for (const answer of held) answer()
  await next
  await notifier.idle()
  assert.deepEqual(waiting(), [])
})
