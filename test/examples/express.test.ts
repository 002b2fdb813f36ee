import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openCookieJar } from '../../tools/cookie-jar.ts'
import { openExampleUser, startExample } from '../../tools/example.ts'

test('OpenID Connect Core 1.0: examples/express signs in for an organization, changes it, signs out, and leaves nothing', async (t) => {
  const example = startExample(t, 'express', {})
  const [origin = '', email = '', password = ''] = await example.printed(
    /Open (\S+) and sign in as (\S+) with .* (\S+)\n/,
  )
  const cookies = openCookieJar()
  const visit = async (path: string | URL, method = 'GET'): Promise<Response> =>
    cookies.keep(
      await fetch(new URL(path, origin), { method, redirect: 'manual', headers: { cookie: cookies.header() } }),
    )
  const locationOf = async (path: string | URL, method = 'GET'): Promise<string> =>
    (await visit(path, method)).headers.get('location') ?? ''
  const home = async (): Promise<string> => (await visit('/')).text()

  assert.match(await home(), /Sign in/)
  const link = await locationOf('/sign-in')
  const { allow, person } = openExampleUser(new URL(link).origin, [email, password])
  const consent = await person.submit(await person.visit(link), { email, password })
  const [acme = '', globex = ''] = ['Acme', 'Globex'].map(
    (name) => new RegExp(`<option value="([^"]+)"[^>]*>\\s*${name}`).exec(consent.body)?.[1],
  )
  const known = cookies.header()
  const arrived = await person.submit(consent, { organization: acme, decision: 'allow' })
  assert.equal(await locationOf(arrived.url), '/')
  assert.notEqual(cookies.header(), known, 'The session that was known before the sign-in is another one.')
  assert.match(await home(), /Ada, for Acme/)

  const changed = await allow(await locationOf('/change-organization'), { organization: globex })
  assert.equal(await locationOf(changed.url), '/')
  assert.match(await home(), /Ada, for Globex/)
  const denied = await person.submit(await person.visit(await locationOf('/change-organization')), { decision: 'deny' })
  assert.equal(await locationOf(denied.url), '/')
  assert.match(await home(), /Ada, for Globex/)

  const left = await person.visit(await locationOf('/sign-out', 'POST'))
  assert.equal(left.url.href, `${origin}/`)
  assert.match(await home(), /Sign in/)
  assert.match((await person.visit(await locationOf('/sign-in'))).body, /type="password"/)
  assert.deepEqual(await example.interrupt(), { code: 0, left: [] })
})
