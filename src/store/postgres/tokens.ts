import type { GrantRecord } from '../../ports/records/grant.ts'
import type { Reads } from '../../ports/store.ts'
import type { Redemption, RotateOutcome, Rotation } from '../../ports/operation-inputs.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { GrantId } from '../../protocol/ids.ts'
import { decideRotation } from '../refresh-rotation.ts'
import { GRANTS, NEW_GRANT } from '../tables.ts'
import { arrays, columns, qualified, type Scalar } from './column-parameters.ts'
import type { Database } from './database.ts'
import type { Query } from './query.ts'
import { openBatchLoader } from './batch-loader.ts'
import { valuesOf, type Handlers } from './handlers.ts'
import { insertion, insertRows } from './insertion.ts'
import { awaitGrants } from './settle.ts'
import { runSteps } from './steps.ts'

/** Redeems codes and inserts their grants in one statement: a grant exists exactly if its code was redeemed. */
const REDEEM = {
  name: 'redeem-codes',
  text: `with spent as (
      update authorizations as a set status = 'redeemed', grant_id = i.grant_id
      from unnest($1::text[], $2::text[], $3::bigint[], ${arrays(NEW_GRANT, 4)})
      as i (id, code_hash, now, ${NEW_GRANT.names})
      where a.authorization_id = i.id and a.code_hash = i.code_hash and a.status = 'approved' and a.expires_at > i.now
      returning ${qualified(NEW_GRANT, 'i')})
    insert into grants (${NEW_GRANT.names})
    select * from spent returning grant_id`,
}
/** The same as two statements: Citus would write the rows of the first to all machines. */
const SPEND = {
  name: 'spend-codes',
  text: `update authorizations as a set status = 'redeemed', grant_id = i.grant_id
    from unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) as i (id, code_hash, now, grant_id)
    where a.authorization_id = i.id and a.code_hash = i.code_hash
      and a.status = 'approved' and a.expires_at > i.now
    returning a.grant_id`,
}
const INSERT = insertion({
  name: 'insert-grants',
  into: `grants (${NEW_GRANT.names})`,
  types: NEW_GRANT.columns.map(({ type }) => type),
})
const FIND_REDEEMED = {
  name: 'find-redeemed',
  text: `select a.authorization_id, a.grant_id from unnest($1::text[], $2::text[]) as i (id, code_hash)
    join authorizations as a on a.authorization_id = i.id and a.code_hash = i.code_hash and a.status = 'redeemed'
    /*citus where a.authorization_id = any($1::text[])*/`,
}
const ROTATE = {
  name: 'rotate-families',
  text: `update grants as g set generation = g.generation + 1, previous_hash = g.live_hash, live_hash = i.successor,
      rotated_at = i.now, idle_expires_at = i.idle_expires_at
    from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])
      as i (grant_id, generation, presented, successor, now, idle_expires_at)
    where g.grant_id = i.grant_id and g.generation = i.generation and g.live_hash = i.presented
      and g.revoked_at is null and g.idle_expires_at > i.now and g.expires_at > i.now
    returning g.grant_id`,
}
const REVOKE = {
  name: 'revoke-grants',
  text: `update grants as g set revoked_at = i.now from unnest($1::text[], $2::bigint[]) as i (grant_id, now)
    where g.grant_id = i.grant_id and g.revoked_at is null`,
}
const FIND = { name: 'find-grants', text: 'select * from grants where grant_id = any($1::text[])' }

export function tokenStatements(database: Database) {
  const handlers = {
    redeemCode: {
      keys: ({ id, grant }) => [id, grant.id],
      atOnce: {
        outcome: () => 'redeemed',
        onOneMachine: true,
        async run(query, inputs) {
          const redeemed = await redeem(query, inputs)
          return inputs.map(({ grant }) => redeemed.has(grant.id))
        },
      },
      async run(query, inputs) {
        const redeemed = await redeem(query, inputs)
        const late = inputs.filter(({ grant }) => !redeemed.has(grant.id))
        const spent = late.length === 0 ? new Map<unknown, unknown>() : await findRedeemed(query, late)
        // RFC 6749 §4.1.2: if a code is presented twice, the tokens issued for it are revoked.
        const replays = late.filter(({ id }) => spent.has(id))
        if (query.isDistributed) await runSteps(query, awaitGrants(replays.map(({ id }) => spent.get(id) as GrantId)))
        await revoke(
          query,
          replays.map(({ id, now }) => ({ grantId: spent.get(id) as GrantId, now })),
        )
        return inputs.map(({ id, grant }) => {
          if (redeemed.has(grant.id)) return 'redeemed'
          return spent.has(id) ? 'replayed' : 'unknown'
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
  const codes = columns(inputs, 'id', 'codeHash', 'now')
  if (!query.isDistributed) return valuesOf(await query(REDEEM, [...codes, ...grantColumns(inputs)]), 'grant_id')
  const ids = inputs.map(({ grant }) => grant.id)
  const redeemed = valuesOf(await query(SPEND, [...codes, ids]), 'grant_id')
  const created = inputs.filter(({ grant }) => redeemed.has(grant.id))
  if (created.length > 0) await insertRows(query, INSERT, grantColumns(created))
  return redeemed
}

function grantColumns(inputs: readonly Redemption[]): readonly (readonly Scalar[])[] {
  return columns(
    inputs,
    ...NEW_GRANT.columns.map(
      ({ write }) =>
        ({ grant }: Redemption) =>
          write(grant),
    ),
  )
}

/** Returns the ids of the grants whose families were rotated. */
async function rotate(query: Query, inputs: readonly Rotation[]): Promise<ReadonlySet<unknown>> {
  const rows = columns(inputs, 'grantId', 'generation', 'presentedHash', 'successorHash', 'now', 'idleExpiresAt')
  return valuesOf(await query(ROTATE, rows), 'grant_id')
}

async function findRedeemed(query: Query, late: readonly Redemption[]): Promise<ReadonlyMap<unknown, unknown>> {
  const rows = await query(FIND_REDEEMED, columns(late, 'id', 'codeHash'))
  return new Map(rows.map((row) => [row['authorization_id'], row['grant_id']]))
}

/** Decides what became of the tokens that were not rotated (../refresh-rotation.ts). */
async function checkLate(
  query: Query,
  late: readonly Rotation[],
): Promise<readonly (readonly [GrantId, RotateOutcome])[]> {
  if (late.length === 0) return []
  const grants = await findAll(
    query,
    late.map(({ grantId }) => grantId),
  )
  const outcomes = late.map((rotation) => {
    const grant = grants.find(({ id }) => id === rotation.grantId)
    return [rotation.grantId, decideRotation(grant, rotation)] as const
  })
  const reused = late.filter((_, index) => outcomes[index]?.[1].kind === 'reused')
  await revoke(query, reused)
  return outcomes
}

async function revoke(
  query: Query,
  grants: readonly { readonly grantId: GrantId; readonly now: EpochMs }[],
): Promise<void> {
  if (grants.length === 0) return
  const sorted = grants.toSorted((one, other) => (one.grantId < other.grantId ? -1 : 1))
  await query(REVOKE, columns(sorted, 'grantId', 'now'))
}

async function findAll(query: Query, ids: readonly GrantId[]): Promise<readonly GrantRecord[]> {
  return (await query(FIND, [ids])).map(GRANTS.read)
}
