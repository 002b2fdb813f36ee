import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import type { ProviderId } from '../../../../src/protocol/sign-in/authentication.ts'
import { trySuspects } from '../../../../src/server/background/suspect-providers.ts'
import { leadsTo, pressProvider } from '../../../../tools/provider-page.ts'
import { WHOLE_FILE } from '../../../support/authorize-answers.ts'
import { addProvider, ADA_CLAIMS, signInAt } from '../../../support/provider/providers.ts'
import { isSignedIn, openServerWithProvider } from './server-with-provider.ts'

/** When a provider counts as down, and when it counts as answering again. */

const setup = await openServerWithProvider(WHOLE_FILE, { signUp: 'anybody' })
const { host, server } = setup
await addProvider(server, host, { signUp: 'anybody' }, { id: 'github', name: 'GitHub', template: 'github' })
server.clock.advance(1500)

const CLAIMS = { idp: { sub: 'ada-at-idp' }, github: { id: 7, name: 'Ada', emails: [] } }
/** Failures that make the server try the provider. */
const FAILURES = 5

type Name = keyof typeof CLAIMS

async function isDown(name: Name): Promise<boolean> {
  const provider = await server.context.store.findProvider(name as ProviderId)
  assert.ok(provider !== undefined)
  return server.context.providerSignIn.isDown(provider)
}

/** The addresses of callbacks of a new browser, and the browser. */
async function callbacksOf(name: Name, changes: Readonly<Record<string, string | null>>, count: number) {
  const { browser, page } = await setup.arrive()
  const urls = await Promise.all(
    Array.from({ length: count }, async () => {
      const location = leadsTo(await pressProvider(browser, page, name))
      return host.approve(location, CLAIMS[name], { callback: changes })
    }),
  )
  return { browser, urls }
}

async function comeBack(name: Name, changes: Readonly<Record<string, string | null>>, count: number) {
  const { browser, urls } = await callbacksOf(name, changes, count)
  const statuses: number[] = []
  for (const url of urls) statuses.push((await browser.get(url)).statusCode)
  return statuses
}

/** Lets the provider answer as usual, and the server find that out. */
async function recover(name: Name, path: string): Promise<void> {
  host.answer(path, undefined)
  server.clock.advance(61_000)
  await trySuspects(server.context)
  assert.equal(await isDown(name), false)
  server.clock.advance(15_000)
}

function status(code: number): RequestListener {
  return (_request, response) => void response.writeHead(code, { 'content-type': 'text/html' }).end('no')
}

const CLOSED: RequestListener = (request) => void request.socket.destroy()

const ANSWERS: Readonly<Record<string, RequestListener>> = {
  ...Object.fromEntries([400, 403, 408, 425, 429, 500, 503].map((code) => [String(code), status(code)])),
  'a closed connection': CLOSED,
}

/** Answers requests with a code that a stranger chose in one way, and all others as a provider does. */
function toStrangers(answer: RequestListener): RequestListener {
  return (request, response) =>
    void text(request).then((body) => {
      if (body.includes('shaped')) return answer(request, response)
      response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}')
    })
}

for (const [name, path, changes] of [
  ['idp', '/token', { code: '<script>shaped' }],
  ['github', '/login/oauth/access_token', { code: '<script>shaped' }],
  ['idp', '/userinfo', {}],
  ['github', '/api/v3/user/emails', {}],
] as const) {
  test(`UP-30: each failing answer at ${path} of ${name}, to requests with values of a browser, leaves the provider available`, async () => {
    for (const [what, answer] of Object.entries(ANSWERS)) {
      host.answer(path, 'code' in changes ? toStrangers(answer) : answer)
      const asked = host.paths().length
      await comeBack(name, changes, FAILURES)
      assert.ok(host.paths().length >= asked + FAILURES)
      await trySuspects(server.context)
      assert.equal(await isDown(name), false, what)
      await recover(name, path)
    }
  })
}

for (const [name, path] of [
  ['idp', '/token'],
  ['github', '/login/oauth/access_token'],
] as const) {
  test(`UP-30: after five failed sign-ins, the answer at ${path} of ${name} to the server itself decides, and no 4xx is an outage`, async () => {
    for (const [what, answer] of Object.entries(ANSWERS)) {
      host.answer(path, answer)
      await comeBack(name, {}, FAILURES - 1)
      await trySuspects(server.context)
      assert.equal(await isDown(name), false, what)
      await comeBack(name, {}, 1)
      assert.equal(await isDown(name), false, what)
      await trySuspects(server.context)
      // A provider that fails for each unknown code is no outage. GitHub answers it, and has no metadata.
      const isOutage = what.startsWith('5') ? name === 'github' : !what.startsWith('4')
      assert.equal(await isDown(name), isOutage, what)
      await recover(name, path)
    }
  })
}

