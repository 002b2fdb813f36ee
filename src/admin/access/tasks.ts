import * as z from 'zod'
import type { MembershipRecord, OrganizationRecord } from '../../ports/records/organization.ts'
import type { UserId } from '../../protocol/ids.ts'
import { requireClient } from '../client/client.ts'
import { CLIENT_ID, ORGANIZATION_ID, RESOURCE, SCOPE, USER_ID } from '../fields.ts'
import { noSuchMember } from '../organization/member.ts'
import { requireOrganization } from '../organization/organization.ts'
import { defineTask, type Task, type TaskContext } from '../task.ts'
import { requireUser } from '../user/user.ts'
import { EXPLANATION, explainAccess, type AccessExplanation } from './explain.ts'

const QUESTION = z.object({
  user_id: USER_ID,
  client_id: CLIENT_ID,
  resource: RESOURCE.optional().describe('Only this API. By default all that have scopes, at most 50.'),
  scope: SCOPE.optional().describe('Only these scopes. By default all of the APIs, and openid, profile and email.'),
})
type Question = z.output<typeof QUESTION>

/** "Why can Ada not …": what a client can get for a user. Organizations ask it of their members. */
export const ACCESS_TASKS: readonly Task[] = [
  defineTask({
    name: 'access.explain',
    method: 'GET',
    path: '/admin/v1/access',
    access: 'read-people',
    summary: 'Explain which scopes a client can get for a user, and why not the others.',
    input: QUESTION,
    output: EXPLANATION,
    run: (context, question) => explain(context, question, undefined),
  }),
  defineTask({
    name: 'organization-access.explain',
    method: 'GET',
    path: '/admin/v1/organizations/{organization_id}/access',
    access: 'read-people',
    extent: 'organization',
    summary: 'Explain which scopes a client can get for a user in an organization, and why not the others.',
    input: QUESTION.extend({ organization_id: ORGANIZATION_ID }),
    output: EXPLANATION,
    run: async (context, { organization_id: organizationId, ...question }) =>
      explain(context, question, await requireOrganization(context, organizationId)),
  }),
]

/** @throws AdminError when there is no such user, client or API */
async function explain(
  context: TaskContext,
  { user_id: userId, client_id: clientId, resource, scope }: Question,
  organization: OrganizationRecord | undefined,
): Promise<AccessExplanation> {
  const membership = organization && (await findShownMembership(context, organization, userId))
  const user = await requireUser(context, userId)
  const client = await requireClient(context, clientId)
  return explainAccess(context, { client, user, organization, membership, resource, scope })
}

/**
 * An administrator of one organization gets the same answer about a user who is no member as about one who does not exist (threats.md CON-08).
 *
 * @throws AdminError
 */
async function findShownMembership(
  { administrator, store }: TaskContext,
  { id: organizationId }: OrganizationRecord,
  userId: UserId,
): Promise<MembershipRecord | undefined> {
  const key = { organizationId, userId }
  const membership = await store.findMembership(key)
  if (membership === undefined && administrator.organizationId !== undefined) throw noSuchMember(key)
  return membership
}
