import type { StoreNeeds } from '../../ports/context.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import type { ClientFilter } from '../../ports/operations/client.ts'
import type { EpochMs } from '../../base/brand.ts'
import { destinationsOf } from '../../protocol/client/identity.ts'
import { isOperatorMade, type ClientPolicy, type ClientSource, type ShownLevel } from '../../protocol/client/policy.ts'
import type { ClientId } from '../../protocol/ids.ts'
import type { PolicyNeeds } from '../../clients/evaluate-client.ts'
import { shownLevel } from './document.ts'
import { hasText, listPage, searchPage, type Listed, type PageRequest } from '../page.ts'

/** Rows that one call examines for filters that a statement applies, and for those that none can. The next page continues after them. */
const FILTERED = { examined: 25_000, slice: 5000 } as const
const COMPARED = { examined: 5_000, slice: 1000 } as const

/** Which clients are meant. A filter that is undefined matches every client. */
export interface ClientSearch {
  readonly source?: ClientSource | undefined
  readonly trust_level?: ShownLevel | undefined
  readonly name?: string | undefined
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

type ListNeeds = PolicyNeeds & StoreNeeds<'findListEnd' | 'listClients'>

/**
 * Finds clients, newest first. The statement applies what the columns contain; hosts and trust levels are compared here. So a page
 * may have fewer rows than its limit, or none, and another page follow.
 */
export async function findClients(
  context: ListNeeds,
  search: ClientSearch,
  page: PageRequest<ClientId>,
): Promise<FoundClients> {
  const policy = await context.clientPolicy()
  const { host, name, trust_level: level } = search
  const isCompared = host !== undefined || name !== undefined || level !== undefined
  return collect(context, policy, search, page, isCompared ? (client) => isMeant(policy, search, client) : undefined)
}

/**
 * Deletes the clients of one page, or only finds them in a dry run. Without a filter that says otherwise it deletes no client that ever
 * got a token, and no client of the operator. A client that no longer matches when it is deleted is kept.
 */
export async function purgeClients(
  context: ListNeeds & StoreNeeds<'purgeClient'>,
  search: ClientSearch,
  page: PageRequest<ClientId> & { readonly isDryRun: boolean },
): Promise<FoundClients> {
  const isForUsed = search.used !== undefined || search.unused_since !== undefined
  const meant = { ...search, used: isForUsed ? search.used : false }
  const policy = await context.clientPolicy()
  const isForOperators = search.source === 'operator'
  const found = await collect(
    context,
    policy,
    meant,
    page,
    (client) => isMeant(policy, search, client) && (isForOperators || !isOperatorMade(client)),
  )
  if (page.isDryRun) return found
  const filter = filterOf(meant)
  const outcomes = await Promise.all(
    found.rows.map(({ id, source }) => context.store.purgeClient({ id, filter: { ...filter, source } })),
  )
  return { ...found, rows: found.rows.filter((_, index) => outcomes[index] === 'deleted') }
}

/** Without a filter the rows of a page follow each other. */
async function collect(
  context: Pick<ListNeeds, 'store'>,
  policy: ClientPolicy,
  search: ClientSearch,
  page: PageRequest<ClientId>,
  condition: ((client: ClientRecord) => boolean) | undefined,
): Promise<FoundClients> {
  const { store } = context
  const filter = filterOf(search)
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

/** Returns the filters that the store applies. */
function filterOf({ source, used, verified, disabled, unused_since }: ClientSearch): ClientFilter {
  return { source, isUsed: used, isVerified: verified, isDisabled: disabled, unusedSince: unused_since }
}

function isMeant(
  policy: ClientPolicy,
  { trust_level: level, host, name }: ClientSearch,
  client: ClientRecord,
): boolean {
  if (name !== undefined && !hasText(name, client.metadata.descriptive.client_name)) return false
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
