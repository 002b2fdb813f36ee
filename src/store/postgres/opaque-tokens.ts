import type { OpaqueTokenRecord } from '../../ports/records/api.ts'
import type { Reads } from '../../ports/store.ts'
import type { OpaqueTokenId } from '../../protocol/ids.ts'
import { opaqueTokenOf } from '../rows.ts'
import { columns, jsonLines } from './column-parameters.ts'
import type { Database, Query } from './database.ts'
import { openBatchLoader } from './batch-loader.ts'
import type { Handlers } from './handlers.ts'

const ISSUE = {
  name: 'issue-tokens',
  text: `insert into opaque_tokens (token_id, token_hash, facts)
    select i.* from unnest($1::text[], $2::text[], string_to_array($3, chr(10))) as i on conflict (token_id) do nothing`,
}
const FIND = { name: 'find-opaque-tokens', text: 'select * from opaque_tokens where token_id = any($1::text[])' }

export function opaqueTokenStatements(database: Database) {
  const handlers = {
    issueToken: {
      keys: ({ id }) => [`opaque:${id}`],
      isShared: true,
      async run(query, inputs) {
        await issue(query, inputs)
        return inputs.map(() => 'issued' as const)
      },
      atOnce: {
        outcome: () => 'issued',
        async run(query, inputs) {
          await issue(query, inputs)
          return inputs.map(() => true)
        },
      },
    },
  } satisfies Partial<Handlers>
  const reads = {
    findOpaqueToken: openBatchLoader(async (ids: readonly OpaqueTokenId[]) =>
      (await database.query(FIND, [ids])).map((row) => opaqueTokenOf(row)),
    ),
  } satisfies Partial<Reads>
  return { handlers, reads }
}

async function issue(query: Query, inputs: readonly OpaqueTokenRecord[]): Promise<void> {
  const rows = columns(inputs, 'id', 'hash')
  await query(ISSUE, [...rows, jsonLines(inputs, ({ facts }) => facts)])
}
