import assert from 'node:assert/strict'
import type { EpochMs } from '../../base/brand.ts'
import type { Context } from '../../ports/context.ts'
import type { ClientRecord } from '../../ports/records/client.ts'
import { chosenClientId } from '../../protocol/client/identifier.ts'
import { parseUserId } from '../../protocol/ids.ts'
import { sameResource } from '../../protocol/token/resource.ts'
import { conflictIn } from '../admin-error.ts'

/**
 * A client that was deleted may come back with its chosen id. What was issued and allowed before its deletion stays invalid, because both
 * times begin now.
 */
export function withChosenId(client: ClientRecord, chosenId: string, now: EpochMs): ClientRecord {
  const id = chosenClientId(chosenId)
  assert(id !== undefined)
  return { ...client, id, chosenId, identityFrom: now, notBefore: now }
}

/**
 * The `sub` of a client's own tokens is its `client_id`, and must not be that of a user (RFC 9068 §5). The audience of its ID tokens is its
 * `client_id`, and must not be an API. An administrator who creates the other one at the same time is not noticed; `doctor` reports such a user.
 *
 * @throws AdminError when the id is taken
 */
export async function refuseTakenId(context: Context, chosenId: string): Promise<void> {
  const userId = parseUserId(chosenId)
  if (userId !== undefined && (await context.store.findUser(userId)) !== undefined)
    throw conflictIn('client_id', `There is a user ${chosenId}, and no client may have the id of a user.`, chosenId)
  const api = (await context.store.listApis()).find(({ resource }) => sameResource(resource, chosenId))
  if (api !== undefined)
    throw conflictIn(
      'client_id',
      `There is an API ${api.resource}, and no client may have the identifier of an API.`,
      chosenId,
    )
}
