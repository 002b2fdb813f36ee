import type { LocalizedText } from '../../base/localized-text.ts'
import type { IdentityScope } from '../../protocol/token/scope.ts'
import type { Agent } from '../../base/agent.ts'
import type { AuthenticationMethod } from '../../protocol/sign-in/authentication.ts'
import type { PasswordFault } from '../../protocol/sign-in/password-rules.ts'
import type { EpochMs } from '../../base/brand.ts'
import type { ClientTrust } from '../../protocol/client/policy.ts'
import type {
  AccountView,
  EnrolmentView,
  ForgottenPasskey,
  HiddenFields,
  PasskeyCeremony,
  RedirectDestination,
  ProviderMark,
} from './parts.ts'

/** The pages on which users manage their account, without HTML, as those of pages.ts. Every form is posted to its own page. */

/** The pages in the navigation, in its order. */
export const ACCOUNT_MENU = ['overview', 'apps', 'sessions', 'security', 'data'] as const
export type AccountMenuPage = (typeof ACCOUNT_MENU)[number]

/** The pages for one change each, and the page of the navigation that leads to each and shows what the change did. */
export const ACCOUNT_STEPS = {
  'change-email': 'overview',
  'confirm-email': 'overview',
  'remove-app': 'apps',
  password: 'security',
  'remove-password': 'security',
  'add-provider': 'security',
  'remove-provider': 'security',
  'add-passkey': 'security',
  'remove-passkey': 'security',
  'set-up-app': 'security',
  'recovery-codes': 'security',
  'remove-two-step': 'security',
} as const satisfies Readonly<Record<string, AccountMenuPage>>
export type AccountStep = keyof typeof ACCOUNT_STEPS

export type AccountPageName = AccountMenuPage | AccountStep

/** What a form did, as the page says it afterwards. */
export const ACCOUNT_NOTICES = [
  'name-changed',
  'email-changed',
  'email-confirmed',
  'app-removed',
  'session-ended',
  'sessions-ended',
  'password-set',
  'password-changed',
  'password-removed',
  'passkey-added',
  'passkey-removed',
  'method-added',
  'method-removed',
  'two-step-removed',
] as const
export type AccountNotice = (typeof ACCOUNT_NOTICES)[number]

/** What every account page has. */
export interface AccountFrame {
  readonly account: AccountView
  /** The addresses of all account pages. */
  readonly pages: Readonly<Record<AccountPageName, string>>
  /** undefined: there is no console, or the user has no role for it. */
  readonly consoleUri: string | undefined
  readonly signOutUri: string
  /** The token of every form of the page. */
  readonly csrf: string
  /** undefined: the page was opened without a form. */
  readonly notice: AccountNotice | undefined
}

/** Asks the user to confirm the own identity before a form is carried out. */
export interface ConfirmPage {
  readonly kind: 'account-confirm'
  readonly frame: AccountFrame
  /** The page whose form it was. */
  readonly page: AccountPageName
  readonly confirmUri: string
  /** How the user has to sign in: in any way, or with a passkey or an account at a provider, because the password alone is not enough. */
  readonly lack: 'sign-in' | 'passkey' | 'identity'
  /** Whether a link that the user asks for replaces a lost passkey or account. */
  readonly isReplaceable: boolean
}

/** Name, e-mail address and organizations. The form has `name`. */
export interface OverviewPage {
  readonly kind: 'account-overview'
  readonly frame: AccountFrame
  readonly name: string
  /** The user can change it. If not, it comes from the operator's application with each sign-in. */
  readonly isNameEditable: boolean
  /** undefined: the user has no address. */
  readonly email: { readonly address: string; readonly isVerified: boolean } | undefined
  /** The user can change it, and confirm one that is not verified, by codes that are mailed. */
  readonly isEmailEditable: boolean
  /** The names of the organizations. */
  readonly organizations: readonly string[]
  readonly problem: 'name-unusable' | undefined
}

/** The form that mails a code to an address has `email`. */
export interface ChangeEmailPage {
  readonly kind: 'account-change-email'
  readonly frame: AccountFrame
  /** What the field has. */
  readonly email: string
  readonly hasEmail: boolean
  /** `provider`: the only one at which users with such an address sign in. */
  readonly problem:
    | { readonly kind: 'email-missing' | 'email-unchanged' }
    | { readonly kind: 'email-of-provider'; readonly provider: string }
    | undefined
}

