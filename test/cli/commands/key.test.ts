import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { runHere, runJsonHere } from '../../support/command.ts'
import { openPlace, type Place } from '../../support/process.ts'
import { said } from '../../support/tasks.ts'

interface Key {
  readonly kid: string
  readonly algorithm: string
  readonly created_at: string
  readonly active_from: string
  readonly state?: string
}

const DAY = 24 * 60 * 60 * 1000

async function openKeys(t: TestContext): Promise<Place> {
  const place = await openPlace(t)
  assert.equal((await runHere(place, ['migrate'])).code, 0)
  return place
}

async function listed(place: Place): Promise<readonly Key[]> {
  return (await runJsonHere<{ keys: readonly Key[] }>(place, ['key', 'list'])).keys
}

test('key rotate creates the next key, which is published and signs a day later; a second rotation is rejected', async (t) => {
  const place = await openKeys(t)
  const [first, ...none] = await listed(place)
  assert.deepEqual([first?.state, first?.algorithm, none], ['signing', 'ES256', []])
  const next = await runJsonHere<Key>(place, ['key', 'rotate'])
  assert.equal(Date.parse(next.active_from) - Date.parse(next.created_at), DAY)
  assert.deepEqual(await listed(place), [first, { ...next, state: 'next' }])
  const again = await runHere(place, ['key', 'rotate'])
  assert.deepEqual([again.code, again.stderr.includes(next.kid)], [1, true])
  const words = (await runHere(place, ['key', 'list'])).stdout.split('\n')
  assert.match(words[1] ?? '', /ES256 +signing/)
  assert.match(words[2] ?? '', /ES256 +next/)
})

test('key rotate --now prints the effect on verifiers, and new keys have the algorithm of the setting', async (t) => {
  const place = await openKeys(t)
  const made = await runHere(place, ['key', 'rotate', '--now'], {
    environment: { GRANTOR_SIGNING_ALGORITHM: 'EdDSA' },
  })
  assert.match(made.stdout, new RegExp(`${said('key.rotate')}[^]*five minutes[^]*grantor key retire`))
  const [, second] = await listed(place)
  assert.equal(second?.algorithm, 'EdDSA')
  const wait = Date.parse(second?.active_from ?? '') - Date.parse(second?.created_at ?? '')
  assert.equal(wait, 10_000)
})

test('key retire withdraws a key that does not sign yet, and rejects the signing key and an unknown key', async (t) => {
  const place = await openKeys(t)
  const [first] = await listed(place)
  const next = await runJsonHere<Key>(place, ['key', 'rotate'])
  assert.deepEqual(await runJsonHere(place, ['key', 'retire', next.kid]), { kid: next.kid, retired: true })
  const signing = await runHere(place, ['key', 'retire', first?.kid ?? ''])
  assert.deepEqual([signing.code, /grantor key rotate --now/.test(signing.stderr)], [1, true])
  const unknown = await runHere(place, ['key', 'retire', '--key', next.kid])
  assert.deepEqual([unknown.code, /There is no key/.test(unknown.stderr)], [1, true])
  assert.deepEqual(await listed(place), [first])
})
