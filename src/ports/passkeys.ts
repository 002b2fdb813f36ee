import type { PasskeyRecord } from './records/passkey.ts'

/** What an answer of the browser must have been made for. WebAuthn Level 3 §7.1, §7.2. */
export interface PasskeyExpectation {
  /** As it is in the client data: base64url. */
  readonly challenge: string
  readonly origin: string
  readonly rpId: string
}

/** The answer to a registration (WebAuthn Level 3 §7.1), each value in base64url. */
export interface RegistrationAnswer {
  readonly credentialId: string
  readonly clientData: string
  readonly attestationObject: string
}

/** The answer to a sign-in (WebAuthn Level 3 §7.2), each value in base64url. */
export interface AssertionAnswer {
  readonly credentialId: string
  readonly clientData: string
  readonly authenticatorData: string
  readonly signature: string
}

/** The check that an answer fails. `key`: its algorithm or its size is not accepted. */
export interface PasskeyRefusal {
  readonly kind: 'refused'
  readonly check: 'authenticator-data' | 'key' | 'signature'
}

/** What an authenticator says about a key that signed. */
export type SignedPasskey = Pick<PasskeyRecord, 'counter' | 'isBackupEligible' | 'isBackedUp'>
/** A key that was made. */
export type RegisteredPasskey = SignedPasskey & Pick<PasskeyRecord, 'credentialId' | 'publicKey'>

/** Verifies what authenticators made. It knows no user and no time: the challenge, its single use and the counter are checked by its caller. */
export interface PasskeyVerifier {
  /** @throws OAuthError temporarily_unavailable if too many answers wait, or the verification has failed */
  readonly verifyRegistration: (
    answer: RegistrationAnswer,
    expected: PasskeyExpectation,
  ) => Promise<({ readonly kind: 'verified' } & RegisteredPasskey) | PasskeyRefusal>
  /** @throws OAuthError temporarily_unavailable if too many answers wait, or the verification has failed */
  readonly verifyAssertion: (
    answer: AssertionAnswer,
    expected: PasskeyExpectation,
    passkey: Pick<PasskeyRecord, 'publicKey'>,
  ) => Promise<({ readonly kind: 'verified' } & SignedPasskey) | PasskeyRefusal>
}