/** The form of the code has `code`. */
export interface ConfirmEmailPage {
  readonly kind: 'account-confirm-email'
  readonly frame: AccountFrame
  /** The address to which the code was mailed. undefined: no code can be entered. */
  readonly email: string | undefined
  readonly problem: 'email-code-wrong' | 'email-code-void' | 'email-taken' | undefined
}

/** What the user allowed an app, for one organization or without one. */
export interface ConnectedApp {
  /** The fields of the form that removes it. */
  readonly hidden: HiddenFields
  /** The page that asks before it is removed. */
  readonly removeUri: string
  readonly name: LocalizedText | undefined
  readonly trust: ClientTrust
  /** The host of its metadata document. undefined: it has none. */
  readonly documentHost: string | undefined
  /** Where the app gets its answers. undefined: it no longer has a redirect URI. */
  readonly destination: RedirectDestination | undefined
  readonly organization: string | undefined
  /** The name of the provider that gave it access by an assertion, without a question. undefined: the user allowed all of it. */
  readonly assertedBy: string | undefined
  /** The operator lets it have access without a question (`consent` of its rules). */
  readonly isConsentImplied: boolean
  /** What the app may know about the user. */
  readonly identity: readonly IdentityScope[]
  /** A sentence for each other scope, or the scope's name. */
  readonly permissions: readonly LocalizedText[]
  /** What access rules take from the user of it now. */
  readonly withheld: readonly WithheldAccess[]
  /** The names or identifiers of the APIs. */
  readonly resources: readonly LocalizedText[]
  readonly allowedSecondsAgo: number
  readonly access: AppAccess
}

/** A scope that an access rule takes, or an API without scopes. */
export interface WithheldAccess {
  /** undefined: none. */
  readonly identity: IdentityScope | undefined
  /** The sentences of another scope, or its name; the names of the APIs. */
  readonly permissions: readonly LocalizedText[]
  /** What the rule says. undefined: nothing. */
  readonly sentence: string | undefined
}

/**
 * The access that an app has, or gets without asking the user. `endsAt`: of the last token. `isPaused`: a copy was used in another network, or was too old.
 * `device-waits`: it has yet to fetch its tokens.
 */
export type AppAccess =
  | {
      readonly kind: 'tokens'
      readonly isPaused: boolean
      readonly usedSecondsAgo: number
      readonly endsAt: EpochMs
    }
  | { readonly kind: 'device-waits' | 'remembered' }

export interface ConnectedAppsPage {
  readonly kind: 'account-apps'
  readonly frame: AccountFrame
  readonly apps: readonly ConnectedApp[]
  /** There are more. They are listed when the user has removed some of these. */
  readonly isCut: boolean
}

/** The question before an app is removed. */
export interface RemoveAppPage {
  readonly kind: 'account-remove-app'
  readonly frame: AccountFrame
  readonly app: ConnectedApp
}

export interface SessionView {
  /** The fields of the form that ends it. undefined: the session of this browser. */
  readonly hidden: HiddenFields | undefined
  readonly agent: Agent | undefined
  readonly methods: readonly AuthenticationMethod[]
  /** The name of the provider that signed the user in; undefined: this server did, or the operator's application. */
  readonly provider: string | undefined
  readonly network: SessionNetwork | undefined
  readonly startedSecondsAgo: number
  readonly seenSecondsAgo: number
}

/** Where a session was started: on the machine of the server, or in a network, as `networkOf` returns it. */
export type SessionNetwork = { readonly kind: 'this-computer' } | { readonly kind: 'network'; readonly name: string }

/** The browsers in which the user is signed in. A second form, with `others=all`, ends all but this one. */
export interface SessionsPage {
  readonly kind: 'account-sessions'
  readonly frame: AccountFrame
  readonly sessions: readonly SessionView[]
}

