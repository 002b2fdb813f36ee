import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { ListedUserDocument, ListedUsersDocument, StateFilter } from '../../src/admin/user/listed.ts'
import { ACCOUNT_LIMIT, ATTEMPT_WINDOW_MS } from '../../src/protocol/sign-in/attempt-limits.ts'
import { accountBucket } from '../../src/requests/attempt-bucket.ts'
import { authorizeUrl, locationOf, PASSWORD, PlainBrowser } from '../../tools/flow.ts'
import { createAccount } from '../support/accounts.ts'
import type { Members } from '../support/tasks.ts'
import { openOffice } from './office.ts'

const MAIL = { GRANTOR_SMTP_URL: 'smtp://127.0.0.1:9', GRANTOR_MAIL_FROM: 'no-reply@acme.test' }
const DAY_MS = 24 * 60 * 60 * 1000

/** A server with users in each state, by the name of the state. */
async function openUsers(t: TestContext) {
  const { perform, stage } = await openOffice(t, MAIL)
  const { server } = stage
  const client = await stage.makeClient()
  const signIn = async (email: string, password: string) => {
    const browser = new PlainBrowser(server)
    const page = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
    return (await browser.submit(page, { email, password })).statusCode
  }
  const made = new Map<string, string>()
  const make = async (state: string, hasPassword = true) => {
    server.clock.advance(1000)
    const email = `${state}@acme.test`
    const { id } = await createAccount(server, {
      email,
      password: hasPassword ? PASSWORD : undefined,
      name: `User ${state}`,
    })
    made.set(id, state)
    return { user_id: id, email }
  }
  const list = (filter: Members = {}) => perform<ListedUsersDocument>('user.list', filter)
  const states = async (filter: Members = {}) =>
    (await list(filter)).users.flatMap((one) => made.get(one.user_id) ?? [])
  return { perform, stage, server, signIn, make, list, states }
}

test('users are listed by state, each with the worst word, also with a text, an organization, an address and page by page', async (t) => {
  const { perform, stage, server, signIn, make, list, states } = await openUsers(t)
  const disabled = await make('disabled')
  await perform('user.disable', { user_id: disabled.user_id })
  await make('no-way', false)
  const invited = await make('invited', false)
  await perform('user.send-link', { user_id: invited.user_id })
  await make('never-signed-in')
  const locked = await make('locked')
  const active = await make('active')
  assert.equal(await signIn(active.email, PASSWORD), 303)
  assert.equal(await signIn(locked.email, PASSWORD), 303)
  for (let count = 0; count < ACCOUNT_LIMIT; count += 1) assert.equal(await signIn(locked.email, 'wrong'), 401)
  assert.equal(await signIn(locked.email, PASSWORD), 429)

  const all = ['active', 'locked', 'never-signed-in', 'invited', 'no-way', 'disabled']
  assert.deepEqual(await states(), all)
  const { users } = await list()
  const said = users
    .filter(({ email }) => email !== 'ada@acme.test')
    .map(({ state, state_until: until }) => [state, until !== null])
  assert.deepEqual(
    said,
    all.map((state) => [state, state === 'locked' || state === 'invited']),
  )
  const until = users.find(({ state }) => state === 'locked')?.state_until ?? ''
  const left = Date.parse(until) - server.clock.now()
  assert.ok(left > 0 && left <= ATTEMPT_WINDOW_MS, until)

  const views: Readonly<Record<StateFilter, readonly string[]>> = {
    locked: ['locked'],
    disabled: ['disabled'],
    invited: ['invited'],
    'never-signed-in': ['never-signed-in', 'invited', 'no-way', 'disabled'],
  }
  const organization_id = await stage.makeOrganization()
  for (const user of [disabled, invited, locked])
    await perform('member.add', { organization_id, user_id: user.user_id })
  for (const [state, found] of Object.entries(views)) {
    assert.deepEqual(await states({ state }), found, state)
    assert.deepEqual(await states({ state, text: 'user nobody' }), [], state)
    assert.deepEqual(await states({ state, text: `üser ${found[0]}` }), found.slice(0, 1), state)
    const within = found.filter((one) => ['disabled', 'invited', 'locked'].includes(one))
    assert.deepEqual(await states({ state, organization_id }), within, state)
    assert.deepEqual(await states({ state, email: 'active@acme.test' }), [], state)
    assert.deepEqual(await states({ state, email: `${found[0]}@acme.test` }), found.slice(0, 1), state)
    const pages: string[] = []
    for (let before: string | null | undefined; before !== null;) {
      const page: ListedUsersDocument = await list({ state, limit: 1, ...(before === undefined ? {} : { before }) })
      pages.push(...page.users.map(({ email }) => email?.split('@')[0] ?? ''))
      before = page.next
    }
    assert.deepEqual(
      pages.filter((one) => one !== 'ada'),
      found,
      state,
    )
  }
  assert.deepEqual(await states({ organization_id, text: 'locked' }), ['locked'])
  const row = (await list({ organization_id, text: 'locked' })).users[0]
  assert.deepEqual(row?.organizations, [organization_id])
  assert.deepEqual((await list({ organization_id })).names, { [organization_id]: 'Acme' })

  // Each ends by itself.
  server.clock.advance(ATTEMPT_WINDOW_MS)
  assert.deepEqual(await states({ state: 'locked' }), [])
  server.clock.advance(7 * DAY_MS)
  assert.deepEqual(await states({ state: 'invited' }), [])
})

test('an invitation whose maker lost the role is not open, and a lock by codes alone is one', async (t) => {
  const { stage, server, make, states, perform } = await openUsers(t)
  const invited = await make('invited', false)
  const { token, id } = await stage.issue('users')
  assert.equal((await stage.performByName('user.send-link', { user_id: invited.user_id }, token)).statusCode, 200)
  assert.deepEqual(await states({ state: 'invited' }), ['invited'])
  await perform('admin.revoke', { credential_id: id })
  assert.deepEqual(await states({ state: 'invited' }), [])
  assert.deepEqual(await states({ state: 'never-signed-in' }), ['invited'])
  // What is counted without a name in the audit is no user of this list, and the row says it all the same.
  const { email } = await make('quiet')
  const hit = { bucket: accountBucket(server.context, email), now: server.clock.now(), windowMs: ATTEMPT_WINDOW_MS }
  await server.context.store.countHit({ ...hit, by: ACCOUNT_LIMIT })
  assert.deepEqual(await states({ state: 'locked' }), [])
  const { users } = await perform<{ users: readonly ListedUserDocument[] }>('user.list', { email })
  assert.equal(users[0]?.state, 'locked')
})

test('the list has the last count of the users, and how many of them the index has', async (t) => {
  const { server, list } = await openUsers(t)
  assert.equal((await list()).counted, null)
  const now = server.clock.now()
  const counts = { used: 5, unused: 2, disabled: 1, indexed: 6 }
  const value = JSON.stringify({ users: { finished: { counts, begunAt: now, endedAt: now, countedMs: 1 } } })
  await server.context.store.replaceSetting({ name: 'row-counts', value })
  assert.deepEqual((await list()).counted, { users: 8, indexed: 6, at: new Date(now).toISOString() })
})
