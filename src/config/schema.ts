import * as z from 'zod'
import { isHeaderList } from './trace-config.ts'

const DAY = 86_400

const whole = (min: number, max: number) => z.coerce.number().int().min(min).max(max)
const seconds = (max: number) => whole(1, max)
const list = z.string().transform((text) => text.split(/[\s,]+/).filter((one) => one !== ''))
const link = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional()

/** The schema of all settings. It validates them, and `--help` and docs/configuration.md are generated from it. */
export const SETTINGS = z.object({
  PORT: whole(1, 65_535).default(3000).describe('Port to listen on.'),
  GRANTOR_HOST: z
    .string()
    .optional()
    .describe('Address to listen on. Default: 127.0.0.1 and ::1 for a loopback issuer, all addresses otherwise.'),
  GRANTOR_ADMIN_PORT: z
    .union([z.literal('off'), whole(1, 65_535)], { error: 'must be a port or off' })
    .optional()
    .describe('Port of the administration, or off. Default: PORT + 1, or off when that port is taken.'),
  GRANTOR_ADMIN_HOST: z
    .string()
    .default('localhost')
    .describe(
      'Address that the administration listens on. Requests from other machines need TLS, as for the issuer, and credentials for /metrics too.',
    ),
  GRANTOR_ISSUER: z
    .string()
    .optional()
    .describe(
      'Public address of the server, exactly as it appears in tokens and metadata. It uses https unless it is a loopback address. Default: http://localhost:<PORT>.',
    ),
  DATABASE_URL: z
    .string()
    .default('sqlite:./data/grantor.db')
    .describe('Database: sqlite:<path>, or postgres://<user>:<password>@<host>:<port>/<database>.'),
  GRANTOR_SECRET: z
    .string()
    .min(32, 'must have at least 32 characters')
    .optional()
    .describe(
      'Root of the keys that hash credentials and encrypt signing keys. At least 32 characters. Default: created at the first start, in a file beside the database that only its owner can read.',
    ),
  GRANTOR_TRUST_PROXY: list
    .default([])
    .describe(
      'Networks of the reverse proxies whose X-Forwarded-For and X-Forwarded-Proto headers are trusted, in CIDR notation, separated by commas.',
    ),
  LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'])
    .optional()
    .describe('Lowest level of events to log. Default: info, or warn when standard output is a terminal.'),
  GRANTOR_DRAIN_SECONDS: whole(0, 4)
    .optional()
    .describe(
      'Seconds between the signal to stop and the end of listening. Meanwhile /health/ready returns 503, so that load balancers choose other nodes, and everything else is served. Default: 2, or 0 when standard output is a terminal.',
    ),
  GRANTOR_REGISTRATION_RATE: whole(1, 1e9).default(60).describe('Registrations per minute and network.'),
  GRANTOR_AUTHORIZATION_RATE: whole(1, 1e9).default(600).describe('Authorization requests per minute and network.'),
  GRANTOR_CLIENT_FAILURE_RATE: whole(1, 1e9)
    .default(60)
    .describe('Failed client authentications per minute and network before the server returns 429.'),
  GRANTOR_STORED_TOKEN_RATE: whole(1, 1e9)
    .default(6000)
    .describe(
      'Opaque tokens that a client may get without a user, per minute. The limit for single token revocations is a tenth of it, per client with a secret or per network. Verified clients have no limit.',
    ),
  GRANTOR_CODE_LIFETIME: seconds(600).default(60).describe('Seconds that an authorization code may be redeemed.'),
  GRANTOR_ACCESS_TOKEN_LIFETIME: seconds(DAY).default(900).describe('Seconds that an access token is valid.'),
  GRANTOR_REFRESH_IDLE_LIFETIME: seconds(3650 * DAY)
    .default(30 * DAY)
    .describe('Seconds after which an unused refresh token expires.'),
  GRANTOR_REFRESH_ABSOLUTE_LIFETIME: seconds(3650 * DAY)
    .default(90 * DAY)
    .describe('Seconds after which a grant ends, however often it was refreshed.'),
  GRANTOR_REFRESH_RETRY: whole(0, 300)
    .default(30)
    .describe('Seconds in which a refresh request may be repeated because its response was lost.'),
  GRANTOR_SESSION_LIFETIME: seconds(365 * DAY)
    .default(DAY / 2)
    .describe('Seconds that a user stays signed in.'),
  GRANTOR_AUTHORIZATION_LIFETIME: seconds(DAY)
    .default(600)
    .describe('Seconds that a user may take to sign in and decide.'),
  GRANTOR_UNUSED_CLIENT_LIFETIME: seconds(365 * DAY)
    .default(DAY)
    .describe('Seconds after which a client that never got a token is removed.'),
  GRANTOR_KEY_ROTATION: whole(0, 3650 * DAY)
    .refine((rotation) => rotation <= 0 || rotation >= DAY, 'must be 0, or at least a day (86400)')
    .default(30 * DAY)
    .describe(
      'Seconds that a signing key is used before the next key signs. At least a day, because the next key is published a day before it signs. With 0, only "grantor key rotate" rotates keys.',
    ),
  GRANTOR_SIGNING_ALGORITHM: z
    .enum(['ES256', 'EdDSA', 'RS256'])
    .default('ES256')
    .describe('Algorithm of new signing keys: ES256, EdDSA (Ed25519), or RS256 (2048 bits, ten times slower).'),
  GRANTOR_AUDIT_RETENTION: whole(0, 3650 * DAY)
    .default(90 * DAY)
    .describe('Seconds that audit events are kept, in whole hours; 0 keeps them for ever.'),
  GRANTOR_REDIRECT_SCHEMES: list
    .default([
      'cursor://anysphere.cursor-mcp/oauth/callback',
      'cursor://anysphere.cursor-retrieval/oauth/**callback',
      'claude://claude.ai/mcp-auth-callback/**',
      'cursor://*.*/mcp-auth/callback/**',
      ...['vscode', 'vscode-insiders', 'windsurf'].map((editor) => `${editor}://*.*/**callback**`),
      ...['vscode', 'vscode-insiders'].map((editor) => `${editor}://vscode.*-authentication/**`),
      'zed://oauth/callback',
    ])
    .describe(
      'Private-use redirect URIs without a dot in the scheme that are allowed, separated by commas. A scheme alone allows all of its URIs; a pattern such as app://host/callback allows those that match it up to the query, where * is a run of characters other than / and ., and ** one of any characters.',
    ),
  GRANTOR_REDIRECT_ERRORS: z
    .stringbool()
    .default(false)
    .describe(
      'Whether the error of an authorization request of an unverified client is returned by redirect instead of a page with a link.',
    ),
  GRANTOR_NAME: z.string().min(1).max(60).default('Grantor').describe('Name on the pages.'),
  GRANTOR_ACCENT: z
    .string()
    .regex(/^#[0-9a-fA-F]{6}$/, 'must be a colour as #rrggbb')
    .default('#2456c9')
    .describe('Colour of buttons and links on the pages, as #rrggbb.'),
  GRANTOR_TERMS_URI: link.describe('Link to the terms of service on the pages.'),
  GRANTOR_PRIVACY_URI: link.describe('Link to the privacy policy on the pages.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: link.describe(
    'Collector that OpenTelemetry traces are sent to by OTLP over HTTP, at /v1/traces below this address. Tracing is off while it is unset.',
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: link.describe(
    'Complete address of the collector. It takes precedence over OTEL_EXPORTER_OTLP_ENDPOINT.',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .refine(isHeaderList, 'must be name=value pairs, separated by commas')
    .optional()
    .describe('Headers for the collector, as name=value pairs, separated by commas, with values percent-encoded.'),
  OTEL_SERVICE_NAME: z.string().min(1).default('grantor').describe('Name of this service in traces.'),
  GRANTOR_TRACE_RATIO: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe('Share of requests that are traced, from 0 to 1.'),
  GRANTOR_CONFIG: z
    .string()
    .optional()
    .describe('File with settings as NAME=value lines. The environment takes precedence.'),
})
export type Settings = z.infer<typeof SETTINGS>
