import type { ClientAssertion } from '../protocol/client-assertion.ts'
import type { ClientKeys } from '../protocol/client-keys.ts'

/** Verifies what clients signed with their own keys. */
export interface ClientSignatures {
  /** Whether one of the keys signed the JWT with this algorithm. RFC 7515 §5.2. */
  readonly verify: (signed: Pick<ClientAssertion, 'jwt' | 'algorithm'>, keys: ClientKeys) => Promise<boolean>
}
