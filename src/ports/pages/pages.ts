import type { LocalizedText } from '../../base/localized-text.ts'
import type { AccountPage } from './account.ts'
import type { LinkAccountPage } from './link.ts'
import type { DeviceCodePage, DeviceEndPage, DeviceView } from './device.ts'
import type { AuthorizationErrorCode } from '../../protocol/authorization/response.ts'
import type {
  AccountView,
  Destination,
  DeveloperNotes,
  EnrolmentView,
  HiddenFields,
  PasskeyCeremony,
  ProductView,
  RedirectDestination,
  ProviderMark,
  ResourceView,
  ScopeView,
} from './parts.ts'
import type { ClientTrust } from '../../protocol/client/policy.ts'
import type { TextChanges } from '../../texts/texts.ts'

/** The content of each page, without HTML: the use cases make these, and the web layer renders them. */

/** The operator's branding, which every page shows. */
export interface Branding {
  readonly name: string
  /** A CSS colour as `#rrggbb`. */
  readonly accent: string
  /** Where users ask the operator. */
  readonly contact: string | undefined
  readonly termsUri: string | undefined
  readonly privacyUri: string | undefined
  /** Where users go on after an invitation, a reset and an error, if no client says it. */
  readonly productUri: string | undefined
  /** Beside the name, and in the tab of the browser. undefined: the first letter of the name. */
  readonly logo: Picture | undefined
  /** Replace texts of the pages and mails. */
  readonly texts: TextChanges
}

/** A picture that this server serves to its own pages. */
export interface Picture {
  readonly mediaType: 'image/png' | 'image/svg+xml'
  readonly body: Uint8Array
}

/** The client as the user sees it. The texts that the client registered are untrusted. */
export interface ClientView<To extends Destination = Destination> {
  /** undefined: the client registered no name, and the page says so. */
  readonly name: LocalizedText | undefined
  readonly trust: ClientTrust
  /** Age of the registration, or of the first request of the client, in whole seconds. */
  readonly ageSeconds: number
  /** The host of the client's metadata document, in its ASCII form, with a port where one is named; undefined: it registered. */
  readonly documentHost: string | undefined
  readonly destination: To
}

/** Forms to sign in, one for each offer, all with the same hidden fields. */
export interface SignInPage {
  readonly kind: 'sign-in'
  readonly hidden: HiddenFields
  /** What the user continues to. undefined: an account page of this server. */
  readonly client: ClientView | undefined
  /** The user is signed in, and confirms the own identity: for an account page, or because the client asks for it. */
  readonly isConfirmation: boolean
  /** What the sign-in methods offer, in order. Empty: no user can sign in, which the page says. */
  readonly offers: readonly SignInOffer[]
  /** The email that the user typed before, or the client's login_hint. */
  readonly email: string
  /** The provider that named the address of an account. The user signs in to that account to connect the two. */
  readonly connecting:
    | {
        readonly name: string
        /** The address requires the provider, so that nothing else signs in to the account afterwards. */
        readonly isRequired: boolean
      }
    | undefined
  /** The page that mails a link for a new password. undefined: the server sends no mail. */
  readonly forgotUri: string | undefined
  readonly problem: SignInProblem | undefined
}

/** The field with which the sign-in page leads to the page that mails a link. The form has `email` there, too. */
export const ASK_FIELD = 'ask'

/** The form that mails a link to the user of an address has `email`. */
export interface ForgotPage {
  readonly kind: 'forgot'
  readonly action: string
  /** What the user signs in for. */
  readonly backUri: string
  /** What the field has. */
  readonly email: string
  readonly problem: 'email-missing' | undefined
}

/** The same for each address of a domain, whether it has an account or not. */
export interface ForgotDonePage {
  readonly kind: 'forgot-done'
  /** The name of the only provider at which such addresses sign in, so that no mail is sent. */
  readonly provider: string | undefined
  /** Whether the operator disabled that provider. */
  readonly isOff: boolean
  readonly backUri: string
}

/** What a sign-in method offers. The forms are posted to `action`. */
export type SignInOffer =
  /** With `email` and `password`. `asksEmailFirst`: with `email` alone, because the address may lead to a provider. */
  | { readonly kind: 'password'; readonly action: string; readonly asksEmailFirst: boolean }
  /** With `email`, which leads to a provider: there are no passwords. */
  | { readonly kind: 'address'; readonly action: string }
  /** The answer of the browser. Shown by a script. */
  | { readonly kind: 'passkey'; readonly action: string; readonly ceremony: PasskeyCeremony }
  /** A link to the operator's application. */
  | { readonly kind: 'application'; readonly uri: string }
  | ProviderOffer

/** With `provider` and `offered`. */
export interface ProviderOffer {
  readonly kind: 'provider'
  readonly action: string
  readonly id: string
  readonly name: string
  readonly mark: ProviderMark
  /** Shows that the page had this button: a form with another id gets the same answer whether there is such a provider or not. */
  readonly offered: string
  /** The provider does not answer at the moment. */
  readonly isDown: boolean
}

/**
 * Forms for the second step of a sign-in, one for each offer, all with the same hidden fields. If no offer checks a factor that the user
 * has, the user sets one up.
 */
