import type { Context } from '../../ports/context.ts'
import { after } from '../../base/brand.ts'
import type { UserId } from '../../protocol/ids.ts'
import { ATTEMPT_WINDOW_MS } from '../../protocol/sign-in/attempt-limits.ts'
import { listAudit } from '../audit/list.ts'
import { PAGE_LIMIT } from '../page.ts'
import type { UserSource } from './search.ts'

/** What a wrong password and a wrong code record. */
const FAILURES = ['sign-in.failed', 'second-factor.refused'] as const
/** Pages of the audit that are read of each. Each examines up to 20,000 links. */
const PAGES = 5

/**
 * The users who may be locked now, newest first. The names of the counts say nothing of their users, so the failures of their window in the
 * audit do: it names 25 accounts in a minute for each process. The apps that stay locked have an index.
 */
export function lockedUsers(context: Context): UserSource {
  let reading: Promise<readonly UserId[]> | undefined
  return async ({ before, limit }) => {
    reading ??= findFailing(context)
    const ids = (await reading).filter((id) => before === undefined || id < before)
    const shown = ids.slice(0, limit)
    const users = await Promise.all(shown.map((id) => context.store.findUser(id)))
    const next = ids.length > shown.length ? shown.at(-1) : undefined
    return { users: users.filter((user) => user !== undefined), next }
  }
}

async function findFailing(context: Context): Promise<readonly UserId[]> {
  const found = await Promise.all([...FAILURES.map((event) => usersOf(context, event)), findGuessed(context)])
  return [...new Set(found.flat())].toSorted().toReversed()
}

async function usersOf(context: Context, event: (typeof FAILURES)[number]): Promise<readonly UserId[]> {
  const since = after(context.clock(), -ATTEMPT_WINDOW_MS)
  const users: UserId[] = []
  let before: string | undefined
  for (let page = 0; page < PAGES; page += 1) {
    const { rows, next } = await listAudit(context, { event, since, before, limit: PAGE_LIMIT.most })
    users.push(...rows.flatMap(({ userId }) => (userId === undefined ? [] : [userId])))
    if (next === null) break
    before = next
  }
  return users
}

async function findGuessed({ clock, store }: Context): Promise<readonly UserId[]> {
  const { users } = await store.listUsersIn({
    list: 'guessed',
    now: clock(),
    before: undefined,
    limit: PAGE_LIMIT.most,
  })
  return users.map(({ id }) => id)
}
