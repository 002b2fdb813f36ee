import type { OpaqueTokenRecord } from '../../ports/records/api.ts'
import type { Reads } from '../../ports/store.ts'
import type { OpaqueTokenId } from '../../protocol/ids.ts'
import { opaqueTokenOf } from '../nouns/token/access-tokens.ts'
import { columns, jsonTexts } from './connection/column-parameters.ts'
import type { Database } from './connection/database.ts'
import type { Query } from './connection/query.ts'
import { openBatchLoader } from './batch-loader.ts'
import type { Handlers } from './handlers.ts'
import { insertion, insertRows } from './connection/insertion.ts'

const ISSUE = insertion({
  name: 'issue-tokens',
  into: 'opaque_tokens (token_id, token_hash, facts)',
  types: ['text', 'text', 'json'],
  ending: 'on conflict (token_id) do nothing',
})
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
  await insertRows(query, ISSUE, [...rows, jsonTexts(inputs, ({ facts }) => facts)])
}
