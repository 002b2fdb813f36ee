import type { ClientMetadata } from './metadata.ts'
import type { DescriptiveMetadata } from './descriptive-metadata.ts'
import { redirectHost, withoutLoopbackPort } from '../uri/redirect-uri.ts'

/**
 * Whether a change of a field makes the client a different one to users, as a change of a redirect host does. Such a change ends
 * the client's verification and the consents to it. A new field does not compile until it has an answer here, and a page cannot
 * show a field whose answer is `false` (`ShownMetadata`).
 */
const IS_IDENTITY = {
  // What the client may do. The operator approves scopes separately (decision 0006).
  authMethod: false,
  keys: false,
  grantTypes: false,
  responseTypes: false,
  scope: false,
  dpopBound: false,
  parRequired: false,
  idTokenAlgorithm: false,
  defaultMaxAge: false,
  defaultAcrValues: false,
  requireAuthTime: false,
  backchannelLogoutSessionRequired: false,

  client_name: true,
  client_uri: false,
  logo_uri: false,
  tos_uri: false,
  policy_uri: false,
  contacts: false,
  software_id: false,
  software_version: false,
} as const satisfies Readonly<
  Record<keyof DescriptiveMetadata, boolean> & Record<Exclude<keyof ClientMetadata, 'descriptive' | UriMember>, false>
>

/** Their hosts are part of the identity. */
type UriMember = 'redirectUris' | 'postLogoutRedirectUris' | 'backchannelLogoutUri'

type DescriptiveIdentity = {
  [Name in keyof DescriptiveMetadata]-?: (typeof IS_IDENTITY)[Name] extends true ? Name : never
}[keyof DescriptiveMetadata]

/** The descriptive fields that pages may show: those whose change ends the verification. */
export type ShownMetadata = Pick<DescriptiveMetadata, DescriptiveIdentity>

/**
 * Whether two registrations look like the same client to users and operators, who recognize a client by its name and its
 * hosts (decision 0022).
 */
export function isSameIdentity(one: ClientMetadata, other: ClientMetadata): boolean {
  return identityOf(one) === identityOf(other)
}

/**
 * The hosts to which the server sends browsers and notices, and the shown fields. The other members are what the client may do, not
 * what it is.
 */
function identityOf(metadata: ClientMetadata): string {
  // RFC 8252 §7.3: the port of a loopback redirect is chosen at run time.
  const hosts = destinationsOf(metadata).map(({ uri }) => redirectHost(withoutLoopbackPort(uri)))
  const shown = IDENTITY_FIELDS.map((field) => metadata.descriptive[field] ?? '')
  return JSON.stringify([...shown, [...new Set(hosts)].toSorted()])
}

const IDENTITY_FIELDS = (Object.keys(IS_IDENTITY) as (keyof typeof IS_IDENTITY)[]).filter(
  (field): field is DescriptiveIdentity => IS_IDENTITY[field],
)

/** The members of the metadata to which the server sends a browser or a notice. */
export type ClientAddresses = Pick<ClientMetadata, UriMember>

/** A URI of the metadata. */
export interface ClientDestination {
  readonly uri: string
  /** Where the metadata has it, by the names of RFC 7591: `['redirect_uris', '0']`. */
  readonly path: readonly string[]
}

/**
 * The URIs to which the server sends a browser or a logout notice. The trust level of a client, the hosts of an initial access token
 * and the identity that users consent to depend on all of them. `jwks_uri` is none of them: the client proves with its keys who it is,
 * and no user and no notice gets there.
 */
export function destinationsOf({
  redirectUris,
  postLogoutRedirectUris = [],
  backchannelLogoutUri: notified,
}: ClientAddresses): readonly ClientDestination[] {
  return [
    ...redirectUris.map((uri, index) => ({ uri, path: ['redirect_uris', String(index)] })),
    ...postLogoutRedirectUris.map((uri, index) => ({ uri, path: ['post_logout_redirect_uris', String(index)] })),
    ...(notified === undefined ? [] : [{ uri: notified, path: ['backchannel_logout_uri'] }]),
  ]
}
