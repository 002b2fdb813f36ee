import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { ConfigError, createGrantor, TokenRefused } from '../../src/library/grantor.ts'
import { walkWithClient } from '../../tools/client-walk.ts'
import { EMAIL, PASSWORD } from '../../tools/flow.ts'
import { temporaryFolder } from '../support/server.ts'
import { openGrantor, serveHost } from './host.ts'

const LIBRARY = new URL('../../src/library/grantor.ts', import.meta.url).href
const PASSKEYS = new URL('../../tools/sign-in/passkeys.ts', import.meta.url).href

test('LIB-06: two instances of one process, of one host, share no key, cookie, client or limit', async (t) => {
  const [first, second] = await Promise.all([
    openGrantor(t, { settings: { registrationRate: 1 } }),
    openGrantor(t, { path: '/other', settings: { registrationRate: 1 } }),
  ])
  for (const { grantor, port } of [first, second]) await serveHost(t, port, grantor.handler)
  const walked = await walkWithClient(first.issuer)
  await walkWithClient(second.issuer)
  const cookies = await Promise.all(
    [first, second].map(async ({ issuer }) => {
      const { headers } = await fetch(`${issuer}/account`, { redirect: 'manual' })
      return headers.get('set-cookie')?.split('=', 1)[0]
    }),
  )
  assert.deepEqual(cookies, [`grantor-browser-${first.port}~auth`, `grantor-browser-${second.port}~other`])
  for (const { grantor } of [first, second]) {
    assert.equal((await grantor.tasks['client.list']()).clients.length, 1)
    const resource = 'https://notes.example'
    await assert.rejects(grantor.verify(walked.accessToken, { resource }), TokenRefused)
  }
})

test('LIB-05: an instance that is closed leaves no handle, prints nothing and handles no signal', (t) => {
  const program = `
    import { createGrantor } from '${LIBRARY}'
    const signals = process.eventNames().length
    const grantor = await createGrantor({ issuer: 'http://localhost:3000', database: 'sqlite:${join(temporaryFolder(t), 'grantor.db')}' })
    await grantor.fetch(new Request('http://localhost:3000/v2/oauth/jwks'), { address: '127.0.0.1' })
    const added = process.eventNames().length - signals
    await grantor.close()
    await grantor.close()
    const { status } = await grantor.fetch(new Request('http://localhost:3000/v2/oauth/jwks'), { address: '127.0.0.1' })
    const left = process.getActiveResourcesInfo().filter((name) => name !== 'PipeWrap')
    process.exitCode = added === 0 && left.length === 0 && status === 503 && !(await grantor.ready()) ? 7 : 1`
  const ended = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' })
  assert.deepEqual([ended.stdout, ended.stderr, ended.status], ['', '', 7])
})

test('LIB-05: a user who adds a passkey and signs in with it changes no global of the host, prints nothing and leaves no handle', (t) => {
  const program = `
    import { createGrantor } from '${LIBRARY}'
    import { walkWithPasskey } from '${PASSKEYS}'
    const issuer = 'http://localhost:3000/auth'
    const grantor = await createGrantor({ issuer, database: 'sqlite:${join(temporaryFolder(t), 'grantor.db')}' })
    await grantor.tasks['user.create']({ email: '${EMAIL}', password: '${PASSWORD}' })
    globalThis.fetch = (address, options) => grantor.fetch(new Request(address, options), { address: '127.0.0.1' })
    const globals = () => Object.values(Object.getOwnPropertyDescriptors(globalThis))
      .flatMap(({ value }) => [value, value?.prototype])
      .concat(globalThis)
      .map((value) => Object(value) === value && Reflect.ownKeys(value).map(String).join())
      .join(' ')
    const before = globals()
    await walkWithPasskey(issuer)
    const unchanged = globals() === before
    await grantor.close()
    process.exitCode = unchanged ? 7 : 1`
  const ended = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' })
  assert.deepEqual([ended.stdout, ended.stderr, ended.status], ['', '', 7])
})

test('LIB-05: tasks that are under way are completed before the database is closed', async (t) => {
  const { grantor } = await openGrantor(t)
  const password = 'correct horse battery staple'
  const created = grantor.tasks['user.create']({ email: 'grace@acme.test', password })
  await grantor.close()
  assert.match((await created).user_id, /^gus_/)
})

test('mistakes in the options are listed together, by the names of the options', async () => {
  const options = { issuer: 'http://app.example/', settings: { accessTokenLifetime: 0 }, trustProxy: ['nonsense'] }
  await assert.rejects(createGrantor(options), (cause: unknown) => {
    assert.ok(cause instanceof ConfigError)
    assert.match(cause.message, /settings\.accessTokenLifetime must .*issuer must use https.*trustProxy has nonsense/s)
    assert.doesNotMatch(cause.message, /GRANTOR_/)
    return true
  })
})

test('people and an application that signs people in exclude each other', async () => {
  const people = { current: () => undefined, signInAddress: () => '/login' }
  const options = { issuer: 'http://localhost:3000', people, settings: { delegateUrl: 'https://app.example/' } }
  await assert.rejects(createGrantor(options), /people and settings\.delegateUrl both say/)
})

test('createGrantor reads no environment variable', async (t) => {
  process.env['GRANTOR_ACCESS_TOKEN_LIFETIME'] = 'nonsense'
  t.after(() => delete process.env['GRANTOR_ACCESS_TOKEN_LIFETIME'])
  assert.equal(await (await openGrantor(t)).grantor.ready(), true)
})
