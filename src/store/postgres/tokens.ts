import type { GrantRecord } from '../../ports/records/grant.ts'
import type { Reads } from '../../ports/store.ts'
import type { Redemption } from '../../ports/operations/authorization.ts'
import type { Rotation } from '../../ports/operations/token.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { GrantId } from '../../protocol/ids.ts'
import { decideRotation, type RotateOutcome } from '../../protocol/token/refresh-rotation.ts'
import { without } from '../table.ts'
import { GRANTS, NEW_GRANT } from '../nouns/token/grants.ts'
import { arrays, columns, qualified } from './connection/column-parameters.ts'
import type { Database } from './connection/database.ts'
import type { Query } from './connection/query.ts'
import { openBatchLoader } from './batch-loader.ts'
import { valuesOf, type Handlers } from './handlers.ts'

/** The other columns of a grant. Citus divides an insert if its key is a column of the select. */
const OTHERS = without(NEW_GRANT, 'grant_id')
const [ARRAYS, VALUES] = [arrays(OTHERS, 4), qualified(OTHERS, 'i')]

/**
 * Inserts the grants of codes that can be redeemed. The row of an authorization stays locked until the commit, although it does not
 * change: what burns codes and then revokes grants waits, and sees the grant.
 */
const REDEEM = {
  name: 'redeem-codes',
  text: `insert into grants (grant_id, ${OTHERS.names})
    select a.authorization_id, ${VALUES}
    from authorizations as a
      cross join unnest($1::text[], $2::text[], $3::bigint[], ${ARRAYS}) as i (id, code_hash, now, ${OTHERS.names})
    where a.authorization_id = i.id and a.code_hash = i.code_hash and a.status = 'approved' and a.expires_at > i.now
    for share of a
    on conflict (grant_id) do nothing returning grant_id`,
}
const FIND_REDEEMED = {
  name: 'find-redeemed',
  text: `select a.authorization_id from unnest($1::text[], $2::text[]) as i (id, code_hash)
    join authorizations as a on a.authorization_id = i.id and a.code_hash = i.code_hash
    join grants as g on g.grant_id = a.authorization_id
    /*citus where a.authorization_id = any($1::text[])*/`,
}
const ROTATE = {
  name: 'rotate-families',
  text: `update grants as g set generation = g.generation + 1, live_hash = i.successor, rotated_at = i.now, idle_expires_at = i.idle_expires_at, key_thumbprint = i.key,
      key_generation = case when g.key_thumbprint is not distinct from i.key then g.key_generation else g.generation + 1 end,
      network = i.network, held_for = null
    from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::text[], $8::text[])
      as i (grant_id, generation, presented, successor, now, idle_expires_at, key, network)
    where g.grant_id = i.grant_id and g.generation = i.generation and g.live_hash = i.presented
      and coalesce(g.key_thumbprint, i.key) is not distinct from i.key and coalesce(g.held_for, i.network) = i.network
      and g.revoked_at is null and g.idle_expires_at > i.now and g.expires_at > i.now
    returning g.grant_id`,
}
/** With `held_at` a grant is revoked only if its family is still held at that generation. */
const REVOKE = {
  name: 'revoke-grants',
  text: `update grants as g set revoked_at = i.now
    from unnest($1::text[], $2::bigint[], $3::bigint[]) as i (grant_id, now, held_at)
    where g.grant_id = i.grant_id and g.revoked_at is null
      and (i.held_at is null or (g.generation = i.held_at and g.held_for is not null))
    returning g.grant_id`,
}
/** Holds families for the networks of earlier tokens, each if it is still of the generation that decided it. */
const PART = {
  name: 'part-families',
  text: `update grants as g set held_for = i.network
    from unnest($1::text[], $2::bigint[], $3::text[]) as i (grant_id, newest, network)
    where g.grant_id = i.grant_id and g.generation = i.newest and g.held_for is null and g.revoked_at is null
    returning g.grant_id`,
}
/** How often a family may move on, between the read that decided about it and the change, before its request fails. */
const DECISION_LIMIT = 3
const FIND = { name: 'find-grants', text: 'select * from grants where grant_id = any($1::text[])' }

export function tokenStatements(database: Database) {
  const handlers = {
    redeemCode: {
      keys: ({ grant }) => [grant.id],
      atOnce: {
        outcome: () => 'redeemed',
        async run(query, inputs) {
          const redeemed = await redeem(query, inputs)
          return inputs.map(({ grant }) => redeemed.has(grant.id))
        },
      },
      async run(query, inputs) {
        const redeemed = await redeem(query, inputs)
        const late = inputs.filter(({ grant }) => !redeemed.has(grant.id))
        const spent = late.length === 0 ? new Set() : await findRedeemed(query, late)
        // RFC 6749 §4.1.2: if a code is presented twice, the tokens issued for it are revoked.
        const replays = late.filter(({ grant }) => spent.has(grant.id))
        const revoked = await revoke(
          query,
          replays.map(({ grant, now }) => ({ grantId: grant.id, now, heldAt: undefined })),
        )
        return inputs.map(({ grant: { id } }) => {
          if (redeemed.has(id)) return 'redeemed'
          if (!spent.has(id)) return 'unknown'
          return revoked.has(id) ? 'replayed' : 'spent'
        })
      },
    },
    rotateRefreshToken: {
      keys: ({ grantId }) => [grantId],
      atOnce: {
        outcome: ({ now }) => ({ kind: 'rotated', rotatedAt: now }),
        async run(query, inputs) {
          const rotated = await rotate(query, inputs)
          return inputs.map(({ grantId }) => rotated.has(grantId))
        },
      },
      async run(query, inputs) {
        const rotated = await rotate(query, inputs)
        const late = inputs.filter(({ grantId }) => !rotated.has(grantId))
        const outcomes = new Map(await checkLate(query, late))
        return inputs.map(({ grantId, now }) => outcomes.get(grantId) ?? { kind: 'rotated', rotatedAt: now })
      },
    },
  } satisfies Partial<Handlers>
  const reads = {
    findGrant: openBatchLoader((ids: readonly GrantId[]) => findAll(database.query, ids)),
  } satisfies Partial<Reads>
  return { handlers, reads }
}

