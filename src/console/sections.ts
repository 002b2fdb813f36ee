import type { Markup } from '../web/markup.ts'
import {
  auditIcon,
  clientsIcon,
  domainsIcon,
  grantsIcon,
  initialTokensIcon,
  organizationsIcon,
  overviewIcon,
  usersIcon,
} from './icons.ts'
import type { Section } from './screen.ts'

/** An entry of the side. */
export interface SectionRow {
  readonly section: Section
  readonly label: string
  readonly path: string
  readonly icon: Markup
  /** After `g`. */
  readonly key: string
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
  { section: 'overview', label: 'Overview', path: '/console', icon: overviewIcon, key: 'o' },
  { section: 'clients', label: 'Clients', path: '/console/clients', icon: clientsIcon, key: 'c' },
  { section: 'users', label: 'Users', path: '/console/users', icon: usersIcon, key: 'u' },
  { section: 'grants', label: 'Grants', path: '/console/grants', below: '/grants', icon: grantsIcon, key: 'g' },
  { section: 'audit', label: 'Audit', path: '/console/audit', icon: auditIcon, key: 'a' },
  { section: 'members', label: 'Members', below: '/members', icon: usersIcon, key: 'm' },
  { section: 'installations', label: 'Installations', below: '/installations', icon: clientsIcon, key: 'i' },
  {
    section: 'organizations',
    label: 'Organizations',
    path: '/console/organizations',
    icon: organizationsIcon,
    key: 'n',
    also: ['members', 'installations'],
  },
  { section: 'domains', label: 'Domains', path: '/console/domains', icon: domainsIcon, key: 'd' },
  {
    section: 'initial-tokens',
    label: 'Initial tokens',
    path: '/console/initial-tokens',
    icon: initialTokensIcon,
    key: 'i',
  },
]

/** The entries for a person with a role for the server, or for one organization. */
export function sectionsOf(organization: string | undefined): readonly SectionRow[] {
  return SECTIONS.flatMap(({ path, below, ...row }) => {
    if (organization === undefined) return path === undefined ? [] : [{ ...row, path }]
    return below === undefined ? [] : [{ ...row, path: `${organizationPath(organization)}${below}` }]
  })
}

/** Where a person begins. */
export function homeOf(organization: string | undefined): string {
  return sectionsOf(organization)[0]?.path ?? '/console'
}

export function organizationPath(organization: string): string {
  return `/console/organizations/${encodeURIComponent(organization)}`
}
