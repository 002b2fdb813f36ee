import type { InstallationDocument } from '../../../admin/organization/installation.ts'
import type { MemberDocument } from '../../../admin/organization/member.ts'
import type { OrganizationDocument } from '../../../admin/organization/organization.ts'
import type { ProviderDocument } from '../../../admin/provider/settings.ts'
import { html, type Fragment, type Markup } from '../../../web/markup.ts'
import type { Frame } from '../../engine/form.ts'
import { linkTo } from '../../links.ts'
import { id, tabBar, thingHeading, time, type Tab } from '../../parts.ts'
import { organizationState } from './organizations.ts'

/** The parts of an organization. Those with forms of their own are screens; the others are on its page. */
export type OrganizationPart =
  | 'members'
  | 'groups'
  | 'access-rules'
  | 'access'
  | 'installations'
  | 'grants'
  | 'sign-in'
  | 'activity'

const LABELS: Readonly<Record<OrganizationPart, string>> = {
  members: 'Members',
  groups: 'Groups',
  'access-rules': 'Access rules',
  access: 'Why not …',
  installations: 'Installed apps',
  grants: 'Grants',
  'sign-in': 'Sign-in',
  activity: 'Activity',
}

/** Where each part is, below the path of the organization. */
const BELOW: Readonly<Record<OrganizationPart, string>> = {
  members: '/members',
  groups: '/groups',
  'access-rules': '/access-rules',
  access: '/access',
  installations: '/installations',
  grants: '/grants',
  'sign-in': '?tab=sign-in',
  activity: '?tab=activity',
}

export const ROWS_SHOWN = 10
const DOMAINS_SHOWN = 3

/** What the head of each part reads. */
export const HEAD_READS = {
  organization: { task: 'organization.show', input: () => ({}) },
  members: { task: 'member.list', input: () => ({ limit: ROWS_SHOWN }), isOptional: true },
  installations: { task: 'installation.list', input: () => ({ limit: ROWS_SHOWN }), isOptional: true },
} as const

export interface HeadAnswers {
  readonly organization: OrganizationDocument
  readonly members: { readonly members: readonly MemberDocument[]; readonly next: string | null } | undefined
  readonly installations:
    | { readonly installations: readonly InstallationDocument[]; readonly next: string | null }
    | undefined
  /** Tasks for an organization have none. */
  readonly providers?: { readonly providers: readonly ProviderDocument[]; readonly next: string | null } | undefined
}

/** The head of an organization and its tabs, for a person who has its page. A role for it alone has the lists in the side. */
export function organizationHead(
  frame: Frame,
  answers: HeadAnswers,
  current: OrganizationPart,
  buttons: Fragment,
): Markup | undefined {
  const { organization, members, installations, providers } = answers
  const path = linkTo('organizations', organization.organization_id)
  if (frame.organization !== undefined || !frame.mayOpen(path)) return undefined
  const counts: Counts = {
    members: members && countOf(members.members, members.next),
    installations: installations && countOf(installations.installations, installations.next),
  }
  const tab = (part: OrganizationPart): readonly Tab[] => {
    const to = `${path}${BELOW[part]}`
    const isThere = frame.mayOpen(to.split('?', 1)[0] ?? path)
    return isThere ? [{ label: labelOf(part, counts[part]), to, isCurrent: part === current }] : []
  }
  const domains = (providers?.providers ?? []).flatMap((one) => one.domains).slice(0, DOMAINS_SHOWN)
  const known = html`${id(organization.organization_id)} ${domains.map((domain) => html`<span>${domain}</span> `)}
    <span>created ${time(organization.created_at, frame)}</span>`
  return html`${thingHeading(organization.name, organizationState(organization), known, buttons)}
  ${tabBar('Organization', (Object.keys(LABELS) as readonly OrganizationPart[]).flatMap(tab))}`
}

/** How many rows of a part there are, as far as the page knows it. */
type Counts = Readonly<Partial<Record<OrganizationPart, string | undefined>>>

function countOf({ length }: readonly unknown[], next: string | null): string {
  return `${length}${next === null ? '' : '+'}`
}

function labelOf(part: OrganizationPart, count: string | undefined): Fragment {
  return count === undefined ? LABELS[part] : html`${LABELS[part]} <span class="count">${count}</span>`
}
