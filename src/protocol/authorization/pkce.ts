import { hash } from 'node:crypto'
import type { Brand } from '../../base/brand.ts'
import { sameText } from '../secrets.ts'

/** RFC 7636 §4.2: base64url(SHA-256(verifier)), 43 characters. S256 is the only supported method (RFC 9700 §2.1.1). */
export type CodeChallenge = Brand<string, 'CodeChallenge'>
/** RFC 7636 §4.1: 43 to 128 unreserved characters. */
export type CodeVerifier = Brand<string, 'CodeVerifier'>

export function parseCodeChallenge(text: string): CodeChallenge | undefined {
  return /^[A-Za-z0-9_-]{43}$/.test(text) ? (text as CodeChallenge) : undefined
}

export function parseCodeVerifier(text: string): CodeVerifier | undefined {
  return /^[A-Za-z0-9._~-]{43,128}$/.test(text) ? (text as CodeVerifier) : undefined
}

/** RFC 7636 §4.6: whether the verifier hashes to the challenge. */
export function verifierMatches(verifier: CodeVerifier, challenge: CodeChallenge): boolean {
  return sameText(challenge, hash('sha256', verifier, 'base64url'))
}
