import type { Context, Settings } from '../../ports/context.ts'
import type { Reply } from '../../ports/message.ts'
import { LANGUAGES } from '../../base/language.ts'
import { MAXIMA } from '../../base/maxima.ts'
import type { ApiRecord } from '../../ports/records/api.ts'
import { ASSERTION_ALGORITHMS } from '../../protocol/client/keys.ts'
import { CLIENT_AUTH_METHODS } from '../../protocol/client/registration-rules.ts'
import { offersDocuments } from '../../protocol/client/policy.ts'
import type { IdTokenAlgorithm } from '../../protocol/openid/id-token.ts'
import { PROOF_ALGORITHMS } from '../../protocol/token/dpop-proof.ts'
import { lengthOf } from '../../protocol/token/scope.ts'
import { REFRESH_EXPIRATION_TYPES } from '../../protocol/token/refresh-expiration.ts'
import { JWT_BEARER } from '../../protocol/token/grant-types.ts'
import { IDENTITY_ASSERTION_PROFILE } from '../../protocol/token/identity-assertion.ts'
import { ACR_VALUES, type Acr } from '../../protocol/sign-in/acr.ts'
import { rpIdOf } from '../../protocol/sign-in/passkey.ts'
import { addressOf } from '../../protocol/uri/server-address.ts'
import { GROUP_CLAIM_NAMES } from '../../protocol/access/group-claim.ts'
import { USER_CLAIMS } from '../../protocol/openid/user-claims.ts'
import { ADVERTISED_IDENTITY_SCOPES, advertisedScopes, scopeCatalogOf } from '../../requests/scope-catalog.ts'

/** Seconds that the document may be cached. Short, so that clients soon find a newly declared scope. */
const MAX_AGE_SECONDS = 300

/** The part of a row of the endpoint table that discovery needs. */
export interface Discoverable {
  readonly path: string
  /** The member that has its address. RFC 8414 §2. */
  readonly metadata?: string
}

/**
 * Authorization Server Metadata. RFC 8414 §2 and §3.2, RFC 9207 §3, RFC 9449 §5.1, OpenID Connect Discovery 1.0 §3.
 *
 * The endpoints come from the endpoint table, so discovery lists exactly the endpoints that exist.
 */
export async function describeServer(
  { issuer, describedApis, keys, settings }: Context,
  table: readonly Discoverable[],
): Promise<Reply> {
  const [declared, algorithms] = await Promise.all([describedApis(), keys.idTokenAlgorithms()])
  const known = described.get(declared)
  const { apis: served } = scopeCatalogOf({ issuer, settings }, declared)
  const isKnown = known?.issuer === issuer && known.algorithms.join() === algorithms.join()
  const description = isKnown ? known.description : describe(issuer, served, table, settings, algorithms)
  if (!isKnown) described.set(declared, { issuer, algorithms, description })
  return { kind: 'json', status: 200, body: description, maxAgeSeconds: MAX_AGE_SECONDS }
}

/** Documents by list of APIs, which is the same object until an operator changes it, each with what else it was made of. */
const described = new WeakMap<readonly ApiRecord[], Described>()

interface Described {
  readonly issuer: string
  readonly algorithms: readonly IdTokenAlgorithm[]
  readonly description: Description
}

type Description = { readonly issuer: string; readonly [member: string]: unknown }

function describe(
  issuer: string,
  apis: readonly ApiRecord[],
  table: readonly Discoverable[],
  {
    clientDocuments,
    delegate,
    grantTypes,
    outbound,
  }: Pick<Settings, 'clientDocuments' | 'delegate' | 'grantTypes' | 'outbound'>,
  idTokenAlgorithms: readonly IdTokenAlgorithm[],
): Description {
  const offersUsers = grantTypes.includes('authorization_code')
  const scopes = new Set([...(offersUsers ? ADVERTISED_IDENTITY_SCOPES : []), ...scopesOf(apis)])
  return {
    issuer,
    ...Object.fromEntries(
      table.flatMap(({ path, metadata }) => (metadata === undefined ? [] : [[metadata, addressOf(issuer, path)]])),
    ),
    ...(scopes.size === 0 ? {} : { scopes_supported: [...scopes].toSorted() }),
    response_types_supported: ['code'],
    response_modes_supported: ['query', 'form_post'],
    grant_types_supported: grantTypes,
    ...(grantTypes.includes(JWT_BEARER)
      ? { authorization_grant_profiles_supported: [IDENTITY_ASSERTION_PROFILE] }
      : {}),
    token_endpoint_auth_methods_supported: CLIENT_AUTH_METHODS,
    token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
    revocation_endpoint_auth_methods_supported: CLIENT_AUTH_METHODS,
    revocation_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
    introspection_endpoint_auth_methods_supported: CLIENT_AUTH_METHODS.filter((method) => method !== 'none'),
    introspection_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
    ...(offersDocuments(clientDocuments) && outbound.isOn ? { client_id_metadata_document_supported: true } : {}),
    code_challenge_methods_supported: ['S256'],
    dpop_signing_alg_values_supported: PROOF_ALGORITHMS,
    ...(offersUsers
      ? {
          ...OPENID_MEMBERS,
          acr_values_supported: acrValuesOf(issuer, delegate),
          id_token_signing_alg_values_supported: idTokenAlgorithms,
        }
      : {}),
    ...(offersUsers
      ? {
          require_pushed_authorization_requests: false,
          refresh_token_expiration_types_supported: REFRESH_EXPIRATION_TYPES,
        }
      : {}),
    ...(offersUsers && outbound.isOn
      ? { backchannel_logout_supported: true, backchannel_logout_session_supported: true }
      : {}),
    prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
    ui_locales_supported: LANGUAGES,
    authorization_response_iss_parameter_supported: true,
  }
}

/**
 * The scopes of the APIs. RFC 8414 §2: a server need not list all. Clients that request all of the list would be refused with more than a
 * request may name, and everyone may fetch the document, so it lists all or none; that of each API has its own (RFC 9728 §2).
 */
function scopesOf(apis: readonly ApiRecord[]): ReadonlySet<string> {
  const scopes = new Set<string>()
  let length = 0
  for (const api of apis)
    for (const scope of advertisedScopes(api)) {
      if (scopes.size === scopes.add(scope).size) continue
      length += lengthOf([scope])
      if (scopes.size > MAXIMA.advertisedScopes.most || length > MAXIMA.advertisedTexts.most) return new Set()
    }
  return scopes
}

/** RFC 9470 §7. Your application can state two factors, and browsers make no passkeys for an IP address. */
function acrValuesOf(issuer: string, delegate: Settings['delegate']): readonly Acr[] {
  return ACR_VALUES.filter((value) => value !== 'phr' || (delegate === undefined && rpIdOf(issuer) !== undefined))
}

/** OpenID Connect Discovery 1.0 §3. A user's `sub` is the same for every client. */
const OPENID_MEMBERS = {
  subject_types_supported: ['public'],
  claim_types_supported: ['normal'],
  claims_supported: [
    'sub',
    'iss',
    'aud',
    'exp',
    'iat',
    'auth_time',
    'nonce',
    'at_hash',
    'acr',
    'amr',
    'sid',
    ...USER_CLAIMS,
    ...GROUP_CLAIM_NAMES,
  ],
  claims_parameter_supported: true,
  request_parameter_supported: false,
  // Without it, clients must assume `true`.
  request_uri_parameter_supported: false,
  display_values_supported: ['page'],
} as const
