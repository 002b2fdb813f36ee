import { CLIENT_MEMBERS, type ClientMetadata, type NamesWith, type ShownMetadata } from './members.ts'
import { LANGUAGES } from '../../base/language.ts'
import { localizedText, textIn, type LocalizedText } from '../../base/localized-text.ts'
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

/** The members that pages show. */
export const SHOWN = namesWith('shown')
const HOSTS = namesWith('hosts')

function namesWith<Identity extends 'shown' | 'hosts'>(identity: Identity): readonly NamesWith<Identity>[] {
  const rows = Object.entries(CLIENT_MEMBERS).filter(([, row]) => 'identity' in row && row.identity === identity)
  return rows.map(([name]) => name as NamesWith<Identity>)
}

/** Of an object with members for those of a client, the members that pages show. */
export function shownMembers<T extends object>(all: T): Pick<T, keyof T & keyof ShownMetadata> {
  const found = Object.entries(all).filter(([name]) => SHOWN.some((one) => one === name))
  return Object.fromEntries(found) as never
}

/** What pages show of a client, also as answers have it. */
type Names = { readonly [Name in keyof ShownMetadata]?: string | undefined }

/** The name of a client in all languages; undefined: it has none. */
export function clientNames(metadata: Names): LocalizedText | undefined {
  const tagged = LANGUAGES.map((language) => [language, metadata[`client_name#${language}`]] as const)
  return localizedText({ default: metadata.client_name, ...Object.fromEntries(tagged) })
}

/** The one name of a client where there is room for no other: the one without a language, else the first that there is. */
export function clientName(metadata: Names): string | undefined {
  const names = clientNames(metadata)
  return names === undefined ? undefined : (metadata.client_name ?? textIn(names, LANGUAGES[0]).text)
}

/**
 * The name of a client in lists and answers for operators, who see each name that a user may see: `Wall (de: Wand)`. undefined: it has none.
 */
export function listedNameOf(metadata: Names): string | undefined {
  const name = clientName(metadata)
  const tagged = LANGUAGES.flatMap((language) => {
    const other = metadata[`client_name#${language}`]
    return other === undefined || other === name ? [] : [{ language, other }]
  })
  if (name === undefined || tagged.length === 0) return name
  const byName = [...Map.groupBy(tagged, ({ other }) => other)]
  const others = byName.map(([other, all]) => `${all.map(({ language }) => language).join(', ')}: ${other}`)
  return `${name} (${others.join('; ')})`
}

const TAGS = new RegExp(` \\((?=(?:${LANGUAGES.join('|')})[,:] )|; (?=(?:${LANGUAGES.join('|')})[,:] )`)

/** Each name in a listed name, after the whole. A client that chose a name of this form counts for more names than it has. */
export function namesIn(listed: string): readonly [string, ...string[]] {
  const [first = '', ...others] = listed.endsWith(')') ? listed.slice(0, -1).split(TAGS) : []
  return others.length === 0 ? [listed] : [listed, first, ...others.map((one) => one.slice(one.indexOf(': ') + 2))]
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
