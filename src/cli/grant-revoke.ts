import type { Command } from 'commander'
import { moment } from './columns.ts'
import { GRANT } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { EndedGrantDocument } from '../admin/grant-tasks.ts'

/** `grantor grant revoke` */
export function addGrantRevoke(parent: Command, terminal: Terminal): void {
  addTaskVerb<EndedGrantDocument>(parent, terminal, {
    verb: 'revoke',
    task: 'grant.revoke',
    within: 'organization.revoke-grant',
    subjects: [GRANT],
    say: ({ grant_id, client_id, revoked_at, was_revoked, other_grants }) => [
      was_revoked
        ? `The grant ${grant_id} of ${client_id} was revoked before, at ${moment(revoked_at)} UTC.`
        : `The grant ${grant_id} of ${client_id} is revoked, with all of its tokens.`,
      ...(other_grants.length === 0
        ? []
        : [`The same user gave this client other grants, whose tokens go on working: ${other_grants.join(', ')}`]),
    ],
  })
}
