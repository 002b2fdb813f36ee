import type {
  AccountMenuPage,
  AccountNotice,
  AccountPageName,
  ConfirmEmailPage,
  PasswordProblem,
  PasskeyProblem,
  StayReason,
} from '../../ports/pages/account.ts'
import type { AuthenticationMethod } from '../../protocol/sign-in/authentication.ts'
import type { Markup } from '../markup.ts'

/** The texts of the account pages, as those of `Texts`. */
export interface AccountTexts {
  readonly pages: Readonly<Record<AccountPageName, string>>
  /** The pages in the navigation of a narrow screen, in two rows at most. */
  readonly menu: Readonly<Record<AccountMenuPage, string>>
  /** Names the links to the pages, for screen readers. */
  readonly navigation: string
  readonly notices: Readonly<Record<AccountNotice, string>>
  readonly save: string
  readonly cancel: string
  readonly remove: string
  readonly removeHeading: (name: Markup) => Markup

  readonly name: string
  readonly nameHint: string
  readonly nameUnusable: string
  readonly nameOfApplication: string
  readonly noName: string
  readonly verified: string
  readonly unverified: string
  readonly noEmail: string
  readonly addEmail: string
  readonly changeEmail: string
  readonly confirmEmail: string
  readonly changeEmailLead: string
  readonly sendCode: string
  readonly emailUnchanged: string
  readonly emailOfProvider: (provider: Markup) => Markup
  readonly enterEmailCode: (email: Markup) => Markup
  readonly emailCode: string
  readonly emailCodeHint: string
  readonly emailCodeProblems: Readonly<Record<NonNullable<ConfirmEmailPage['problem']>, string>>
  readonly organizations: string

  readonly noApps: string
  readonly appsHint: string
  readonly removeAppConsequence: string
  readonly removeImpliedConsequence: string
  readonly removeAssertedConsequence: (provider: Markup) => Markup
  readonly assertedBy: (provider: Markup) => Markup
  readonly on: (apis: Markup) => Markup
  readonly forOrganization: (organization: Markup) => Markup
  readonly used: (allowed: string, used: string, end: string) => string
  readonly returns: (allowed: string) => string
  /** A copy of the access of an app was used in another network, or was too old. */
  readonly paused: string
  readonly deviceWaits: (allowed: string) => string
  readonly moreApps: string

  readonly sessionsHint: string
  readonly unknownBrowser: string
  readonly agent: (browser: string, system: string) => string
  readonly thisBrowser: string
  readonly seen: (started: string, seen: string) => string
  readonly signedInBy: Readonly<Record<AuthenticationMethod, string>>
  readonly signedInAt: (provider: Markup) => Markup
  readonly from: (network: string) => string
  readonly fromThisComputer: string
  readonly endOthers: string

  readonly passkeys: string
  readonly passkey: string
  readonly noPasskey: string
  readonly addPasskey: string
  readonly addPasskeyHint: string
  readonly passkeyMissing: string
  readonly passkeySynced: string
  readonly passkeyOnDevice: string
  readonly passkeyUnused: (added: string) => string
  readonly passkeyProblems: Readonly<Record<PasskeyProblem, string>>
  readonly removePasskeyConsequence: string
  readonly providers: string
  readonly noIdentity: string
  readonly addProvider: string
  readonly addHint: string
  readonly identityOf: (email: Markup) => Markup
  readonly identity: string
  readonly identityUnusable: string
  readonly identityUsed: (linked: string, used: string) => string
  readonly removeProviderConsequence: string
  readonly stays: Readonly<Record<StayReason, string>>
  readonly hasPassword: string
  readonly hasNoPassword: string
  readonly noMethods: string
  readonly newPassword: string
  readonly newPasswordHint: (shortest: number) => string
  readonly repeatPassword: string
  readonly changePassword: string
  readonly removePassword: string
  readonly removePasswordConsequence: string
  readonly otherSessionsEnd: string
  readonly twoStep: string
  readonly twoStepOff: string
  readonly twoStepVoid: string
  readonly twoStepOn: (since: string) => string
  readonly recoveryLeft: (count: number) => string
  readonly setUpTwoStep: string
  readonly replaceApp: string
  readonly appReplaced: string
  readonly newRecoveryCodes: string
  readonly newCodesConsequence: string
  readonly codesSaved: string
  readonly switchOffTwoStep: string
  readonly switchOffConsequence: string
  readonly passwordProblems: Readonly<Record<PasswordProblem, (shortest: number) => string>>
  readonly confirmBy: Readonly<Record<'passkey' | 'identity', (isReplaceable: boolean) => string>>
  readonly confirmFirst: string
  readonly confirm: string

  readonly kept: string
  readonly keptItems: readonly string[]
  readonly keptLater: string
  readonly download: string

  readonly linkMethodsHeading: string
  readonly linkMethods: (account: Markup) => Markup
  readonly application: string
  readonly goOn: string
  readonly invitationHeading: (brand: Markup) => Markup
  readonly invitationTitle: string
  readonly invitation: (brand: Markup, account: Markup) => Markup
  readonly resetHeading: string
  readonly resetWithoutPassword: string
  readonly linkFor: (account: Markup) => Markup
  readonly linkWithoutPassword: (account: Markup) => Markup
  readonly linkAtProvider: (account: Markup, provider: Markup) => Markup
  readonly resetConsequence: string
  readonly setPassword: string
  readonly linkUsedHeading: string
  readonly linkUsedByPasskey: string
  readonly linkUsed: string
  /** A link for users with a role. */
  readonly toConsole: string
  readonly toAccount: string
}
