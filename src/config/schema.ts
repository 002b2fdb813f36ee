import * as z from 'zod'
import { COPIES_RULES, DOCUMENT_MODES, REGISTRATION_MODES } from '../protocol/client/policy.ts'
import { withKnownApps } from './known-apps.ts'
import { computed, placeValues, schemasOf, secret, setting, type Placed } from './setting.ts'
import { TRACE_ROWS } from './trace-config.ts'
import { link, list, seconds, whole } from './value-schemas.ts'

const DAY = 86_400

/**
 * The table of settings. A setting is one row: the member of the Config that has its value (`computed`: config.ts computes the
 * Config from it), its schema with its default, and its description. `--help` and docs/configuration.md are generated from it.
 */
const ROWS = {
  PORT: setting('port', whole(1, 65_535).default(3000), 'Port to listen on.'),
  GRANTOR_HOST: computed(
    z.string().optional(),
    'Address to listen on. Default: 127.0.0.1 and ::1 for a loopback issuer, all addresses otherwise.',
  ),
  GRANTOR_ADMIN_PORT: computed(
    z.union([z.literal('off'), whole(1, 65_535)], { error: 'must be a port or off' }).optional(),
    'Port of the administration, or off. Default: PORT + 1, or off when that port is taken.',
  ),
  GRANTOR_ADMIN_HOST: computed(
    z.string().default('localhost'),
    'Address that the administration listens on. Other machines need credentials, and TLS as for the issuer.',
  ),
  GRANTOR_CONSOLE_URL: computed(
    z.string().optional(),
    'Address at which browsers reach the port of the administration, without a path, or off: the console for users with a role (docs/console.md). Default: http://<host>:<port> while only this machine reaches the port, otherwise off.',
  ),
  GRANTOR_ISSUER: computed(
    z.string().optional(),
    'Public address of the server, exactly as in tokens and metadata: https, unless it is a loopback address. Default: http://localhost:<PORT>.',
  ),
  DATABASE_URL: secret(
    computed(
      z.string().default('sqlite:./data/grantor.db'),
      'Database: sqlite:<path>, or postgres://<user>:<password>@<host>:<port>/<database>.',
    ),
  ),
  GRANTOR_SECRET: secret(
    setting(
      'secret',
      z.string().min(32, 'must have at least 32 characters').optional(),
      'Root secret, at least 32 characters: encrypts the master key. Default: created at the first start, in a file beside the database.',
    ),
  ),
  GRANTOR_SECRET_PREVIOUS: secret(
    setting(
      'previousSecret',
      z.string().min(32, 'must have at least 32 characters').optional(),
      'The root secret before GRANTOR_SECRET, until "grantor secret rotate" was run.',
    ),
  ),
  GRANTOR_STATE_FILE: computed(
    z.string().optional(),
    'File, best on another disk, in which this machine remembers how far the store has got, to notice one that went back. Default: beside a SQLite database; with PostgreSQL in the state folder of systemd, otherwise none.',
  ),
  GRANTOR_TRUST_PROXY: setting(
    'trustedProxies',
    list.default([]),
    'Networks of the reverse proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted, in CIDR notation, separated by commas. A caller in them could claim any address.',
  ),
  LOG_LEVEL: computed(
    z.enum(['debug', 'info', 'warn', 'error', 'silent']).optional(),
    'Lowest level of events to log. Default: info, or warn when standard output is a terminal.',
  ),
  GRANTOR_DRAIN_SECONDS: computed(
    whole(0, 4).optional(),
    'Seconds that the server continues to serve after the signal to stop, while /health/ready returns 503. Default: 2, or 0 when standard output is a terminal.',
  ),
  GRANTOR_REGISTRATION: setting(
    'settings.registration',
    z.enum(REGISTRATION_MODES).default('open'),
    'Who may register a client: open, every caller; token, callers with an initial access token; closed, none (docs/clients.md).',
  ),
  GRANTOR_CLIENT_DOCUMENTS: setting(
    'settings.clientDocuments',
    z.enum(DOCUMENT_MODES).default('open'),
    'Which new clients with a metadata document are accepted: open, of every domain; trusted, of trusted domains; off, none (docs/clients.md).',
  ),
  GRANTOR_DEVICE_GRANT: computed(
    z.enum(['on', 'off']).default('off'),
    'Whether devices without a browser get tokens by a code that a user types: on or off (docs/devices.md).',
  ),
  GRANTOR_REGISTRATION_RATE: setting(
    'rates.registration',
    whole(1, 1e9).default(60),
    'Registrations per minute and network.',
  ),
  GRANTOR_AUTHORIZATION_RATE: setting(
    'rates.authorization',
    whole(1, 1e9).default(600),
    'Authorization requests per minute and network.',
  ),
  GRANTOR_CLIENT_FAILURE_RATE: setting(
    'rates.client-authentication',
    whole(1, 1e9).default(60),
    'Failed client authentications per minute and network before the server returns 429.',
  ),
  GRANTOR_STORED_TOKEN_RATE: setting(
    'rates.stored-token',
    whole(1, 1e9).default(6000),
    'Opaque tokens without a user, and assertions, per minute and unverified client. A tenth of it limits revocations of single access tokens.',
  ),
  GRANTOR_CODE_LIFETIME: setting(
    'settings.lifetimes.code',
    seconds(600).default(60),
    'Seconds that an authorization code may be redeemed.',
  ),
  GRANTOR_ACCESS_TOKEN_LIFETIME: setting(
    'settings.lifetimes.accessToken',
    seconds(DAY).default(900),
    'Seconds that an access token is valid.',
  ),
  GRANTOR_ID_TOKEN_LIFETIME: setting(
    'settings.lifetimes.idToken',
    whole(60, DAY).default(3600),
    'Seconds that an ID token is valid.',
  ),
  GRANTOR_REFRESH_IDLE_LIFETIME: setting(
    'settings.lifetimes.refreshIdle',
    seconds(3650 * DAY).default(30 * DAY),
    'Seconds after which an unused refresh token expires.',
  ),
  GRANTOR_REFRESH_ABSOLUTE_LIFETIME: setting(
    'settings.lifetimes.refreshAbsolute',
    seconds(3650 * DAY).default(90 * DAY),
    'Seconds after which a grant ends, however often it was refreshed.',
  ),
  GRANTOR_REFRESH_RETRY: setting(
    'settings.lifetimes.refreshRetry',
    whole(0, 300).default(30),
    'Seconds in which a refresh request may be repeated because its response was lost.',
  ),
  GRANTOR_REFRESH_COPIES: setting(
    'settings.refreshCopies',
    z.enum(COPIES_RULES).default('network'),
    'What an earlier refresh token of a family gets: the newest one in the network that has it (network), or nothing, and the user signs in again (strict).',
  ),
  GRANTOR_REFRESH_EARLIER: setting(
    'settings.lifetimes.refreshEarlier',
    whole(0, 30 * DAY).default(7 * DAY),
    'Seconds after its issue in which an earlier refresh token gets the newest one.',
  ),
  GRANTOR_SESSION_LIFETIME: setting(
    'settings.lifetimes.session',
    seconds(365 * DAY).default(DAY / 2),
    'Seconds that a user stays signed in.',
  ),
  GRANTOR_AUTHORIZATION_LIFETIME: setting(
    'settings.lifetimes.authorization',
    seconds(DAY).default(600),
    'Seconds that a user may take to sign in and decide.',
  ),
  GRANTOR_PUSHED_LIFETIME: setting(
    'settings.lifetimes.pushed',
    whole(5, 599).default(60),
    'Seconds within which a browser must open an authorization request that a client pushed (RFC 9126).',
  ),
  GRANTOR_UNUSED_CLIENT_LIFETIME: setting(
    'settings.lifetimes.unusedClient',
    seconds(365 * DAY).default(DAY),
    'Seconds after which a client that never got a token is removed.',
  ),
  GRANTOR_IDLE_CLIENT_LIFETIME: setting(
    'settings.lifetimes.idleClient',
    whole(0, 3650 * DAY).default(0),
    'Seconds without a token after which a client that registered itself is removed, at least twice GRANTOR_REFRESH_IDLE_LIFETIME; 0: never.',
  ),
  GRANTOR_PASSWORDS: computed(
    z.enum(['on', 'off']).optional(),
    'Whether users can have passwords and sign in with them, on or off. Default: on, or off with GRANTOR_DELEGATE_URL.',
  ),
  GRANTOR_SECOND_FACTOR: setting(
    'settings.secondFactor',
    z.enum(['optional', 'required']).default('optional'),
    'Whether each sign-in needs two factors: required, or optional, and users with an authenticator app are asked for its code.',
  ),
  GRANTOR_DELEGATE_URL: computed(link, 'Page of your application that signs users in (docs/delegated-sign-in.md).'),
  GRANTOR_DELEGATE: computed(
    z.enum(['sign-in', 'everything']).default('everything'),
    'What the application at GRANTOR_DELEGATE_URL does: sign-in, and this server asks for consent; or everything.',
  ),
  GRANTOR_DELEGATE_SIGN_OUT_URL: computed(link, 'Page of your application, for users who have signed out here.'),
  GRANTOR_SMTP_URL: secret(
    computed(
      z.string().optional(),
      'Mail server: smtps://<user>:<password>@<host>:465, or smtp://<user>:<password>@<host>:587 with STARTTLS (docs/mail.md). Default: no mail is sent.',
    ),
  ),
  GRANTOR_MAIL_FROM: computed(z.string().optional(), 'From whom mails are: Acme <no-reply@acme.test>.'),
  GRANTOR_UNUSED_CLIENTS: setting(
    'settings.unusedClients',
    whole(1000, 1e9).default(100_000),
    'Clients without a token that are kept. If more register, the oldest are removed earlier, but not in their first 15 minutes.',
  ),
  GRANTOR_KEY_ROTATION: setting(
    'settings.keyRotation',
    whole(0, 3650 * DAY)
      .refine((rotation) => rotation <= 0 || rotation >= DAY, 'must be 0, or at least a day (86400)')
      .default(30 * DAY),
    'Seconds that a signing key is used, at least a day; 0: until "grantor key rotate".',
  ),
  GRANTOR_SIGNING_ALGORITHM: setting(
    'settings.signingAlgorithm',
    z.enum(['ES256', 'EdDSA', 'RS256']).default('ES256'),
    'Algorithm of new signing keys: ES256, EdDSA (Ed25519), or RS256 (2048 bits, ten times slower).',
  ),
  GRANTOR_AUDIT_RETENTION: setting(
    'settings.auditRetention',
    whole(0, 3650 * DAY).default(90 * DAY),
    'Seconds that audit events are kept, in whole hours; 0 keeps all.',
  ),
  GRANTOR_REDIRECT_SCHEMES: computed(
    list.default([]).transform(withKnownApps),
    'Private-use redirect URIs without a dot in the scheme that are allowed beside those of known apps: schemes, or patterns up to the query, where * matches all but / and ., and ** any; separated by commas. none: not even the known apps. Default: those of known apps (docs/real-clients.md).',
  ),
  GRANTOR_REDIRECT_ERRORS: setting(
    'settings.redirectErrors',
    z.stringbool().default(false),
    'Whether errors of authorization requests of unverified clients are sent by redirect, without a page.',
  ),
  GRANTOR_LOG_NETWORKS: setting(
    'settings.logNetworks',
    z.stringbool().default(false),
    "Whether log lines of pages, issued tokens and refusals have the caller's IPv4 address, or /64 of IPv6.",
  ),
  GRANTOR_OUTBOUND: computed(
    z.enum(['on', 'off']).default('on'),
    'Whether the server may send requests to other hosts (documents and keys of clients, providers, logout notices).',
  ),
  GRANTOR_OUTBOUND_PORTS: computed(
    list.default(['443']),
    'All ports of other hosts that the server may send these requests to, separated by commas: a list without 443 closes it.',
  ),
  GRANTOR_NAME: setting('branding.name', z.string().min(1).max(60).default('Grantor'), 'Name on the pages.'),
  GRANTOR_ACCENT: setting(
    'branding.accent',
    z
      .string()
      .regex(/^#[0-9a-fA-F]{6}$/, 'must be a colour as #rrggbb')
      .default('#2456c9'),
    'Colour of buttons and links on the pages, as #rrggbb.',
  ),
  GRANTOR_LOGO: computed(
    z.string().optional(),
    'File with the logo on the pages, a symbol before the name: PNG or SVG of at most 64 KB, 32 pixels high, on light and dark pages. Default: the first letter of the name.',
  ),
  GRANTOR_TEXTS: computed(
    z.string().optional(),
    'File with texts that replace those of the pages and mails: JSON by language and id, such as {"en": {"signIn": "Log in"}}. The ids: src/texts/en.json.',
  ),
  GRANTOR_CONTACT: setting(
    'branding.contact',
    z.url({ protocol: /^(https|mailto)$/, error: 'must be a mailto: or https address' }).optional(),
    'Link on the pages for users who have to ask the operator: a mailto: or https address.',
  ),
  GRANTOR_TERMS_URI: setting('branding.termsUri', link, 'Link to the terms of service on the pages.'),
  GRANTOR_PRIVACY_URI: setting('branding.privacyUri', link, 'Link to the privacy policy on the pages.'),
  GRANTOR_PRODUCT_URL: setting(
    'branding.productUri',
    link,
    'Address of your product, where users go on after an invitation, a reset or an error, unless a client says where.',
  ),
  ...TRACE_ROWS,
  GRANTOR_CONFIG: computed(
    z.string().optional(),
    'File with settings as NAME=value lines. The environment takes precedence.',
  ),
}

/** The names of the settings whose values are secrets. */
export const SECRET_SETTINGS: readonly string[] = Object.entries(ROWS)
  .filter(([, { isSecret }]) => isSecret)
  .map(([name]) => name)

/** Validates all settings. */
export const SETTINGS = z.object(schemasOf(ROWS))
export type SettingValues = z.infer<typeof SETTINGS>

/** The members of the Config that have the value of a setting unchanged. */
export type PlacedSettings = Placed<typeof ROWS>

export function placeSettings(values: SettingValues): PlacedSettings {
  return placeValues(ROWS, values)
}
