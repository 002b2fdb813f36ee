import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { authorizeUrl, locationOf, PASSWORD, PlainBrowser, registerClient } from '../../tools/flow.ts'
import { createAccount } from '../support/accounts.ts'
import { closedFirst } from '../support/closed-first.ts'
import { openTestServer, type TestServer } from '../support/server.ts'
import { addApp } from '../../tools/sign-in/app.ts'
import { submitTo } from '../support/sign-in/apps.ts'
import { selectValue } from '../support/store/postgres-node.ts'
import { openNodeSettings } from '../support/store/migrated-database.ts'
import { performOnUser } from '../support/tasks.ts'

const RACES = 4

test('UI-14: a waiting sign-in is used once, also on two nodes at once with two codes', async (t) => {
  const { nodes, begin } = await openNodes(t)
  for (let race = 0; race < RACES; race += 1) {
    const { browser, page, app } = await begin(`once-${race}@acme.test`)
    const answers = await Promise.all(
      nodes.map((node, index) =>
        submitTo(copyOf(browser, node), page, '/sign-in/recovery-code', { code: app.recoveryCodes[index] ?? '' }),
      ),
    )
    assert.deepEqual(
      answers.map(({ statusCode }) => statusCode).toSorted((one, other) => one - other),
      [303, 403],
    )
  }
})

/** Each node knows a change within a second; the rows are what it then knows. */
const LIVE_SESSIONS = `select count(*) from sessions join users using (user_id)
  where email = $1 and disabled_at is null and sessions.created_at >= users.not_before`
const CHANGES = {
  'user.disable': {},
  'user.revoke-tokens': {},
  'user.set-password': { password: 'another long horse' },
  'user.delete': {},
} as const

test('UI-14: what ends a sign-in on one node while the other takes its second step leaves no session', async (t) => {
  const { nodes, begin, url } = await openNodes(t)
  for (const [name, input] of Object.entries(CHANGES)) {
    for (let race = 0; race < RACES; race += 1) {
      const email = `${name}-${race}@acme.test`
      const { browser, page, app } = await begin(email)
      nodes[0].clock.advance(1)
      const there = copyOf(browser, nodes[1])
      await Promise.all([
        submitTo(there, page, '/sign-in/code', { code: app.code() }),
        performOnUser(nodes[0].context, name, email, input),
      ])
      assert.equal(Number(await selectValue(url, LIVE_SESSIONS, [email])), 0, `${name} ${race}`)
    }
  }
})

/** Two nodes on one PostgreSQL, and the first step of a new user with an app, done on the first. */
async function openNodes(t: TestContext) {
  const closed = closedFirst(t)
  const env = await openNodeSettings(t)
  const first = closed(await openTestServer(t, { env }))
  const nodes = [first, closed(await openTestServer(t, { env, clock: first.clock }))] as const
  const client = await registerClient(first)
  return {
    nodes,
    url: env['DATABASE_URL'] ?? '',
    begin: async (email: string) => {
      await createAccount(first, { email, password: PASSWORD, name: undefined })
      const app = await addApp(first, email)
      first.clock.advance(1)
      const browser = new PlainBrowser(first)
      const start = await browser.get(locationOf(await browser.get(authorizeUrl(client))))
      return { app, browser, page: await browser.submit(start, { email, password: PASSWORD }) }
    },
  }
}

function copyOf({ cookies }: PlainBrowser, server: TestServer): PlainBrowser {
  const copy = new PlainBrowser(server)
  for (const [name, value] of cookies) copy.cookies.set(name, value)
  return copy
}
