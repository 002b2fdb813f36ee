import { CLIENT_MEMBERS, type ClientMetadata, type NamesWith } from './members.ts'
import { redirectHost, withoutLoopbackPort } from '../uri/redirect-uri.ts'

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
  const shown = SHOWN.map((name) => metadata[name] ?? '')
  return JSON.stringify([...shown, [...new Set(hosts)].toSorted()])
}

const SHOWN = namesWith('shown')
const HOSTS = namesWith('hosts')

function namesWith<Identity extends 'shown' | 'hosts'>(identity: Identity): readonly NamesWith<Identity>[] {
  const rows = Object.entries(CLIENT_MEMBERS).filter(([, row]) => 'identity' in row && row.identity === identity)
  return rows.map(([name]) => name as NamesWith<Identity>)
}

/** The members of the metadata to which the server sends a browser or a notice. */
export type ClientAddresses = Pick<ClientMetadata, NamesWith<'hosts'>>

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
export function destinationsOf(metadata: ClientAddresses): readonly ClientDestination[] {
  return HOSTS.flatMap((name): readonly ClientDestination[] => {
    const sent = metadata[name] ?? []
    return typeof sent === 'string'
      ? [{ uri: sent, path: [name] }]
      : sent.map((uri, index) => ({ uri, path: [name, String(index)] }))
  })
}
