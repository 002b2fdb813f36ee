import type { Context } from '../../ports/context.ts'
import type { RoleRecord } from '../../ports/records/role.ts'
import type { Store } from '../../ports/store.ts'
import type { UserId } from '../../protocol/ids.ts'

/** What changes no record of a form, by the names that the store gives it: its reads, its counters and what it says of its commits. */
export const READ = /^(?:find|list|has|is|count|knows|walk|check|doubts|last)[A-Z]/

/** Reads of what a form shows filled in: a record, the declared APIs, or the access rules. */
const FROZEN = /^(?:find[A-Z]|list(?:AccessRules|Apis)$)/

type Calls = Readonly<Record<string, (input: unknown) => unknown>>

/**
 * The context for one form: its task reads the records that were compared with what the person saw. The operation of the store compares
 * them once more, so a change between the two is refused, and is not undone unseen (threats.md CON-35). What the task reads after its
 * change is the record as it is then.
 */
export function frozenContext(context: Context): Context {
  const found = new Map<string, unknown>()
  const frozen = (store: Store): Store => {
    const calls = Object.entries(store as unknown as Calls).map(([name, call]) => {
      if (FROZEN.test(name)) {
        return [
          name,
          (input: unknown) => {
            const key = JSON.stringify([name, input])
            if (!found.has(key)) found.set(key, call(input))
            return found.get(key)
          },
        ]
      }
      if (READ.test(name)) return [name, call]
      return [
        name,
        (input: unknown) => {
          found.clear()
          return call(input)
        },
      ]
    })
    // A role is shown in a list, and with all that an account has, too.
    const noteRole = (userId: UserId, role: RoleRecord | undefined): void => {
      found.set(JSON.stringify(['findRole', userId]), Promise.resolve(role))
    }
    const listRoles: Store['listRoles'] = async (page) => {
      const roles = await store.listRoles(page)
      for (const role of roles) noteRole(role.userId, role)
      return roles
    }
    const listAccounts: Store['listAccounts'] = async (userIds) => {
      const accounts = await store.listAccounts(userIds)
      for (const { userId, role } of accounts) noteRole(userId, role)
      return accounts
    }
    return { ...(Object.fromEntries(calls) as Store), listAccounts, listRoles }
  }
  return { ...context, actingAs: (...asked) => frozen(context.actingAs(...asked)) }
}
