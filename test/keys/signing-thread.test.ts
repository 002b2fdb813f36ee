import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateKeyPairSync } from 'node:crypto'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { openBurstSigner } from '../../src/keys/burst-signer.ts'
import { openSigningThread, type SignatureQuestion } from '../../src/keys/signing-thread.ts'
import type { TokenSigner } from '../../src/ports/tokens.ts'
import { aKeyRecord, ringOf, signText } from './key-records.ts'

const ISSUER = 'https://auth.example'
const CORES = 2

/** A thread that starts, and ends when it has to sign. */
const FAILING = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads'
    parentPort.on('message', ({ id, question }) => {
      if (question.inputs.length > 0) process.exit()
      parentPort.postMessage({ id, answer: [] })
    })`)}`,
)

/** A signing thread, and how many inputs it got of each burst. */
function openThread(source?: URL) {
  const signElsewhere = openSigningThread(source, CORES)
  assert.ok(signElsewhere)
  const bursts: number[] = []
  return {
    bursts,
    signElsewhere: (question: SignatureQuestion) => {
      const signatures = signElsewhere(question)
      if (signatures !== undefined) bursts.push(question.inputs.length)
      return signatures
    },
  }
}

function signBurst(signer: TokenSigner, count: number): Promise<readonly string[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => signText(signer, JSON.stringify({ n }))))
}

for (const algorithm of ['ES256', 'EdDSA', 'RS256'] as const) {
  test(`RFC 9068 §2.1: tokens that a thread signs with ${algorithm} verify with the published key, in their order`, async () => {
    const record = await aKeyRecord({ algorithm })
    const { signElsewhere, bursts } = openThread()
    const signer = openBurstSigner(ringOf([record], ISSUER), signElsewhere)
    const keys = createLocalJWKSet({ keys: [JSON.parse(record.publicJwk)] })
    while (bursts.length === 0)
      for (const [n, token] of (await signBurst(signer, 20)).entries())
        assert.equal((await jwtVerify(token, keys, { typ: 'at+jwt' })).payload['n'], n)
    await signBurst(signer, 3)
    assert.deepEqual(bursts, [20])
  })
}

test('MET-08: a thread that fails loses no token, and the tokens after it are signed without one', async () => {
  const record = await aKeyRecord()
  const { signElsewhere, bursts } = openThread(FAILING)
  const signer = openBurstSigner(ringOf([record], ISSUER), signElsewhere)
  const keys = createLocalJWKSet({ keys: [JSON.parse(record.publicJwk)] })
  while (bursts.length === 0)
    for (const token of await signBurst(signer, 4)) await jwtVerify(token, keys, { typ: 'at+jwt' })
  await signBurst(signer, 4)
  assert.deepEqual(bursts, [4])
})

test('MET-08: while two bursts wait for a thread, the next ones are signed without it', async () => {
  const record = await aKeyRecord()
  const { signElsewhere, bursts } = openThread()
  const signer = openBurstSigner(ringOf([record], ISSUER), signElsewhere)
  while (bursts.length === 0) await signBurst(signer, 4)
  const privateKey = generateKeyPairSync('ed25519').privateKey
  const question = { digest: null, privateKey, inputs: ['a', 'b', 'c', 'd'] }
  const asked = [0, 1, 2].map(() => signElsewhere(question))
  assert.deepEqual(
    asked.map((signatures) => signatures === undefined),
    [false, false, true],
  )
  await Promise.all(asked.filter((signatures) => signatures !== undefined))
  assert.equal((await signElsewhere(question))?.length, 4)
})

test('a process with one core signs without a thread', () => {
  assert.equal(openSigningThread(undefined, 1), undefined)
})
