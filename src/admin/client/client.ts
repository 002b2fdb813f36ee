import type { Context } from '../../ports/context.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import type { EpochMs } from '../../base/brand.ts'
import { isClientIdentifier, listedIdOf } from '../../protocol/client/identifier.ts'
import { mintOrderedId, type ClientId } from '../../protocol/ids.ts'
import { rotateClientSecret, setClientSecret } from '../../clients/rotate-secret.ts'
import { NO_SCOPE } from '../../protocol/token/scope.ts'
import { conflict, unknown, type AdminError } from '../admin-error.ts'
import { requireLasting } from '../administrators.ts'
import type { TaskContext } from '../task.ts'

/** Finds a client. @throws AdminError when there is no such client */
export async function requireClient({ store }: Context, id: ClientId): Promise<ClientRecord> {
  const client = await store.findClient(id)
  if (client === undefined) throw noSuchClient(id)
  return client
}

/** A record of a client with a chosen id or a document has an id that the administrator did not give. */
export function noSuchClient(id: ClientId): AdminError {
  return unknown(`There is no client ${isClientIdentifier(id) ? id : 'with this id'}. See "grantor client list".`)
}

/**
 * A client whose users are not asked, or that is approved for scopes, does after the trial too what other clients may not. Its secret, its keys and its
 * redirect URIs are as much as the rule and the approval (threats.md CON-19).
 *
 * @throws AdminError
 */
export function requireLastingTrust(
  { administrator }: TaskContext,
  {
    approvedScope,
    rules,
  }: Pick<ClientRecord, 'approvedScope'> & { readonly rules: Pick<ClientRecord['rules'], 'consent'> },
): void {
  if (rules.consent === 'implied' || approvedScope !== NO_SCOPE)
    requireLasting(
      administrator,
      'decide about a client whose users are not asked for consent, or that is approved for scopes',
    )
}

/** The new secret of a client, which is shown once. */
interface NewClientSecret {
  readonly secret: string
  /** The previous secret is valid until this time. */
  readonly previousUntil: EpochMs
}

/** Rotates the secret of a client, as the client itself can. @throws AdminError when it has no secret */
export async function rotateSecret(
  context: Context,
  client: ClientRecord,
  overlapSeconds: number,
): Promise<NewClientSecret> {
  const outcome = await rotateClientSecret(context, client, { overlapSeconds, kept: undefined })
  switch (outcome.kind) {
    case 'rotated':
      return outcome
    case 'no-secret':
      throw withoutSecret(client)
    case 'wrong-secret':
    case 'conflict':
      throw changedMeanwhile(client)
  }
}

/**
 * Gives a client a secret that it has elsewhere. Returns until when the previous one is valid; undefined: the client has this secret already.
 *
 * @throws AdminError when it has no secret
 */
export async function giveSecret(
  context: Context,
  client: ClientRecord,
  given: { readonly secret: string; readonly overlapSeconds: number },
): Promise<EpochMs | undefined> {
  const outcome = await setClientSecret(context, client, given)
  switch (outcome.kind) {
    case 'set':
      return outcome.previousUntil
    case 'unchanged':
      return undefined
    case 'no-secret':
      throw withoutSecret(client)
    case 'conflict':
      throw changedMeanwhile(client)
  }
}

function withoutSecret(client: ClientRecord): AdminError {
  return conflict(`The client ${listedIdOf(client)} has no secret: it is public, or authenticates with keys.`)
}

function changedMeanwhile(client: ClientRecord): AdminError {
  return conflict(`The client ${listedIdOf(client)} was changed at the same time. Check its state, then try again.`)
}

/**
 * Gives a client a new registration access token (RFC 7592 §3), because its own was lost. The previous one ends. Returns the token,
 * which is shown once.
 *
 * @throws AdminError when there is no such client, or it cannot have such a token
 */
export async function createManagementToken(context: Context, id: ClientId): Promise<string> {
  const { clock, random, secrets, store } = context
  await requireClient(context, id)
  const { token, hash } = secrets.mint('management-token', mintOrderedId(clock(), random), random)
  if ((await store.setManagementToken({ id, managementHash: hash })) === 'changed') return token
  throw conflict(`The client ${id} does not manage itself: it is public, or is not a registered client.`)
}
