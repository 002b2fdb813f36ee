import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeProtectedHeader } from 'jose'
import { openBurstSigner } from '../../src/keys/burst-signer.ts'
import { openKeyRing, type KeyRingOptions } from '../../src/keys/key-ring.ts'
import type { KeyRecord } from '../../src/ports/records/key.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import { aKeyRecord, encryptionKey, NOW, signText } from './key-records.ts'

const ISSUER = 'https://auth.example'
const DAY = 24 * 60 * 60 * 1000
const at = (milliseconds: number): EpochMs => (NOW + milliseconds) as EpochMs

const old = await aKeyRecord()
const next = await aKeyRecord({ createdAt: at(1000), activeFrom: at(5000) })

/** A key ring whose keys and time are set by the test. */
function openTestKeyRing(first: readonly KeyRecord[]) {
  const source = {
    keys: first,
    now: NOW,
    reads: 0,
    failures: [] as unknown[],
    failure: undefined as unknown,
    answer: undefined as Promise<readonly KeyRecord[]> | undefined,
  }
  const options: KeyRingOptions = {
    store: {
      findServerAlgorithm: async () => undefined,
      async listKeys() {
        source.reads += 1
        if (source.failure !== undefined) throw source.failure
        return source.answer ?? source.keys
      },
    },
    algorithm: 'ES256',
    clock: () => source.now,
    encryptionKey,
    issuer: ISSUER,
    onFailure: (cause) => void source.failures.push(cause),
  }
  return { source, ring: openKeyRing({ records: first, before: undefined }, options) }
}

test('the keys are not read again for a second, and for another second they are read in the background', async () => {
  const { source, ring } = openTestKeyRing([old])
  source.now = at(999)
  assert.equal(ring.known()?.signing.record.id, old.id)
  assert.equal(source.reads, 0)
  source.keys = [old, next]
  source.now = at(1999)
  assert.equal(ring.known()?.published.length, 1)
  assert.equal(source.reads, 1)
  assert.equal((await ring.read()).published.length, 2)
  assert.equal(ring.known()?.published.length, 2)
  assert.equal(source.reads, 1)
})

test('requests that need the keys at the same time share one read', async () => {
  const { source, ring } = openTestKeyRing([old])
  source.now = at(2000)
  const known = Array.from({ length: 10 }, async () => ring.known() ?? ring.read())
  assert.equal(new Set(await Promise.all(known)).size, 1)
  assert.equal(source.reads, 1)
})

test('a process that was suspended reads the keys before it signs, whether its clock jumped forward or back', async () => {
  for (const now of [at(30 * DAY), at(-DAY)]) {
    const { source, ring } = openTestKeyRing([old])
    const replacement = await aKeyRecord({ activeFrom: at(-2 * DAY) })
    source.keys = [replacement]
    source.now = now
    assert.equal(ring.known(), undefined)
    const token = await signText(openBurstSigner(ring), '{}')
    assert.equal(decodeProtectedHeader(token).kid, replacement.id)
  }
})

test('a process that was suspended while the store answered reads the keys again', async () => {
  const replacement = await aKeyRecord({ activeFrom: at(-2 * DAY) })
  for (const suspended of [5000, 30 * DAY, -DAY]) {
    const { source, ring } = openTestKeyRing([old])
    const answer = Promise.withResolvers<readonly KeyRecord[]>()
    source.answer = answer.promise
    source.now = at(1000)
    assert.equal(ring.known()?.signing.record.id, old.id)
    source.now = at(1000 + suspended)
    Object.assign(source, { keys: [replacement], answer: undefined })
    const signing = signText(openBurstSigner(ring), '{}')
    answer.resolve([old])
    assert.equal(decodeProtectedHeader(await signing).kid, replacement.id, String(suspended))
    assert.equal(source.reads, 2)
  }
})

test('the next key signs from its time on, and no earlier burst', async () => {
  const { source, ring } = openTestKeyRing([old, next])
  const signer = openBurstSigner(ring)
  const signed = async (now: number): Promise<unknown> => {
    source.now = at(now)
    return new Set(
      (await Promise.all([signText(signer, '{}'), signText(signer, '{}')])).map((token) => token.split('.')[0]),
    ).size
  }
  const kid = async (): Promise<unknown> => decodeProtectedHeader(await signText(signer, '{}')).kid
  for (const [now, record] of [
    [2500, old],
    [4999, old],
    [7000, next],
    [9000, next],
  ] as const) {
    assert.equal(await signed(now), 1)
    assert.equal(await kid(), record.id)
  }
})

test('while the store is unavailable the known keys are used, no request waits, and the failure is logged once a second', async () => {
  const { source, ring } = openTestKeyRing([old])
  source.failure = new Error('away')
  source.now = at(5000)
  assert.equal((await ring.read()).signing.record.id, old.id)
  assert.deepEqual(source.failures, [source.failure])
  for (const now of [6000, 7000, 100_000]) {
    source.now = at(now)
    assert.equal(ring.known()?.signing.record.id, old.id)
    assert.equal(ring.known()?.signing.record.id, old.id)
    await ring.read()
  }
  assert.equal(source.failures.length, 4)
  source.failure = undefined
  source.keys = [old, next]
  source.now = at(200_000)
  assert.equal(ring.known()?.signing.record.id, old.id)
  assert.equal((await ring.read()).signing.record.id, next.id)
})

test('after an hour without the store no token is signed, and the keys are still published', async () => {
  const { source, ring } = openTestKeyRing([old])
  source.failure = new Error('away')
  source.now = at(60 * 60 * 1000 - 1)
  await signText(openBurstSigner(ring), '{}')
  source.now = at(60 * 60 * 1000 + 1)
  assert.equal(ring.known(), undefined)
  await assert.rejects(signText(openBurstSigner(ring), '{}'), source.failure as Error)
  assert.equal(ring.last().published.length, 1)
})

test('a key that cannot be decrypted does not sign, and the failure is logged', async () => {
  const { source, ring } = openTestKeyRing([old])
  source.keys = [old, { ...next, encryptedPrivateKey: old.encryptedPrivateKey }]
  source.now = at(10_000)
  assert.equal((await ring.read()).signing.record.id, old.id)
  assert.equal(source.failures.length, 1)
})

test('a token that was verified before is invalid when its key is withdrawn', async () => {
  const { source, ring } = openTestKeyRing([old, next])
  const client = `gci_${'0'.repeat(34)}`
  const claims = { iss: ISSUER, sub: client, client_id: client, jti: 'id', iat: 1, exp: 2, aud: ISSUER }
  const token = await signText(openBurstSigner(ring), JSON.stringify(claims))
  assert.equal(ring.known()?.verifier.read(token)?.tokenId, 'id')
  source.keys = [next]
  source.now = at(10_000)
  assert.equal((await ring.read()).verifier.read(token), undefined)
})

test('a verifier keeps its cache as long as the keys are the same', async () => {
  const { source, ring } = openTestKeyRing([old, next])
  const before = ring.known()
  source.now = at(10_000)
  const after = await ring.read()
  assert.equal(after.verifier, before?.verifier)
  assert.equal(after.published, before?.published)
  assert.equal(after.signing.record.id, next.id)
})
