import type {
  AssertionAnswer,
  PasskeyExpectation,
  PasskeyRefusal,
  PasskeyVerifier,
  RegisteredPasskey,
  RegistrationAnswer,
  SignedPasskey,
} from '../ports/passkeys.ts'
import { openAnsweringThread } from '../threads/answering-thread.ts'
import { VERIFIER_THREAD } from './verifier-thread.ts'

interface Question {
  readonly expected: PasskeyExpectation
}
export type RegistrationQuestion = Question & { readonly kind: 'registration'; readonly answer: RegistrationAnswer }
export type AssertionQuestion = Question & {
  readonly kind: 'assertion'
  readonly answer: AssertionAnswer
  readonly publicKey: string
}
export type PasskeyQuestion = RegistrationQuestion | AssertionQuestion
export type VerifiedAnswer = ({ readonly kind: 'verified' } & (SignedPasskey | RegisteredPasskey)) | PasskeyRefusal

/** Answers that wait at most. Each takes about a millisecond, or a second until the thread has loaded the library. */
const WAITING = 100

/** Verifies the answers of authenticators by a library, in a thread that takes 36 MB. */
export function openPasskeyVerifier(): PasskeyVerifier {
  const ask: <Answer>(question: PasskeyQuestion) => Promise<Answer> = openAnsweringThread(VERIFIER_THREAD, WAITING)
  return {
    verifyRegistration: (answer, expected) => ask({ kind: 'registration', answer, expected }),
    verifyAssertion: (answer, expected, { publicKey }) => ask({ kind: 'assertion', answer, expected, publicKey }),
  }
}
