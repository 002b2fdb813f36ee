import type { ClientRecord } from '../../ports/records/client.ts'
import type { Reads } from '../../ports/store.ts'
import type { Input } from '../../ports/operations/index.ts'
import type { ClientId } from '../../protocol/ids.ts'
import { AUDIT_LINKS } from '../nouns/server/audit.ts'
import type { Row } from '../rows.ts'
import { CLIENTS } from '../nouns/client/clients.ts'
import { columns, jsonTexts, placeholders, type Scalar } from './connection/column-parameters.ts'
import type { Database } from './connection/database.ts'
import type { Query } from './connection/query.ts'
import { openBatchLoader } from './batch-loader.ts'
import { valuesOf, type Handlers } from './handlers.ts'
import { arraysOf, insertion, insertRows, type Insertion } from './connection/insertion.ts'

const INSERT = insertion({
  name: 'insert-clients',
  into: 'clients (client_id, issued_at, secret_hash, management_hash, metadata, held_until, source)',
  types: ['text', 'bigint', 'text', 'text', 'json'],
  constants: ['0', `'registration'`],
})
const INSERT_WITH_AUDIT = {
  name: 'insert-clients-with-audit',
  text: `with link as (
      insert into audit_links (${AUDIT_LINKS.names})
      values (${placeholders(AUDIT_LINKS, INSERT.types.length + 1)}))
    ${INSERT.text}`,
}
const SHARE = insertion({
  name: 'share-clients',
  into: 'clients as c (client_id, issued_at, shared_key, held_until, metadata, source)',
  types: ['text', 'bigint', 'text', 'bigint', 'json'],
  constants: [`'registration'`],
  ending: `on conflict (shared_key) where shared_key is not null
    do update set held_until = greatest(c.held_until, excluded.held_until)
    returning *`,
})
/** The same in two statements, for clients that are distributed by their ids. */
const SHARE_KEYS = insertion({
  name: 'share-keys',
  into: 'shared_clients as s (shared_key, client_id)',
  types: ['text', 'text'],
  ending: 'on conflict (shared_key) do update set client_id = s.client_id returning shared_key, client_id',
})
const SHARE_BY_ID = insertion({
  name: 'share-clients-by-id',
  into: 'clients as c (client_id, issued_at, shared_key, held_until, metadata, source)',
  types: ['text', 'bigint', 'text', 'bigint', 'json'],
  constants: [`'registration'`],
  ending: `on conflict (client_id) do update set held_until = greatest(c.held_until, excluded.held_until)
    returning *`,
})
const USE = {
  name: 'use-clients',
  text: `update clients as c set used_at = coalesce(c.used_at, i.now)
    from unnest($1::text[], $2::bigint[]) as i (id, now) where c.client_id = i.id
    returning c.client_id`,
}
const HOLD = {
  name: 'hold-clients',
  text: `update clients as c set held_until = greatest(c.held_until, i.until),
      pending_until = greatest(coalesce(c.pending_until, 0), i.until)
    from unnest($1::text[], $2::bigint[]) as i (id, until) where c.client_id = i.id
    returning c.client_id`,
}
const FIND = { name: 'find-clients', text: 'select * from clients where client_id = any($1::text[])' }

export function clientStatements(database: Database) {
  const handlers = {
    registerClient: {
      keys: ({ id }) => [id],
      async run(query, inputs) {
        await insertRows(query, INSERT, registrationRows(inputs))
        return inputs.map(() => 'registered' as const)
      },
      atOnce: {
        outcome: () => 'registered',
        writesAudit: true,
        onOneMachine: true,
        async run(query, inputs, link) {
          const rows = arraysOf(INSERT, registrationRows(inputs))
          if (link === undefined) await query(INSERT, rows)
          else await query(INSERT_WITH_AUDIT, [...rows, ...AUDIT_LINKS.write(link)])
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
        const rows = query.isDistributed ? await shareById(query, firsts) : await share(query, SHARE, firsts)
        const clients = new Map(rows.map((row) => [row['shared_key'], CLIENTS.read(row)]))
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
  } satisfies Partial<Handlers>
  const reads = {
    findClient: openBatchLoader(async (ids: readonly ClientId[]) =>
      (await database.query(FIND, [ids])).map(CLIENTS.read),
    ),
  } satisfies Partial<Reads>
  return { handlers, reads }
}

function share(
  query: Query,
  insert: Insertion,
  registrations: readonly Input<'registerPublicClient'>[],
): Promise<readonly Row[]> {
  const rows = columns(
    registrations,
    ({ client }) => client.id,
    ({ client }) => client.issuedAt,
    ({ client }) => client.dedupeKey,
    'retainUntil',
  )
  return insertRows(query, insert, [...rows, jsonTexts(registrations, ({ client }) => client.metadata)])
}

/** The row of a shared key stays locked until the commit, so its client is not removed meanwhile. */
async function shareById(
  query: Query,
  registrations: readonly Input<'registerPublicClient'>[],
): Promise<readonly Row[]> {
  const keys = columns(
    registrations,
    ({ client }) => client.dedupeKey,
    ({ client }) => client.id,
  )
  const rows = await insertRows(query, SHARE_KEYS, keys)
  const ids = new Map(rows.map((row) => [row['shared_key'], row['client_id'] as ClientId]))
  const shared = registrations.map(({ client, retainUntil }) => ({
    client: { ...client, id: ids.get(client.dedupeKey ?? '') ?? client.id },
    retainUntil,
  }))
  return share(query, SHARE_BY_ID, shared)
}

function registrationRows(inputs: readonly ClientRecord[]): readonly (readonly Scalar[])[] {
  return [
    ...columns(inputs, 'id', 'issuedAt', 'secretHash', 'managementHash'),
    jsonTexts(inputs, ({ metadata }) => metadata),
  ]
}
