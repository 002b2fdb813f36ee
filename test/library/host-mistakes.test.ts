import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import {
  ConfigError,
  createGrantor,
  type Grantor,
  type GrantorOptions,
  type People,
} from '../../src/library/grantor.ts'
import { openCookieJar } from '../../tools/cookie-jar.ts'
import { temporaryFolder } from '../support/server.ts'
import { openGrantor, type Opened } from './host.ts'
import { pageSays } from '../texts/page-texts.ts'

/** What a host in JavaScript gives, which has no compiler. */
type Untyped = Readonly<Record<string, unknown>>

const FROM = { address: '203.0.113.7' }
const ADA: Untyped = { subject: 'u_1', authenticatedAt: new Date() }

interface Host extends Opened {
  /** Opens an account page, and returns what the browser gets where the host is asked who the person is. */
  readonly signIn: (people: Untyped) => Promise<Response>
}

async function openHost(t: TestContext): Promise<Host> {
  let people: Untyped = {}
  const opened = await openGrantor(t, {
    people: {
      current: (request) => (people as unknown as People).current(request),
      signInAddress: (...args) => ((people['signInAddress'] as People['signInAddress']) ?? (() => '/login'))(...args),
    },
  })
  const { grantor, issuer } = opened
  return {
    ...opened,
    async signIn(next) {
      people = next
      const cookies = openCookieJar()
      let address = `${issuer}/account`
      while (!address.includes('/host-sign-in?')) {
        const sent = cookies.keep(await get(grantor, address, cookies.header()))
        assert.equal(sent.status, 303)
        address = new URL(sent.headers.get('location') ?? '', address).href
      }
      return get(grantor, address, cookies.header())
    },
  }
}

function get(grantor: Grantor, address: string, cookie = ''): Promise<Response> {
  return grantor.fetch(new Request(address, { headers: { accept: 'text/html', cookie } }), FROM)
}

test('LIB-08: null means that no person is signed in, and null in an optional member is no value', async (t) => {
  const { signIn, log } = await openHost(t)
  for (const absent of [null, undefined, Promise.resolve(null)]) {
    const answer = await signIn({ current: () => absent })
    assert.deepEqual([answer.status, answer.headers.get('location')], [303, '/login'])
  }
  const answer = await signIn({
    current: () => ({ ...ADA, email: null, emailVerified: null, name: null, groups: null, multiFactor: null }),
  })
  assert.equal(answer.status, 303)
  assert.match(answer.headers.get('location') ?? '', /\/v2\/oauth\/continue\?/)
  assert.doesNotMatch(log(), /host-sign-in\.failed/)
})

