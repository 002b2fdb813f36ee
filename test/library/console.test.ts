import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Person } from '../../src/library/grantor.ts'
import { openCookieJar } from '../../tools/cookie-jar.ts'
import { formAction, hiddenFields } from '../../tools/flow.ts'
import { freePort } from '../../tools/process/free-ports.ts'
import { openConsoleVisitor } from '../support/console/console-walk.ts'
import { openGrantor } from './host.ts'

test('CON-17: the console of the library is at settings.consoleUrl, and people of the host enter with multiFactor and a role', async (t) => {
  const port = await freePort()
  const consoleUrl = `http://127.0.0.1:${port}`
  let person: Person = { subject: 'u_1', name: 'Ada', authenticatedAt: new Date() }
  const demands: (boolean | undefined)[] = []
  const { grantor } = await openGrantor(t, {
    issuer: 'https://app.acme.test/auth',
    admin: { port, host: '127.0.0.1' },
    settings: { consoleUrl },
    people: {
      current: () => person,
      signInAddress(_returnTo, _mustAuthenticate, multiFactorNeeded) {
        demands.push(multiFactorNeeded)
        return '/login'
      },
    },
  })
  /** Follows the redirects of the issuer until the browser leaves it. */
  const signIn = async (address: string): Promise<string> => {
    const cookies = openCookieJar()
    let url = new URL(address)
    let consent: RequestInit | undefined
    for (let step = 0; step < 10 && url.pathname.startsWith('/auth/'); step += 1) {
      const headers = { cookie: cookies.header(), origin: url.origin }
      const request = new Request(url, { headers, ...consent })
      const answer = cookies.keep(await grantor.fetch(request, { address: '203.0.113.9' }))
      const page = { body: await answer.text() }
      url = new URL(answer.headers.get('location') ?? formAction(page), url)
      // Who has no role is asked for consent.
      consent = answer.headers.has('location')
        ? undefined
        : { method: 'POST', body: new URLSearchParams({ ...hiddenFields(page), decision: 'allow' }) }
    }
    return url.href
  }
  const elsewhere = await fetch(`http://localhost:${port}/console`, { redirect: 'manual' })
  assert.equal(elsewhere.status, 421)

  let left = ''
  const visitor = openConsoleVisitor(consoleUrl)
  await visitor.enter(async (address) => {
    left = await signIn(address)
    return `${consoleUrl}/console/callback`
  })
  assert.deepEqual([left, demands], ['https://app.acme.test/login', [true]], 'The host is asked for two factors.')

  person = { ...person, multiFactor: true }
  const refused = await visitor.enter(signIn)
  assert.match(await refused.text(), /<bdi>Ada<\/bdi> has no role here/)
  const { users } = await grantor.tasks['user.list']()
  await grantor.tasks['role.set']({ user_id: users[0]?.user_id ?? '', access: 'read' })
  const page = await openConsoleVisitor(consoleUrl).enter(signIn)
  assert.deepEqual([page.status, /<h1>Overview/.test(await page.text())], [200, true])
  assert.match(
    await (await visitor.get('/console')).text(),
    /v2\/oauth\/authorize/,
    'The session from before the role ended.',
  )
  assert.equal((await visitor.get('/admin/v1/clients')).status, 401)
})
