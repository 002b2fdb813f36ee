import type { Context } from '../../ports/context.ts'
import type { Store } from '../../ports/store.ts'

/** The records that a form shows filled in, and the operations that change them, only if they are still what the caller read. */
const [READS, CHANGES] = [
  ['findClient', 'findOrganization', 'findProvider', 'findRole', 'findUser', 'listApis'],
  [
    'approveClientScope',
    'changeClient',
    'renameOrganization',
    'setClientRules',
    'setEmail',
    'setRole',
    'updateApi',
    'updateProvider',
    'updateUser',
  ],
] as const satisfies readonly (readonly (keyof Store)[])[]

/**
 * The context for one form: its task reads the records that were compared with what the person saw. The operation of the store compares
 * them once more, so a change between the two is refused, and is not undone unseen (threats.md CON-35).
 */
export function frozenContext(context: Context): Context {
  const found = new Map<string, unknown>()
  const frozen = (store: Store): Store => {
    const read = READS.map((name) => [
      name,
      (input: unknown) => {
        const key = JSON.stringify([name, input])
        if (!found.has(key)) found.set(key, (store[name] as (asked: unknown) => unknown)(input))
        return found.get(key)
      },
    ])
    // What the task reads after its change is the record as it is then.
    const changed = CHANGES.map((name) => [
      name,
      (input: unknown) => {
        found.clear()
        return (store[name] as (asked: unknown) => unknown)(input)
      },
    ])
    // A role is shown in a list, too.
    const listRoles: Store['listRoles'] = async (page) => {
      const roles = await store.listRoles(page)
      for (const role of roles) found.set(JSON.stringify(['findRole', role.userId]), Promise.resolve(role))
      return roles
    }
    return { ...store, ...Object.fromEntries([...read, ...changed]), listRoles } as Store
  }
  return { ...context, actingAs: (actor) => frozen(context.actingAs(actor)) }
}
