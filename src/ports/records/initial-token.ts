import type { EpochMs } from '../../base/brand.ts'
import type { InitialTokenId } from '../../protocol/ids.ts'
import type { RegistrationTemplate } from '../../protocol/client/registration-template.ts'
import type { SecretHash } from '../../protocol/secrets.ts'

/** An initial access token: a caller that presents it may register clients. RFC 7591 §1.2 and §3. */
export interface InitialTokenRecord {
  readonly id: InitialTokenId
  /** The program or the person that the token was created for. */
  readonly name: string
  readonly secretHash: SecretHash
  readonly template: RegistrationTemplate
  /** How many clients can register with it in all. */
  readonly uses: number
  readonly usesLeft: number
  readonly createdAt: EpochMs
  readonly expiresAt: EpochMs
  readonly revokedAt: EpochMs | undefined
}
