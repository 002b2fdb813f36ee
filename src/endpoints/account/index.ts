import type { AccountPageName } from '../../ports/pages/account.ts'
import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { SignedIn } from '../authorization/session.ts'
import type { Endpoint } from '../endpoint.ts'
import { accountPath, PATHS } from '../paths.ts'
import { askToRemoveApp, removeApp, showApps } from './apps.ts'
import { askForCode, confirmAddress, showChangeEmail, showConfirmEmail } from './email.ts'
import { exportData, showData } from './data.ts'
import { showLink, useLink } from './link.ts'
import { changeName, showAccount } from './overview.ts'
import { admitOwner, admitSubmitter, type PageRule } from './page-rule.ts'
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

/** Handles a request of the user to whom the page belongs, or who submitted its form. */
type Show = (context: Context, request: Request, owner: SignedIn) => Promise<Reply>

interface AccountRow {
  readonly name: string
  readonly page: AccountPageName
  readonly rule: PageRule
  readonly show: Show
  /** undefined: the page has no form. */
  readonly submit?: Show
}

/** The account pages. Each is shown by GET, and its forms are posted to it. A page that asks before a change is shown by its own address. */
export const ACCOUNT_ROWS: readonly AccountRow[] = [
  { name: 'account', page: 'overview', rule: 'session', show: showAccount, submit: changeName },
  { name: 'account-email', page: 'change-email', rule: 'change', show: showChangeEmail, submit: askForCode },
  {
    name: 'account-confirm-email',
    page: 'confirm-email',
    rule: 'completion',
    show: showConfirmEmail,
    submit: confirmAddress,
  },
  { name: 'account-apps', page: 'apps', rule: 'session', show: showApps },
  { name: 'account-remove-app', page: 'remove-app', rule: 'session', show: askToRemoveApp, submit: removeApp },
  { name: 'account-sessions', page: 'sessions', rule: 'session', show: showSessions, submit: endSessions },
  { name: 'account-security', page: 'security', rule: 'session', show: showSecurity },
  { name: 'account-password', page: 'password', rule: 'password', show: showPassword, submit: changePassword },
  {
    name: 'account-remove-password',
    page: 'remove-password',
    rule: 'change',
    show: askToRemovePassword,
    submit: removePassword,
  },
  { name: 'account-add-provider', page: 'add-provider', rule: 'change', show: showProviders, submit: addProvider },
  {
    name: 'account-remove-provider',
    page: 'remove-provider',
    rule: 'change',
    show: askToRemoveProvider,
    submit: removeProvider,
  },
  { name: 'account-add-passkey', page: 'add-passkey', rule: 'change', show: showAddPasskey, submit: addPasskey },
  {
    name: 'account-remove-passkey',
    page: 'remove-passkey',
    rule: 'change',
    show: askToRemovePasskey,
    submit: removePasskey,
  },
  { name: 'account-app', page: 'set-up-app', rule: 'change', show: showAppSetUp, submit: setUpOwnApp },
  {
    name: 'account-recovery-codes',
    page: 'recovery-codes',
    rule: 'change',
    show: showRecoveryCodes,
    submit: replaceCodes,
  },
  {
    name: 'account-remove-two-step',
    page: 'remove-two-step',
    rule: 'change',
    show: askToRemoveTwoStep,
    submit: removeTwoStep,
  },
  { name: 'account-data', page: 'data', rule: 'recent-form', show: showData, submit: exportData },
]

const FORM = { method: 'POST', accepts: 'application/x-www-form-urlencoded' } as const

const LINK = {
  name: 'account-link',
  path: PATHS.accountLink,
  audience: 'page',
  opener: 'cut',
  unlimited: 'It does something only for a link of an operator, which works once.',
} as const

/** The account pages, whose user is admitted by the rule of the row, and the page of a link, which has no user. */
export const ACCOUNT_ENDPOINTS: readonly Endpoint[] = [
  ...ACCOUNT_ROWS.flatMap((row): readonly Endpoint[] => {
    const { name, page, show, submit } = row
    const shared = {
      name,
      path: accountPath(page),
      audience: 'page',
      opener: 'cut',
      unlimited: 'It does something only for a browser that is signed in.',
    } as const
    const shown: Endpoint = {
      ...shared,
      method: 'GET',
      reopenedBy: ['client', 'organization', 'identity', 'passkey'],
      async run(context, request) {
        const owner = await admitOwner(context, request, row)
        return 'kind' in owner ? owner : show(context, request, owner)
      },
    }
    if (submit === undefined) return [shown]
    const submitted: Endpoint = {
      ...shared,
      ...FORM,
      async run(context, request) {
        const owner = await admitSubmitter(context, request, row)
        return 'kind' in owner ? owner : submit(context, request, owner)
      },
    }
    return [shown, submitted]
  }),
  { ...LINK, method: 'GET', reopenedBy: ['token'], run: showLink },
  { ...LINK, ...FORM, run: useLink },
]
