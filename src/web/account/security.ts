import type { SecurityPage } from '../../ports/pages/account.ts'
import type { View } from '../layout.ts'
import { html, type Markup } from '../markup.ts'
import { forgottenPasskey } from '../passkey.ts'
import { accountLayout } from './frame.ts'
import { passkeyRows } from './passkeys.ts'
import { passwordRemovalRows, passwordRow } from './password.ts'
import { providerRows } from './providers.ts'
import { type Row, rowList } from './rows.ts'
import { twoStepRemovalRows, twoStepRows } from './two-step.ts'

/** How the user can sign in: the rows of each kind of sign-in method, of its own file, with links to the pages that change it. What takes a method away is last. */
export function securityPage(view: View, page: SecurityPage): Markup {
  const { frame, methods, twoStep, forgotten } = page
  const passwords = methods.filter((method) => method.kind === 'password')
  const passkeys = methods.filter((method) => method.kind === 'passkeys')
  const rows: readonly Row[] = [
    ...passwords.map((own) => passwordRow(view, frame, own)),
    ...passkeys.flatMap((own) => passkeyRows(view, frame, own)),
    ...(twoStep === undefined ? [] : twoStepRows(view, frame, twoStep)),
    ...providerRows(view, page),
    ...passwords.flatMap((own) => passwordRemovalRows(view, frame, own)),
    ...(twoStep === undefined ? [] : twoStepRemovalRows(view, frame, twoStep)),
  ]
  return accountLayout(view, frame, 'security', {
    main: [
      methods.length === 0 ? html`<p class="part">${view.texts.show('account.noMethods')}</p>` : undefined,
      rows.length === 0 ? undefined : rowList(rows),
      forgottenPasskey(forgotten),
    ],
  })
}
