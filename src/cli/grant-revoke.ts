import type { Command } from 'commander'
import { GRANT } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { GrantDocument } from '../admin/grant-tasks.ts'

/** `grantor grant revoke` */
export function addGrantRevoke(parent: Command, terminal: Terminal): void {
  addTaskVerb<GrantDocument>(parent, terminal, {
    verb: 'revoke',
    task: 'grant.revoke',
    within: 'organization.revoke-grant',
    subjects: [GRANT],
    say: ({ grant_id, client_id }) => [`The grant ${grant_id} of ${client_id} is over, with all of its tokens.`],
  })
}
