import { randomBytes } from 'node:crypto'
import type { EpochMs } from '../../src/base/brand.ts'
import type { InitialTokenRecord } from '../../src/ports/records/initial-token.ts'
import { DEFAULT_TEMPLATE } from '../../src/protocol/client/registration-template.ts'
import { mintInitialTokenId } from '../../src/protocol/ids.ts'
import { aHash, HOUR, NOW } from './records.ts'

/** A token that one client can register with. */
export function anInitialToken(differing: Partial<InitialTokenRecord> = {}, madeAt: EpochMs = NOW): InitialTokenRecord {
  return {
    id: mintInitialTokenId(madeAt, randomBytes),
    name: `A "pipeline's" \u{1f600}`,
    secretHash: aHash(),
    template: DEFAULT_TEMPLATE,
    uses: 1,
    usesLeft: 1,
    createdAt: madeAt,
    expiresAt: (madeAt + 720 * HOUR) as EpochMs,
    revokedAt: undefined,
    ...differing,
  }
}
