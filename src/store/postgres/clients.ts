import type { ClientRecord } from '../../ports/records/client.ts'
import type { ClientFilter, Page, Reads } from '../../ports/store.ts'
import type { Input } from '../../ports/operations.ts'
import type { ClientId } from '../../protocol/ids.ts'
import { auditLinkValues } from '../operator-rows.ts'
import { clientOf } from '../rows.ts'
import { columns, jsonLines } from './column-parameters.ts'
import type { Database, Parameter } from './database.ts'
import { openBatchLoader } from './batch-loader.ts'
import { changeRow, eachAlone, valuesOf, type Handlers } from './handlers.ts'

const INSERT = {
  name: 'insert-clients',
  text: `insert into clients (client_id, issued_at, secret_hash, management_hash, metadata, held_until)
    select i.*, 0 from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], string_to_array($5, chr(10))) as i`,
}
const INSERT_WITH_AUDIT = {
  name: 'insert-clients-with-audit',
  text: `with link as (
      insert into audit_links (link_id, chain_id, sequence, recorded_at, previous_hash, events, link_hash)
      values ($6, $7, $8, $9, $10, $11, $12))
    insert into clients (client_id, issued_at, secret_hash, management_hash, metadata, held_until)
    select i.*, 0 from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], string_to_array($5, chr(10))) as i`,
}
const SHARE = {
  name: 'share-clients',
  text: `insert into clients as c (client_id, issued_at, shared_key, held_until, metadata)
    select * from unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], string_to_array($5, chr(10)))
    on conflict (shared_key) where shared_key is not null
    do update set held_until = greatest(c.held_until, excluded.held_until)
    returning *`,
}
const USE = {
  name: 'use-clients',
  text: `update clients as c set used_at = coalesce(c.used_at, i.now)
    from unnest($1::text[], $2::bigint[]) as i (id, now) where c.client_id = i.id returning c.client_id`,
}
const HOLD = {
  name: 'hold-clients',
  text: `update clients as c set held_until = greatest(c.held_until, i.until)
    from unnest($1::text[], $2::bigint[]) as i (id, until) where c.client_id = i.id returning c.client_id`,
}
const UPDATE = {
  name: 'update-client',
  text: `update clients set metadata = $1, identity_from = coalesce($2::bigint, identity_from),
      verified_at = case when $2::bigint is null then verified_at end,
      approved_scope = case when $2::bigint is null then approved_scope end
    where client_id = $3 and metadata = $4 returning client_id`,
}
const DELETE = {
  name: 'delete-clients',
  text: 'delete from clients where client_id = any($1::text[]) returning client_id',
}
const DELETE_INSTALLATIONS = {
  name: 'delete-installations-of-clients',
  text: 'delete from installations where client_id = any($1::text[])',
}
const VERIFY = {
  name: 'verify-client',
  text: 'update clients set verified_at = coalesce(verified_at, $2) where client_id = $1 returning client_id',
}
const UNVERIFY = {
  name: 'unverify-client',
  text: 'update clients set verified_at = null where client_id = $1 returning client_id',
}
const DISABLE = {
  name: 'disable-client',
  text: 'update clients set disabled_at = coalesce(disabled_at, $2), shared_key = null where client_id = $1 returning client_id',
}
const ENABLE = {
  name: 'enable-client',
  text: 'update clients set disabled_at = null where client_id = $1 returning client_id',
}
const FIND = { name: 'find-clients', text: 'select * from clients where client_id = any($1::text[])' }
const ROTATE_SECRET = {
  name: 'rotate-client-secret',
  text: `update clients set previous_secret_hash = $1, previous_secret_until = $2, secret_hash = $3
    where client_id = $4 and secret_hash = $5 returning client_id`,
}
const APPROVE_SCOPE = {
  name: 'approve-client-scope',
  text: 'update clients set approved_scope = $2 where client_id = $1 returning client_id',
}
const EXPIRE = {
  name: 'expire-client',
  text: 'update clients set valid_from = greatest(valid_from, $2) where client_id = $1 returning client_id',
}
const NOTE_USES = {
  name: 'note-uses',
  text: `update clients as c set last_used_at = i.used_at from unnest($1::text[], $2::bigint[]) as i (id, used_at)
    where c.client_id = i.id and coalesce(c.last_used_at, 0) < i.used_at`,
}
const LIST = {
  name: 'list-clients',
  text: `select * from clients where client_id < $1
      and ($2::boolean is null or (used_at is not null) = $2)
      and ($3::boolean is null or (verified_at is not null) = $3)
      and ($4::boolean is null or (disabled_at is not null) = $4)
      and ($5::bigint is null or coalesce(last_used_at, used_at, 0) < $5)
    order by client_id desc limit $6`,
}

