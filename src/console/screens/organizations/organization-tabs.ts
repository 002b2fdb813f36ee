import { html, type Fragment, type Markup } from '../../../web/markup.ts'
import type { Frame } from '../../engine/form.ts'
import { linkTo } from '../../links.ts'
import { tabBar, type Tab } from '../../parts.ts'

/** The parts of an organization. Those with forms of their own are screens; the others are on its page. */
export type OrganizationPart = 'members' | 'installations' | 'grants' | 'sign-in' | 'activity'

const LABELS: Readonly<Record<OrganizationPart, string>> = {
  members: 'Members',
  installations: 'Installed apps',
  grants: 'Grants',
  'sign-in': 'Sign-in',
  activity: 'Activity',
}

/** Where each part is, below the path of the organization. */
const BELOW: Readonly<Record<OrganizationPart, string>> = {
  members: '/members',
  installations: '/installations',
  grants: '/grants',
  'sign-in': '?tab=sign-in',
  activity: '?tab=activity',
}

/** How many rows of a part there are, as far as the page knows it. */
export type PartCounts = Readonly<Partial<Record<OrganizationPart, string>>>

/** The tabs of an organization, for a person who has its page. A role for it alone has the lists in the side. */
export function organizationTabs(
  { mayOpen, organization }: Pick<Frame, 'mayOpen' | 'organization'>,
  object: string,
  current: OrganizationPart,
  counts: PartCounts = {},
): Markup | undefined {
  const path = linkTo('organizations', object)
  if (organization !== undefined || !mayOpen(path)) return undefined
  const tab = (part: OrganizationPart): readonly Tab[] => {
    const to = `${path}${BELOW[part]}`
    const isThere = mayOpen(to.split('?', 1)[0] ?? path)
    return isThere ? [{ label: labelOf(part, counts[part]), to, isCurrent: part === current }] : []
  }
  return tabBar('Organization', (Object.keys(LABELS) as readonly OrganizationPart[]).flatMap(tab))
}

function labelOf(part: OrganizationPart, count: string | undefined): Fragment {
  return count === undefined ? LABELS[part] : html`${LABELS[part]} <span class="count">${count}</span>`
}
