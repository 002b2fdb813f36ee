import { SCREENS } from '../../src/console/screens.ts'
import type { RoleRecord } from '../../src/ports/records/role.ts'
import { MAY, RULES as TASK_RULES } from '../http/admin/rules.ts'
import type { FormRule, ScreenRule } from './rules.ts'

/** What each caller gets from a screen and a form, by the rules. */

/** A caller, and what the rules are for it. */
export interface Caller {
  readonly headers: Readonly<Record<string, string>>
  /** `nothing`: as without a session. `account`: a session without a role. */
  readonly sees: 'nothing' | 'account' | 'server' | 'organization'
  readonly access: RoleRecord['access']
  readonly isFresh: boolean
  /** The session of which the forms are. */
  readonly grantId: string
}

/** `back`: to the page itself, or from the begin of the console to what there is. */
export type Kind = 'sign-in' | 'back' | 'refused' | 'absent' | 'page' | 'asks' | 'performed'

/** What the rules say. */
export function pageOf(caller: Caller, { extent, forms }: ScreenRule, path: string): Kind {
  const reads = Object.values(SCREENS.find((one) => one.path === path)?.reads ?? {})
  const isForForms = reads.length === 0 && Object.keys(forms).length > 0
  const isRead = isForForms
    ? Object.keys(forms).some((task) => mayDo(caller, task))
    : reads.every(({ task, isOptional }) => isOptional === true || mayDo(caller, task))
  switch (caller.sees) {
    case 'nothing':
      return 'sign-in'
    case 'account':
      return 'refused'
    case 'server':
      return isRead ? 'page' : path === '/console' ? 'back' : 'refused'
    case 'organization':
      // The begin of the console leads to what there is.
      if (path === '/console') return 'back'
      if (extent !== 'organization') return 'absent'
      return isRead ? 'page' : 'refused'
  }
}

/** As the rules of the API have it. */
export function mayDo({ access }: Caller, task: string): boolean {
  const rule = TASK_RULES[task]
  return rule !== undefined && (MAY[rule.access] as readonly string[]).includes(access)
}

function isOfServer({ sees }: Caller, { ofServer = [] }: ScreenRule, task: string): boolean {
  return sees === 'organization' && ofServer.includes(task)
}

export function askOf(caller: Caller, rule: ScreenRule, task: string, path: string): Kind {
  const page = pageOf(caller, rule, path)
  const form = neededBy(rule, task)
  if (page !== 'page') return page
  if (caller.access === 'write' && isOfServer(caller, rule, task)) return 'absent'
  if (!mayDo(caller, task)) return 'refused'
  return form === 'fresh' && !caller.isFresh ? 'sign-in' : 'page'
}

function neededBy({ forms }: ScreenRule, task: string): FormRule {
  return forms[task] ?? 'fresh'
}

export function formOf(caller: Caller, rule: ScreenRule, task: string, path: string): Kind {
  const page = pageOf(caller, rule, path)
  const form = neededBy(rule, task)
  if (page === 'sign-in') return 'back'
  if (page !== 'page') return page
  if (!mayDo(caller, task) || (form !== 'reads' && isOfServer(caller, rule, task))) return 'refused'
  return form === 'fresh' && !caller.isFresh ? 'asks' : 'performed'
}
