import type { LocalizedText } from '../../base/localized-text.ts'

/** What several pages show, without HTML. */

/** Who gets the response, in terms that a user understands (decision 0022). */
export type Destination =
  | RedirectDestination
  /** The device that shows the code that the user typed. */
  | { readonly kind: 'device' }

/** Where a redirect URI leads. */
export type RedirectDestination =
  | { readonly kind: 'host'; /** The ASCII form of the host, with a port where one is named. */ readonly host: string }
  | { readonly kind: 'this-computer'; readonly host: string }
  | { readonly kind: 'app'; /** A private-use scheme, without the colon. */ readonly scheme: string }

/** The product in which a journey ends, to which a page leads its reader. `name`: of the client; undefined: the client has none. */
export interface ProductView {
  readonly uri: string
  readonly name: LocalizedText | undefined
}

/** An authenticator app that is being set up. */
export interface EnrolmentView {
  /** The `otpauth:` address of the QR code. */
  readonly uri: string
  /** The secret in groups of four letters, for those who type it. */
  readonly key: string
}

/**
 * The user who is signed in: the name, or what there is instead, and the email beside the name. `isWithoutEmail`: the page says so, because a person
 * may have chosen the address of another one as the name (threats.md CON-36).
 */
export interface AccountView {
  readonly name: string
  readonly detail: string | undefined
  readonly isWithoutEmail: boolean
}

/** What the picture beside the name of a provider shows. `letter`: the first one of the name. */
export type ProviderMark = 'letter' | 'code' | 'office' | 'key'

/** What a page asks the browser for by its script: a new passkey, or a signature. WebAuthn Level 3 §5.4, §5.5. */
export interface PasskeyCeremony {
  readonly kind: 'create' | 'get'
  /** Its bytes are the challenge. */
  readonly challenge: string
  readonly rpId: string
  /** Credential ids in base64url: of a new passkey those that the user has, of a signature those that may answer; none: any. */
  readonly credentials: readonly string[]
  /** For a new passkey. The bytes of the id are the user handle. */
  readonly user?: { readonly id: string; readonly name: string; readonly displayName: string }
}

/** A passkey that the browser forgets. WebAuthn Level 3 §5.1.10. */
export interface ForgottenPasskey {
  readonly rpId: string
  readonly credentialId: string
}

/** Hidden fields that a form returns unchanged, by name. */
export type HiddenFields = Readonly<Record<string, string>>

/** Why a page refuses a request, for developers: in English, and folded. */
export interface DeveloperNotes {
  /** The `error` that the client gets, or would get. */
  readonly error?: string
  /** The reason of the log line, which docs/errors.md explains. */
  readonly reason: string
  readonly explanation: string
  /** The refused redirect URI, as `describeSentUri` returns it. */
  readonly redirectUri?: string
}

/** One permission: the scope's name, and a sentence for the user of each API that declares it. Identity scopes have none. */
export interface ScopeView {
  readonly name: string
  readonly sentences: readonly LocalizedText[]
  /**
   * The field with which the user can leave the permission out. undefined: it goes with the consent. `withheld`: the client does not get
   * it, because it requires a factor that the account does not have; `declined`: one that the user did not use; `ruled`: an access rule takes
   * it, which may say why.
   */
  readonly box:
    | { readonly kind?: never; readonly name: string; readonly isChecked: boolean }
    | { readonly kind: 'ruled'; readonly sentence: string | undefined }
    | 'withheld'
    | 'declined'
    | undefined
}

/** An API: its identifier, and its name if the operator gave one. */
export interface ResourceView {
  readonly name: LocalizedText | undefined
  readonly identifier: string
  /** Whether scopes limit what a token can do at the API. If not, the API alone decides. */
  readonly isLimited: boolean
}
