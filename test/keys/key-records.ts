import { randomBytes } from 'node:crypto'
import { openKeyRing, type KeyRing } from '../../src/keys/key-ring.ts'
import { createSigningKey, type KeyPlan } from '../../src/keys/signing-key.ts'
import type { TokenSigner } from '../../src/ports/tokens.ts'
import type { JwtType } from '../../src/ports/records/api.ts'
import type { KeyRecord, SigningAlgorithm } from '../../src/ports/records/key.ts'
import type { AccessTokenClaims } from '../../src/protocol/token/access-token.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import { openSecrets } from '../../src/protocol/secrets.ts'

export const NOW = 1_790_000_000_000 as EpochMs
export const { encryptionKey } = openSecrets('a root secret of at least 32 characters')

/** An ES256 key that signs from NOW on, unless `differing` says otherwise. */
export function aKeyRecord(differing: Partial<KeyPlan> = {}): Promise<KeyRecord> {
  return createSigningKey(
    { purpose: 'access', algorithm: 'ES256', createdAt: NOW, activeFrom: NOW, ...differing },
    randomBytes,
    encryptionKey,
  )
}

/** Signs any text as if it were the claims of an access token. */
export function signText(
  signer: TokenSigner,
  text: string,
  {
    algorithm,
    jwtType = 'at+jwt',
  }: { readonly algorithm?: SigningAlgorithm | undefined; readonly jwtType?: JwtType | undefined } = {},
): Promise<string> {
  return signer.sign(text as AccessTokenClaims, algorithm, jwtType)
}

/** A key ring whose keys do not change, at the time NOW. */
export function ringOf(records: readonly KeyRecord[], issuer: string): KeyRing {
  return openKeyRing(
    { records, before: undefined },
    {
      store: { listKeys: async () => records, findServerAlgorithm: async () => undefined },
      algorithm: records[0]?.algorithm ?? 'ES256',
      clock: () => NOW,
      encryptionKey,
      issuer,
      onFailure(cause) {
        throw cause
      },
    },
  )
}
