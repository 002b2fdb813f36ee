import type { Frame } from './screen.ts'
import { organizationPath } from './sections.ts'

/** Where the page of an object is. */
export function linkTo(
  kind: 'clients' | 'users' | 'grants' | 'organizations' | 'apis' | 'providers',
  object: string,
): string {
  return `/console/${kind}/${encodeURIComponent(object)}`
}

/** Where a list with one filter is. */
export function listAddress(list: 'clients' | 'users' | 'grants' | 'audit', filter: string, text: string): string {
  return `/console/${list}?${new URLSearchParams({ [filter]: text }).toString()}`
}

/** Where the page of an object is for this person; undefined: a role for one organization does not have it. */
export function linkFor(
  { organization }: Pick<Frame, 'organization'>,
  kind: 'clients' | 'users' | 'grants' | 'organizations',
  object: string,
): string | undefined {
  if (organization === undefined) return linkTo(kind, object)
  return kind === 'grants' ? `${organizationPath(organization.id)}/grants/${encodeURIComponent(object)}` : undefined
}
