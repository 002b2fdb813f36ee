import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { Endpoint } from '../endpoint.ts'
import { PATHS } from '../paths.ts'
import { removeApp, showApps } from './apps.ts'
import { exportData, showData } from './data.ts'
import { showLink, useLink } from './link.ts'
import { changeName, showAccount } from './overview.ts'
import { changeMethods, showSecurity } from './security.ts'
import { endSessions, showSessions } from './sessions.ts'

const NEEDS_SESSION = 'It does something only for a browser that is signed in.'

interface AccountRow {
  readonly name: string
  readonly path: string
  readonly unlimited: string
  readonly show: (context: Context, request: Request) => Promise<Reply>
  readonly submit: (context: Context, request: Request) => Promise<Reply>
}

/** The account pages. Each is shown by GET, and its forms are posted to it. */
export const ACCOUNT_ROWS: readonly AccountRow[] = [
  { name: 'account', path: PATHS.account, unlimited: NEEDS_SESSION, show: showAccount, submit: changeName },
  { name: 'account-apps', path: PATHS.accountApps, unlimited: NEEDS_SESSION, show: showApps, submit: removeApp },
  {
    name: 'account-sessions',
    path: PATHS.accountSessions,
    unlimited: NEEDS_SESSION,
    show: showSessions,
    submit: endSessions,
  },
  {
    name: 'account-security',
    path: PATHS.accountSecurity,
    unlimited: NEEDS_SESSION,
    show: showSecurity,
    submit: changeMethods,
  },
  { name: 'account-data', path: PATHS.accountData, unlimited: NEEDS_SESSION, show: showData, submit: exportData },
  {
    name: 'account-link',
    path: PATHS.accountLink,
    unlimited: 'It does something only for a link of an operator, which works once.',
    show: showLink,
    submit: useLink,
  },
]

export const ACCOUNT_ENDPOINTS: readonly Endpoint[] = ACCOUNT_ROWS.flatMap(
  ({ name, path, unlimited, show, submit }) => {
    const row = { name, path, audience: 'page', unlimited } as const
    return [
      { ...row, method: 'GET', run: show },
      { ...row, method: 'POST', accepts: 'application/x-www-form-urlencoded', run: submit },
    ] satisfies readonly Endpoint[]
  },
)
