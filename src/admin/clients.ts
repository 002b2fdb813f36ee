import { describeMetadata } from '../protocol/client-metadata.ts'
import type { Context } from '../ports/context.ts'
import type { ClientRecord } from '../ports/records.ts'
import { parseClientId, type ClientId } from '../protocol/ids.ts'
import { AdminError } from './admin-error.ts'
import { listPage, type Listed } from './page.ts'

type Needs<Name extends keyof Context['store']> = { readonly store: Pick<Context['store'], Name> }

/** Newest first. @throws AdminError when the limit or the place to start is none */
export function listClients(
  { store }: Needs<'listClients'>,
  page: { readonly before: string | undefined; readonly limit: number },
): Promise<Listed<ClientRecord, ClientId>> {
  const before = page.before === undefined ? undefined : requireClientId(page.before)
  return listPage(store.listClients, { before, limit: page.limit })
}

/** @throws AdminError when there is no such client */
export async function showClient({ store }: Needs<'findClient'>, id: string): Promise<ClientRecord> {
  const client = await store.findClient(requireClientId(id))
  if (client === undefined) throw noSuchClient(id)
  return client
}

/** None of its tokens can be refreshed any more. @throws AdminError when there is no such client */
export async function deleteClient({ store }: Needs<'deleteClient'>, id: string): Promise<void> {
  if ((await store.deleteClient(requireClientId(id))) === 'unknown') throw noSuchClient(id)
}

/**
 * The operator vouches for the client: the consent page says so, and errors of its requests are redirected to it.
 *
 * @throws AdminError when there is no such client
 */
export async function verifyClient(
  context: Needs<'findClient' | 'verifyClient'> & Pick<Context, 'clock'>,
  id: string,
): Promise<ClientRecord> {
  await context.store.verifyClient({ id: requireClientId(id), now: context.clock() })
  return showClient(context, id)
}

/** Nobody vouches for the client any more. @throws AdminError when there is no such client */
export async function unverifyClient(
  context: Needs<'findClient' | 'unverifyClient'>,
  id: string,
): Promise<ClientRecord> {
  await context.store.unverifyClient(requireClientId(id))
  return showClient(context, id)
}

/** Nothing of the client works from now on. @throws AdminError when there is no such client */
export async function disableClient(
  context: Needs<'disableClient' | 'findClient'> & Pick<Context, 'clock'>,
  id: string,
): Promise<ClientRecord> {
  await context.store.disableClient({ id: requireClientId(id), now: context.clock() })
  return showClient(context, id)
}

/** What the client had works again. @throws AdminError when there is no such client */
export async function enableClient(context: Needs<'enableClient' | 'findClient'>, id: string): Promise<ClientRecord> {
  await context.store.enableClient(requireClientId(id))
  return showClient(context, id)
}

/** A client as the operator sees it: everything but the hash of its secret. The names are those of RFC 7591. */
export function describeClient(client: ClientRecord): Readonly<Record<string, unknown>> {
  const { id, issuedAt, metadata, secretHash, usedAt, verifiedAt, disabledAt } = client
  return {
    client_id: id,
    client_id_issued_at: issuedAt,
    has_secret: secretHash !== undefined,
    used_at: usedAt === undefined ? null : new Date(usedAt).toISOString(),
    verified_at: verifiedAt === undefined ? null : new Date(verifiedAt).toISOString(),
    disabled_at: disabledAt === undefined ? null : new Date(disabledAt).toISOString(),
    ...describeMetadata(metadata),
  }
}

function requireClientId(text: string): ClientId {
  const id = parseClientId(text)
  if (id === undefined) throw new AdminError(`"${text}" is not a client id. See "grantor client list".`)
  return id
}

function noSuchClient(id: string): AdminError {
  return new AdminError(`There is no client ${id}. See "grantor client list".`)
}
