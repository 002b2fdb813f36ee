import * as z from 'zod'
import { iso, ISO } from '../../base/iso.ts'
import { USER } from '../../answers/user.ts'
import type { Context } from '../../ports/context.ts'
import type { LinkRecord, UserRecord } from '../../ports/records/user.ts'
import { isMakerThere } from '../../users/role.ts'
import { REACH, reachOver } from '../administrators.ts'
import { EMAIL, EMAIL_PREFIX, LIMIT, NAME, NEXT, ORGANIZATION_ID, pageStart, USER_ID } from '../fields.ts'
import { findNames, NAMES } from '../names.ts'
import { SUBJECT_FORM } from '../../protocol/sign-in/interaction.ts'
import { defineTask, type Task, type TaskContext } from '../task.ts'
import { lockedUsers } from './locked.ts'
import { listUsers, SEARCHED, type UserSource } from './search.ts'
import { findSignInFacts, STATE_DOCUMENT, stateOf, type Account } from './sign-in.ts'

export const USER_DOCUMENT = z.object(USER.shape).meta({ id: 'User' })

/** A user in the list, with the state of the account. */
const LISTED_USER = USER_DOCUMENT.extend({
  ...STATE_DOCUMENT.shape,
  organizations: z.array(z.string()).describe('The ids of the organizations of which the user is a member.'),
  reach: REACH,
}).meta({ id: 'ListedUser' })

export type ListedUserDocument = z.output<typeof LISTED_USER>

/** What users can be listed by besides a text. */
const STATE_FILTERS = ['invited', 'never-signed-in', 'locked', 'disabled'] as const
export type StateFilter = (typeof STATE_FILTERS)[number]

const LISTED_USERS = z.object({
  users: z.array(LISTED_USER),
  names: NAMES,
  next: NEXT,
  searched: z
    .enum(SEARCHED)
    .nullable()
    .describe(
      'What of the users was compared with `text`; null: nothing was. Until `next` is null, not every user was.',
    ),
  counted: z
    .object({
      users: z.int().describe('How many users there are in all.'),
      indexed: z.int().describe('How many of them the index of names and addresses has.'),
      at: ISO.describe('When the count ended.'),
    })
    .nullable()
    .describe('The last count of the users, whatever the filters; null: there is none yet.'),
})

export type ListedUsersDocument = z.output<typeof LISTED_USERS>

export const LIST_USERS: Task = defineTask({
  name: 'user.list',
  method: 'GET',
  path: '/admin/v1/users',
  access: 'read-people',
  summary: 'List the users, newest first; users with a chosen id in the order of the ids.',
  input: z.object({
    limit: LIMIT,
    before: pageStart(USER_ID),
    email: EMAIL.optional().describe('Only the user with this address.'),
    email_prefix: EMAIL_PREFIX.optional().describe(
      'Only users whose address begins with this, in the order of the addresses; without a next page. Other filters look at these users alone.',
    ),
    text: NAME.optional().describe(
      'Only users with all words of this text in the name or the address, in any case and without accents. Words of one or two letters alone: addresses that begin with it. A page may be empty while the index is written. Then follow "next".',
    ),
    state: z
      .enum(STATE_FILTERS)
      .optional()
      .describe(
        'Only users with an open invitation; who never signed in, also invited ones; whom wrong passwords or codes keep out now; or who are disabled. A page may have fewer rows than its limit although more follow. Locked ones are found by the failed sign-ins of the last 15 minutes, of which each process names 25 accounts a minute in the audit.',
      ),
    organization_id: ORGANIZATION_ID.optional().describe('Only members of this organization.'),
    subject: z.string().regex(SUBJECT_FORM).optional().describe('Only the user with this id at your application.'),
  }),
  output: LISTED_USERS,
  async run(context, { state, ...page }) {
    const { rows, next, searched } = await listUsers(context, page, state && sourceOf(context, state))
    const users = (await describeUsers(context, rows)).filter(
      (user) =>
        (state === undefined || IS_IN[state](user)) &&
        (page.organization_id === undefined || user.organizations.includes(page.organization_id)),
    )
    const organizations = users.flatMap((user) => user.organizations.slice(0, 1)) as (typeof page.organization_id)[]
    return {
      users,
      names: await findNames(context, { organizations: [...organizations, page.organization_id] }),
      next,
      searched,
      counted: await findCount(context),
    }
  },
})

/** By what the row says, because a lock may have ended, or the maker of an invitation may have left. */
const IS_IN: Readonly<Record<StateFilter, (user: ListedUserDocument) => boolean>> = {
  disabled: ({ disabled_at: at }) => at !== null,
  'never-signed-in': ({ first_signed_in_at: at }) => at === null,
  invited: ({ state }) => state === 'invited',
  locked: ({ state }) => state === 'locked',
}

function sourceOf(context: TaskContext, state: StateFilter): UserSource {
  if (state === 'locked') return lockedUsers(context)
  return (slice) => context.store.listUsersIn({ list: state, now: context.clock(), ...slice })
}

async function describeUsers(context: TaskContext, users: readonly UserRecord[]): Promise<ListedUserDocument[]> {
  const described = await describeAccounts(context, users)
  return described.map(({ user, ...account }) => ({ ...USER.show(user), ...account }))
}

/** What a list says of accounts besides their users: read in as many statements for fifty as for one. */
export async function describeAccounts(context: TaskContext, users: readonly UserRecord[]) {
  const found = await context.store.listAccounts(users.map(({ id }) => id))
  const accounts = users.flatMap((user, index): readonly Account[] => {
    const account = found[index]
    return account === undefined ? [] : [{ ...account, user }]
  })
  const facts = await findSignInFacts(context, accounts)
  const findLink = openLinksOf(context)
  return Promise.all(
    accounts.map(async (account) => ({
      user: account.user,
      ...stateOf(context, account, { ...facts, link: await findLink(account.links) }),
      organizations: account.memberships.map(({ organizationId }) => organizationId),
      reach: reachOver(context.administrator, account),
    })),
  )
}

/** Returns what finds the open link of an account. Of many links of one maker, the maker is read once. */
export function openLinksOf(context: TaskContext): (links: readonly LinkRecord[]) => Promise<LinkRecord | undefined> {
  const makers = new Map<string, Promise<boolean>>()
  return async (links) => {
    const open = links.filter(({ expiresAt }) => expiresAt > context.clock())
    for (const link of open) {
      const maker = JSON.stringify([link.madeBy, link.madeWith])
      const isThere = makers.get(maker) ?? isMakerThere(context, link)
      makers.set(maker, isThere)
      if (await isThere) return link
    }
    return undefined
  }
}

async function findCount({ store }: Context) {
  const finished = (await store.findRowCounts())?.users?.finished
  if (finished === undefined) return null
  const { indexed = 0, ...states } = finished.counts
  const users = Object.values(states).reduce((sum, count) => sum + count, 0)
  return { users, indexed, at: iso(finished.endedAt) }
}
