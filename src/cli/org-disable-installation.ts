import type { Command } from 'commander'
import { INSTALLED_CLIENT, ORGANIZATION } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { InstallationDocument } from '../admin/installation-tasks.ts'

/** `grantor org disable-installation` */
export function addOrgDisableInstallation(parent: Command, terminal: Terminal): void {
  addTaskVerb<InstallationDocument>(parent, terminal, {
    verb: 'disable-installation',
    task: 'installation.disable',
    subjects: [ORGANIZATION, INSTALLED_CLIENT],
    say: ({ client_id, organization_id }) => [
      `${client_id} may not act for ${organization_id}. To undo that: grantor org enable-installation ${organization_id} ${client_id}`,
    ],
  })
}
