import type { DatabaseSync } from 'node:sqlite'
import type { OpaqueTokenRecord } from '../../ports/records/api.ts'
import type { OpaqueTokenId } from '../../protocol/ids.ts'
import { opaqueTokenOf, recordOf } from '../rows.ts'
import type { Handlers } from './handlers.ts'

export function opaqueTokenStatements(database: DatabaseSync) {
  const issue = database.prepare(
    'insert into opaque_tokens (token_id, token_hash, facts) values (?, ?, ?) on conflict (token_id) do nothing',
  )
  const find = database.prepare('select * from opaque_tokens where token_id = ?')

  return {
    issueToken({ id, hash, facts }) {
      issue.run(id, hash, JSON.stringify(facts))
      return 'issued'
    },
    findOpaqueToken: (id: OpaqueTokenId): OpaqueTokenRecord | undefined => recordOf(find.get(id), opaqueTokenOf),
  } satisfies Partial<Handlers> & Record<string, unknown>
}
