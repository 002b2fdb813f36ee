import type { Command } from 'commander'
import { grantedWords } from './api-options.ts'
import { addListVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { ApiDocument } from '../admin/api-tasks.ts'

/** `grantor api list` */
export function addApiList(parent: Command, terminal: Terminal): void {
  addListVerb<ApiDocument>(parent, terminal, {
    task: 'api.list',
    rows: 'apis',
    headings: ['RESOURCE', 'NAME', 'SCOPE', 'GRANTED', 'SENTENCE'],
    cells: ({ resource, name, scopes }) => [
      [resource, name ?? '–', '', ''],
      ...scopes.map((scope) => ['', '', scope.name, grantedWords(scope.granted_to), scope.sentence]),
    ],
    empty: 'No API is declared. Declare one: grantor api create --resource <uri> --scope <name>=<sentence>',
  })
}
