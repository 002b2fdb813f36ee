import type { Context, Settings } from '../ports/context.ts'
import type { Reply } from '../ports/message.ts'
import { ACCOUNT_ENDPOINTS } from './account/index.ts'
import { authorize } from './authorization/authorize.ts'
import { deleteClient, readClient, updateClient } from './registration/manage.ts'
import { rotateSecret } from './registration/rotate-secret.ts'
import { enterCode, showDevicePage } from './device/enter-code.ts'
import { startDevice } from './device/start.ts'
import type { Endpoint } from './endpoint.ts'
import { consent, showConsent } from './authorization/consent.ts'
import { alive, ready, version } from './well-known/health.ts'
import { introspect } from './introspection/introspect.ts'
import { jwks } from './well-known/jwks.ts'
import { describeServer } from './well-known/metadata.ts'
import { PATHS } from './paths.ts'
import { push } from './authorization/push.ts'
import { postAsGet } from './post-as-get.ts'
import { describeResource } from './well-known/protected-resource.ts'
import { register } from './registration/register.ts'
import { revoke } from './introspection/revoke.ts'
import { endSession, showSignOut, signOut } from './authorization/sign-out.ts'
import { SIGN_IN_ENDPOINTS } from './sign-in/index.ts'
import { token } from './token/token.ts'
import { userinfo } from './openid/userinfo.ts'
import { DEVICE_CODE } from '../protocol/token/grant-types.ts'
import { offersRegistration } from '../protocol/client/policy.ts'

/** Of the server's requests for documents and keys of clients. */
const OUTBOUND = ['outbound', 'outbound-host', 'outbound-renewal', 'outbound-host-renewal'] as const
const FORM = 'application/x-www-form-urlencoded'

const NEEDS_INTERACTION = 'It needs a pending authorization request, which the endpoint authorize limits.'
const SHARES_COMPARISON = 'Concurrent requests share one comparison of the clock with that of the database.'
const REPEATS_BY_GET = 'It writes nothing: it redirects the browser to the same request by GET.'
const PICTURE = {
  name: 'picture',
  method: 'GET',
  audience: 'page',
  unlimited: 'It reads only what this node has in memory.',
} as const

const NEEDS_SESSION = 'It writes only for a browser that is signed in, and ends its session.'

/** RFC 8628 §3.3. */
const DEVICE_PAGE = {
  name: 'device',
  path: PATHS.device,
  audience: 'page',
  opener: 'cut',
  grantType: DEVICE_CODE,
} as const

/** What programs read often, and what load balancers depend on. */
const DOCUMENT = {
  method: 'GET',
  audience: 'json',
  priority: 'high',
  unlimited: 'It reads only what this node has in memory.',
} as const

/** OpenID Connect Core 1.0 §5.3. */
const USERINFO = {
  name: 'userinfo',
  path: PATHS.userinfo,
  audience: 'json',
  cors: true,
  query: true,
  grantType: 'authorization_code',
  metadata: 'userinfo_endpoint',
  unlimited: 'It writes nothing, and answers only a token that a user allowed.',
  run: userinfo,
} as const

/** OpenID Connect RP-Initiated Logout 1.0 §2. */
const END_SESSION = {
  name: 'end-session',
  path: PATHS.endSession,
  audience: 'page',
  grantType: 'authorization_code',
  metadata: 'end_session_endpoint',
} as const

/** RFC 7592 §2. It has the path of registration; the query of `registration_client_uri` names the client. */
const CLIENT_CONFIGURATION = {
  name: 'client-configuration',
  path: PATHS.register,
  audience: 'json',
  cors: true,
  query: true,
} as const