export interface SecondStepPage {
  readonly kind: 'second-step'
  readonly hidden: HiddenFields
  /** What the user continues to. undefined: an account page of this server. */
  readonly client: ClientView | undefined
  /** The user is signed in already, and what the client asks for needs more. undefined: a sign-in. */
  readonly stepUp: StepUpView | undefined
  readonly offers: readonly SecondStepOffer[]
  readonly problem: SecondStepProblem | undefined
}

/** What a user who is signed in can do instead of the second step. */
export interface StepUpView {
  /** The permissions that need it. Empty: the client asks for it by itself. */
  readonly scopes: readonly Pick<ScopeView, 'name' | 'sentences'>[]
  /** Where the form is posted to that goes on without it. */
  readonly action: string
  /** The user sets up the first factor of the account. If not, the account has one. */
  readonly addsFactor: boolean
  /** Without it the request ends with an error to the client. */
  readonly isEnd: boolean
  /** Where the user signs in with another account. */
  readonly switchUri: string
}

/** A way to do the second step. The forms are posted to `action`. */
export type SecondStepOffer =
  /** With `code`: of the authenticator app, or one of the recovery codes. */
  | { readonly kind: 'code' | 'recovery-code'; readonly action: string }
  /** With the answer of the browser: a signature, or a new passkey where the user has no second factor. */
  | { readonly kind: 'passkey'; readonly action: string; readonly ceremony: PasskeyCeremony }
  /** With `code`, the first one of an app that the user sets up. `hidden`: the fields of this form. */
  | {
      readonly kind: 'set-up'
      readonly action: string
      readonly hidden: HiddenFields
      readonly enrolment: EnrolmentView
    }
  /** A provider that always asks for two factors, at which the user has an account: the sign-in there takes the place of this one. */
  | ProviderOffer

/** The recovery codes of an app that was set up in a sign-in, which the form continues. */
export interface RecoveryCodesPage {
  readonly kind: 'recovery-codes'
  readonly action: string
  readonly hidden: HiddenFields
  readonly codes: readonly string[]
}

/** Why the last attempt at the second step failed. */
export type SecondStepProblem =
  | { readonly kind: 'second-step-wrong'; readonly offer: Exclude<SecondStepOffer['kind'], 'passkey' | 'provider'> }
  | { readonly kind: 'second-step-wrong'; readonly offer: 'passkey' }
  /** The code was accepted before. */
  | { readonly kind: 'second-step-used' }
  /** Codes of unknown browsers are refused, after too many wrong ones. */
  | { readonly kind: 'second-step-locked' }
  | { readonly kind: 'throttled'; readonly retryAfterSeconds: number }

/** The page that leads to a provider by itself, at once. */
export interface LeavePage {
  readonly kind: 'leave'
  /** The name of the provider. */
  readonly provider: string
  readonly uri: string
}

/** Why the last attempt failed. */
export type SignInProblem =
  | { readonly kind: 'wrong-credentials' }
  | { readonly kind: 'email-missing' }
  /** No provider has the domain of the address, and there are no passwords. */
  | { readonly kind: 'address-unknown' }
  | { readonly kind: 'password-missing' }
  | { readonly kind: 'password-too-long' }
  /** The answer of the browser failed a check. */
  | { readonly kind: 'passkey-invalid' }
  /** The passkey is of no user. */
  | { readonly kind: 'passkey-unknown' }
  /** The sign-in no longer waits for its second step: it took too long, was continued before, or the account changed. */
  | { readonly kind: 'second-step-expired' }
  /** The operator switched the sign-in method off. */
  | { readonly kind: 'method-off' }
  /** The account cannot sign in, or not in this way: for example it is disabled or deleted, or another provider is required for it. */
  | { readonly kind: 'account-refused' }
  /** The operator's application did not sign the user in. */
  | { readonly kind: 'application-refused' }
  /** The browser came back from the operator's application without an answer. */
  | { readonly kind: 'not-answered' }
  /** The operator disabled the provider. */
  | { readonly kind: 'provider-off'; readonly provider: string }
  /** The provider does not answer. `isRequired`: its persons have no other way. */
  | { readonly kind: 'provider-down'; readonly provider: string; readonly isRequired: boolean }
  /** The provider did not confirm who the user is. */
  | { readonly kind: 'provider-failed'; readonly provider: string; readonly isRequired: boolean }
  /** The provider did not authenticate the person again, as it was asked. */
  | { readonly kind: 'provider-not-fresh'; readonly provider: string }
  /** No account here is linked to the account at the provider. `email`: the address that the provider named. */
  | { readonly kind: 'no-account'; readonly provider: string; readonly email: string | undefined }
  /** The account at the provider was linked to another account here meanwhile. */
  | { readonly kind: 'identity-taken'; readonly provider: string }
  | { readonly kind: 'throttled'; readonly retryAfterSeconds: number }
  | { readonly kind: 'busy'; readonly retryAfterSeconds: number }

