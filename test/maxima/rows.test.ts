import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { updateUser } from '../../src/admin/user/user.ts'
import { MAXIMA } from '../../src/base/maxima.ts'
import type { Scope } from '../../src/protocol/token/scope.ts'
import type { Resource } from '../../src/protocol/token/resource.ts'
import { EMAIL, registerClient } from '../../tools/flow.ts'
import { createAda } from '../support/accounts.ts'
import { declareApi } from '../support/apis.ts'
import { runHere } from '../support/command.ts'
import { openPlace } from '../support/process.ts'
import { openTestServer, temporaryFolder, type TestServer } from '../support/server.ts'
import { execute, selectAll } from '../support/store/dump.ts'
import { perform } from '../support/tasks.ts'
import { longestApi, namesOf } from './longest.ts'

/** The longest rows that requests and tasks make are written by a backup and an export, and read again. */

async function openStore(t: TestContext) {
  const place = await openPlace(t)
  const own = placeOf(t)
  return { place, own: own.env, server: await openTestServer(t, own) }
}

function placeOf(t: TestContext) {
  const folder = temporaryFolder(t)
  const GRANTOR_SECRET = 'a root secret that is long enough for it'
  return { folder, env: { DATABASE_URL: `sqlite:${join(folder, 'grantor.db')}`, GRANTOR_SECRET } }
}

const WAYS = [
  [['backup'], ['restore', '--from']],
  [
    ['export', '--final'],
    ['import', 'grantor'],
  ],
] as const

const AN_URL = `https://app.example/${'x'.repeat(700)}`

/** Adds records with the longest keys until the set has no room. Returns how many it has, and the refusal. */
async function fillSet({ context }: TestServer, set: string): Promise<readonly [count: number, refusal: string]> {
  let mark: string | null = null
  for (let count = 0; ; count += 7) {
    const add = Array.from({ length: 7 }, (_, index) => ({
      kind: 'api',
      // A quotation mark is longest in JSON within JSON.
      key: `https://${count + index}.example/${'"'.repeat(MAXIMA.resource.most - 30)}`,
    }))
    try {
      const step: string = mark === null ? 'begin' : 'continue'
      const answer: { readonly mark: string } = await perform(context, 'apply.record', { set, step, mark, add })
      mark = answer.mark
    } catch (cause) {
      return [count, String(cause)]
    }
  }
}

test('the longest rows of operations are in a backup and in an export, which are restored and imported', async (t) => {
  const { place, own, server } = await openStore(t)
  const [count, refusal] = await fillSet(server, 'longest')
  assert.ok(count > 100, String(count))
  assert.match(refusal, /at most 1,000,000 bytes together. Divide the files into several sets/)
  const api = longestApi('long.example')
  const scope = namesOf(api.scopes) as Scope
  const callers = Array.from({ length: MAXIMA.exchangeRules.most }, (_, index) => ({
    resource: `https://${index}.example/${'x'.repeat(2000)}` as Resource,
    scope,
  }))
  await declareApi(server, api.resource, {}, api.scopes, callers)
  const redirect_uris = Array.from({ length: 10 }, (_, index) => `${AN_URL}${index}`)
  await registerClient(server, { redirect_uris })
  await createAda(server)
  await updateUser(server.context, EMAIL, { name: undefined, profile: { address: { formatted: '€'.repeat(1000) } } })
  const rows = selectAll(server, 'select * from settings where name like ?', 'apply:%')
  await server.close()

  for (const [write, read] of WAYS) {
    const file = join(place.folder, write[0])
    const wrote = await runHere(place, [...write, '--to', file], { environment: own })
    assert.equal(wrote.code, 0, wrote.stderr)
    const target = placeOf(t)
    const restored = await runHere(place, [...read, file], { environment: target.env })
    assert.equal(restored.code, 0, restored.stderr)
    const again = await openTestServer(t, target)
    assert.deepEqual(selectAll(again, 'select * from settings where name like ?', 'apply:%'), rows)
    assert.deepEqual(
      (await again.context.store.listApis()).map(({ scopes, exchange }) => [scopes, exchange]),
      [[api.scopes, callers]],
    )
    await again.close()
  }
})

test('a backup and an export name a row that is too long for them', async (t) => {
  const { place, own, server } = await openStore(t)
  const name = 'apply:planted'
  execute(server, `insert into settings (name, value) values ('${name}', ?)`, 'x'.repeat(MAXIMA.backupLine.most))
  await server.close()
  for (const [write] of WAYS) {
    const { code, stderr } = await runHere(place, [...write, '--to', join(place.folder, write[0])], {
      environment: own,
    })
    assert.notEqual(code, 0)
    assert.match(stderr, /The row apply:planted of settings has more than 1048576 bytes/)
  }
})
