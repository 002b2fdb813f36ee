import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openPasskeyVerifier } from '../../src/passkeys/verifier.ts'
import type { AssertionAnswer, RegistrationAnswer } from '../../src/ports/passkeys.ts'
import { readClientData } from '../../src/protocol/sign-in/passkey.ts'
import { FLAGS } from '../../tools/sign-in/authenticator.ts'
import recorded from './recorded.json' with { type: 'json' }

/** What Chromium and its virtual authenticators sent to this server, with a key of each algorithm. */

const verifier = openPasskeyVerifier()
type Recorded = (typeof recorded.answers)[number]

/** The endpoints judge answers so, and besides by the seal of the challenge and by what the store knows. */
const judge = {
  made: async (one: Recorded, answer: RegistrationAnswer) => {
    const expected = expectationFor(one, answer, one.registration.clientData, 'webauthn.create')
    return expected === undefined ? undefined : taken(await verifier.verifyRegistration(answer, expected))
  },
  signed: async (one: Recorded, answer: AssertionAnswer, publicKey: string) => {
    const expected = expectationFor(one, answer, one.assertion.clientData, 'webauthn.get')
    return expected === undefined ? undefined : taken(await verifier.verifyAssertion(answer, expected, { publicKey }))
  },
}

function expectationFor(
  { issuer }: Recorded,
  { clientData }: RegistrationAnswer | AssertionAnswer,
  asked: string,
  type: 'webauthn.create' | 'webauthn.get',
) {
  const read = readClientData(clientData, { type, issuer })
  if (read.kind === 'refused' || read.challenge !== membersOf(asked)['challenge']) return undefined
  return { challenge: read.challenge, origin: issuer, rpId: 'localhost' }
}

function taken<Answer extends { readonly kind: string }>(
  answer: Answer,
): Extract<Answer, { readonly kind: 'verified' }> | undefined {
  return answer.kind === 'verified' ? (answer as Extract<Answer, { readonly kind: 'verified' }>) : undefined
}

/** SHA-256 of the RP ID. WebAuthn Level 3 §6.1 */
const HASH_LENGTH = 32
/** After the hash, the flags, the counter, the model, and an id of 32 bytes with its length. WebAuthn Level 3 §6.5.1 */
const KEY_START = HASH_LENGTH + 1 + 4 + 16 + 2 + 32

/** The text with a bit of each byte changed, and where. */
function* changedBytes(text: string, from = 0): Generator<readonly [number, string]> {
  const bytes = Buffer.from(text, 'base64url')
  for (let at = from; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8))
    yield [at, changed.toString('base64url')]
  }
}

/** Members of the client data that no browser of this server's page says. */
const ALTERED: readonly Readonly<Record<string, unknown>>[] = [
  ...['type', 'challenge', 'origin'].flatMap((name) =>
    [undefined, null, 7, '', 'x', ['x']].map((value) => ({ [name]: value })),
  ),
  { type: 'webauthn.other' },
  { challenge: 'AAAA' },
  { origin: 'https://localhost' },
  { origin: 'http://localhost.evil.test' },
  { crossOrigin: true },
  { crossOrigin: 'false' },
  { topOrigin: 'https://evil.test' },
]

for (const one of recorded.answers) {
  test(`PK-09: ${one.name}: the recorded answers are right, and refused with any other member, signed byte or signature`, async () => {
    const { registration, assertion } = one
    const { publicKey } = (await judge.made(one, registration)) ?? assert.fail()
    assert.ok(await judge.signed(one, assertion, publicKey))

    for (const altered of ALTERED) {
      const [forNew, forSigned] = [registration, assertion].map(({ clientData }) =>
        Buffer.from(JSON.stringify({ ...membersOf(clientData), ...altered })).toString('base64url'),
      )
      const text = JSON.stringify(altered)
      assert.equal(await judge.made(one, { ...registration, clientData: forNew ?? '' }), undefined, text)
      assert.equal(await judge.signed(one, { ...assertion, clientData: forSigned ?? '' }, publicKey), undefined, text)
    }
    for (const name of ['clientData', 'authenticatorData', 'signature'] as const) {
      const whole = assertion[name]
      const others = [...changedBytes(whole), [-1, `${whole}AAAA`], [-2, whole.slice(0, -4)], [-3, '']] as const
      // The library reads r and s of an ECDSA signature, and not the length of both or what follows them: no other signature is right.
      const isFrame = (at: number) => name === 'signature' && whole.startsWith('ME') && [1, -1].includes(at)
      for (const [at, text] of others)
        if (!isFrame(at))
          assert.equal(await judge.signed(one, { ...assertion, [name]: text }, publicKey), undefined, `${name} ${at}`)
    }
  })

  test(`PK-09: ${one.name}: a new passkey with another byte is refused or does not take the signature, unless the byte decides nothing`, async () => {
    const { registration, assertion } = one
    const object = Buffer.from(registration.attestationObject, 'base64url')
    const start = object.indexOf(Buffer.from(assertion.authenticatorData, 'base64url').subarray(0, HASH_LENGTH))
    assert.ok(start > 0)
    const lastLength = object.length - (one.name.includes('RS256') ? 4 : 33)
    const decidesNothing = (at: number) =>
      // The attestation, which is not read; the counter and the model of a passkey without attestation; a length that is beyond the end.
      at < start || (at > start + HASH_LENGTH && at <= start + HASH_LENGTH + 4 + 16) || at === lastLength
    for (const [at, attestationObject] of changedBytes(registration.attestationObject)) {
      if (at === start + HASH_LENGTH || decidesNothing(at)) continue
      const made = await judge.made(one, { ...registration, attestationObject })
      if (made === undefined) continue
      assert.ok(at >= start + KEY_START, `${at - start}`)
      assert.equal(await judge.signed(one, assertion, made.publicKey), undefined, `${at - start}`)
    }
    const refused = []
    for (let flag = 1; flag < 0x100; flag *= 2) {
      const changed = Buffer.from(object)
      changed[start + HASH_LENGTH] = (changed[start + HASH_LENGTH] ?? 0) ^ flag
      const attestationObject = changed.toString('base64url')
      if ((await judge.made(one, { ...registration, attestationObject })) === undefined) refused.push(flag)
    }
    // Two are reserved; eligible for a backup or not is what the passkey is from now on, and backed up without being eligible is wrong.
    const { up, uv, be, bs, at, ed } = FLAGS
    assert.deepEqual(refused, [up, uv, one.name.includes('synchronized') ? be : bs, at, ed])
  })
}

function membersOf(clientData: string): Readonly<Record<string, string>> {
  return JSON.parse(Buffer.from(clientData, 'base64url').toString()) as Readonly<Record<string, string>>
}
