import { ConfigError, readConfig, type Config } from '../config/config.ts'
import { addressOf } from '../protocol/uri/server-address.ts'
import type { GrantorSettings } from '../../generated/api-types.d.ts'
import { HOST_SIGN_IN_PATH, type People } from './people.ts'

/** What `createGrantor` takes. Nothing is read from the environment. */
export interface GrantorOptions {
  /** The public address, as clients know it: `https://app.example/auth`. With a path, Grantor leaves the rest of the host alone. */
  readonly issuer: string
  /** As DATABASE_URL: `postgres://…` or `sqlite:<path>`. Default: `sqlite:./data/grantor.db`. */
  readonly database?: string | undefined
  /** The root secret, at least 32 characters. Default: a file beside the SQLite database, created at the first start. */
  readonly secret?: string | undefined
  /** The root secret before `secret`, while it is being changed. */
  readonly previousSecret?: string | undefined
  /** The settings of docs/configuration.md in camelCase. */
  readonly settings?: GrantorSettings | undefined
  /**
   * Networks in CIDR notation of the proxies whose `X-Forwarded-*` headers are trusted. Default: none. A setting of the same name of
   * the host's framework has no effect here.
   */
  readonly trustProxy?: readonly string[] | undefined
  readonly branding?:
    | {
        readonly name?: string | undefined
        /** `#rrggbb` */
        readonly accent?: string | undefined
        /** A file with a PNG image or an SVG document of at most 64 KB. */
        readonly logo?: string | undefined
        /** A file with texts that replace those of the pages and mails. */
        readonly texts?: string | undefined
        /** A `mailto:` or https address. */
        readonly contact?: string | undefined
        readonly termsUri?: string | undefined
        readonly privacyUri?: string | undefined
        /** Where users go on after an invitation, a new password or an error, if no client says where. */
        readonly productUri?: string | undefined
      }
    | undefined
  /** The people who are signed in at the host. Absent: Grantor's own accounts and sign-in page. */
  readonly people?: People | undefined
  /** Listens for the administration (docs/administration.md), by default on `localhost`. Absent: `tasks` alone. */
  readonly admin?: { readonly port: number; readonly host?: string | undefined } | undefined
  /** Receives each line of the log, a JSON object without the line break. Absent: nothing is logged. */
  readonly log?: ((line: string) => void) | undefined
}

/** The options that have settings of their own, by these settings. All other settings are members of `settings`. */
export const NAMES = {
  GRANTOR_ISSUER: 'issuer',
  DATABASE_URL: 'database',
  GRANTOR_SECRET: 'secret',
  GRANTOR_SECRET_PREVIOUS: 'previousSecret',
  GRANTOR_TRUST_PROXY: 'trustProxy',
  GRANTOR_NAME: 'branding.name',
  GRANTOR_ACCENT: 'branding.accent',
  GRANTOR_LOGO: 'branding.logo',
  GRANTOR_TEXTS: 'branding.texts',
  GRANTOR_CONTACT: 'branding.contact',
  GRANTOR_TERMS_URI: 'branding.termsUri',
  GRANTOR_PRIVACY_URI: 'branding.privacyUri',
  GRANTOR_PRODUCT_URL: 'branding.productUri',
  GRANTOR_ADMIN_PORT: 'admin.port',
  GRANTOR_ADMIN_HOST: 'admin.host',
} as const

/** @throws ConfigError with all mistakes, which names the options */
export function configOf(options: GrantorOptions): Config {
  const { issuer, database, secret, previousSecret, trustProxy, branding = {}, settings = {}, people, admin } = options
  const values: Readonly<Record<keyof typeof NAMES, string | undefined>> = {
    GRANTOR_ISSUER: issuer,
    DATABASE_URL: database,
    GRANTOR_SECRET: secret,
    GRANTOR_SECRET_PREVIOUS: previousSecret,
    GRANTOR_TRUST_PROXY: trustProxy?.join(','),
    GRANTOR_NAME: branding.name,
    GRANTOR_ACCENT: branding.accent,
    GRANTOR_LOGO: branding.logo,
    GRANTOR_TEXTS: branding.texts,
    GRANTOR_CONTACT: branding.contact,
    GRANTOR_TERMS_URI: branding.termsUri,
    GRANTOR_PRIVACY_URI: branding.privacyUri,
    GRANTOR_PRODUCT_URL: branding.productUri,
    GRANTOR_ADMIN_PORT: String(admin?.port ?? 'off'),
    GRANTOR_ADMIN_HOST: admin?.host,
  }
  const named = Object.entries(settings)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [settingOf(name), textOf(value)] as const)
  const delegated = named.find(([name]) => name.startsWith('GRANTOR_DELEGATE'))
  if (people !== undefined && delegated !== undefined) {
    throw new ConfigError([
      withOptionNames(`people and ${delegated[0]} both say who signs people in. Give one of them`),
    ])
  }
  try {
    return readConfig({
      ...Object.fromEntries(named),
      ...values,
      ...(people === undefined ? {} : signInAtHost(issuer, people)),
      // The host listens, and speaks TLS or has a proxy that does.
      GRANTOR_HOST: 'localhost',
      LOG_LEVEL: options.log === undefined ? 'silent' : (settings.logLevel ?? 'info'),
    })
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause
    const own = (mistake: string): string =>
      people === undefined ? mistake : mistake.replace('GRANTOR_DELEGATE_SIGN_OUT_URL', 'people.signOutAddress')
    throw new ConfigError(cause.mistakes.map(own).map(withOptionNames))
  }
}

function signInAtHost(issuer: string, { signOutAddress }: People): Readonly<Record<string, string | undefined>> {
  return {
    GRANTOR_DELEGATE_URL: addressOf(issuer, HOST_SIGN_IN_PATH),
    GRANTOR_DELEGATE: 'sign-in',
    GRANTOR_DELEGATE_SIGN_OUT_URL: signOutAddress ?? undefined,
  }
}

/** `accessTokenLifetime` is `GRANTOR_ACCESS_TOKEN_LIFETIME`; names of OpenTelemetry keep their own prefix. */
function settingOf(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()
  return /^(OTEL|LOG)_/.test(words) ? words : `GRANTOR_${words}`
}

function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : String(value)
}

function withOptionNames(mistake: string): string {
  return mistake.replaceAll(/\b(?:GRANTOR|OTEL|LOG|DATABASE)_[A-Z_]+/g, (name) => {
    const option = (NAMES as Readonly<Record<string, string>>)[name]
    return option ?? `settings.${optionOf(name)}`
  })
}

/** The member of `settings` for a setting: `accessTokenLifetime` for `GRANTOR_ACCESS_TOKEN_LIFETIME`. */
export function optionOf(name: string): string {
  const words = name.replace(/^GRANTOR_/, '').toLowerCase()
  return words.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
