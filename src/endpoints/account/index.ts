import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { Endpoint } from '../endpoint.ts'
import { PATHS } from '../paths.ts'
import { askToRemoveApp, removeApp, showApps } from './apps.ts'
import { askForCode, confirmAddress, showChangeEmail, showConfirmEmail } from './email.ts'
import { exportData, showData } from './data.ts'
import { showLink, useLink } from './link.ts'
import { changeName, showAccount } from './overview.ts'
import { addPasskey, askToRemovePasskey, removePasskey, showAddPasskey } from './passkeys.ts'
import { askToRemovePassword, changePassword, removePassword, showPassword } from './password.ts'
import { addProvider, askToRemoveProvider, removeProvider, showProviders } from './providers.ts'
import { showSecurity } from './security.ts'
import { endSessions, showSessions } from './sessions.ts'
import {
  askToRemoveTwoStep,
  removeTwoStep,
  replaceCodes,
  setUpOwnApp,
  showAppSetUp,
  showRecoveryCodes,
} from './two-step.ts'

const NEEDS_SESSION = 'It does something only for a browser that is signed in.'

interface AccountRow {
  readonly name: string
  readonly path: string
  readonly unlimited: string
  readonly show: (context: Context, request: Request) => Promise<Reply>
  /** undefined: the page has no form. */
  readonly submit?: (context: Context, request: Request) => Promise<Reply>
}

/** The account pages. Each is shown by GET, and its forms are posted to it. A page that asks before a change is shown by its own address. */
export const ACCOUNT_ROWS: readonly AccountRow[] = [
  { name: 'account', path: PATHS.account, unlimited: NEEDS_SESSION, show: showAccount, submit: changeName },
  {
    name: 'account-email',
    path: PATHS.accountEmail,
    unlimited: NEEDS_SESSION,
    show: showChangeEmail,
    submit: askForCode,
  },
  {
    name: 'account-confirm-email',
    path: PATHS.accountConfirmEmail,
    unlimited: NEEDS_SESSION,
    show: showConfirmEmail,
    submit: confirmAddress,
  },
  { name: 'account-apps', path: PATHS.accountApps, unlimited: NEEDS_SESSION, show: showApps },
  {
    name: 'account-remove-app',
    path: PATHS.accountRemoveApp,
    unlimited: NEEDS_SESSION,
    show: askToRemoveApp,
    submit: removeApp,
  },
  {
    name: 'account-sessions',
    path: PATHS.accountSessions,
    unlimited: NEEDS_SESSION,
    show: showSessions,
    submit: endSessions,
  },
  { name: 'account-security', path: PATHS.accountSecurity, unlimited: NEEDS_SESSION, show: showSecurity },
  {
    name: 'account-password',
    path: PATHS.accountPassword,
    unlimited: NEEDS_SESSION,
    show: showPassword,
    submit: changePassword,
  },
  {
    name: 'account-remove-password',
    path: PATHS.accountRemovePassword,
    unlimited: NEEDS_SESSION,
    show: askToRemovePassword,
    submit: removePassword,
  },
  {
    name: 'account-add-provider',
    path: PATHS.accountAddProvider,
    unlimited: NEEDS_SESSION,
    show: showProviders,
    submit: addProvider,
  },
  {
    name: 'account-remove-provider',
    path: PATHS.accountRemoveProvider,
    unlimited: NEEDS_SESSION,
    show: askToRemoveProvider,
    submit: removeProvider,
  },
  {
    name: 'account-add-passkey',
    path: PATHS.accountAddPasskey,
    unlimited: NEEDS_SESSION,
    show: showAddPasskey,
    submit: addPasskey,
  },
  {
    name: 'account-remove-passkey',
    path: PATHS.accountRemovePasskey,
    unlimited: NEEDS_SESSION,
    show: askToRemovePasskey,
    submit: removePasskey,
  },
  {
    name: 'account-app',
    path: PATHS.accountApp,
    unlimited: NEEDS_SESSION,
    show: showAppSetUp,
    submit: setUpOwnApp,
  },
  {
    name: 'account-recovery-codes',
    path: PATHS.accountRecoveryCodes,
    unlimited: NEEDS_SESSION,
    show: showRecoveryCodes,
    submit: replaceCodes,
  },
  {
    name: 'account-remove-two-step',
    path: PATHS.accountRemoveTwoStep,
    unlimited: NEEDS_SESSION,
    show: askToRemoveTwoStep,
    submit: removeTwoStep,
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
      ...(submit === undefined
        ? []
        : [{ ...row, method: 'POST', accepts: 'application/x-www-form-urlencoded', run: submit } as const]),
    ] satisfies readonly Endpoint[]
  },
)