/** Form to allow or deny. Posted to `action` with `decision=allow` or `decision=deny`. */
export interface ConsentPage {
  readonly kind: 'consent'
  readonly action: string
  readonly hidden: HiddenFields
  readonly client: ClientView
  readonly scopes: readonly ScopeView[]
  /** Access rules leave nothing for the user: their sentences. undefined: something is left. */
  readonly nothing: readonly string[] | undefined
  /** Where the user sets up the second factor for which a scope is withheld. undefined: none is, or the account has a factor. */
  readonly setUpUri: string | undefined
  /** The APIs that the token will be for. Empty: Grantor itself. */
  readonly resources: readonly ResourceView[]
  readonly account: AccountView
  /** undefined: the user belongs to no organization. */
  readonly organization: OrganizationView | undefined
  readonly problem: ConsentProblem | undefined
  /** The device that shows the code. undefined: the client is where the browser has come from. */
  readonly device: DeviceView | undefined
  /** Where the user can take the consent back. */
  readonly appsUri: string
  /** Where to sign in as another user. */
  readonly switchUri: string
}

/** The organization that the user decides for: the one that the client requests, or one that the user chooses. */
export type OrganizationView =
  | { readonly kind: 'fixed'; readonly name: string }
  | {
      readonly kind: 'choice'
      /** Posted as `organization`. undefined as name: without an organization. */
      readonly options: readonly { readonly value: string; readonly name: string | undefined }[]
      /** The value that is selected at first; undefined: the user must choose. */
      readonly selected: string | undefined
    }

/** Why the last decision was not accepted. */
export type ConsentProblem = 'organization-missing' | 'organization-gone' | 'scope-missing' | 'device-unconfirmed'

/**
 * A refused authorization request of an unverified client. The page has a link that the user may follow, but does not
 * redirect.
 */
export interface ReturnPage {
  readonly kind: 'return'
  readonly problem: ReturnProblem
  /** With the `error_description` as explanation. */
  readonly notes: DeveloperNotes
  readonly client: ClientView<RedirectDestination>
  readonly back: ReturnPath
}

/** How a browser brings the authorization response to the client: a link, or a form that it posts. */
export type ReturnPath =
  | { readonly kind: 'link'; readonly uri: string }
  | { readonly kind: 'form'; readonly action: string; readonly fields: HiddenFields }

/** A form with the authorization response, which a script posts to the client. Without scripts the user presses its button. */
export interface FormPostPage {
  readonly kind: 'form-post'
  readonly action: string
  readonly fields: HiddenFields
}

/** The OAuth error in the link. The page explains it in a sentence. */
export type ReturnProblem = AuthorizationErrorCode

/** An error for which there is no safe address to return to. */
export interface ErrorPage {
  readonly kind: 'error'
  readonly problem: ErrorProblem
  /** undefined: the page is no refusal. */
  readonly notes: DeveloperNotes | undefined
  /** Where users find their account, on the page that is no refusal, and on that of a link that no longer works. */
  readonly accountUri?: string
  /** The form that mails a new link, on the page of a link that no longer works. */
  readonly newLinkUri?: string
  /** The client whose request ended. undefined: the page leads to the product of the operator. */
  readonly product?: ProductView | undefined
}

/** The subject of an error page. Each has a heading and advice in every language. */
export type ErrorProblem =
  | 'client-unknown'
  /** The metadata document of the client cannot be fetched, or is not acceptable. */
  | 'client-unidentified'
  /** The operator blocked the domain of the client. */
  | 'client-not-allowed'
  /** The request has no redirect URI, and the client has not registered exactly one that a request may omit. */
  | 'redirect-missing'
  | 'redirect-unknown'
  /** The client registered the redirect URI, and the settings do not allow it. */
  | 'redirect-not-allowed'
  | 'request-malformed'
  | 'expired'
  /** A link of an operator that was used, replaced or has expired, or whose user cannot use it. */
  | 'link-invalid'
  /** A provider did not confirm who the user is, or did not answer, when a sign-in method was added. */
  | 'provider-failed'
  /** The account at a provider is a sign-in method of another account already. */
  | 'identity-taken'
  | 'other-browser'
  | 'already-completed'
  | 'user-changed'
  | 'forged'
  | 'too-many-requests'
  | 'not-found'
  | 'home'
  | 'unavailable'
  /** The program that signs people in has failed. */
  | 'sign-in-failed'
  | 'server-error'

/** Asks the user whether to sign out. Posted to `action` with the hidden fields. */
export interface SignOutPage {
  readonly kind: 'sign-out'
  readonly action: string
  readonly hidden: HiddenFields
  readonly account: AccountView | undefined
}

/** The user is signed out now. */
export interface SignedOutPage {
  readonly kind: 'signed-out'
  /** The client that requested the logout, if the browser may return to it. */
  readonly back: { readonly uri: string; readonly destination: RedirectDestination } | undefined
}

export type Page =
  | SignInPage
  | ForgotPage
  | ForgotDonePage
  | SecondStepPage
  | RecoveryCodesPage
  | LeavePage
  | ConsentPage
  | DeviceCodePage
  | DeviceEndPage
  | ReturnPage
  | FormPostPage
  | ErrorPage
  | SignOutPage
  | SignedOutPage
  | AccountPage
  | LinkAccountPage
