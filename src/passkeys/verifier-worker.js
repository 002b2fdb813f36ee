import { createPublicKey } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server'
import {
  decodeAttestationObject,
  decodeCredentialPublicKey,
  isoBase64URL,
  isoCBOR,
} from '@simplewebauthn/server/helpers'

/** @import { AskedQuestion, ThreadAnswer } from '../threads/answering-thread.ts' */
/** @import { PasskeyQuestion, RegistrationQuestion, AssertionQuestion, VerifiedAnswer } from './verifier.ts' */

/**
 * Verifies the answers of authenticators, outside the thread that serves requests: the library takes a quarter of a second to load, and
 * adds members to the global `Reflect` of its thread, which may be that of a host program. This file is JavaScript, because a thread that
 * reads TypeScript loads a compiler of its own.
 */

const COMMON = { type: /** @type {const} */ ('public-key'), clientExtensionResults: {} }

/** RFC 9053 §2.1, §2.2, RFC 8812 §2: ES256 on P-256, Ed25519, and RS256 of at least 2,048 bits. */
const EC2 = { kty: 2, alg: -7, crv: 1 }
const OKP = { kty: 1, alg: -8, crv: 6 }
const RSA = { kty: 3, alg: -257 }
const ALGORITHMS = [OKP.alg, EC2.alg, RSA.alg]
const RSA_BITS = 2048

parentPort?.on('message', async (/** @type {AskedQuestion<PasskeyQuestion>} */ { id, question }) => {
  parentPort?.postMessage(/** @satisfies {ThreadAnswer<VerifiedAnswer>} */ ({ id, answer: await verify(question) }))
})

/**
 * @param {PasskeyQuestion} question
 * @returns {Promise<VerifiedAnswer>}
 */
async function verify(question) {
  try {
    return await (question.kind === 'registration' ? verifyRegistration(question) : verifyAssertion(question))
  } catch {
    // The library throws for each check. All members of the client data were checked before.
    return { kind: 'refused', check: 'authenticator-data' }
  }
}

/**
 * @param {RegistrationQuestion} question
 * @returns {Promise<VerifiedAnswer>}
 */
async function verifyRegistration({ answer, expected }) {
  const attested = decodeAttestationObject(isoBase64URL.toBuffer(answer.attestationObject))
  // No attestation was asked for. A statement is not read: it may contain certificates of any kind.
  const bare = new Map(
    /** @type {[string, any][]} */ ([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', attested.get('authData')],
    ]),
  )
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: {
      ...COMMON,
      id: answer.credentialId,
      rawId: answer.credentialId,
      response: { clientDataJSON: answer.clientData, attestationObject: isoBase64URL.fromBuffer(isoCBOR.encode(bare)) },
    },
    ...expectationOf(expected),
    supportedAlgorithmIDs: ALGORITHMS,
  })
  if (!verified) return { kind: 'refused', check: 'signature' }
  const { credential, credentialDeviceType, credentialBackedUp } = registrationInfo
  const isSame = credential.id === answer.credentialId
  if (!isSame) return { kind: 'refused', check: 'authenticator-data' }
  if (!isAcceptable(credential.publicKey)) return { kind: 'refused', check: 'key' }
  return {
    kind: 'verified',
    credentialId: credential.id,
    publicKey: isoBase64URL.fromBuffer(credential.publicKey),
    counter: credential.counter,
    isBackupEligible: credentialDeviceType === 'multiDevice',
    isBackedUp: credentialBackedUp,
  }
}

/**
 * @param {AssertionQuestion} question
 * @returns {Promise<VerifiedAnswer>}
 */
async function verifyAssertion({ answer, expected, publicKey }) {
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: {
      ...COMMON,
      id: answer.credentialId,
      rawId: answer.credentialId,
      response: {
        clientDataJSON: answer.clientData,
        authenticatorData: answer.authenticatorData,
        signature: answer.signature,
      },
    },
    ...expectationOf(expected),
    // The store keeps the counter. The library refuses one that is not higher than this.
    credential: { id: answer.credentialId, publicKey: isoBase64URL.toBuffer(publicKey), counter: -1 },
  })
  if (!verified) return { kind: 'refused', check: 'signature' }
  return {
    kind: 'verified',
    counter: authenticationInfo.newCounter,
    isBackupEligible: authenticationInfo.credentialDeviceType === 'multiDevice',
    isBackedUp: authenticationInfo.credentialBackedUp,
  }
}

/** @param {PasskeyQuestion['expected']} expected */
function expectationOf({ challenge, origin, rpId }) {
  return {
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpId,
    requireUserVerification: true,
  }
}

/**
 * RFC 9052 §7, RFC 9053 §7, RFC 8230 §4. `createPublicKey` refuses a point that is not on the curve.
 *
 * @param {Uint8Array<ArrayBuffer>} publicKey
 */
function isAcceptable(publicKey) {
  const key = /** @type {Map<number, any>} */ (/** @type {unknown} */ (decodeCredentialPublicKey(publicKey)))
  const [kty, alg, crv] = [key.get(1), key.get(3), key.get(-1)]
  const text = (/** @type {number} */ label) => isoBase64URL.fromBuffer(key.get(label))
  if (kty === EC2.kty && alg === EC2.alg && crv === EC2.crv)
    return isKey({ kty: 'EC', crv: 'P-256', x: text(-2), y: text(-3) })
  if (kty === OKP.kty && alg === OKP.alg && crv === OKP.crv) return isKey({ kty: 'OKP', crv: 'Ed25519', x: text(-2) })
  if (kty === RSA.kty && alg === RSA.alg) return isKey({ kty: 'RSA', n: text(-1), e: text(-2) })
  return false
}

/** @param {import('node:crypto').webcrypto.JsonWebKey} key */
function isKey(key) {
  const { modulusLength = RSA_BITS } = createPublicKey({ key, format: 'jwk' }).asymmetricKeyDetails ?? {}
  return modulusLength >= RSA_BITS
}
