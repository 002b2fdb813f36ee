import type { Context } from '../ports/context.ts'
import type { InteractionRecord } from '../ports/records/interaction.ts'
import type { InteractionId } from '../protocol/ids.ts'
import { sameText } from '../protocol/secrets.ts'

/** Finds the interaction of a credential. The store is not asked for a credential that this server did not issue. */
export async function findInteractionOf(
  { secrets, store }: Context,
  token: string,
): Promise<InteractionRecord | undefined> {
  const opened = secrets.verify('interaction', token)
  if (opened === undefined) return undefined
  const found = await store.findInteraction(opened.id as InteractionId)
  return found !== undefined && sameText(found.hash, opened.hash) ? found : undefined
}
