import type { Command } from 'commander'
import { ADMIN_CREDENTIAL } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { AdminCredentialDocument } from '../admin/admin-tasks.ts'

/** `grantor admin revoke` */
export function addAdminRevoke(parent: Command, terminal: Terminal): void {
  addTaskVerb<AdminCredentialDocument>(parent, terminal, {
    verb: 'revoke',
    task: 'admin.revoke',
    subjects: [ADMIN_CREDENTIAL],
    say: ({ credential_id, name }) => [`The credentials ${credential_id} of ${name} work no more, on any node.`],
  })
}
