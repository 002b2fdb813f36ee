import type { Context } from '../../ports/context.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import type { ClientFilter } from '../../ports/operations/client.ts'
import type { EpochMs } from '../../base/brand.ts'
import { allTexts } from '../../base/localized-text.ts'
import { clientNames, destinationsOf } from '../../protocol/client/identity.ts'
import {
  isOperatorMade,
  YOUNG_CLIENT_MS,
  type ClientPolicy,
  type ClientSource,
  type ShownLevel,
} from '../../protocol/client/policy.ts'
import type { ClientId } from '../../protocol/ids.ts'
import type { OldestClient } from '../../ports/walks.ts'
import { shownLevel } from './document.ts'
import { EXAMINED_FOR_TEXT, hasText, listPage, searchPage, type Listed, type PageRequest } from '../page.ts'

/** Rows that one call examines for filters that a statement applies, and for those that none can. The next page continues after them. */
const FILTERED = { examined: 20_000, slice: 5000 } as const
const COMPARED = { examined: EXAMINED_FOR_TEXT, slice: 1000 } as const
/** The same of a call of a purge, for which no person waits. */
const PURGED = { filtered: 25_000, compared: 5000 } as const

/** Which clients are meant. A filter that is undefined matches every client. */
export interface ClientSearch {
  readonly source?: ClientSource | undefined
  readonly trust_level?: ShownLevel | undefined
  readonly name?: string | undefined
  readonly text?: string | undefined
  readonly host?: string | undefined
  readonly used?: boolean | undefined
  readonly verified?: boolean | undefined
  readonly disabled?: boolean | undefined
  readonly unused_since?: EpochMs | undefined
}

/** A page of clients, with the policy that their trust levels follow from. */
export interface FoundClients extends Listed<ClientRecord, ClientId> {
  readonly policy: ClientPolicy
}

/**
 * Finds clients, newest first. The statement applies what the columns contain; hosts and trust levels are compared here. So a page
 * may have fewer rows than its limit, or none, and another page follow.
 */
export async function findClients(
  context: Context,
  search: ClientSearch,
  page: PageRequest<ClientId>,
): Promise<FoundClients> {
  const policy = await context.clientPolicy()
  const { store } = context
  const filter = filterOf(search)
  const condition = isCompared(search) ? (client: ClientRecord) => isMeant(policy, search, client) : undefined
  if (condition === undefined && Object.values(filter).every((value) => value === undefined))
    return { policy, ...(await listPage<ClientRecord, ClientId>(store.listClients, page)) }
  const reach = condition === undefined ? FILTERED : COMPARED
  const found = await searchPage<ClientRecord, ClientId>(
    context,
    { list: 'clients', ...reach, read: (slice) => store.listClients({ ...filter, ...slice }), isMeant: condition },
    page,
  )
  return { policy, ...found }
}

/** A page of a purge, oldest first. */
export interface PurgedClients extends Listed<OldestClient, ClientId>, Pick<FoundClients, 'policy'> {
  /** The clients that this page looked at. */
  readonly examined: number
}

/**
 * Deletes the clients of one page, oldest first, or only finds them in a dry run: clients that are no longer used are among the oldest.
 * Without a filter that says otherwise it deletes no client that ever got a token, and no client of the operator. A client that no longer
 * matches when it is deleted is kept. A page may be empty, and another one follow.
 */
export async function purgeClients(
  context: Context,
  search: ClientSearch,
  { before, limit, isDryRun }: PageRequest<ClientId> & { readonly isDryRun: boolean },
): Promise<PurgedClients> {
  const policy = await context.clientPolicy()
  const isForUsed = search.used !== undefined || search.unused_since !== undefined
  const filter = filterOf({ ...search, used: isForUsed ? search.used : false })
  const isForOperators = search.source === 'operator'
  const reach = isCompared(search) ? PURGED.compared : PURGED.filtered
  const found: OldestClient[] = []
  let [examined, next] = [0, before]
  do {
    const slice = await context.store.listOldestClients({ ...filter, after: next, size: COMPARED.slice })
    const meant = slice.clients.filter(
      (client) => isMeant(policy, search, client) && (isForOperators || !isOperatorMade(client)),
    )
    const isTooMuch = found.length + meant.length > limit
    // The next page begins with this slice.
    if (isTooMuch && found.length > 0) break
    found.push(...meant.slice(0, limit))
    examined += isTooMuch ? limit : slice.examined
    next = isTooMuch ? found.at(-1)?.id : slice.next
  } while (next !== undefined && examined < reach && found.length < limit)
  const page = { policy, examined, next: next ?? null }
  if (isDryRun) return { ...page, rows: found }
  const outcomes = await Promise.all(
    found.map(({ id, source }) => context.store.purgeClient({ id, filter: { ...filter, source } })),
  )
  return { ...page, rows: found.filter((_, index) => outcomes[index] === 'deleted') }
}

/** Why the sweeps of a server spare a client at this time, although a purge deletes it. undefined: they do not. */
export function sparedAs(
  { issuedAt, usedAt, heldUntil, pendingUntil }: OldestClient,
  now: EpochMs,
): 'waiting' | 'new' | 'active' | undefined {
  if (pendingUntil >= now) return 'waiting'
  if (usedAt === undefined && issuedAt * 1000 >= now - YOUNG_CLIENT_MS) return 'new'
  return heldUntil >= now ? 'active' : undefined
}

/** Whether the search has a filter that no statement applies. */
function isCompared({ host, name, text, trust_level: level }: ClientSearch): boolean {
  return [host, name, text, level].some((filter) => filter !== undefined)
}

/** Returns the filters that the store applies. */
function filterOf({ source, used, verified, disabled, unused_since }: ClientSearch): ClientFilter {
  return { source, isUsed: used, isVerified: verified, isDisabled: disabled, unusedSince: unused_since }
}

function isMeant(
  policy: ClientPolicy,
  { trust_level: level, host, name, text }: ClientSearch,
  client: ClientRecord,
): boolean {
  const names = allTexts(clientNames(client.metadata) ?? {})
  if (name !== undefined && !hasText(name, ...names)) return false
  if (text !== undefined && !hasText(text, ...names, ...hostsOf(client))) return false
  if (level !== undefined && shownLevel(policy, client) !== level) return false
  return host === undefined || hostsOf(client).some((one) => isWithin(one, host.toLowerCase()))
}

/** As a rule for a domain: `*.app.example` is all hosts below one. */
function isWithin(host: string, wanted: string): boolean {
  return wanted.startsWith('*.') ? host.endsWith(wanted.slice(1)) : host === wanted
}

/** The hosts of the redirect and logout URIs, and of the metadata document, without ports; for an app its scheme, with the colon. */
function hostsOf({ document, metadata }: ClientRecord): readonly string[] {
  const uris = [...destinationsOf(metadata).map(({ uri }) => uri), ...(document === undefined ? [] : [document.url])]
  return uris.map((uri) => {
    const { hostname, protocol } = new URL(uri)
    return /^https?:$/.test(protocol) ? hostname : protocol
  })
}
