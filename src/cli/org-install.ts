import type { Command } from 'commander'
import { NEW_CLIENT, ORGANIZATION } from './subjects.ts'
import { addTaskVerb } from './task-verb.ts'
import type { Terminal } from './terminal.ts'
import type { InstallationDocument } from '../admin/installation-tasks.ts'

interface Options {
  readonly scope: string
  readonly actsForMembers?: true
}

/** `grantor org install` */
export function addOrgInstall(parent: Command, terminal: Terminal): void {
  addTaskVerb<InstallationDocument, Options>(parent, terminal, {
    verb: 'install',
    task: 'installation.install',
    subjects: [ORGANIZATION, NEW_CLIENT],
    options: (command) =>
      command
        .requiredOption('--scope <scopes>', "what it may have at most, with a space between: 'read sync'; '' for none")
        .option('--acts-for-members', 'it may also act for members of the organization'),
    input: ({ scope, actsForMembers }) => ({ scope, acts_for_members: actsForMembers === true }),
    say: ({ client_id, organization_id, scope, acts_for_members }) => [
      `${client_id} may act for ${organization_id}${acts_for_members ? ' and its members' : ''} now, with ${scope === '' ? 'no scope' : scope.replaceAll(' ', ', ')}.`,
    ],
  })
}
