import type { Brand } from '../../base/brand.ts'
import { CHOSEN_FORM, isChosenId, ORDERED, type OrganizationId, parseOrganizationId } from '../ids.ts'
import { APPLICATION, type ProviderId } from '../sign-in/authentication.ts'

/** A group of users: `finance` of the server, `acme/finance` of an organization. No other id has a `/`. */
export type GroupId = Brand<string, 'GroupId'>

export const GROUP_ID_FORM = new RegExp(`^(?:(?:gor_${ORDERED}|${CHOSEN_FORM})/)?${CHOSEN_FORM}$`)

/** Returns undefined if the text does not have the syntax of a group id. */
export function parseGroupId(text: string): GroupId | undefined {
  const [own = '', organizationId] = text.split('/').toReversed()
  const isOwner = organizationId === undefined || parseOrganizationId(organizationId) !== undefined
  return GROUP_ID_FORM.test(text) && isChosenId(own) && isOwner ? (text as GroupId) : undefined
}

/** The id of a group that its owner names `own`. undefined: the server has it. */
export function groupIdOf(own: string, organizationId: OrganizationId | undefined): GroupId {
  return (organizationId === undefined ? own : `${organizationId}/${own}`) as GroupId
}

/** The organization that has the group; undefined: the server has it. */
export function organizationOfGroup(id: GroupId): OrganizationId | undefined {
  const end = id.indexOf('/')
  return end === -1 ? undefined : (id.slice(0, end) as OrganizationId)
}

/** The id without that of the organization. */
export function ownIdOf(id: GroupId): string {
  return id.slice(id.indexOf('/') + 1)
}

/**
 * Who says that a user is in a group: the operator or an administrator, the operator's application, or a provider. Each source changes its own
 * rows.
 */
export type MemberSource = 'operator' | 'application' | `provider:${ProviderId}`

/** The source of what is said at the sign-in with an identity. */
export function sourceOfIdentity(id: ProviderId): MemberSource {
  return id === APPLICATION ? 'application' : sourceOfProvider(id)
}

export function sourceOfProvider(id: ProviderId): MemberSource {
  return `provider:${id}`
}
