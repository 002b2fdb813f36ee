import type { AuthorizationErrorCode } from '../protocol/authorization-response.ts'

/** What a page says, without a word of HTML: the use-cases make these, the web layer renders them. */

/** A language the pages are written in. */
export type Language = 'en' | 'de'

/** How the operator's installation presents itself on every page. */
export interface Branding {
  readonly name: string
  /** A CSS colour as `#rrggbb`. */
  readonly accent: string
  readonly termsUri: string | undefined
  readonly privacyUri: string | undefined
}

/** Where a client's answer goes, in the words that the person needs (decisions.md D8). */
export type Destination =
  | { readonly kind: 'host'; /** The ASCII form of the host, with a port where one is named. */ readonly host: string }
  | { readonly kind: 'this-computer'; readonly host: string }
  | { readonly kind: 'app'; /** A private-use scheme, without the colon. */ readonly scheme: string }

/** The client as a person should see it. Its own words are untrusted. */
export interface ClientView {
  /** undefined when the client registered no name; the page then says so. */
  readonly name: string | undefined
  readonly verified: boolean
  /** Age of the registration in whole seconds. */
  readonly ageSeconds: number
  readonly destination: Destination
}

/** One permission: the scope's name and, where an API declares it, a sentence that a person understands. */
export interface ScopeView {
  readonly name: string
  readonly sentence: string | undefined
}

/** An API: a name where the operator gave one, and the identifier. */
export interface ResourceView {
  readonly name: string | undefined
  readonly identifier: string
  /** Whether scopes limit what a token can do there. Otherwise the API alone decides. */
  readonly isLimited: boolean
}

/** Fields that a form must carry back unchanged. */
export interface HiddenFields {
  readonly authorization: string
  readonly csrf: string
}

/** Form to type an email and a password. Posted to `action`. */
export interface SignInPage {
  readonly kind: 'sign-in'
  readonly action: string
  readonly hidden: HiddenFields
  readonly client: ClientView
  /** What was typed before, or the client's login_hint. */
  readonly email: string
  readonly problem: SignInProblem | undefined
}

/** Why the last attempt did not sign the person in. */
export type SignInProblem =
  | { readonly kind: 'wrong-credentials' }
  | { readonly kind: 'email-missing' }
  | { readonly kind: 'password-missing' }
  | { readonly kind: 'password-too-long' }
  | { readonly kind: 'throttled'; readonly retryAfterSeconds: number }
  | { readonly kind: 'busy'; readonly retryAfterSeconds: number }

/** Form to allow or deny. Posted to `action` with `decision=allow` or `decision=deny`. */
export interface ConsentPage {
  readonly kind: 'consent'
  readonly action: string
  readonly hidden: HiddenFields
  readonly client: ClientView
  readonly scopes: readonly ScopeView[]
  /** The APIs that the token will be for. Empty: Grantor itself. */
  readonly resources: readonly ResourceView[]
  readonly account: { readonly email: string; readonly name: string | undefined }
  /** undefined: the person belongs to none. */
  readonly organization: OrganizationView | undefined
  readonly problem: ConsentProblem | undefined
  /** Where to sign in as somebody else. */
  readonly switchUri: string
}

/** For which organization the person answers: the one that the client asks for, or the one that they choose. */
export type OrganizationView =
  | { readonly kind: 'fixed'; readonly name: string }
  | {
      readonly kind: 'choice'
      /** Posted as `organization`. No name: without an organization. */
      readonly options: readonly { readonly value: string; readonly name: string | undefined }[]
      /** The value that stands there at first; undefined: the person must choose. */
      readonly selected: string | undefined
    }

/** Why the last answer did not count. */
export type ConsentProblem = 'organization-missing' | 'organization-gone'

/** A refused authorization request of a client that nobody vouches for: no redirect, but a link the person may follow. */
export interface ReturnPage {
  readonly kind: 'return'
  readonly problem: ReturnProblem
  /** `error_description`, for the client's developer. */
  readonly description: string
  readonly client: ClientView
  /** The client's redirect URI with the error in it. */
  readonly returnUri: string
}

/** The OAuth error that the link carries. The page explains it in a sentence. */
export type ReturnProblem = AuthorizationErrorCode

/** Something went wrong and there is nowhere safe to send the person. */
export interface ErrorPage {
  readonly kind: 'error'
  readonly problem: ErrorProblem
}

/** What an error page is about; each has a heading and a "what to do" in every language. */
export type ErrorProblem =
  | 'client-unknown'
  | 'redirect-unknown'
  | 'request-malformed'
  | 'expired'
  | 'other-browser'
  | 'already-completed'
  | 'user-changed'
  | 'forged'
  | 'too-many-requests'
  | 'not-found'
  | 'home'
  | 'unavailable'
  | 'server-error'

/** Asks whether to sign out. Posted to `action` with the csrf token. */
export interface SignOutPage {
  readonly kind: 'sign-out'
  readonly action: string
  readonly csrf: string
  readonly account: { readonly email: string } | undefined
}

/** The person is signed out now. */
export interface SignedOutPage {
  readonly kind: 'signed-out'
}

export type Page = SignInPage | ConsentPage | ReturnPage | ErrorPage | SignOutPage | SignedOutPage
