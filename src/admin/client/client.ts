import type { Context } from '../../ports/context.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import type { EpochMs } from '../../base/brand.ts'
import { isOperatorMade } from '../../protocol/client/policy.ts'
import { mintOrderedId, parseClientId, type ClientId } from '../../protocol/ids.ts'
import { parseScope } from '../../protocol/token/scope.ts'
import { rotateClientSecret } from '../../clients/rotate-secret.ts'
import { AdminError, conflict, unknown } from '../admin-error.ts'

type Needs<Name extends keyof Context['store']> = { readonly store: Pick<Context['store'], Name> }

/** @throws AdminError when there is no such client */
export async function requireClient({ store }: Needs<'findClient'>, id: string): Promise<ClientRecord> {
  const client = await store.findClient(requireClientId(id))
  if (client === undefined) throw noSuchClient(id)
  return client
}

/** Deletes a client. Its tokens can no longer be refreshed. @throws AdminError when there is no such client */
export async function deleteClient({ store }: Needs<'deleteClient'>, id: string): Promise<void> {
  if ((await store.deleteClient(requireClientId(id))) === 'unknown') throw noSuchClient(id)
}

/**
 * Marks the client as verified: the consent page shows the mark, and errors of its requests are redirected to the client.
 *
 * @throws AdminError when there is no such client
 */
export async function verifyClient(
  context: Needs<'findClient' | 'verifyClient'> & Pick<Context, 'clock'>,
  id: string,
): Promise<ClientRecord> {
  await context.store.verifyClient({ id: requireClientId(id), now: context.clock() })
  return requireClient(context, id)
}

/** Removes the verified mark. @throws AdminError when there is no such client, or it is one of the operator */
export async function unverifyClient(
  context: Needs<'findClient' | 'unverifyClient'>,
  id: string,
): Promise<ClientRecord> {
  if (isOperatorMade(await requireClient(context, id))) {
    throw conflict(
      `The client ${id} is one of the operator, which is always verified. To stop it: grantor client disable`,
    )
  }
  await context.store.unverifyClient(requireClientId(id))
  return requireClient(context, id)
}

/** Disables the client: its credentials and tokens stop working. @throws AdminError when there is no such client */
export async function disableClient(
  context: Needs<'disableClient' | 'findClient'> & Pick<Context, 'clock'>,
  id: string,
): Promise<ClientRecord> {
  await context.store.disableClient({ id: requireClientId(id), now: context.clock() })
  return requireClient(context, id)
}

/** Enables the client: its credentials and tokens work again. @throws AdminError when there is no such client */
export async function enableClient(context: Needs<'enableClient' | 'findClient'>, id: string): Promise<ClientRecord> {
  await context.store.enableClient(requireClientId(id))
  return requireClient(context, id)
}

/** Sets the not-before time of the client to now. The client can request new tokens. @throws AdminError when there is no such client */
export async function revokeTokensOfClient(
  context: Needs<'revokeClientTokens' | 'findClient'> & Pick<Context, 'clock'>,
  id: string,
): Promise<ClientRecord> {
  await context.store.revokeClientTokens({ id: requireClientId(id), now: context.clock() })
  return requireClient(context, id)
}

/**
 * Replaces the scopes that the client is approved for (decision 0006).
 *
 * @throws AdminError when there is no such client, or the scope is malformed
 */
export async function approveScopes(
  context: Needs<'approveClientScope' | 'findClient'>,
  id: string,
  text: string,
): Promise<ClientRecord> {
  const scope = parseScope(text)
  if (scope === undefined) throw new AdminError(`"${text}" is not a scope: give names, separated by spaces.`)
  await context.store.approveClientScope({ id: requireClientId(id), scope })
  return requireClient(context, id)
}

/** The new secret of a client, which is shown once. */
export interface NewClientSecret {
  readonly id: ClientId
  readonly secret: string
  /** The previous secret is valid until this time. */
  readonly previousUntil: EpochMs
}

/** Rotates the secret of a client, as the client itself can. @throws AdminError when there is no such client, or it has no secret */
export async function rotateSecret(
  context: Needs<'findClient' | 'rotateClientSecret'> & Pick<Context, 'clock' | 'random' | 'secrets'>,
  text: string,
  overlapSeconds: number,
): Promise<NewClientSecret> {
  const client = await requireClient(context, text)
  const outcome = await rotateClientSecret(context, client, { overlapSeconds, kept: undefined })
  switch (outcome.kind) {
    case 'rotated':
      return { id: client.id, secret: outcome.secret, previousUntil: outcome.previousUntil }
    case 'no-secret':
      throw conflict(`The client ${client.id} has no secret: it is public, or authenticates with keys.`)
    case 'wrong-secret':
    case 'conflict':
      throw conflict(`The client ${client.id} was changed at the same time. Check its state, then try again.`)
  }
}

/** The new registration access token of a client, which is shown once. */
export interface NewManagementToken {
  readonly id: ClientId
  readonly token: string
}

/**
 * Gives a client a new registration access token (RFC 7592 §3), because its own was lost. The previous one ends.
 *
 * @throws AdminError when there is no such client, or it cannot have such a token
 */
export async function createManagementToken(
  context: Needs<'findClient' | 'setManagementToken'> & Pick<Context, 'clock' | 'random' | 'secrets'>,
  text: string,
): Promise<NewManagementToken> {
  const { clock, random, secrets, store } = context
  const { id } = await requireClient(context, text)
  const { token, hash } = secrets.mint('management-token', mintOrderedId(clock(), random), random)
  if ((await store.setManagementToken({ id, managementHash: hash })) === 'changed') return { id, token }
  throw conflict(`The client ${id} does not manage itself: it is public, or is not a registered client.`)
}

function requireClientId(text: string): ClientId {
  const id = parseClientId(text)
  if (id === undefined) throw new AdminError(`"${text}" is not a client id. See "grantor client list".`)
  return id
}

function noSuchClient(id: string): AdminError {
  return unknown(`There is no client ${id}. See "grantor client list".`)
}