/** Returns the ids of the grants that were created. */
async function redeem(query: Query, inputs: readonly Redemption[]): Promise<ReadonlySet<unknown>> {
  const codes = columns(inputs, ({ grant }) => grant.id, 'codeHash', 'now')
  const grants = OTHERS.columns.map(({ write }) => inputs.map(({ grant }) => write(grant)))
  return valuesOf(await query(REDEEM, [...codes, ...grants]), 'grant_id')
}

/** Returns the ids of the grants whose families were rotated. */
async function rotate(query: Query, inputs: readonly Rotation[]): Promise<ReadonlySet<unknown>> {
  const rows = columns(
    inputs,
    'grantId',
    'generation',
    'presentedHash',
    'successorHash',
    'now',
    'idleExpiresAt',
    'key',
    'network',
  )
  return valuesOf(await query(ROTATE, rows), 'grant_id')
}

/** Returns the ids of the codes that have a grant. */
async function findRedeemed(query: Query, late: readonly Redemption[]): Promise<ReadonlySet<unknown>> {
  const rows = await query(
    FIND_REDEEMED,
    columns(late, ({ grant }) => grant.id, 'codeHash'),
  )
  return valuesOf(rows, 'authorization_id')
}

/** Decides what became of the tokens that were not rotated (protocol/token/refresh-rotation.ts). */
async function checkLate(
  query: Query,
  late: readonly Rotation[],
  tries = DECISION_LIMIT,
): Promise<readonly (readonly [GrantId, RotateOutcome])[]> {
  if (late.length === 0) return []
  if (tries === 0) throw new Error('A family of refresh tokens moved on while it was decided about.')
  const grants = await findAll(
    query,
    late.map(({ grantId }) => grantId),
  )
  const decided = late.map((rotation) => {
    const grant = grants.find(({ id }) => id === rotation.grantId)
    return { rotation, outcome: decideRotation(grant, rotation) }
  })
  const reused = decided.flatMap(({ rotation: { grantId, now, generation }, outcome }) =>
    outcome.kind === 'reused' ? [{ grantId, now, heldAt: outcome.wasHeld ? generation : undefined }] : [],
  )
  const parting = decided.flatMap(({ rotation: { grantId, network }, outcome }) =>
    outcome.kind === 'parted' ? [{ grantId, newest: outcome.newest, network }] : [],
  )
  const [revoked, parted] = [await revoke(query, reused), await part(query, parting)]
  // Another request rotated, held or revoked the family after it was read.
  const missed = new Set(
    [
      ...reused.filter(({ grantId, heldAt }) => heldAt !== undefined && !revoked.has(grantId)),
      ...parting.filter(({ grantId }) => !parted.has(grantId)),
    ].map(({ grantId }) => grantId),
  )
  const again = late.filter(({ grantId }) => missed.has(grantId))
  return [
    ...decided.map(({ rotation: { grantId }, outcome }) => [grantId, outcome] as const),
    ...(await checkLate(query, again, tries - 1)),
  ]
}

/** Returns the ids of the grants whose families are held now, and were not before. */
async function part(
  query: Query,
  parting: readonly (Pick<Rotation, 'grantId' | 'network'> & { readonly newest: number })[],
): Promise<ReadonlySet<unknown>> {
  if (parting.length === 0) return new Set()
  return valuesOf(await query(PART, columns(inOrder(parting), 'grantId', 'newest', 'network')), 'grant_id')
}

/** Returns the ids of the grants that were not revoked before. */
async function revoke(
  query: Query,
  grants: readonly { readonly grantId: GrantId; readonly now: EpochMs; readonly heldAt: number | undefined }[],
): Promise<ReadonlySet<unknown>> {
  if (grants.length === 0) return new Set()
  return valuesOf(await query(REVOKE, columns(inOrder(grants), 'grantId', 'now', 'heldAt')), 'grant_id')
}

/** All statements lock the rows of several grants in one order. */
function inOrder<Row extends { readonly grantId: GrantId }>(rows: readonly Row[]): readonly Row[] {
  return rows.toSorted((one, other) => (one.grantId < other.grantId ? -1 : 1))
}

async function findAll(query: Query, ids: readonly GrantId[]): Promise<readonly GrantRecord[]> {
  return (await query(FIND, [ids])).map(GRANTS.read)
}
