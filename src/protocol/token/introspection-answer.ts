import type { GroupsMember } from '../access/group-claim.ts'
import type { Actor, Confirmation, TokenType } from './access-token.ts'
import type { RefreshExpiration } from './refresh-expiration.ts'

/** The members of an active access token. RFC 7662 §2.2, RFC 9068 §2.2; times in seconds since the epoch. */
export interface TokenClaims extends GroupsMember {
  readonly active: true
  readonly token_type: TokenType
  readonly iss: string
  readonly aud: string | readonly string[]
  /** The user, or the client when no user is involved. */
  readonly sub: string
  readonly client_id: string
  readonly iat: number
  readonly exp: number
  readonly jti: string
  /** Absent: none. */
  readonly scope?: string
  readonly org_id?: string
  /** RFC 8693 §4.1. */
  readonly act?: Actor
  /** The subject that your application has for the user, if each API of the token wants it (docs/apis.md). Absent: none. */
  readonly application_subject?: string
  /** RFC 9449 §6.2: the key whose proof the API must demand. Absent: a bearer token. */
  readonly cnf?: Confirmation
  /** The level of the authentication of the user, and its time. RFC 9470 §6.2. Absent: nothing asks for it. */
  readonly acr?: string
  readonly auth_time?: number
}

/** The members of an active refresh token. Only the client that it was issued to may see them. */
export interface RefreshTokenAnswer
  extends
    Pick<TokenClaims, 'active' | 'iss' | 'sub' | 'client_id' | 'org_id' | 'iat' | 'exp' | 'scope'>,
    RefreshExpiration {}

/** The answer about an active token. RFC 7662 §2.2. A member without a value is absent. */
export type IntrospectionAnswer = TokenClaims | RefreshTokenAnswer

/** What docs/tokens.md says about each member, if the name does not, and whether a refresh token has it, too, or only a refresh token. */
export const ANSWER_MEMBERS: {
  readonly [Member in keyof Required<TokenClaims & RefreshTokenAnswer>]: {
    readonly ofRefreshToken: Member extends keyof RefreshExpiration
      ? 'only'
      : Member extends keyof RefreshTokenAnswer
        ? true
        : false
    readonly text: string
  }
} = {
  active: { ofRefreshToken: true, text: '`true`' },
  token_type: { ofRefreshToken: false, text: '`Bearer`, or `DPoP` for a [bound token](#bound-tokens)' },
  iss: { ofRefreshToken: true, text: '' },
  aud: { ofRefreshToken: false, text: 'the API, or a list of APIs; without an API, the issuer' },
  sub: { ofRefreshToken: true, text: 'the user, or the `client_id` if the client acts for itself' },
  client_id: { ofRefreshToken: true, text: '' },
  iat: { ofRefreshToken: true, text: '' },
  exp: { ofRefreshToken: true, text: '' },
  refresh_token_timeout: {
    ofRefreshToken: 'only',
    text: 'seconds after which the token expires unless it is used',
  },
  authorization_expires_in: {
    ofRefreshToken: 'only',
    text: 'seconds after which the user must allow the client again',
  },
  jti: { ofRefreshToken: false, text: '' },
  scope: { ofRefreshToken: true, text: 'separated by spaces; absent: none' },
  org_id: {
    ofRefreshToken: true,
    text: 'the [organization](organizations.md); absent: none',
  },
  act: {
    ofRefreshToken: false,
    text: '`{"sub": …, "act": …}`: who acts for the user (RFC 8693 §4.1): the API that [exchanged](#exchange) the token, or the client for an absent user; `act` in it: who acted before',
  },
  application_subject: {
    ofRefreshToken: false,
    text: 'the subject that your application has for the user, if each [API](apis.md) of the token wants it',
  },
  cnf: {
    ofRefreshToken: false,
    text: '`{"jkt": …}`: the key of a bound token (RFC 9449 §6.2)',
  },
  acr: {
    ofRefreshToken: false,
    text: 'the [level](apis.md#step-up) of the authentication, if something asks for it',
  },
  groups: {
    ofRefreshToken: false,
    text: '[groups](groups.md#in-apis) of the user now, in the claim that the API reads',
  },
  roles: { ofRefreshToken: false, text: 'as `groups`' },
  entitlements: { ofRefreshToken: false, text: 'as `groups`' },
  auth_time: { ofRefreshToken: false, text: 'when the user authenticated, beside `acr`; absent: unknown' },
}
