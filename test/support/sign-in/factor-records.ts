import { randomBytes } from 'node:crypto'
import type { SignInBasis } from '../../../src/ports/operations/session.ts'
import type { MailRecord } from '../../../src/ports/records/mail.ts'
import type { PasskeyRecord } from '../../../src/ports/records/passkey.ts'
import type { SecondFactorRecord } from '../../../src/ports/records/second-factor.ts'
import { mintMailId, mintUserId } from '../../../src/protocol/ids.ts'
import { passkeyIdOf } from '../../../src/protocol/sign-in/passkey.ts'
import { A_PASSWORD_HASH, aHash, at, HOUR, NOW } from '../records.ts'

/** What a sign-in with the password rests on, of a user who is created apart from it. */
export function aSignInBasis(differing: Partial<SignInBasis> = {}): SignInBasis {
  const none = { providerId: undefined, identity: undefined, proof: undefined }
  return { since: NOW, passwordHash: A_PASSWORD_HASH, ...none, ...differing }
}

/** A passkey of a user who is created apart from it. */
export function aPasskey(differing: Partial<PasskeyRecord> = {}): PasskeyRecord {
  const credentialId = randomBytes(32).toString('base64url')
  return {
    userId: mintUserId(NOW, randomBytes),
    id: passkeyIdOf(credentialId),
    credentialId,
    publicKey: randomBytes(77).toString('base64url'),
    counter: 0,
    isBackupEligible: true,
    isBackedUp: false,
    agent: { browser: 'Firefox', system: 'Linux' },
    createdAt: NOW,
    usedAt: undefined,
    ...differing,
  }
}

/** The app of a user who is created apart from it. */
export function aSecondFactor(differing: Partial<SecondFactorRecord> = {}): SecondFactorRecord {
  return {
    userId: mintUserId(NOW, randomBytes),
    secret: `encrypted ${aHash()}`,
    lastStep: 60_000_000,
    failures: 0,
    createdAt: NOW,
    usedAt: undefined,
    ...differing,
  }
}

/** A notice that is due. */
export function aMail(differing: Partial<MailRecord> = {}): MailRecord {
  return {
    userId: mintUserId(NOW, randomBytes),
    id: mintMailId(randomBytes),
    purpose: 'notice',
    notice: 'passkey-added',
    address: `o'brien"\u{1f600}@acme.test`,
    language: 'de',
    agent: { browser: 'Firefox', system: undefined },
    happenedAt: NOW,
    dueAt: NOW,
    attempts: 0,
    expiresAt: at(HOUR),
    ...differing,
  }
}
