import type { SecurityPage } from '../../ports/pages/account.ts'
import type { View } from '../layout.ts'
import { html, type Markup } from '../markup.ts'
import { accountLayout } from './frame.ts'
import { passkeysSection } from './passkeys.ts'
import { passwordSection } from './password.ts'
import { providersSection } from './providers.ts'
import { twoStepSection } from './two-step.ts'

/** How the user can sign in: a section for each kind of sign-in method, in its own file, with links to the pages that change it. */
export function securityPage(view: View, page: SecurityPage): Markup {
  const { frame, methods } = page
  const passkeys = methods.find((method) => method.kind === 'passkeys')
  const password = methods.find((method) => method.kind === 'password')
  return accountLayout(view, frame, 'security', {
    main: [
      methods.length === 0 ? html`<p class="part">${view.texts.show('account.noMethods')}</p>` : undefined,
      passkeys === undefined ? undefined : passkeysSection(view, page, passkeys),
      password === undefined ? undefined : passwordSection(view, page, password),
      page.twoStep === undefined ? undefined : twoStepSection(view, page, page.twoStep),
      providersSection(view, page),
    ],
  })
}
