import type { Command } from 'commander'
import { INSTALLED_CLIENT, ORGANIZATION } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'

/** `grantor org uninstall` */
export function addOrgUninstall(parent: Command, terminal: Terminal): void {
  addTaskVerb<{ readonly organization_id: string; readonly client_id: string }>(parent, terminal, {
    verb: 'uninstall',
    task: 'installation.remove',
    subjects: [ORGANIZATION, INSTALLED_CLIENT],
    say: ({ client_id, organization_id }) => [`${client_id} is not installed for ${organization_id} any more.`],
  })
}
