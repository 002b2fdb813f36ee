import type { Context, Settings } from '../ports/context.ts'
import type { Reply, Request } from '../ports/message.ts'
import type { GrantType } from '../protocol/grant-types.ts'
import { authorizeByPost } from './authorization/authorize-by-post.ts'
import { authorize } from './authorization/authorize.ts'
import { deleteClient, readClient, updateClient } from './registration/manage.ts'
import { rotateSecret } from './registration/rotate-secret.ts'
import { consent, showConsent } from './authorization/consent.ts'
import { alive, ready, version } from './well-known/health.ts'
import { introspect } from './introspection/introspect.ts'
import { jwks } from './well-known/jwks.ts'
import { describeServer } from './well-known/metadata.ts'
import { PATHS } from './paths.ts'
import { describeResource } from './well-known/protected-resource.ts'
import { register } from './registration/register.ts'
import { revoke } from './introspection/revoke.ts'
import { showSignIn, signIn } from './authorization/sign-in.ts'
import { showSignOut, signOut } from './authorization/sign-out.ts'
import { token } from './token/token.ts'

/** One endpoint: its method and path, what it accepts, the form of its errors, and the function that handles a request. */
export interface Endpoint {
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  /** The media type of the body; undefined for requests without one. */
  readonly accepts?: 'application/json' | 'application/x-www-form-urlencoded'
  /** The form of its errors: `json` for programs, `page` for users. */
  readonly audience: 'json' | 'page'
  /** Scripts of any origin may call it, without credentials (clients.md). */
  readonly cors?: boolean
  /** It reads the query. Other JSON endpoints do not. */
  readonly query?: true
  /** Reachable without TLS, for load balancers and orchestrators. */
  readonly allowInsecure?: boolean
  /** Still served under overload: what APIs, load balancers and orchestrators depend on, and revocation. */
  readonly priority?: 'high'
  /** The member of the server metadata that has its address. RFC 8414 §2. */
  readonly metadata?: string
  /** It is part of this grant type: it is served and advertised only where the grant type is offered. */
  readonly grantType?: GrantType
  readonly run: (context: Context, request: Request) => Promise<Reply>
}

const FORM = 'application/x-www-form-urlencoded'

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
    run: register,
  },
  { ...CLIENT_CONFIGURATION, method: 'GET', run: readClient },
  { ...CLIENT_CONFIGURATION, method: 'PUT', accepts: 'application/json', run: updateClient },
  { ...CLIENT_CONFIGURATION, method: 'DELETE', run: deleteClient },
  {
    ...CLIENT_CONFIGURATION,
    name: 'client-secret',
    method: 'POST',
    path: PATHS.registeredSecret,
    accepts: 'application/json',
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
    run: introspect,
  },
  {
    name: 'authorize',
    method: 'GET',
    path: PATHS.authorize,
    audience: 'page',
    grantType: 'authorization_code',
    metadata: 'authorization_endpoint',
    run: authorize,
  },
  {
    name: 'authorize',
    method: 'POST',
    path: PATHS.authorize,
    accepts: FORM,
    audience: 'page',
    grantType: 'authorization_code',
    run: authorizeByPost,
  },
  { name: 'sign-in', method: 'GET', path: PATHS.signIn, audience: 'page', run: showSignIn },
  { name: 'sign-in', method: 'POST', path: PATHS.signIn, accepts: FORM, audience: 'page', run: signIn },
  { name: 'consent', method: 'GET', path: PATHS.consent, audience: 'page', run: showConsent },
  { name: 'consent', method: 'POST', path: PATHS.consent, accepts: FORM, audience: 'page', run: consent },
  { name: 'sign-out', method: 'GET', path: PATHS.signOut, audience: 'page', run: showSignOut },
  { name: 'sign-out', method: 'POST', path: PATHS.signOut, accepts: FORM, audience: 'page', run: signOut },
  {
    name: 'jwks',
    method: 'GET',
    path: PATHS.jwks,
    audience: 'json',
    cors: true,
    priority: 'high',
    metadata: 'jwks_uri',
    run: jwks,
  },
  {
    name: 'protected-resource',
    method: 'GET',
    path: PATHS.protectedResource,
    audience: 'json',
    cors: true,
    query: true,
    priority: 'high',
    run: describeResource,
  },
  {
    name: 'metadata',
    method: 'GET',
    path: PATHS.oauthMetadata,
    audience: 'json',
    cors: true,
    priority: 'high',
    run: metadata,
  },
  // Some clients try OpenID Connect Discovery first. They find the same document (clients.md).
  {
    name: 'metadata',
    method: 'GET',
    path: PATHS.openidMetadata,
    audience: 'json',
    cors: true,
    priority: 'high',
    run: metadata,
  },
  {
    name: 'alive',
    method: 'GET',
    path: PATHS.alive,
    audience: 'json',
    allowInsecure: true,
    priority: 'high',
    run: alive,
  },
  {
    name: 'ready',
    method: 'GET',
    path: PATHS.ready,
    audience: 'json',
    allowInsecure: true,
    priority: 'high',
    run: ready,
  },
  {
    name: 'version',
    method: 'GET',
    path: PATHS.version,
    audience: 'json',
    allowInsecure: true,
    priority: 'high',
    run: version,
  },
]

/** Returns the endpoints of a server that offers these grant types. */
export function endpointsFor({ grantTypes }: Pick<Settings, 'grantTypes'>): readonly Endpoint[] {
  return ENDPOINTS.filter(({ grantType }) => grantType === undefined || grantTypes.includes(grantType))
}

function metadata(context: Context): Promise<Reply> {
  return describeServer(context, endpointsFor(context.settings))
}