test('LIB-08: for a person of a wrong shape the browser gets a page, and the log names the member and no value', async (t) => {
  const { signIn, log, grantor } = await openHost(t)
  const cases: readonly (readonly [answer: unknown, logged: RegExp])[] = [
    ['ada@secret.test', /people\.current returned .* must be an object/],
    [[], /people\.current returned .* must be an object/],
    [{ ...ADA, subject: undefined }, /subject: must be a string/],
    [{ ...ADA, subject: 4711 }, /subject: must be a string/],
    [{ ...ADA, subject: '' }, /subject: must have 1 to 255 characters/],
    [{ ...ADA, subject: 'u'.repeat(256) }, /subject: must have 1 to 255 characters/],
    [{ ...ADA, subject: '..' }, /subject: must have 1 to 255 characters/],
    [{ ...ADA, email: 'secret' }, /email: This is not an e-mail address/],
    [{ ...ADA, email: 4711 }, /email: /],
    [{ ...ADA, emailVerified: 'yes' }, /emailVerified: must be true or false/],
    [{ ...ADA, name: {} }, /name: /],
    [{ ...ADA, groups: 'finance' }, /groups: must be a list of the ids of groups/],
    [{ ...ADA, groups: ['Finance Team'] }, /groups: 0: This is not the id of a group/],
    [{ ...ADA, groups: ['dev', 'finance'] }, /groups: These groups do not exist, .*: dev, finance\b/],
    [{ ...ADA, multiFactor: 'secret' }, /multiFactor: must be true or false/],
    [{ subject: 'u_1' }, /authenticatedAt: must be a valid Date, milliseconds since the epoch, or an ISO 8601 text/],
    [{ ...ADA, authenticatedAt: Math.floor(Date.now() / 1000) }, /authenticatedAt: must be in milliseconds, not in s/],
    [{ ...ADA, authenticatedAt: String(Date.now()) }, /authenticatedAt: must be a valid Date, milliseconds/],
    [{ ...ADA, authenticatedAt: '2026-01-31T12:00:00' }, /authenticatedAt: must be a valid Date, milliseconds/],
    [{ ...ADA, authenticatedAt: 1e300 }, /authenticatedAt: must be a valid Date, milliseconds/],
    [{ ...ADA, authenticatedAt: Date.now() + 3_600_000 }, /authenticatedAt: The time is in the future/],
    [{ ...ADA, authenticatedAt: '2026-01-31' }, /authenticatedAt: must be a valid Date/],
    [{ ...ADA, authenticatedAt: new Date(Number.NaN) }, /authenticatedAt: must be a valid Date/],
    [{ ...ADA, authenticatedAt: new Date(Date.now() + 3_600_000) }, /authenticatedAt: The time is in the future/],
  ]
  for (const [answer, logged] of cases) {
    const page = await signIn({ current: () => answer })
    assert.equal(page.status, 500, String(logged))
    const text = await page.text()
    assert.match(text, pageSays('errors.sign-in-failed.heading'))
    const line = lastFailure(log())
    assert.match(line, logged)
    assert.doesNotMatch(line + text, /secret|\b4711\b/)
    assert.ok(text.includes(JSON.parse(line).request_id), 'the page has the id of the request')
  }
  assert.equal((await grantor.tasks['user.list']()).users.length, 0)
})

test('LIB-08: if a function of the host throws, rejects or returns another type, the browser gets a page and the log the reason', async (t) => {
  const { signIn, log } = await openHost(t)
  const fails = new Error('The sessions are down.')
  const nobody = () => undefined
  const cases: readonly (readonly [people: Untyped, logged: RegExp])[] = [
    [{ current: () => assert.fail(fails) }, /The sessions are down/],
    [{ current: () => Promise.reject(fails) }, /The sessions are down/],
    [{ current: nobody, signInAddress: () => assert.fail(fails) }, /The sessions are down/],
    [{ current: nobody, signInAddress: async () => '/login' }, /people\.signInAddress .* returned a promise/],
    [{ current: nobody, signInAddress: () => null }, /people\.signInAddress .* returned null/],
    [{ current: nobody, signInAddress: () => '' }, /people\.signInAddress returned no address/],
    [
      { current: nobody, signInAddress: () => '/login\r\nSet-Cookie: x=y' },
      /people\.signInAddress returned no address/,
    ],
  ]
  for (const [people, logged] of cases) {
    const page = await signIn(people)
    assert.equal(page.status, 500, String(logged))
    assert.match(await page.text(), pageSays('errors.sign-in-failed.heading'))
    assert.match(lastFailure(log()), logged)
  }
})

test('LIB-08: people.current that never answers is given up after ten seconds', async (t) => {
  const { signIn, log } = await openHost(t)
  const asked = Promise.withResolvers<void>()
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const page = signIn({
    current() {
      asked.resolve()
      return new Promise(() => undefined)
    },
  })
  await asked.promise
  t.mock.timers.tick(10_000)
  assert.equal((await page).status, 500)
  assert.match(lastFailure(log()), /people\.current did not answer within 10 seconds/)
})

