import { hash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { after, type EpochMs } from '../../src/base/brand.ts'
import type { Rotation } from '../../src/ports/operations/token.ts'
import type { GrantRecord } from '../../src/ports/records/grant.ts'
import type { CopiesRule } from '../../src/protocol/client/policy.ts'
import { grantIdOf, mintAuthorizationId, mintClientId, mintUserId, type GrantId } from '../../src/protocol/ids.ts'
import { openSecrets } from '../../src/protocol/secrets.ts'
import { NO_SCOPE } from '../../src/protocol/token/scope.ts'
import { shared } from '../../src/store/shared/statement.ts'
import { migrate } from '../../src/store/sqlite/migrate.ts'
import { slotOf } from '../../src/store/sqlite/slot.ts'
import { tokenStatements } from '../../src/store/sqlite/tokens.ts'
import { NEW_GRANT } from '../../src/store/nouns/token/grants.ts'

/** Families of refresh tokens in a SQLite store in memory, whose rule decides. */
export interface Families {
  /** Signs in: returns the first token of a new family. */
  readonly begin: (network: string, at: number) => string
  /** Presents a token. Returns the newest one; undefined: it was refused. */
  readonly present: (token: string, network: string, at: number) => string | undefined
  /** When a token was issued. */
  readonly issuedAt: (token: string) => number
  /** Names the family of a token. */
  readonly familyOf: (token: string) => string
  /** How long after a rotation the previous token gets the same answer, from anywhere. */
  readonly retrySeconds: number
}

export interface FamilyRules {
  readonly copies: CopiesRule
  readonly retrySeconds: number
  readonly earlierSeconds: number
}

export const DEFAULT_FAMILY_RULES: FamilyRules = { copies: 'network', retrySeconds: 30, earlierSeconds: 7 * 86_400 }

const START = 1_800_000_000_000
const IDLE_MS = 30 * 86_400_000
const ABSOLUTE_MS = 90 * 86_400_000

export function openFamilies({ copies, retrySeconds, earlierSeconds }: FamilyRules): Families {
  const database = new DatabaseSync(':memory:')
  migrate(database, START)
  const secrets = openSecrets('the master key of a simulation, which is no secret')
  const store = tokenStatements(database)
  const insert = database.prepare(
    shared(`insert or ignore into grants (slot, ${NEW_GRANT.names}) values (:slot, ${NEW_GRANT.parameters})`).sqlite,
  )
  const about = { clientId: mintClientId(timeOf(0), counted), userId: mintUserId(timeOf(0), counted) }

  function newGrant(id: GrantId, network: string, now: EpochMs, liveHash: Rotation['presentedHash']): GrantRecord {
    const idleExpiresAt = after(now, IDLE_MS)
    const family = { generation: 0, liveHash, rotatedAt: now, idleExpiresAt, network, heldFor: undefined }
    return { ...GRANT, ...about, id, createdAt: now, expiresAt: after(now, ABSOLUTE_MS), family }
  }

  return {
    retrySeconds,
    begin(network, at) {
      const now = timeOf(at)
      const id = grantIdOf(mintAuthorizationId(now, counted))
      const { token, hash: liveHash } = secrets.mintFamily(id, now, counted)
      const values = NEW_GRANT.write(newGrant(id, secrets.networkTag(network), now, liveHash))
      // As the store does: another row number if that of the id is taken.
      if (insert.run(slotOf(id), ...values).changes === 0) insert.run(null, ...values)
      return token
    },
    present(token, network, at) {
      const opened = secrets.verify('refresh-token', token)
      if (opened === undefined) throw new Error('The token is not of this simulation.')
      const now = timeOf(at)
      const successor = secrets.atGeneration(token, { generation: opened.generation + 1, issuedAt: now })
      const outcome = store.rotateRefreshToken({
        grantId: opened.id as GrantId,
        generation: opened.generation,
        issuedAt: opened.issuedAt,
        presentedHash: opened.hash,
        successorHash: successor.hash,
        now,
        idleExpiresAt: after(now, IDLE_MS),
        key: undefined,
        retryMs: retrySeconds * 1000,
        network: secrets.networkTag(network),
        copies,
        earlierMs: earlierSeconds * 1000,
        recordsParting: true,
        about: { ...about, organizationId: undefined },
      })
      if (outcome.kind === 'rotated') return successor.token
      if (outcome.kind !== 'repeated' && outcome.kind !== 'earlier') return undefined
      const generation = outcome.kind === 'earlier' ? outcome.generation : opened.generation + 1
      return secrets.atGeneration(token, { generation, issuedAt: outcome.rotatedAt }).token
    },
    familyOf: (token) => secrets.verify('refresh-token', token)?.id ?? '',
    issuedAt: (token) => ((secrets.verify('refresh-token', token)?.issuedAt ?? START) - START) / 1000,
  }
}

const GRANT = {
  organizationId: undefined,
  scope: NO_SCOPE,
  ungrantedScope: NO_SCOPE,
  resources: [],
  revokedAt: undefined,
  openid: undefined,
  stated: undefined,
  redirectHost: undefined,
  boundKey: undefined,
  providerId: undefined,
} satisfies Partial<GrantRecord>

function timeOf(seconds: number): EpochMs {
  return Math.round(START + seconds * 1000) as EpochMs
}

let count = 0

/** Different bytes for each call, and the same ones in each run. */
function counted(bytes: number): Buffer {
  count += 1
  return hash('sha256', String(count), 'buffer').subarray(0, bytes)
}
