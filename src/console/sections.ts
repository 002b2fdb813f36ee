import type { Markup } from '../web/markup.ts'
import { apisIcon, auditIcon, clientsIcon, grantsIcon, overviewIcon, providersIcon, usersIcon } from './icons.ts'
import type { Section } from './screen.ts'

/** An entry of the side. */
export interface SectionRow {
  readonly section: Section
  readonly label: string
  readonly path: string
  readonly icon: Markup
  /** After `g`. */
  readonly key: string
}

/** `below`: where it is below the path of an organization; absent: a role for one organization does not have it. */
const SECTIONS: readonly (SectionRow & { readonly below?: string })[] = [
  { section: 'overview', label: 'Overview', path: '/console', icon: overviewIcon, key: 'o' },
  { section: 'clients', label: 'Clients', path: '/console/clients', icon: clientsIcon, key: 'c' },
  { section: 'users', label: 'Users', path: '/console/users', icon: usersIcon, key: 'u' },
  { section: 'grants', label: 'Grants', path: '/console/grants', below: '/grants', icon: grantsIcon, key: 'g' },
  { section: 'audit', label: 'Audit', path: '/console/audit', icon: auditIcon, key: 'a' },
  { section: 'apis', label: 'APIs and scopes', path: '/console/apis', icon: apisIcon, key: 's' },
  { section: 'providers', label: 'Providers', path: '/console/providers', icon: providersIcon, key: 'p' },
]

/** The entries for a person with a role for the server, or for one organization. */
export function sectionsOf(organization: string | undefined): readonly SectionRow[] {
  if (organization === undefined) return SECTIONS
  return SECTIONS.flatMap(({ below, ...row }) =>
    below === undefined ? [] : [{ ...row, path: `${organizationPath(organization)}${below}` }],
  )
}

/** Where a person begins. */
export function homeOf(organization: string | undefined): string {
  return sectionsOf(organization)[0]?.path ?? '/console'
}

export function organizationPath(organization: string): string {
  return `/console/organizations/${organization}`
}
