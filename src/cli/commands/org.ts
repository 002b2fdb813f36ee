import type { InstallationDocument } from '../../admin/installations.ts'
import type { MemberDocument } from '../../admin/members.ts'
import type { OrganizationDocument } from '../../admin/organizations.ts'
import { formatTime, record } from '../lib/columns.ts'
import { INSTALLED_CLIENT, MEMBER, NAME, NEW_CLIENT, NEW_MEMBER, ORGANIZATION } from '../lib/subjects.ts'
import { listVerb, sentenceVerb, taskVerb, type AddVerb } from '../lib/task-verb.ts'

interface InstallOptions {
  readonly scope: string
  readonly actsForMembers?: true
}

/** The verbs of `grantor org`. */
export const ORG_VERBS: readonly AddVerb[] = [
  taskVerb<OrganizationDocument>({
    verb: 'create',
    task: 'organization.create',
    whenMissing: 'create',
    subjects: [NAME],
    say: ({ organization_id, name }) => [
      `Created ${name} (${organization_id}). To add a member: grantor org add-member ${organization_id} <address>`,
    ],
  }),
  listVerb<OrganizationDocument>({
    task: 'organization.list',
    rows: 'organizations',
    headings: ['ID', 'NAME', 'CREATED (UTC)', 'STATE'],
    cells: ({ organization_id, name, created_at, disabled_at }) => [
      [organization_id, name, formatTime(created_at), disabled_at === null ? 'active' : 'disabled'],
    ],
    empty: 'There are no organizations. Create one: grantor org create <name>',
  }),
  taskVerb<OrganizationDocument>({
    verb: 'show',
    task: 'organization.show',
    subjects: [ORGANIZATION],
    say: (organization, { paint }) => record(organization, paint),
  }),
  sentenceVerb<OrganizationDocument>(
    'rename',
    'organization.rename',
    [ORGANIZATION, NAME],
    ({ name }) => `${name} is now the name of the organization.`,
  ),
  sentenceVerb<OrganizationDocument>(
    'disable',
    'organization.disable',
    [ORGANIZATION],
    ({ organization_id, name }) =>
      `${name} is disabled, and tokens for it are revoked. To undo this: grantor org enable ${organization_id}`,
  ),
  sentenceVerb<OrganizationDocument>(
    'enable',
    'organization.enable',
    [ORGANIZATION],
    ({ name }) => `${name} is enabled.`,
  ),
  sentenceVerb<OrganizationDocument>(
    'revoke-tokens',
    'organization.revoke-tokens',
    [ORGANIZATION],
    ({ name }) => `All tokens for ${name} are revoked. New ones can be requested.`,
  ),
  sentenceVerb<{ readonly organization_id: string }>(
    'delete',
    'organization.delete',
    [ORGANIZATION],
    ({ organization_id }) =>
      `Deleted ${organization_id}, with its memberships and installations. Tokens for it no longer work.`,
  ),
  sentenceVerb<MemberDocument>(
    'add-member',
    'member.add',
    [ORGANIZATION, NEW_MEMBER],
    ({ email, user_id, organization_id }) => `${email ?? user_id} is now a member of ${organization_id}.`,
  ),
  listVerb<MemberDocument>({
    verb: 'members',
    task: 'member.list',
    subjects: [ORGANIZATION],
    rows: 'members',
    headings: ['EMAIL', 'NAME', 'MEMBER SINCE (UTC)', 'STATE', 'ID'],
    cells: ({ email, name, created_at, disabled_at, user_id }) => [
      [email ?? '–', name ?? '–', formatTime(created_at), disabled_at === null ? 'active' : 'disabled', user_id],
    ],
    empty: 'The organization has no members. Add one: grantor org add-member <organization> <address>',
  }),
  sentenceVerb<MemberDocument>(
    'disable-member',
    'member.disable',
    [ORGANIZATION, MEMBER],
    ({ email, user_id, organization_id }) =>
      `${email ?? user_id} may no longer act for ${organization_id}. To undo this: grantor org enable-member ${organization_id} ${user_id}`,
  ),
  sentenceVerb<MemberDocument>(
    'enable-member',
    'member.enable',
    [ORGANIZATION, MEMBER],
    ({ email, user_id, organization_id }) => `${email ?? user_id} may act for ${organization_id} again.`,
  ),
  sentenceVerb<{ readonly organization_id: string; readonly user_id: string }>(
    'remove-member',
    'member.remove',
    [ORGANIZATION, MEMBER],
    ({ organization_id, user_id }) => `${user_id} is no longer a member of ${organization_id}.`,
  ),
  taskVerb<InstallationDocument, InstallOptions>({
    verb: 'install',
    task: 'installation.install',
    subjects: [ORGANIZATION, NEW_CLIENT],
    options: (command) =>
      command
        .requiredOption(
          '--scope <scopes>',
          "the scopes that the client can have at most, separated by spaces: 'read sync'; '' for none",
        )
        .option('--acts-for-members', 'the client may also act for members of the organization'),
    input: ({ scope, actsForMembers }) => ({ scope, acts_for_members: actsForMembers === true }),
    say: ({ client_id, organization_id, scope, acts_for_members }) => [
      `${client_id} may now act for ${organization_id}${acts_for_members ? ' and its members' : ''}, with ${scope === '' ? 'no scope' : scope.replaceAll(' ', ', ')}.`,
    ],
  }),
  listVerb<InstallationDocument>({
    verb: 'installations',
    task: 'installation.list',
    subjects: [ORGANIZATION],
    rows: 'installations',
    headings: ['CLIENT', 'NAME', 'SCOPE', 'FOR MEMBERS', 'INSTALLED (UTC)', 'STATE'],
    cells: ({ client_id, client_name, scope, acts_for_members, created_at, disabled_at }) => [
      [
        client_id,
        client_name ?? '–',
        scope === '' ? '–' : scope,
        acts_for_members ? 'yes' : 'no',
        formatTime(created_at),
        disabled_at === null ? 'active' : 'disabled',
      ],
    ],
    empty: 'No client is installed. Install one: grantor org install <organization> <client> --scope <scopes>',
  }),
  sentenceVerb<InstallationDocument>(
    'disable-installation',
    'installation.disable',
    [ORGANIZATION, INSTALLED_CLIENT],
    ({ client_id, organization_id }) =>
      `${client_id} may no longer act for ${organization_id}. To undo this: grantor org enable-installation ${organization_id} ${client_id}`,
  ),
  sentenceVerb<InstallationDocument>(
    'enable-installation',
    'installation.enable',
    [ORGANIZATION, INSTALLED_CLIENT],
    ({ client_id, organization_id }) => `${client_id} may act for ${organization_id} again.`,
  ),
  sentenceVerb<{ readonly organization_id: string; readonly client_id: string }>(
    'uninstall',
    'installation.remove',
    [ORGANIZATION, INSTALLED_CLIENT],
    ({ client_id, organization_id }) => `${client_id} is no longer installed for ${organization_id}.`,
  ),
]
