import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openPasskeyVerifier } from '../../src/passkeys/verifier.ts'
import { openAuthenticator } from '../support/sign-in/authenticator.ts'

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
