import type { Command } from 'commander'
import { grantedWords } from './api-options.ts'
import { columns, record } from './columns.ts'
import { API } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { ApiDocument } from '../admin/api-tasks.ts'

/** `grantor api show` */
export function addApiShow(parent: Command, terminal: Terminal): void {
  addTaskVerb<ApiDocument>(parent, terminal, {
    verb: 'show',
    task: 'api.show',
    subjects: [API],
    say({ scopes, tokens, ...api }, { paint }) {
      const { format, lifetime, algorithm, jwt_type } = tokens
      const made = {
        token_format: format,
        token_lifetime: lifetime === null ? "the server's" : `${lifetime} seconds`,
        token_algorithm: format === 'opaque' ? null : (algorithm ?? "the server's"),
        token_jwt_type: format === 'opaque' ? null : jwt_type,
      }
      const cells = scopes.map(({ name, granted_to, sentence }) => [name, grantedWords(granted_to), sentence])
      const table = cells.length === 0 ? [] : ['', ...columns(['SCOPE', 'GRANTED', 'SENTENCE'], cells, paint)]
      return [...record({ ...api, ...made }, paint), ...table]
    },
  })
}
