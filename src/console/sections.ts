import type { Markup } from '../web/markup.ts'
import {
  apisIcon,
  auditIcon,
  clientsIcon,
  credentialsIcon,
  domainsIcon,
  explainIcon,
  grantsIcon,
  groupsIcon,
  initialTokensIcon,
  keysIcon,
  organizationsIcon,
  overviewIcon,
  providersIcon,
  rolesIcon,
  rulesIcon,
  serverIcon,
  tokenIcon,
  usersIcon,
} from './icons.ts'
import type { Section } from './screen.ts'

/** The groups of the side, in their order. The first one has no heading: it is for every day. */
const GROUPS = { everyDay: undefined, setUp: 'Set up', administration: 'Administration', tools: 'Tools' } as const

/** An entry of the side. */
export interface SectionRow {
  readonly section: Section
  readonly label: string
  readonly path: string
  readonly icon: Markup
  /** After `g`. No two entries have the same one. */
  readonly key: string
  /** Absent: what is set up once. */
  readonly group?: keyof typeof GROUPS
  /** Other screens that belong to the entry, for a person who has no entry for them. */
  readonly also?: readonly Section[]
}

interface Row extends Omit<SectionRow, 'path'> {
  /** Absent: only a role for one organization has the entry. */
  readonly path?: string
  /** Where it is below the path of an organization. Absent: a role for one organization does not have it. */
  readonly below?: string
}

const SECTIONS: readonly Row[] = [
  { section: 'overview', label: 'Overview', path: '/console', icon: overviewIcon, key: 'o', group: 'everyDay' },
  { section: 'users', label: 'Users', path: '/console/users', icon: usersIcon, key: 'u', group: 'everyDay' },
  { section: 'groups', label: 'Groups', path: '/console/groups', icon: groupsIcon, key: 't', group: 'everyDay' },
  {
    section: 'organizations',
    label: 'Organizations',
    path: '/console/organizations',
    icon: organizationsIcon,
    key: 'n',
    group: 'everyDay',
    also: ['members', 'installations'],
  },
  { section: 'clients', label: 'Clients', path: '/console/clients', icon: clientsIcon, key: 'c', group: 'everyDay' },
  {
    section: 'grants',
    label: 'Grants',
    path: '/console/grants',
    below: '/grants',
    icon: grantsIcon,
    key: 'g',
    group: 'everyDay',
  },
  { section: 'audit', label: 'Audit', path: '/console/audit', icon: auditIcon, key: 'a', group: 'everyDay' },
  { section: 'members', label: 'Members', below: '/members', icon: usersIcon, key: 'm', group: 'everyDay' },
  {
    section: 'installations',
    label: 'Installations',
    below: '/installations',
    icon: clientsIcon,
    key: 'i',
    group: 'everyDay',
  },
  { section: 'groups', label: 'Groups', below: '/groups', icon: groupsIcon, key: 't', group: 'everyDay' },
  {
    section: 'access-rules',
    label: 'Access rules',
    below: '/access-rules',
    icon: rulesIcon,
    key: 'l',
    group: 'everyDay',
  },
  { section: 'access', label: 'Why can a user not …', below: '/access', icon: explainIcon, key: 'x', group: 'tools' },
  { section: 'apis', label: 'APIs and scopes', path: '/console/apis', icon: apisIcon, key: 's' },
  { section: 'access-rules', label: 'Access rules', path: '/console/access-rules', icon: rulesIcon, key: 'l' },
  { section: 'providers', label: 'Sign-in providers', path: '/console/providers', icon: providersIcon, key: 'p' },
  { section: 'domains', label: 'Domains', path: '/console/domains', icon: domainsIcon, key: 'd' },
  {
    section: 'initial-tokens',
    label: 'Initial tokens',
    path: '/console/initial-tokens',
    icon: initialTokensIcon,
    key: 'i',
  },
  { section: 'roles', label: 'Roles', path: '/console/roles', icon: rolesIcon, key: 'r', group: 'administration' },
  {
    section: 'credentials',
    label: 'Credentials',
    path: '/console/credentials',
    icon: credentialsIcon,
    key: 'e',
    group: 'administration',
  },
  { section: 'keys', label: 'Keys', path: '/console/keys', icon: keysIcon, key: 'k', group: 'administration' },
  { section: 'server', label: 'Server', path: '/console/server', icon: serverIcon, key: 'v', group: 'administration' },
  {
    section: 'access',
    label: 'Why can a user not …',
    path: '/console/access',
    icon: explainIcon,
    key: 'x',
    group: 'tools',
  },
  {
    section: 'token',
    label: 'What is this token?',
    path: '/console/token',
    icon: tokenIcon,
    key: 'w',
    group: 'tools',
  },
]

/** The entries for a person with a role for the server, or for one organization. */
export function sectionsOf(organization: string | undefined): readonly SectionRow[] {
  return SECTIONS.flatMap(({ path, below, ...row }) => {
    if (organization === undefined) return path === undefined ? [] : [{ ...row, path }]
    return below === undefined ? [] : [{ ...row, path: `${organizationPath(organization)}${below}` }]
  })
}

/** The entries by their groups, each with its heading, if it has one. */
export function groupsOf(
  rows: readonly SectionRow[],
): readonly (readonly [heading: string | undefined, rows: readonly SectionRow[]])[] {
  const groups = Object.keys(GROUPS) as readonly (keyof typeof GROUPS)[]
  const filled = groups.map((group) => [GROUPS[group], rows.filter((row) => (row.group ?? 'setUp') === group)] as const)
  return filled.filter(([, of]) => of.length > 0)
}

export function organizationPath(organization: string): string {
  return `/console/organizations/${encodeURIComponent(organization)}`
}
