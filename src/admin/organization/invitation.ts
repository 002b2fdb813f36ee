import assert from 'node:assert/strict'
import * as z from 'zod'
import type { OrganizationId } from '../../protocol/ids.ts'
import { isMailAddress, normalizeEmail } from '../../protocol/sign-in/email-address.ts'
import { MEMBER_VERBS } from '../../texts/task-words.ts'
import { attemptBucket } from '../../requests/attempt-bucket.ts'
import { isAddressDoubtful } from '../../users/doubtful-address.ts'
import { rareNoticesOf } from '../../users/mails.ts'
import { conflict } from '../admin-error.ts'
import { EMAIL, NAME, ORGANIZATION_ID, USER_ID } from '../fields.ts'
import { defineTask, type Task, type TaskContext } from '../task.ts'
import { sendLink } from '../user/link.ts'
import { USER_TASKS } from '../user/tasks.ts'
import { createUser } from '../user/user.ts'
import { addToOrganization, requireMember } from './member.ts'
import { requireOrganization } from './organization.ts'

const PATH = '/admin/v1/organizations/{organization_id}/members'
/** Of one organization in an hour, each of which may create an account. */
const INVITATIONS = 200
const HOUR_MS = 60 * 60 * 1000

/** The tasks with which the administrators of an organization invite and help its members. */
export const INVITATION_TASKS: readonly Task[] = [
  defineTask({
    name: 'member.invite',
    method: 'POST',
    path: `${PATH}/invite`,
    access: 'support',
    extent: 'organization',
    needsMail: true,
    summary:
      'Invite a person by mail to an organization: a new account gets a link, an existing account becomes a member, and gets a notice if it is in use.',
    input: z.object({
      organization_id: ORGANIZATION_ID,
      email: EMAIL.describe('The address of the person.'),
      name: NAME.optional().describe('The name of a new user.'),
    }),
    output: z.object({ organization_id: z.string(), email: z.string() }).meta({ id: 'InvitedMember' }),
    async run(context, { organization_id, email: text, name }) {
      const email = normalizeEmail(text)
      await invite(context, organization_id, { email, name })
      return { organization_id, email }
    },
  }),
  ...MEMBER_VERBS.map((verb) =>
    forMember(
      verb,
      USER_TASKS.find(({ name }) => name === `user.${verb}`),
    ),
  ),
]

/**
 * The task of a user for a member, which an administrator of the organization may perform (threats.md ADM-03): the reach of the administrator
 * says for which.
 */
function forMember(verb: string, task: Task | undefined): Task {
  assert(task, `There is no task user.${verb}`)
  return {
    ...task,
    name: `member.${verb}`,
    path: `${PATH}/{user_id}/${verb}`,
    extent: 'organization',
    summary: `For a member of this organization alone and from the first use, without a role: ${task.summary}`,
    input: z.object({ organization_id: ORGANIZATION_ID, user_id: USER_ID }),
    async run(context, input) {
      const { organization_id: organizationId, ...own } = z
        .looseObject({ organization_id: ORGANIZATION_ID, user_id: USER_ID })
        .parse(input)
      await requireMember(context, { organizationId, userId: own.user_id })
      return task.run(context, own)
    },
  }
}

/**
 * @throws AdminError when the server sends no mail or none to such an address, too many people were invited lately, the person is a member
 * already, or the account is disabled, has a role, is in a protected group, or may be of another person than the address
 */
async function invite(
  context: TaskContext,
  organizationId: OrganizationId,
  { email, name }: { readonly email: string; readonly name: string | undefined },
): Promise<void> {
  const { administrator, clock, store } = context
  const organization = await requireOrganization(context, organizationId)
  if (context.mail === undefined)
    throw conflict('The server sends no mail, so it invites no one. Set GRANTOR_SMTP_URL and GRANTOR_MAIL_FROM.')
  const bucket = attemptBucket(context, 'mail', 'organization', organizationId)
  const { count } = await store.countHit({ bucket, now: clock(), windowMs: HOUR_MS, by: 1 })
  if (count > INVITATIONS)
    throw conflict(`${INVITATIONS} people were invited to ${organization.name} within an hour. Continue in an hour.`)
  const known = await store.findUserByEmail(email)
  const isRefused = known !== undefined && (known.disabledAt !== undefined || (await store.isHolder(known.id)))
  // Which it is, and who has a role or is in a protected group, is not said. What sendLink would refuse is refused before an account is made.
  if (isRefused || !isMailAddress(email) || (known !== undefined && (await isAddressDoubtful(context, known))))
    throw conflict(`${email} cannot be invited: ask an administrator of the server.`)
  const user = known ?? (await createUser(context, { email, name, password: undefined }))
  // An account that was not used yet gets a link, unless it waits for another organization too.
  const isOwn = (await store.listMemberships(user.id)).length === 0
  const isNew = user.firstSignedInAt === undefined && user.passwordHash === undefined && isOwn
  const mails = isNew ? [] : await rareNoticesOf(context, user, 'organization-joined')
  await addToOrganization(context, { organization, user, mails, isInvited: true })
  if (isNew) await sendLink(context, user.id, { ...administrator, roleSince: undefined })
}
