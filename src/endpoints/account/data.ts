import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import type { SignedIn } from '../authorization/session.ts'
import { frameOf, countChange } from './frame.ts'
import { exportUser } from './export.ts'

/** Shows what is kept about the user. */
export async function showData(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  return { kind: 'page', status: 200, page: { kind: 'account-data', frame: await frameOf(context, request, owner) } }
}

/** Sends what is kept about the user as a file, if the user has signed in a moment ago. */
export async function exportData(context: Context, _: Request, owner: SignedIn): Promise<Reply> {
  await countChange(context, owner, 'export')
  return {
    kind: 'download',
    filename: 'account.json',
    body: await exportUser(context, owner.user, context.clock()),
    event: { event: 'user.exported', user: owner.user.id },
  }
}