test('UP-30: a provider that answers 5xx to unknown codes is down only if its metadata or keys are unavailable too', async () => {
  for (const [path, answer] of [
    ['/.well-known/openid-configuration', status(404)],
    ['/jwks', CLOSED],
  ] as const) {
    host.answer('/token', status(500))
    await comeBack('idp', {}, FAILURES)
    host.answer(path, answer)
    await trySuspects(server.context)
    assert.equal(await isDown('idp'), true, path)
    server.clock.advance(15_000)
    await trySuspects(server.context)
    assert.equal(await isDown('idp'), true, path)
    host.answer(path, undefined)
    server.clock.advance(15_000)
    await trySuspects(server.context)
    assert.equal(await isDown('idp'), false, path)
    await recover('idp', '/token')
  }
})

/** Callbacks that end before a request, or that the provider refuses. Those with `requests` 0 send none. */
const NO_ANSWERS: readonly (readonly [
  what: string,
  changes: Readonly<Record<string, string | null>>,
  requests: number,
])[] = [
  ['a refusal by the person', { code: null, error: 'access_denied' }, 0],
  ['a wrong issuer', { iss: 'https://evil.test' }, 0],
  ['no code', { code: null }, 0],
  ['an empty code', { code: '' }, 0],
  ['a code with NUL', { code: 'a\0b' }, 0],
  ['a code with a line feed', { code: 'a\nb' }, 0],
  ['a code with a letter outside of ASCII', { code: 'é' }, 0],
  ['a code with DEL', { code: '\x7f' }, 0],
  ['a code of 4,097 characters', { code: 'a'.repeat(4097) }, 0],
  ['a made-up code', { code: 'made-up' }, 1],
  ['a made-up code of 4,096 characters', { code: '~'.repeat(4096) }, 1],
]

test('UP-30, RFC 6749 appendix A.11: a callback with an impossible code causes no request, and ends no outage', async () => {
  for (const [what, changes, requests] of NO_ANSWERS) {
    const { browser, urls } = await callbacksOf('idp', changes, 2)
    const [first = '', second = ''] = urls
    host.answer('/token', CLOSED)
    await comeBack('idp', {}, FAILURES - 1)
    host.answer('/token', toStrangers(CLOSED))
    const asked = host.paths().length
    assert.equal((await browser.get(first)).statusCode, 403, what)
    assert.equal(host.paths().length - asked, requests, what)
    host.answer('/token', CLOSED)
    await comeBack('idp', {}, 1)
    await trySuspects(server.context)
    assert.equal(await isDown('idp'), true, what)
    host.answer('/token', toStrangers(CLOSED))
    assert.equal((await browser.get(second)).statusCode, 403, what)
    assert.equal(await isDown('idp'), true, what)
    await recover('idp', '/token')
  }
})

test('UP-30: a sign-in that succeeds ends the outage, and earlier failures do not count', async () => {
  const { browser, page } = await setup.arrive()
  const location = leadsTo(await pressProvider(browser, page))
  host.answer('/token', CLOSED)
  await comeBack('idp', {}, FAILURES)
  await trySuspects(server.context)
  assert.equal(await isDown('idp'), true)
  host.answer('/token', undefined)
  assert.ok(isSignedIn(await browser.get(host.approve(location, ADA_CLAIMS))))
  assert.equal(await isDown('idp'), false)
  host.answer('/token', CLOSED)
  await comeBack('idp', {}, FAILURES - 1)
  host.answer('/token', undefined)
  assert.ok(isSignedIn(await signInAt({ ...(await setup.arrive()), host })))
  host.answer('/token', CLOSED)
  await comeBack('idp', {}, 1)
  const asked = host.paths().length
  await trySuspects(server.context)
  assert.equal(host.paths().length, asked)
  await recover('idp', '/token')
})

test('UP-30: the server probes a provider at most once in 15 seconds, whatever browsers send', async () => {
  host.answer('/token', toStrangers(status(503)))
  const tries = async (): Promise<number> => {
    await comeBack('idp', { code: 'shaped' }, FAILURES)
    const asked = host.paths().length
    await trySuspects(server.context)
    return host.paths().length - asked
  }
  assert.deepEqual([await tries(), await tries(), await tries()], [1, 0, 0])
  server.clock.advance(15_000)
  assert.deepEqual([await tries(), await tries()], [1, 0])
  await recover('idp', '/token')
})

test('UP-30: a forged answer of a provider counts as a failed sign-in of the browser', async () => {
  host.answer('/token', status(503))
  const statuses = await comeBack('idp', {}, 51)
  assert.deepEqual([statuses.slice(0, 50).every((one) => one === 503), statuses[50]], [true, 429])
  host.answer('/token', undefined)
})
