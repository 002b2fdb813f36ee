import type { InstallationDocument, NewInstallationDocument } from '../../admin/organization/installation.ts'
import type { MemberDocument } from '../../admin/organization/member.ts'
import type { OrganizationDocument } from '../../admin/organization/organization.ts'
import { formatTime, replaced } from '../lib/columns.ts'
import { NAME, NEW_CLIENT, NEW_MEMBER, ORGANIZATION } from '../lib/subjects.ts'
import { listVerb, taskVerb, verbsOf, type AddVerb } from '../lib/task-verb.ts'
import { forShell } from '../../base/shell.ts'

/** After what the list is not about: the client, or the organization. */
export const INSTALLATION_HEADINGS: readonly string[] = ['SCOPE', 'FOR MEMBERS', 'INSTALLED (UTC)', 'STATE']

export function installationCells(installation: InstallationDocument): readonly string[] {
  const { scope, acts_for_members: acts, created_at: since, disabled_at: disabled } = installation
  return [scope === '' ? '–' : scope, acts ? 'yes' : 'no', formatTime(since), disabled === null ? 'active' : 'disabled']
}

/** The verbs of `grantor org`. */
export const ORG_VERBS: readonly AddVerb[] = verbsOf(
  ['organization', 'member', 'installation'],
  [
    taskVerb<OrganizationDocument>({
      task: 'organization.create',
      subjects: [NAME],
      adds: ({ organization_id }) => [`To add a member: grantor org add-member ${forShell(organization_id)} <address>`],
    }),
    listVerb<OrganizationDocument>({
      task: 'organization.list',
      rows: 'organizations',
      headings: ['ID', 'NAME', 'CREATED (UTC)', 'STATE'],
      cells: ({ organization_id, name, created_at, disabled_at }) => [
        [organization_id, name, formatTime(created_at), disabled_at === null ? 'active' : 'disabled'],
      ],
      empty: 'There are no organizations, or none that match. Create one: grantor org create <name>',
    }),
    taskVerb<OrganizationDocument>({
      task: 'organization.rename',
      subjects: [ORGANIZATION, NAME],
    }),
    taskVerb<MemberDocument>({
      task: 'member.add',
      verb: 'add-member',
      subjects: [ORGANIZATION, NEW_MEMBER],
    }),
    listVerb<MemberDocument>({
      task: 'member.list',
      verb: 'members',
      rows: 'members',
      headings: ['EMAIL', 'NAME', 'MEMBER SINCE (UTC)', 'STATE', 'ID'],
      cells: ({ email, name, created_at, disabled_at, user_id }) => [
        [email ?? '–', name ?? '–', formatTime(created_at), disabled_at === null ? 'active' : 'disabled', user_id],
      ],
      empty:
        'There are no members to list. Add one: grantor org add-member <organization> <address>. If you gave --outside-domains: each member has a proved address of the domains.',
    }),
    taskVerb<NewInstallationDocument>({
      task: 'installation.install',
      subjects: [ORGANIZATION, NEW_CLIENT],
      adds: ({ scope, acts_for_members, previous }, { paint }) =>
        replaced(
          previous && { scope: previous.scope, acts_for_members: previous.acts_for_members },
          { scope, acts_for_members },
          paint,
        ),
    }),
    listVerb<InstallationDocument>({
      task: 'installation.list',
      verb: 'installations',
      rows: 'installations',
      headings: ['CLIENT', 'NAME', ...INSTALLATION_HEADINGS],
      cells: (one) => [[one.client_id, one.client_name ?? '–', ...installationCells(one)]],
      empty: 'No client is installed. Install one: grantor org install <organization> <client> --scope <scopes>',
    }),
    taskVerb<{ readonly organization_id: string; readonly client_id: string }>({
      task: 'installation.remove',
      verb: 'uninstall',
    }),
  ],
)