test('LIB-08: a log that throws or rejects fails no request, and does not end the process', async (t) => {
  const unhandled: unknown[] = []
  const notice = (cause: unknown): void => void unhandled.push(cause)
  process.on('unhandledRejection', notice)
  t.after(() => process.off('unhandledRejection', notice))
  for (const log of [() => assert.fail('full'), () => Promise.reject(new Error('full'))]) {
    const { grantor, issuer } = await openGrantor(t, { log })
    assert.equal((await get(grantor, `${issuer}/v2/oauth/jwks`)).status, 200)
    assert.equal((await get(grantor, `${issuer}/nothing`)).status, 404)
  }
  assert.deepEqual(unhandled, [])
})

test('LIB-08: options of a wrong type are mistakes that name the option, and null is the default', async (t) => {
  const issuer = 'http://localhost/auth'
  const none = { issuer, database: 'sqlite::memory:' }
  const cases: readonly (readonly [options: unknown, mistakes: readonly string[]])[] = [
    [undefined, ['The options must be an object']],
    [{}, ['issuer must be a string']],
    [
      { issuer, database: 1, secret: Buffer.alloc(32), previousSecret: 1 },
      ['database must be a string', 'secret must be a string', 'previousSecret must be a string'],
    ],
    [{ ...none, trustProxy: '10.0.0.0/8' }, ['trustProxy must be a list of strings']],
    [{ ...none, trustProxy: [10] }, ['trustProxy.0 must be a string']],
    [{ ...none, settings: 'x', branding: 'x' }, ['settings must be an object', 'branding must be an object']],
    [{ ...none, branding: { name: 1 } }, ['branding.name must be a string']],
    [{ ...none, admin: true }, ['admin must be an object']],
    [{ ...none, admin: { port: '3001' } }, ['admin.port must be a number']],
    [{ ...none, log: 'x' }, ['log must be a function']],
    [{ ...none, people: () => ADA }, ['people must be an object']],
    [
      { ...none, people: { current: () => undefined, signInAddress: () => '/login', signOutAddress: '/logout' } },
      [
        'people.signOutAddress must be an http or https URL',
        'database must be sqlite:<path> or postgres://<user>@<host>/<database>',
      ],
    ],
    [
      { ...none, people: { current: {}, signOutAddress: 1 } },
      [
        'people.current must be a function',
        'people.signInAddress must be a function',
        'people.signOutAddress must be a string',
      ],
    ],
  ]
  for (const [options, mistakes] of cases) {
    await assert.rejects(createGrantor(options as GrantorOptions), (cause: unknown) => {
      assert.ok(cause instanceof ConfigError, String(cause))
      assert.deepEqual(cause.mistakes, mistakes)
      return true
    })
  }
  const absent = { secret: null, previousSecret: null, trustProxy: null, admin: null, people: null, log: null }
  const nested = { settings: { registrationRate: null }, branding: { name: null } }
  const { grantor, issuer: own } = await openGrantor(t, { ...absent, ...nested } as unknown as GrantorOptions)
  assert.equal((await get(grantor, `${own}/v2/oauth/jwks`)).status, 200)
})

test('LIB-08: options may be instances of classes, with getters, inherited members and methods that use this', async (t) => {
  const database = `sqlite:${join(temporaryFolder(t), 'grantor.db')}`
  class Settings {
    readonly accessTokenLifetime = 600
  }
  class Options {
    readonly lines: string[] = []
    readonly settings = new Settings()
    readonly branding = Object.create({ name: 'Ada & Co' })
    readonly people = { current: () => undefined, signInAddress: () => '/login', signOutAddress: null }
    get issuer() {
      return 'http://localhost/auth'
    }
    get database() {
      return database
    }
    log(line: string) {
      this.lines.push(line)
    }
  }
  const options = new Options()
  const grantor = await createGrantor(options as unknown as GrantorOptions)
  t.after(() => grantor.close())
  const page = await get(grantor, 'http://localhost/auth/v2/oauth/continue?interaction=unknown')
  assert.match(await page.text(), /Ada &amp; Co/)
  assert.ok(options.lines.length > 0)
})

function lastFailure(log: string): string {
  return log.split('\n').findLast((line) => line.includes('"host-sign-in.failed"')) ?? ''
}
