import type { AccountPageName } from '../ports/pages/account.ts'
import { CONTINUE_PATH } from '../protocol/sign-in/interaction.ts'
import { LINK_PATH } from '../protocol/sign-in/link.ts'
import { PROVIDER_CALLBACK_PATH } from '../protocol/sign-in/provider.ts'
import {
  addressOf,
  AUTHORIZE_PATH,
  INTROSPECT_PATH,
  JWKS_PATH,
  REGISTER_PATH,
  TOKEN_PATH,
} from '../protocol/uri/server-address.ts'

/** The paths of all endpoints, relative to the issuer. The specification's two operations determine the prefix. */
export const PATHS = {
  register: REGISTER_PATH,
  registeredSecret: '/v2/oauth/register/secret',
  token: TOKEN_PATH,
  authorize: AUTHORIZE_PATH,
  par: '/v2/oauth/par',
  deviceAuthorization: '/v2/oauth/device_authorization',
  /** Users type it. */
  device: '/device',
  signIn: '/v2/oauth/sign-in',
  leave: '/v2/oauth/leave',
  continueSignIn: CONTINUE_PATH,
  signInByPasskey: '/v2/oauth/sign-in/passkey',
  forgot: '/v2/oauth/sign-in/forgot',
  stepUp: '/v2/oauth/step-up',
  setUpFactor: '/v2/oauth/step-up/set-up',
  signInAtProvider: '/v2/oauth/sign-in/provider',
  signInCode: '/v2/oauth/sign-in/code',
  signInPasskeyStep: '/v2/oauth/sign-in/second-passkey',
  signInNewPasskey: '/v2/oauth/sign-in/new-passkey',
  signInRecoveryCode: '/v2/oauth/sign-in/recovery-code',
  signInApp: '/v2/oauth/sign-in/app',
  signInAppEnabled: '/v2/oauth/sign-in/app/continue',
  /** The last segment is the id of the provider. */
  providerCallback: `${PROVIDER_CALLBACK_PATH}{provider}`,
  consent: '/v2/oauth/consent',
  signOut: '/v2/oauth/sign-out',
  endSession: '/v2/oauth/end-session',
  account: '/account',
  accountEmail: '/account/email',
  accountConfirmEmail: '/account/email/confirm',
  accountApps: '/account/apps',
  accountRemoveApp: '/account/apps/remove',
  accountSessions: '/account/sessions',
  accountSecurity: '/account/security',
  accountPassword: '/account/security/password',
  accountRemovePassword: '/account/security/remove-password',
  accountAddProvider: '/account/security/add-provider',
  accountRemoveProvider: '/account/security/remove-provider',
  accountApp: '/account/security/app',
  accountRecoveryCodes: '/account/security/recovery-codes',
  accountAddPasskey: '/account/security/add-passkey',
  accountRemovePasskey: '/account/security/remove-passkey',
  accountRemoveTwoStep: '/account/security/remove-two-step',
  accountData: '/account/data',
  accountLink: LINK_PATH,
  revoke: '/v2/oauth/revoke',
  introspect: INTROSPECT_PATH,
  userinfo: '/v2/oauth/userinfo',
  /** The last segment is the name of the picture. */
  picture: '/v2/oauth/pictures/{picture}',
  /** Browsers ask for it at the root where a document names no picture. */
  icon: '/favicon.ico',
  jwks: JWKS_PATH,
  protectedResource: '/v2/oauth/protected-resource',
  oauthMetadata: '/.well-known/oauth-authorization-server',
  openidMetadata: '/.well-known/openid-configuration',
  alive: '/health/alive',
  ready: '/health/ready',
  version: '/version',
} as const

/** The path of an account page. */
export function accountPath(page: AccountPageName): string {
  return ACCOUNT_PATHS[page]
}

/** The addresses of all account pages. */
export function accountAddresses(
  issuer: string,
  uiLocales: string | undefined,
): Readonly<Record<AccountPageName, string>> {
  const addresses = Object.entries(ACCOUNT_PATHS).map(([page, path]) => [
    page,
    pageAddress(issuer, path, { uiLocales }),
  ])
  return Object.fromEntries(addresses) as Readonly<Record<AccountPageName, string>>
}

/** The account page with this name; undefined: there is none. */
export function parseAccountPage(name: string): AccountPageName | undefined {
  return Object.hasOwn(ACCOUNT_PATHS, name) ? (name as AccountPageName) : undefined
}

const ACCOUNT_PATHS: Readonly<Record<AccountPageName, string>> = {
  overview: PATHS.account,
  'change-email': PATHS.accountEmail,
  'confirm-email': PATHS.accountConfirmEmail,
  apps: PATHS.accountApps,
  sessions: PATHS.accountSessions,
  security: PATHS.accountSecurity,
  data: PATHS.accountData,
  'remove-app': PATHS.accountRemoveApp,
  password: PATHS.accountPassword,
  'remove-password': PATHS.accountRemovePassword,
  'add-provider': PATHS.accountAddProvider,
  'remove-provider': PATHS.accountRemoveProvider,
  'set-up-app': PATHS.accountApp,
  'recovery-codes': PATHS.accountRecoveryCodes,
  'add-passkey': PATHS.accountAddPasskey,
  'remove-passkey': PATHS.accountRemovePasskey,
  'remove-two-step': PATHS.accountRemoveTwoStep,
}

/** What the address of a page has in its query. */
export interface PageQuery {
  readonly authorization?: string | undefined
  /** The account page that the user signs in for. */
  readonly page?: string | undefined
  /** What the last form of an account page did. */
  readonly done?: string | undefined
  /** What an account page asks about: the app, for one of the organizations, or an account at a provider. */
  readonly client?: string | undefined
  readonly organization?: string | undefined
  readonly identity?: string | undefined
  readonly passkey?: string | undefined
  /** The languages that the client prefers. */
  readonly uiLocales: string | undefined
}

/** Returns the address of a page of this server. */
export function pageAddress(issuer: string, path: string, { uiLocales, ...page }: PageQuery): string {
  const values = Object.entries({ ...page, ui_locales: uiLocales })
  const query = new URLSearchParams(values.filter((pair): pair is [string, string] => pair[1] !== undefined))
  return query.size === 0 ? addressOf(issuer, path) : `${addressOf(issuer, path)}?${query.toString()}`
}
