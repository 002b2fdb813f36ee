import type { AddPasskeyPage, IdentityView, PasskeyView, PasswordProblem } from './account.ts'
import type { AccountView, HiddenFields, ProductView, ProviderMark } from './parts.ts'

/** The pages of links to accounts, without HTML, as those of pages.ts. */

/** The first page of a link, if its user has identities or passkeys. The form has `token`, and `keep` for each one that stays. */
export interface LinkMethodsPage {
  readonly kind: 'account-link-methods'
  readonly action: string
  readonly hidden: HiddenFields
  readonly account: AccountView
  /** `isOfApplication`: the identity is at the operator's application, which has no name. */
  readonly methods: readonly (
    | (IdentityView & { readonly kind: 'identity'; readonly key: string; readonly isOfApplication: boolean })
    | (PasskeyView & { readonly kind: 'passkey'; readonly key: string })
  )[]
}

/** The page of a link that an operator handed over. The form for a password has `token`, `password` and `repeated`. */
export interface LinkPage {
  readonly kind: 'account-link'
  readonly purpose: 'invitation' | 'reset'
  /** The name of the one that invites. undefined: the server alone does. */
  readonly organization: string | undefined
  readonly action: string
  readonly hidden: HiddenFields
  readonly account: AccountView
  /** The form has `token` and the answer of the browser. undefined: the user cannot have a passkey. */
  readonly passkey: Pick<AddPasskeyPage, 'ceremony' | 'problem'> | undefined
  /** For password managers. undefined: the user cannot have a password. */
  readonly username: string | undefined
  /** The providers that the user can sign in with from now on. Their forms have `token` and `provider`. */
  readonly providers: readonly { readonly id: string; readonly name: string; readonly mark: ProviderMark }[]
  readonly problem: PasswordProblem | undefined
  /** The least number of characters of the password. */
  readonly shortestPassword: number
}

/** The user has set a password, added a passkey or signed in at a provider with a link. */
export interface LinkUsedPage {
  readonly kind: 'account-link-used'
  readonly method: 'password' | 'passkey' | 'provider'
  /** undefined: the page leads to the product of the operator, or to the account. */
  readonly product: ProductView | undefined
  readonly accountUri: string
  /** undefined: there is no console, or the user has no role for it. */
  readonly consoleUri: string | undefined
}

export type LinkAccountPage = LinkMethodsPage | LinkPage | LinkUsedPage
