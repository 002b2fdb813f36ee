/** The part of passport-openidconnect 0.1 that the tests use; the package has no declarations of its own. */
declare module 'passport-openidconnect' {
  export interface Profile {
    readonly id: string
    readonly displayName?: string
    readonly emails?: readonly { readonly value: string }[]
  }
  interface Options {
    readonly issuer: string
    readonly authorizationURL: string
    readonly tokenURL: string
    readonly userInfoURL: string
    readonly clientID: string
    readonly clientSecret: string
    readonly callbackURL: string
    readonly scope: readonly string[]
    readonly nonce: boolean
    /** By default it reads the ID token alone. */
    readonly skipUserProfile: boolean
  }
  type Verify = (issuer: string, profile: Profile, done: (error: unknown, user?: Profile) => void) => void
  /** What a strategy reads of a request of Express. */
  interface Request {
    readonly query: Readonly<Record<string, string>>
    readonly session: object
    readonly headers: object
  }
  export class Strategy {
    constructor(options: Options, verify: Verify)
    authenticate(request: Request, options: object): void
    redirect(url: string): void
    success(user: Profile): void
    fail(challenge: unknown): void
    error(cause: unknown): void
  }
}