export function clientStatements(database: Database) {
  const handlers = {
    registerClient: {
      keys: ({ id }) => [id],
      async run(query, inputs) {
        await query(INSERT, registrationRows(inputs))
        return inputs.map(() => 'registered' as const)
      },
      atOnce: {
        outcome: () => 'registered',
        writesAudit: true,
        async run(query, inputs, link) {
          const rows = registrationRows(inputs)
          if (link === undefined) await query(INSERT, rows)
          else await query(INSERT_WITH_AUDIT, [...rows, ...auditLinkValues(link)])
          return inputs.map(() => true)
        },
      },
    },
    registerPublicClient: {
      keys: ({ client }) => [`shared:${client.dedupeKey}`, client.id],
      isShared: true,
      async run(query, inputs) {
        // Of concurrent registrations with one key only the first is inserted: one statement cannot change a row twice.
        const firsts = [...Map.groupBy(inputs, ({ client }) => client.dedupeKey).values()].flatMap(
          ([first]) => first ?? [],
        )
        const rows = await query(SHARE, [
          ...columns(
            firsts,
            ({ client }) => client.id,
            ({ client }) => client.issuedAt,
            ({ client }) => client.dedupeKey,
            ({ retainUntil }) => retainUntil,
          ),
          jsonLines(firsts, ({ client }) => client.metadata),
        ])
        const clients = new Map(rows.map((row) => [row['shared_key'], clientOf(row)]))
        return inputs.map(({ client }) => clients.get(client.dedupeKey) as ClientRecord)
      },
    },
    useClient: {
      keys: ({ id }) => [id],
      isShared: true,
      async run(query, inputs) {
        const times = new Map(inputs.map(({ id, now }) => [id, now]))
        const used = valuesOf(await query(USE, [[...times.keys()], [...times.values()]]), 'client_id')
        return inputs.map(({ id }) => (used.has(id) ? 'used' : 'unknown'))
      },
    },
    extendRetention: {
      keys: ({ id }) => [id],
      isShared: true,
      async run(query, inputs) {
        const times = new Map<ClientId, number>()
        for (const { id, until } of inputs) times.set(id, Math.max(times.get(id) ?? 0, until))
        const held = valuesOf(await query(HOLD, [[...times.keys()], [...times.values()]]), 'client_id')
        return inputs.map(({ id }) => (held.has(id) ? 'held' : 'unknown'))
      },
    },
    updateClient: {
      keys: ({ id }) => [id],
      run: eachAlone(async (query, { id, previous, metadata, identityFrom }: Input<'updateClient'>) => {
        const rows = await query(UPDATE, [JSON.stringify(metadata), identityFrom ?? null, id, JSON.stringify(previous)])
        return rows.length === 1 ? 'updated' : 'conflict'
      }),
    },
    deleteClient: {
      keys: (id) => [id],
      async run(query, inputs) {
        const deleted = valuesOf(await query(DELETE, [inputs]), 'client_id')
        await query(DELETE_INSTALLATIONS, [inputs])
        return inputs.map((id) => (deleted.has(id) ? 'deleted' : 'unknown'))
      },
    },
    verifyClient: {
      keys: ({ id }) => [id],
      run: eachAlone((query, { id, now }: Input<'verifyClient'>) => changeRow(query, VERIFY, [id, now])),
    },
    unverifyClient: {
      keys: (id) => [id],
      run: eachAlone((query, id: ClientId) => changeRow(query, UNVERIFY, [id])),
    },
    disableClient: {
      keys: ({ id }) => [id],
      run: eachAlone((query, { id, now }: Input<'disableClient'>) => changeRow(query, DISABLE, [id, now])),
    },
    enableClient: {
      keys: (id) => [id],
      run: eachAlone((query, id: ClientId) => changeRow(query, ENABLE, [id])),
    },
    rotateClientSecret: {
      keys: ({ id }) => [id],
      run: eachAlone(async (query, rotation: Input<'rotateClientSecret'>) => {
        const { id, previous, secretHash, kept, keptUntil } = rotation
        const rows = await query(ROTATE_SECRET, [kept, keptUntil, secretHash, id, previous])
        return rows.length === 1 ? 'rotated' : 'conflict'
      }),
    },
    approveClientScope: {
      keys: ({ id }) => [id],
      run: eachAlone((query, { id, scope }: Input<'approveClientScope'>) =>
        changeRow(query, APPROVE_SCOPE, [id, scope]),
      ),
    },
    revokeClientTokens: {
      keys: ({ id }) => [id],
      run: eachAlone((query, { id, now }: Input<'revokeClientTokens'>) => changeRow(query, EXPIRE, [id, now])),
    },
    noteUses: {
      // At least one key is required, also for a list without clients.
      keys: (uses) => ['uses', ...uses.map(({ id }) => id)],
      isShared: true,
      async run(query, inputs) {
        const times = new Map<ClientId, number>()
        for (const { id, at } of inputs.flat()) times.set(id, Math.max(times.get(id) ?? 0, at))
        const ids = [...times.keys()].toSorted()
        await query(NOTE_USES, [ids, ids.map((id) => times.get(id) ?? 0)])
        return inputs.map(() => 'noted' as const)
      },
    },
  } satisfies Partial<Handlers>
  const reads = {
    findClient: openBatchLoader(async (ids: readonly ClientId[]) =>
      (await database.query(FIND, [ids])).map((row) => clientOf(row)),
    ),
    async listClients({ before, limit, ...filter }: Page<ClientId> & ClientFilter): Promise<readonly ClientRecord[]> {
      const { isUsed = null, isVerified = null, isDisabled = null, unusedSince = null } = filter
      const rows = await database.query(LIST, [before ?? '~', isUsed, isVerified, isDisabled, unusedSince, limit])
      return rows.map((row) => clientOf(row))
    },
  } satisfies Partial<Reads>
  return { handlers, reads }
}

function registrationRows(inputs: readonly ClientRecord[]): readonly Parameter[] {
  return [
    ...columns(
      inputs,
      ({ id }) => id,
      ({ issuedAt }) => issuedAt,
      ({ secretHash }) => secretHash,
      ({ managementHash }) => managementHash,
    ),
    jsonLines(inputs, ({ metadata }) => metadata),
  ]
}
