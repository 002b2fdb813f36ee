import type { KeyRecord } from '../ports/operator-records.ts'

/** The first part of every access token that a key signs. RFC 9068 §2.1: the type tells it from every other JWT. */
export function tokenHeader({ id, algorithm }: Pick<KeyRecord, 'id' | 'algorithm'>): string {
  return Buffer.from(JSON.stringify({ alg: algorithm, typ: 'at+jwt', kid: id })).toString('base64url')
}
