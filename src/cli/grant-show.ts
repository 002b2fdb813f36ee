import type { Command } from 'commander'
import { record } from './columns.ts'
import { GRANT } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { GrantDocument } from '../admin/grant-tasks.ts'

/** `grantor grant show` */
export function addGrantShow(parent: Command, terminal: Terminal): void {
  addTaskVerb<GrantDocument>(parent, terminal, {
    verb: 'show',
    task: 'grant.show',
    within: 'organization.show-grant',
    subjects: [GRANT],
    say: (grant, { paint }) => record(grant, paint),
  })
}
