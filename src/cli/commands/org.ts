import type { InstallationDocument, NewInstallationDocument } from '../../admin/organization/installation.ts'
import type { MemberDocument } from '../../admin/organization/member.ts'
import type { OrganizationDocument } from '../../admin/organization/organization.ts'
import { formatTime, replaced } from '../lib/columns.ts'
import { NAME, NEW_CLIENT, NEW_MEMBER, ORGANIZATION } from '../lib/subjects.ts'
import { listVerb, taskVerb, type AddVerb } from '../lib/task-verb.ts'
import { forShell } from '../../base/shell.ts'

/** After what the list is not about: the client, or the organization. */
export const INSTALLATION_HEADINGS: readonly string[] = ['SCOPE', 'FOR MEMBERS', 'INSTALLED (UTC)', 'STATE']

export function installationCells(installation: InstallationDocument): readonly string[] {
  const { scope, acts_for_members: acts, created_at: since, disabled_at: disabled } = installation
  return [scope === '' ? '–' : scope, acts ? 'yes' : 'no', formatTime(since), disabled === null ? 'active' : 'disabled']
}

/** The verbs of `grantor org`. */
export const ORG_VERBS: readonly AddVerb[] = [
  taskVerb<OrganizationDocument>({
    task: 'organization.create',
    subjects: [NAME],
    say: ({ organization_id, name }) =>
      `Created ${name} (${organization_id}). To add a member: grantor org add-member ${forShell(organization_id)} <address>`,
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
  taskVerb({ task: 'organization.show' }),
  taskVerb<OrganizationDocument>({
    task: 'organization.rename',
    subjects: [ORGANIZATION, NAME],
    say: ({ name }) => `${name} is now the name of the organization.`,
  }),
  taskVerb<OrganizationDocument>({
    task: 'organization.disable',
    say: ({ organization_id, name }) =>
      `${name} is disabled, and tokens for it are revoked. To undo this: grantor org enable ${forShell(organization_id)}`,
  }),
  taskVerb<OrganizationDocument>({
    task: 'organization.enable',
    say: ({ name }) => `${name} is enabled.`,
  }),
  taskVerb<OrganizationDocument>({
    task: 'organization.revoke-tokens',
    say: ({ name }) => `All tokens for ${name} are revoked. New ones can be requested.`,
  }),
  taskVerb<{ readonly organization_id: string }>({
    task: 'organization.delete',
    say: ({ organization_id }) =>
      `Deleted ${organization_id}, with its memberships and installations. Tokens for it no longer work.`,
  }),
  taskVerb<MemberDocument>({
    task: 'member.add',
    verb: 'add-member',
    subjects: [ORGANIZATION, NEW_MEMBER],
    say: ({ email, user_id, organization_id }) => `${email ?? user_id} is now a member of ${organization_id}.`,
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
  taskVerb<MemberDocument>({
    task: 'member.disable',
    verb: 'disable-member',
    say: ({ email, user_id, organization_id }) =>
      `${email ?? user_id} may no longer act for ${organization_id}. To undo this: grantor org enable-member ${forShell(organization_id)} ${forShell(user_id)}`,
  }),
  taskVerb<MemberDocument>({
    task: 'member.enable',
    verb: 'enable-member',
    say: ({ email, user_id, organization_id }) => `${email ?? user_id} may act for ${organization_id} again.`,
  }),
  taskVerb<{ readonly organization_id: string; readonly user_id: string }>({
    task: 'member.remove',
    verb: 'remove-member',
    say: ({ organization_id, user_id }) => `${user_id} is no longer a member of ${organization_id}.`,
  }),
  taskVerb<NewInstallationDocument>({
    task: 'installation.install',
    subjects: [ORGANIZATION, NEW_CLIENT],
    say: ({ client_id, organization_id, scope, acts_for_members, previous, notice }, { paint }) => [
      `${client_id} may now act for ${organization_id}${acts_for_members ? ' and its members' : ''}, with ${scope === '' ? 'no scope' : scope.replaceAll(' ', ', ')}.`,
      ...replaced(
        previous && { scope: previous.scope, acts_for_members: previous.acts_for_members },
        { scope, acts_for_members },
        paint,
      ),
      ...(notice === null ? [] : [notice]),
    ],
  }),
  listVerb<InstallationDocument>({
    task: 'installation.list',
    verb: 'installations',
    rows: 'installations',
    headings: ['CLIENT', 'NAME', ...INSTALLATION_HEADINGS],
    cells: (one) => [[one.client_id, one.client_name ?? '–', ...installationCells(one)]],
    empty: 'No client is installed. Install one: grantor org install <organization> <client> --scope <scopes>',
  }),
  taskVerb<InstallationDocument>({
    task: 'installation.disable',
    verb: 'disable-installation',
    say: ({ client_id, organization_id }) =>
      `${client_id} may no longer act for ${organization_id}. To undo this: grantor org enable-installation ${forShell(organization_id)} ${forShell(client_id)}`,
  }),
  taskVerb<InstallationDocument>({
    task: 'installation.enable',
    verb: 'enable-installation',
    say: ({ client_id, organization_id }) => `${client_id} may act for ${organization_id} again.`,
  }),
  taskVerb<{ readonly organization_id: string; readonly client_id: string }>({
    task: 'installation.remove',
    verb: 'uninstall',
    say: ({ client_id, organization_id }) => `${client_id} is no longer installed for ${organization_id}.`,
  }),
]