/** How the user can sign in. Each change is a page of its own. */
export interface SecurityPage {
  readonly kind: 'account-security'
  readonly frame: AccountFrame
  readonly methods: readonly OwnMethod[]
  /** undefined: the operator's application signs users in. */
  readonly twoStep: TwoStepView | undefined
  /** The passkey that the user has removed just now. undefined: none, or the browser may not forget it. */
  readonly forgotten: ForgottenPasskey | undefined
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
  | { readonly kind: 'password'; readonly isSet: boolean; readonly isRemovable: boolean }
  /** The passkeys, which the user can have here. */
  | { readonly kind: 'passkeys'; readonly passkeys: readonly OwnPasskey[]; readonly canAdd: boolean }
  /** An account at a provider. */
  | (OwnIdentity & { readonly kind: 'identity'; readonly removal: Removal })
  /** A provider that the user can add. */
  | { readonly kind: 'provider'; readonly id: string; readonly name: string }

/** A passkey as its user sees it. */
export interface PasskeyView {
  /** The browser in which it was added. */
  readonly agent: Agent | undefined
  /** Whether it is copied to other devices of the user. */
  readonly isSynced: boolean
  readonly addedSecondsAgo: number
  /** undefined: never. */
  readonly usedSecondsAgo: number | undefined
}

/** `isUsable`: the user can sign in with it now, by the rules for the address. */
export type OwnIdentity = IdentityView & { readonly isUsable: boolean }

export type OwnPasskey = PasskeyView & { readonly removal: Removal }

/** The form, which a script shows, fills in and posts. */
export interface AddPasskeyPage {
  readonly kind: 'account-add-passkey'
  readonly frame: AccountFrame
  readonly ceremony: PasskeyCeremony
  readonly problem: PasskeyProblem | undefined
}

/** Why a passkey was not added. */
export type PasskeyProblem = 'passkey-invalid' | 'passkey-taken' | 'passkeys-full'

/** The question before a passkey is removed. */
export interface RemovePasskeyPage {
  readonly kind: 'account-remove-passkey'
  readonly frame: AccountFrame
  readonly passkey: PasskeyView
  readonly hidden: HiddenFields
}

/** The page that asks before a sign-in method is removed, or why the method stays. */
export type Removal = { readonly kind: 'open'; readonly uri: string } | { readonly kind: StayReason }

/** `last`: the user has no other sign-in method. `required`: the operator requires this one. `factor`: it is the only second factor. */
export type StayReason = 'last' | 'required' | 'factor'

/** The form of a new password has `password` and `repeated`. */
export interface PasswordPage {
  readonly kind: 'account-password'
  readonly frame: AccountFrame
  readonly isSet: boolean
  /** For password managers. */
  readonly username: string
  readonly problem: PasswordProblem | undefined
  /** The least number of characters of a new password. */
  readonly shortestPassword: number
}

/** The question before the password is removed. */
export interface RemovePasswordPage {
  readonly kind: 'account-remove-password'
  readonly frame: AccountFrame
}

/** Whether the user has an authenticator app. `void`: one whose codes are refused, because the root secret of the server leaked. */
export type TwoStepView =
  | { readonly kind: 'off' | 'void' }
  | {
      readonly kind: 'on'
      readonly sinceSecondsAgo: number
      /** How many are left. */
      readonly recoveryCodes: number
      readonly isRemovable: boolean
    }

/** The form of the first code of an app has `code`. */
export interface SetUpAppPage {
  readonly kind: 'account-set-up-app'
  readonly frame: AccountFrame
  readonly hidden: HiddenFields
  readonly enrolment: EnrolmentView
  /** The user has an app already. */
  readonly isReplacing: boolean
  /** The code was wrong. */
  readonly isWrong: boolean
}

/** The question before new recovery codes are made, and then the codes, once. */
export interface OwnRecoveryCodesPage {
  readonly kind: 'account-recovery-codes'
  readonly frame: AccountFrame
  /** undefined: the question. */
  readonly codes: readonly string[] | undefined
}

/** The question before the app and the recovery codes are removed. */
export interface RemoveTwoStepPage {
  readonly kind: 'account-remove-two-step'
  readonly frame: AccountFrame
}

/** The providers that the user can add. Each form has `provider`. */
export interface AddProviderPage {
  readonly kind: 'account-add-provider'
  readonly frame: AccountFrame
  readonly providers: readonly { readonly id: string; readonly name: string; readonly mark: ProviderMark }[]
}

/** The question before an account at a provider is removed from the sign-in methods. The form has `identity`. */
export interface RemoveProviderPage {
  readonly kind: 'account-remove-provider'
  readonly frame: AccountFrame
  readonly identity: OwnIdentity
  readonly hidden: HiddenFields
}

export type PasswordProblem = PasswordFault | 'passwords-differ'

/** What is kept about the user, with a form that downloads it. */
export interface DataPage {
  readonly kind: 'account-data'
  readonly frame: AccountFrame
}

export type AccountPage =
  | ConfirmPage
  | OverviewPage
  | ChangeEmailPage
  | ConfirmEmailPage
  | ConnectedAppsPage
  | RemoveAppPage
  | SessionsPage
  | SecurityPage
  | PasswordPage
  | RemovePasswordPage
  | AddProviderPage
  | RemoveProviderPage
  | AddPasskeyPage
  | RemovePasskeyPage
  | SetUpAppPage
  | OwnRecoveryCodesPage
  | RemoveTwoStepPage
  | DataPage