/** The endpoint table. Routes and discovery are derived from it, so every endpoint has a row. */
export const ENDPOINTS: readonly Endpoint[] = [
  {
    name: 'register',
    method: 'POST',
    path: PATHS.register,
    accepts: 'application/json',
    audience: 'json',
    cors: true,
    metadata: 'registration_endpoint',
    budgets: ['registration', 'registration-host', 'registration-server', 'client-authentication'],
    run: register,
  },
  { ...CLIENT_CONFIGURATION, method: 'GET', budgets: ['client-authentication'], run: readClient },
  {
    ...CLIENT_CONFIGURATION,
    method: 'PUT',
    accepts: 'application/json',
    budgets: ['client-authentication', 'registration'],
    run: updateClient,
  },
  { ...CLIENT_CONFIGURATION, method: 'DELETE', budgets: ['client-authentication'], run: deleteClient },
  {
    ...CLIENT_CONFIGURATION,
    name: 'client-secret',
    method: 'POST',
    path: PATHS.registeredSecret,
    accepts: 'application/json',
    budgets: ['client-authentication', 'registration'],
    run: rotateSecret,
  },
  {
    name: 'token',
    method: 'POST',
    path: PATHS.token,
    accepts: FORM,
    audience: 'json',
    cors: true,
    metadata: 'token_endpoint',
    budgets: [
      'client-authentication',
      'client-assertion',
      ...OUTBOUND,
      'stored-token',
      'device-poll',
      'recorded-parting',
    ],
    run: token,
  },
  {
    name: 'revoke',
    method: 'POST',
    path: PATHS.revoke,
    accepts: FORM,
    audience: 'json',
    cors: true,
    priority: 'high',
    metadata: 'revocation_endpoint',
    budgets: ['client-authentication', 'client-assertion', ...OUTBOUND, 'revoked-token', 'recorded-revocation'],
    run: revoke,
  },
  {
    name: 'introspect',
    method: 'POST',
    path: PATHS.introspect,
    accepts: FORM,
    audience: 'json',
    priority: 'high',
    metadata: 'introspection_endpoint',
    budgets: ['client-authentication', 'client-assertion', ...OUTBOUND],
    run: introspect,
  },
  { ...USERINFO, method: 'GET' },
  { ...USERINFO, method: 'POST', accepts: FORM, isBodyOptional: true },
  {
    name: 'par',
    method: 'POST',
    path: PATHS.par,
    accepts: FORM,
    audience: 'json',
    cors: true,
    grantType: 'authorization_code',
    metadata: 'pushed_authorization_request_endpoint',
    budgets: ['pushed', 'client-authentication', 'client-assertion', ...OUTBOUND],
    run: push,
  },
  {
    name: 'device-authorization',
    method: 'POST',
    path: PATHS.deviceAuthorization,
    accepts: FORM,
    audience: 'json',
    grantType: DEVICE_CODE,
    metadata: 'device_authorization_endpoint',
    budgets: ['device', 'client-authentication', 'client-assertion', ...OUTBOUND],
    run: startDevice,
  },
  { ...DEVICE_PAGE, method: 'GET', reopenedBy: [], unlimited: 'It writes nothing.', run: showDevicePage },
  { ...DEVICE_PAGE, method: 'POST', accepts: FORM, budgets: ['sign-in', 'authorization'], run: enterCode },
  {
    name: 'authorize',
    method: 'GET',
    path: PATHS.authorize,
    audience: 'page',
    grantType: 'authorization_code',
    metadata: 'authorization_endpoint',
    budgets: ['authorization', ...OUTBOUND],
    run: authorize,
  },
  {
    name: 'authorize',
    method: 'POST',
    path: PATHS.authorize,
    accepts: FORM,
    audience: 'page',
    grantType: 'authorization_code',
    unlimited: REPEATS_BY_GET,
    run: postAsGet(PATHS.authorize),
  },
  ...SIGN_IN_ENDPOINTS,
  {
    name: 'consent',
    method: 'GET',
    path: PATHS.consent,
    audience: 'page',
    reopenedBy: ['authorization'],
    unlimited: NEEDS_INTERACTION,
    run: showConsent,
  },
  {
    name: 'consent',
    method: 'POST',
    path: PATHS.consent,
    accepts: FORM,
    audience: 'page',
    unlimited: NEEDS_INTERACTION,
    run: consent,
  },
  {
    name: 'sign-out',
    method: 'GET',
    path: PATHS.signOut,
    audience: 'page',
    reopenedBy: [],
    unlimited: NEEDS_SESSION,
    run: showSignOut,
  },
  {
    name: 'sign-out',
    method: 'POST',
    path: PATHS.signOut,
    accepts: FORM,
    audience: 'page',
    unlimited: NEEDS_SESSION,
    run: signOut,
  },
  { ...END_SESSION, method: 'GET', unlimited: NEEDS_SESSION, run: endSession },
  { ...END_SESSION, method: 'POST', accepts: FORM, unlimited: REPEATS_BY_GET, run: postAsGet(PATHS.endSession) },
  ...ACCOUNT_ENDPOINTS,
  { ...PICTURE, path: PATHS.picture, run: async (_, { name }) => ({ kind: 'picture', name: name ?? '' }) },
  { ...PICTURE, path: PATHS.icon, run: async () => ({ kind: 'picture', name: undefined }) },
  { ...DOCUMENT, name: 'jwks', path: PATHS.jwks, cors: true, metadata: 'jwks_uri', run: jwks },
  {
    ...DOCUMENT,
    name: 'protected-resource',
    path: PATHS.protectedResource,
    cors: true,
    query: true,
    run: describeResource,
  },
  { ...DOCUMENT, name: 'metadata', path: PATHS.oauthMetadata, cors: true, run: metadata },
  // OpenID Connect Discovery 1.0 §4. The document is the same, because some clients try only one of the addresses (real-clients.md).
  { ...DOCUMENT, name: 'metadata', path: PATHS.openidMetadata, cors: true, run: metadata },
  { ...DOCUMENT, name: 'alive', path: PATHS.alive, allowInsecure: true, withoutStore: true, run: alive },
  {
    ...DOCUMENT,
    name: 'ready',
    path: PATHS.ready,
    allowInsecure: true,
    withoutStore: true,
    unlimited: SHARES_COMPARISON,
    run: ready,
  },
  { ...DOCUMENT, name: 'version', path: PATHS.version, allowInsecure: true, run: version },
]

/** Returns the endpoints of a server that offers these grant types. */
export function endpointsFor({ grantTypes }: Pick<Settings, 'grantTypes'>): readonly Endpoint[] {
  return ENDPOINTS.filter(({ grantType }) => grantType === undefined || grantTypes.includes(grantType))
}

function metadata(context: Context): Promise<Reply> {
  const endpoints = endpointsFor(context.settings)
  const isOpen = offersRegistration(context.settings)
  return describeServer(
    context,
    isOpen ? endpoints : endpoints.filter((row) => row.metadata !== 'registration_endpoint'),
  )
}
