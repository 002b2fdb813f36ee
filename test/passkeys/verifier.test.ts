import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { openPasskeyVerifier } from '../../src/passkeys/verifier.ts'
import {
  coseKeyOf,
  FLAGS,
  makeKeys,
  numbered,
  openAuthenticator,
  type Said,
} from '../../tools/sign-in/authenticator.ts'

const ASKED = { challenge: 'Y2hhbGxlbmdl', origin: 'https://auth.example', rpId: 'auth.example' } as const
const verifier = openPasskeyVerifier()

for (const algorithm of ['ES256', 'EdDSA', 'RS256'] as const)
  test(`WebAuthn §7.1, §7.2: a key of ${algorithm} is registered and signs`, async () => {
    const authenticator = openAuthenticator(algorithm)
    const registered = await verifier.verifyRegistration(authenticator.register(ASKED), ASKED)
    assert.ok(registered.kind === 'verified', JSON.stringify(registered))
    const signed = await verifier.verifyAssertion(authenticator.sign(ASKED), ASKED, registered)
    assert.deepEqual(signed, { kind: 'verified', counter: 0, isBackupEligible: false, isBackedUp: false })
  })

const { up, uv, be, bs, at } = FLAGS

/** What an authenticator or a browser says otherwise, and what fails then. */
const ALTERED: Readonly<Record<string, Partial<Said>>> = {
  'another origin': { origin: 'https://auth.example.evil.test' },
  'another RP': { rpId: 'evil.test' },
  'another challenge': { challenge: 'b3RoZXI' },
  'another type': { type: 'webauthn.other' },
  'no user presence': { flags: uv },
  'no user verification': { flags: up },
  'backed up without being eligible': { flags: up | uv | bs },
  'bytes after the end': { tail: Buffer.from([0]) },
}

for (const [name, said] of Object.entries(ALTERED))
  test(`PK-04: an answer with ${name} is refused, at a registration and at a sign-in`, async () => {
    const authenticator = openAuthenticator()
    const registered = await verifier.verifyRegistration(authenticator.register(ASKED), ASKED)
    assert.ok(registered.kind === 'verified')
    const flags = said.flags === undefined ? {} : { flags: said.flags | at }
    const made = authenticator.register({ ...ASKED, ...said, ...flags })
    assert.equal((await verifier.verifyRegistration(made, ASKED)).kind, 'refused')
    const signed = authenticator.sign({ ...ASKED, ...said })
    assert.equal((await verifier.verifyAssertion(signed, ASKED, registered)).kind, 'refused')
  })

test('PK-04: the signature of another key, of other data and a changed one are refused', async () => {
  const [one, other] = [openAuthenticator(), openAuthenticator()]
  const registered = await verifier.verifyRegistration(one.register(ASKED), ASKED)
  assert.ok(registered.kind === 'verified')
  const signed = one.sign(ASKED)
  const { authenticatorData } = one.sign({ ...ASKED, counter: 9, flags: up | uv | be })
  for (const altered of [other.sign(ASKED), { ...signed, authenticatorData }, { ...signed, signature: 'AAAA' }]) {
    const refused = await verifier.verifyAssertion(altered, ASKED, registered)
    assert.equal(refused.kind, 'refused')
  }
})

test('PK-04: keys that are too small, of another curve or algorithm are refused', async () => {
  const weak = openAuthenticator('RS256', coseKeyOf, makeKeys('RS256', 1024))
  const mixed = openAuthenticator('ES256', () => numbered([1, 2], [3, -257], [-1, 1], [-2, Buffer.alloc(32)]))
  const offCurve = openAuthenticator('ES256', () =>
    numbered([1, 2], [3, -7], [-1, 1], [-2, Buffer.alloc(32, 1)], [-3, Buffer.alloc(32, 1)]),
  )
  for (const authenticator of [weak, mixed, offCurve])
    assert.equal((await verifier.verifyRegistration(authenticator.register(ASKED), ASKED)).kind, 'refused')
})

test('PK-08: 20,000 answers of random bytes, and nesting of 3,000 levels, are refused', async () => {
  const good = openAuthenticator().register(ASKED)
  const nested = Buffer.alloc(3000, 0x81).toString('base64url')
  const ask = (attestationObject: string) => verifier.verifyRegistration({ ...good, attestationObject }, ASKED)
  assert.equal((await ask(nested)).kind, 'refused')
  for (let round = 0; round < 400; round += 1) {
    const texts = Array.from({ length: 50 }, () =>
      randomBytes(1 + Math.trunc(Math.random() * 300)).toString('base64url'),
    )
    for (const { kind } of await Promise.all(texts.map(ask))) assert.equal(kind, 'refused')
  }
})

test('LIB-05: the library adds nothing to the globals of this thread', async () => {
  const before = Reflect.ownKeys(Reflect).length
  await verifier.verifyRegistration(openAuthenticator().register(ASKED), ASKED)
  assert.equal(Reflect.ownKeys(Reflect).length, before)
  assert.ok(!('getMetadata' in Reflect))
})
