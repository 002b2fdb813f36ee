import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { InjectOptions } from 'light-my-request'
import { CONSOLE_CLIENT_ID } from '../../src/protocol/client/console.ts'
import type { UserId } from '../../src/protocol/ids.ts'
import { hiddenFields, PASSWORD } from '../../tools/flow.ts'
import { openAdminServer, type AdminServer } from '../support/admin-server.ts'
import { ConsoleBrowser, formOf, giveRole, leadsTo } from '../../tools/console-browser.ts'
import { dumpStore } from '../support/store/dump.ts'
import { perform } from '../support/tasks.ts'
import type { TestServer } from '../support/server.ts'

/** Who gets into the console, and who does not. */

const ends: (() => unknown)[] = []
const t = { after: (end: unknown) => void ends.push(end as () => unknown) }
let stage: AdminServer
let server: TestServer
let ada: UserId

before(async () => {
  stage = await openAdminServer(t)
  server = stage.server
  ada = await giveRole(server)
})

after(async () => {
  for (const end of ends.toReversed()) await end()
})

function ask(options: InjectOptions) {
  return server.injectAdmin({ method: 'GET', url: '/console/clients', ...options })
}

test('CON-01: the public port has no console, however its path is written', async () => {
  for (const url of [
    '/console',
    '/console/clients',
    '/console/../console',
    '//console',
    '/Console',
    '/console/a/x.css',
  ])
    assert.equal((await server.inject({ method: 'GET', url })).statusCode, 404, url)
})

test('CON-02: another host, and what a proxy forwarded to a loopback address, is refused before a cookie is read', async () => {
  const browser = new ConsoleBrowser(server)
  assert.equal((await browser.open()).statusCode, 200)
  const cookie = browser.console.cookieHeader
  for (const headers of [
    { host: 'evil.example' },
    { host: 'evil.example:3001' },
    { host: '127.0.0.1:3001' },
    { host: 'localhost:3000' },
    { 'x-forwarded-host': 'localhost:3001' },
    { 'x-forwarded-for': '1.2.3.4' },
    { forwarded: 'for=1.2.3.4' },
    { via: '1.1 proxy' },
  ]) {
    const answer = await ask({ headers: { cookie, ...headers } })
    assert.deepEqual([answer.statusCode, answer.headers['set-cookie']], [421, undefined], JSON.stringify(headers))
    assert.doesNotMatch(answer.body, /Ada/)
  }
  assert.equal((await ask({ headers: { cookie } })).statusCode, 200)
})

test('CON-03: without a role each path leads to the sign-in or to a page that makes no administrator', async (context) => {
  const fresh = await openAdminServer(context)
  const roles = JSON.stringify(dumpStore(fresh.server)['roles'])
  const browser = new ConsoleBrowser(fresh.server)
  for (const path of ['/console', '/console/clients', '/console/clients?ask=client.delete', '/console/setup']) {
    const answer = await fresh.server.injectAdmin({ method: 'GET', url: path })
    assert.ok(answer.statusCode === 303 || answer.statusCode === 404 || leadsTo(answer) !== undefined, path)
  }
  const page = await browser.open()
  assert.equal(page.statusCode, 403)
  assert.match(page.body, /has no role here[^]*grantor role set gus_[\w-]+ --access read/)
  for (const path of ['/console/clients', '/console/clients?ask=client.delete'])
    assert.equal((await browser.console.get(path)).statusCode, 403, path)
  assert.equal(
    (await browser.console.post('/console/clients', { task: 'client.delete', row: CONSOLE_CLIENT_ID })).statusCode,
    403,
  )
  assert.equal(JSON.stringify(dumpStore(fresh.server)['roles']), roles)
  const { events } = await perform<{ events: readonly object[] }>(fresh.server.context, 'audit.list', {
    event: 'console.refused',
  })
  assert.partialDeepStrictEqual(events.at(-1), { details: { reason: 'console_role_missing' } })
})

