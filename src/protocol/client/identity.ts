import { CLIENT_MEMBERS, type ClientMetadata, type NamesWith } from './members.ts'
import { LANGUAGES } from '../../base/language.ts'
import { inOneLine, localizedText, mainText, type LocalizedText } from '../../base/localized-text.ts'
import { redirectHost, withoutLoopbackPort } from '../uri/redirect-uri.ts'

/**
 * Whether two registrations look like the same client to users and operators, who recognize a client by its name and its
 * hosts (decision 0022).
 */
export function isSameIdentity(one: ClientMetadata, other: ClientMetadata): boolean {
  return identityOf(one) === identityOf(other)
}

/**
 * The hosts to which the server sends browsers and notices or leads users, and the names. The other members are what the client may do, not
 * what it is.
 */
function identityOf(metadata: ClientMetadata): string {
  // RFC 8252 §7.3: the port of a loopback redirect is chosen at run time.
  const uris = [...destinationsOf(metadata).map(({ uri }) => uri), ...LED.flatMap((name) => metadata[name] ?? [])]
  const hosts = uris.map((uri) => redirectHost(withoutLoopbackPort(uri)))
  return JSON.stringify([clientNames(metadata) ?? null, [...new Set(hosts)].toSorted()])
}

/** The members for the name of a client, in all languages. */
export const NAME_MEMBERS = namesWith('name')
type NameMember = NamesWith<'name'>
const HOSTS = namesWith('hosts')
const LED = namesWith('led')

function namesWith<Identity extends 'name' | 'hosts' | 'led'>(identity: Identity): readonly NamesWith<Identity>[] {
  const rows = Object.entries(CLIENT_MEMBERS).filter(([, row]) => 'identity' in row && row.identity === identity)
  return rows.map(([name]) => name as NamesWith<Identity>)
}

/** Of an object with members of a client, those for its name. */
export function nameMembersOf<T extends object>(all: T): Pick<T, keyof T & NameMember> {
  const found = Object.entries(all).filter(([name]) => NAME_MEMBERS.some((one) => one === name))
  return Object.fromEntries(found) as never
}

/** The name of a client in all languages; undefined: it has none. The one reader of its members for names. */
export function clientNames(client: { readonly [Name in NameMember]?: string | undefined }): LocalizedText | undefined {
  const tagged = LANGUAGES.map((language) => [language, client[`client_name#${language}`]] as const)
  return localizedText({ default: client.client_name, ...Object.fromEntries(tagged) })
}

/** The members for the name of a client in an answer whose `client_name` is null only if the client has no name in any language. */
export function describeNames(metadata: ClientMetadata) {
  const names = clientNames(metadata)
  return { ...nameMembersOf(metadata), client_name: names === undefined ? null : mainText(names) }
}

/** The names of a client on one line, for operators; undefined: it has none. */
export function listedNameOf(client: Parameters<typeof clientNames>[0]): string | undefined {
  const names = clientNames(client)
  return names && inOneLine(names)
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
  const found: ClientDestination[] = []
  for (const name of HOSTS) {
    const sent = metadata[name]
    if (typeof sent === 'string') found.push({ uri: sent, path: [name] })
    else sent?.forEach((uri, index) => found.push({ uri, path: [name, String(index)] }))
  }
  return found
}
