import type { Command } from 'commander'
import { INSTALLED_CLIENT, ORGANIZATION } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { InstallationDocument } from '../admin/installation-tasks.ts'

/** `grantor org enable-installation` */
export function addOrgEnableInstallation(parent: Command, terminal: Terminal): void {
  addTaskVerb<InstallationDocument>(parent, terminal, {
    verb: 'enable-installation',
    task: 'installation.enable',
    subjects: [ORGANIZATION, INSTALLED_CLIENT],
    say: ({ client_id, organization_id }) => [`${client_id} may act for ${organization_id} again.`],
  })
}