test('CON-05: whatever ends the role, the user, the grant or the client ends the console with the next request', async () => {
  const { context } = server
  const grantOf = async (): Promise<string> => {
    const grants = await context.store.listLiveGrants({
      userId: ada,
      clientId: CONSOLE_CLIENT_ID,
      now: context.clock(),
      limit: 1,
    })
    return grants[0]?.id ?? ''
  }
  const rows: readonly (readonly [
    what: string,
    end: (browser: ConsoleBrowser) => Promise<unknown>,
    again: () => Promise<unknown>,
  ])[] = [
    ['the role is removed', () => perform(context, 'role.remove', { user_id: ada }), () => giveRole(server)],
    [
      'the user is disabled',
      () => perform(context, 'user.disable', { user_id: ada }),
      () => perform(context, 'user.enable', { user_id: ada }),
    ],
    [
      'the grant is revoked',
      async () => perform(context, 'grant.revoke', { grant_id: await grantOf() }),
      async () => undefined,
    ],
    [
      'all tokens of the user are revoked',
      () => perform(context, 'user.revoke-tokens', { user_id: ada }),
      async () => undefined,
    ],
    [
      'the user sets a password in another browser',
      () => perform(context, 'user.set-password', { user_id: ada, password: PASSWORD }),
      async () => undefined,
    ],
    [
      'the session at the issuer is ended',
      async () => {
        const { sessions } = await perform<{ sessions: readonly { session_id: string }[] }>(context, 'session.list', {
          user_id: ada,
        })
        for (const { session_id } of sessions) await perform(context, 'session.end', { session_id })
      },
      async () => undefined,
    ],
    [
      'the client is disabled',
      () => perform(context, 'client.disable', { client_id: CONSOLE_CLIENT_ID }),
      () => perform(context, 'client.enable', { client_id: CONSOLE_CLIENT_ID }),
    ],
    [
      'the user signs out of the issuer',
      async ({ issuer }) => issuer.submit(await issuer.get('/v2/oauth/sign-out'), {}),
      async () => undefined,
    ],
    ['twelve hours pass', async () => server.clock.advance(12 * 60 * 60 * 1000), async () => undefined],
  ]
  for (const [what, end, again] of rows) {
    const browser = new ConsoleBrowser(server)
    assert.equal((await browser.open()).statusCode, 200, what)
    await end(browser)
    const answer = await browser.console.get('/console/clients')
    assert.ok(answer.statusCode === 403 || leadsTo(answer) !== undefined, what)
    assert.doesNotMatch(answer.body, /<table/, what)
    // As on another node, whose cached records follow within a second.
    server.clock.advance(1000)
    await again()
    // Enabled again, the client has its grants, as all clients have.
    if (what === 'the client is disabled') continue
    const later = await browser.console.get('/console/clients')
    assert.notEqual(leadsTo(later), undefined, `${what}, and was given back: the old cookie opens nothing.`)
  }
  const idle = new ConsoleBrowser(server)
  await idle.open()
  for (let minutes = 0; minutes < 90; minutes += 20) {
    server.clock.advance(20 * 60 * 1000)
    assert.equal(
      (await idle.console.get('/console/clients')).statusCode,
      200,
      'The cookie is renewed while it is used.',
    )
  }
  server.clock.advance(30 * 60 * 1000)
  assert.notEqual(
    leadsTo(await idle.console.get('/console/clients')),
    undefined,
    'After half an hour without a request.',
  )
})

test('CON-06: the sign-out takes no token of another page', async () => {
  const browser = new ConsoleBrowser(server)
  const { csrf = '' } = hiddenFields({ body: formOf(await browser.open(), 'client.verify') })
  assert.equal((await browser.console.post('/console/sign-out', { csrf })).statusCode, 403)
  assert.equal((await browser.console.get('/console')).statusCode, 200)
})

test('CON-14: no page is framed, cached, or keeps its opener', async () => {
  const browser = new ConsoleBrowser(server)
  const leaving = await browser.console.get('/console/clients')
  for (const page of [leaving, await browser.open(), await browser.console.get('/console/nothing')]) {
    const { headers } = page
    assert.match(
      String(headers['content-security-policy']),
      /default-src 'none'.*form-action 'self'.*frame-ancestors 'none'/,
    )
    assert.deepEqual(
      [
        'x-frame-options',
        'cross-origin-opener-policy',
        'cross-origin-resource-policy',
        'referrer-policy',
        'cache-control',
      ].map((name) => headers[name]),
      ['DENY', 'same-origin', 'same-origin', 'same-origin', 'no-store'],
    )
  }
})
