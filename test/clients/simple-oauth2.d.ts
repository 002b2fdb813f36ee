/** The part of simple-oauth2 5 that the tests use; the package has no declarations of its own. */
declare module 'simple-oauth2' {
  interface Options {
    readonly client: { readonly id: string; readonly secret: string }
    readonly auth: { readonly tokenHost: string; readonly tokenPath: string; readonly authorizePath?: string }
    readonly options?: {
      readonly authorizationMethod?: 'header' | 'body'
      readonly credentialsEncodingMode?: 'strict' | 'loose'
    }
  }
  type Parameters = Readonly<Record<string, string | readonly string[]>>
  export interface AccessToken {
    readonly token: Readonly<Record<string, unknown>>
    expired(windowSeconds?: number): boolean
    refresh(parameters?: Parameters): Promise<AccessToken>
  }
  export class AuthorizationCode {
    constructor(options: Options)
    authorizeURL(parameters: Parameters): string
    getToken(parameters: Parameters): Promise<AccessToken>
  }
  export class ClientCredentials {
    constructor(options: Options)
    getToken(parameters: Parameters): Promise<AccessToken>
  }
}
