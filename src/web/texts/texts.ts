import type { PasskeyCeremony } from '../../ports/pages/parts.ts'
import type { ErrorProblem, ReturnProblem } from '../../ports/pages/pages.ts'
import type { IdentityScope } from '../../protocol/token/scope.ts'
import type { MailTexts } from './mail-texts.ts'
import type { AccountTexts } from './account-texts.ts'
import type { DeviceTexts } from './device-texts.ts'
import type { Markup } from '../markup.ts'

/** The texts of an error page: what happened, and what to do. */
export interface ErrorTexts {
  readonly heading: string
  readonly happened: string
  readonly todo: string
}

/**
 * All texts of the pages in one language. Names and hosts are passed in as markup, already isolated. Times are passed in as
 * text in the same language, such as "3 minutes ago" and "in 30 seconds".
 */
export interface Texts {
  readonly title: (heading: string, brand: string) => string
  readonly titleWithError: (title: string) => string
  readonly momentsAgo: string
  readonly namelessApp: string
  readonly namelessAppInside: string
  readonly thisComputer: string
  readonly footer: string
  readonly contact: string
  readonly terms: string
  readonly privacy: string

  readonly unverified: string
  readonly registered: (ago: string) => string
  readonly firstSeen: (ago: string) => string
  readonly verifiedBy: (brand: Markup) => Markup
  readonly from: (host: Markup) => Markup
  readonly appLinks: (scheme: Markup) => Markup

  readonly continueTo: (client: Markup) => Markup
  readonly continueToHost: (client: Markup, host: Markup) => Markup
  readonly continueToComputer: (client: Markup) => Markup
  readonly continueToAccount: string
  readonly continueConfirmed: string
  /** Why a user who is signed in signs in for an app. */
  readonly signInAgain: string
  readonly email: string
  readonly password: string
  readonly signIn: string
  /** The button, and its name for screen readers, which contains the word. */
  readonly show: string
  readonly showPassword: string
  readonly forgot: string
  readonly forgotHint: (brand: Markup) => Markup
  readonly lostPasskey: string
  readonly forgotHeading: string
  readonly forgotLead: string
  readonly forgotSend: string
  readonly forgotDoneHeading: string
  readonly forgotDone: string
  readonly forgotAtProvider: (provider: Markup) => Markup
  readonly forgotNothing: string
  readonly backToSignIn: string
  readonly wrongCredentials: string
  readonly emailMissing: string
  readonly addressUnknown: string
  readonly passwordMissing: string
  readonly passwordTooLong: string
  readonly passkeySignIn: string
  readonly passkeyFailed: string
  readonly passkeyUnknown: string
  /** What the script shows if the browser has none for the page: the person cancelled, it took too long, or there is none. */
  readonly noPasskey: Readonly<Record<PasskeyCeremony['kind'], string>>
  readonly passkeyLost: string
  readonly methodOff: string
  readonly accountRefused: string
  readonly applicationRefused: string
  readonly notAnswered: string
  readonly secondStep: string
  readonly noSecondStep: string
  /** Above the forms for a user who is signed in. */
  readonly stepUp: (client: Markup) => Markup
  /** Above the permissions that need it. */
  readonly stepUpFor: string
  readonly continueWithout: string
  readonly otherAccount: string
  /** Below a permission that the client does not get. */
  readonly scopeNeedsStep: Readonly<Record<'withheld' | 'declined', string>>
  readonly secondStepExpired: string
  readonly passkeyStep: string
  readonly code: string
  readonly codeHint: string
  readonly codeWrong: string
  readonly codeUsed: string
  readonly codesLocked: string
  readonly cannotUseApp: string
  readonly recoveryCode: string
  readonly recoveryCodeWrong: string
  readonly setUpSecondStep: string
  readonly secondStepNeeded: string
  readonly scanCode: string
  readonly qrCode: string
  readonly typeKey: string
  readonly recoveryCodes: string
  readonly recoverySave: string
  readonly recoveryDownload: string
  readonly noSignInMethod: string
  readonly or: string
  readonly continue: string
  readonly continueWith: (provider: Markup) => Markup
  /** Beside the button of a provider that does not answer. */
  readonly providerAway: string
  readonly providerOff: (provider: Markup) => Markup
  readonly providerDown: (provider: Markup, isRequired: boolean) => Markup
  readonly providerNotFresh: (provider: Markup) => Markup
  readonly providerFailed: (provider: Markup, isRequired: boolean) => Markup
  readonly noAccount: (provider: Markup) => Markup
  readonly noAccountOf: (email: Markup, provider: Markup) => Markup
  readonly identityTaken: (provider: Markup) => Markup
  readonly signInToConnect: (provider: Markup, isRequired: boolean) => Markup
  /** The session of a password alone connects nothing to an account that has a passkey. */
  readonly connectByPasskey: string
  readonly leaveTitle: string
  readonly leaveHeading: (provider: Markup) => Markup
  readonly leaveHint: (provider: Markup) => Markup
  readonly throttled: (when: string) => string
  readonly busy: (when: string) => string

  readonly consentTitle: string
  readonly consentHeading: (client: Markup) => Markup
  readonly onlyIfStarted: string
  readonly ableTo: string
  readonly noScope: string
  readonly noLimit: (api: Markup) => Markup
  readonly usedWith: string
  readonly describedBy: string
  readonly sendsYouTo: string
  readonly anyProgram: (site: Markup) => Markup
  readonly loopbackWarning: string
  readonly signedInAs: string
  /** Beside the name of an account. */
  readonly withoutEmail: string
  readonly switchAccount: string
  readonly organization: string
  readonly organizationHint: string
  readonly chooseOrganization: string
  readonly withoutOrganization: string
  readonly organizationMissing: string
  readonly organizationGone: string
  readonly deny: string
  readonly allow: string
  readonly leaveOut: string
  readonly scopeMissing: string
  readonly takeBack: (connectedApps: Markup) => Markup

  /** What each identity scope of OpenID Connect permits. */
  readonly identityScopes: Readonly<Record<IdentityScope, string>>

  readonly formPostTitle: string
  readonly formPostHint: string

  readonly returnTitle: string
  readonly returnHeading: (client: Markup) => Markup
  readonly returnProblems: Readonly<Record<ReturnProblem, string>>
  readonly returnOffer: string
  readonly leadsTo: string
  readonly returnTo: (host: Markup) => Markup
  readonly returnToComputer: string
  readonly returnToApp: string
  readonly forDevelopers: string

  readonly errors: Readonly<Record<ErrorProblem, ErrorTexts>>
  /** Before the id of the request, on an error page. */
  readonly reference: string

  readonly account: AccountTexts
  readonly device: DeviceTexts
  readonly mail: MailTexts

  readonly signOutHeading: (brand: Markup) => Markup
  readonly signOutAs: (email: Markup) => Markup
  readonly signOutConsequence: string
  readonly signOut: string
  readonly signedOutHeading: string
  readonly signedOut: string
}
