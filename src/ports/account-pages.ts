import type { IdentityScope } from '../protocol/token/scope.ts'
import type { Agent } from '../base/agent.ts'
import type { AuthenticationMethod } from '../protocol/sign-in/authentication.ts'
import type { PasswordFault } from '../protocol/sign-in/password-rules.ts'
import type { EpochMs } from '../base/brand.ts'
import type { ClientTrust } from '../protocol/client/policy.ts'
import type { AccountView, Destination, HiddenFields } from './page-parts.ts'

/** The pages on which users manage their account, without HTML, as those of pages.ts. Every form is posted to its own page. */

/** The account pages, in the order of their links. */
export const ACCOUNT_PAGES = ['overview', 'apps', 'sessions', 'security', 'data'] as const
export type AccountPageName = (typeof ACCOUNT_PAGES)[number]

/** What a form did, as the page says it afterwards. */
export const ACCOUNT_NOTICES = [
  'name-changed',
  'app-removed',
  'session-ended',
  'sessions-ended',
  'password-changed',
  'method-added',
  'method-removed',
] as const
export type AccountNotice = (typeof ACCOUNT_NOTICES)[number]

/** What every account page has. */
export interface AccountFrame {
  readonly account: AccountView
  /** The addresses of all account pages. */
  readonly pages: Readonly<Record<AccountPageName, string>>
  readonly signOutUri: string
  /** The token of every form of the page. */
  readonly csrf: string
  /** undefined: the page was opened without a form. */
  readonly notice: AccountNotice | undefined
}

/** Name, e-mail address and organizations. The form has `name`. */
export interface OverviewPage {
  readonly kind: 'account-overview'
  readonly frame: AccountFrame
  readonly name: string
  /** undefined: the user has no address. */
  readonly email: { readonly address: string; readonly isVerified: boolean } | undefined
  /** The names of the organizations. */
  readonly organizations: readonly string[]
  readonly problem: 'name-unusable' | undefined
}

/** What the user allowed an app, for one organization or without one. */
export interface ConnectedApp {
  /** The fields of the form that removes it. */
  readonly hidden: HiddenFields
  readonly name: string | undefined
  readonly trust: ClientTrust
  /** The host of its metadata document. undefined: it has none. */
  readonly documentHost: string | undefined
  /** Where the app gets its answers. undefined: it no longer has a redirect URI. */
  readonly destination: Destination | undefined
  readonly organization: string | undefined
  /** What the app may know about the user. */
  readonly identity: readonly IdentityScope[]
  /** A sentence for each other scope, or the scope's name. */
  readonly permissions: readonly string[]
  /** The names or identifiers of the APIs. */
  readonly resources: readonly string[]
  readonly allowedSecondsAgo: number
  /** undefined: the app has no valid token, but gets one without asking the user. */
  readonly access:
    | {
        readonly usedSecondsAgo: number
        /** When the last of its tokens expires, unless the user allows it again. */
        readonly endsAt: EpochMs
      }
    | undefined
}

export interface ConnectedAppsPage {
  readonly kind: 'account-apps'
  readonly frame: AccountFrame
  readonly apps: readonly ConnectedApp[]
  /** There are more. They are listed when the user has removed some of these. */
  readonly isCut: boolean
}

export interface SessionView {
  /** The fields of the form that ends it. undefined: the session of this browser. */
  readonly hidden: HiddenFields | undefined
  readonly agent: Agent | undefined
  readonly methods: readonly AuthenticationMethod[]
  readonly network: string | undefined
  readonly startedSecondsAgo: number
  readonly seenSecondsAgo: number
}

/** The browsers in which the user is signed in. A second form, with `others=all`, ends all but this one. */
export interface SessionsPage {
  readonly kind: 'account-sessions'
  readonly frame: AccountFrame
  readonly sessions: readonly SessionView[]
}

/** How the user can sign in. */
export interface SecurityPage {
  readonly kind: 'account-security'
  readonly frame: AccountFrame
  readonly methods: readonly OwnMethod[]
  /** Where the user confirms the own identity before a change. undefined: the user signed in a moment ago. */
  readonly confirmUri: string | undefined
  readonly problem: PasswordProblem | undefined
  /** The least number of characters of a new password. */
  readonly shortestPassword: number
}

/** An account of the user at a provider. */
export interface IdentityView {
  /** The name of the provider. */
  readonly name: string
  readonly email: string | undefined
  readonly linkedSecondsAgo: number
  readonly usedSecondsAgo: number
}

/** A sign-in method that a user has, or can add. */
export type OwnMethod =
  /** The form has `password` and `repeated`. */
  | { readonly kind: 'password'; readonly isSet: boolean; readonly username: string }
  /** An account at a provider. */
  | (IdentityView & {
      readonly kind: 'identity'
      /** The fields of the form that removes it. undefined: it is the only method, or the operator requires it. */
      readonly hidden: HiddenFields | undefined
    })
  /** A provider that the user can add. */
  | { readonly kind: 'provider'; readonly name: string; readonly hidden: HiddenFields }

export type PasswordProblem = PasswordFault | 'passwords-differ'

/** What is kept about the user, with a form that downloads it. */
export interface DataPage {
  readonly kind: 'account-data'
  readonly frame: AccountFrame
  readonly confirmUri: string | undefined
}

/** The first page of a link, if its user has identities. The form has `token`, and `keep` for each one that stays. */
export interface LinkMethodsPage {
  readonly kind: 'account-link-methods'
  readonly action: string
  readonly hidden: HiddenFields
  readonly account: AccountView
  /** `isOfApplication`: the identity is at the operator's application, which has no name. */
  readonly methods: readonly (IdentityView & { readonly key: string; readonly isOfApplication: boolean })[]
}

/** The page of a link that an operator handed over. The form for a password has `token`, `password` and `repeated`. */
export interface LinkPage {
  readonly kind: 'account-link'
  readonly purpose: 'invitation' | 'reset'
  readonly action: string
  readonly hidden: HiddenFields
  readonly account: AccountView
  /** For password managers. undefined: the user cannot have a password. */
  readonly username: string | undefined
  /** The providers that the user can sign in with from now on. Their forms have `token` and `provider`. */
  readonly providers: readonly { readonly id: string; readonly name: string }[]
  readonly problem: PasswordProblem | undefined
  /** The least number of characters of the password. */
  readonly shortestPassword: number
}

/** The user has set a password with a link. */
export interface LinkUsedPage {
  readonly kind: 'account-link-used'
  readonly accountUri: string
}

export type AccountPage =
  | OverviewPage
  | ConnectedAppsPage
  | SessionsPage
  | SecurityPage
  | DataPage
  | LinkMethodsPage
  | LinkPage
  | LinkUsedPage
