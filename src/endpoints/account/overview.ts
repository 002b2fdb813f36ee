import type { OverviewPage } from '../../ports/pages/account.ts'
import type { Context } from '../../ports/context.ts'
import type { Reply, Request } from '../../ports/message.ts'
import { DISPLAY_TEXT_LIMIT, parseDisplayText } from '../../base/display-text.ts'
import { findOrganizations } from '../authorization/organization-choice.ts'
import type { SignedIn } from '../authorization/session.ts'
import { errorPage, formRefusal } from '../error-page.ts'
import { isEmailEditable } from './email.ts'
import { doneAt, frameOf, countChange } from './frame.ts'

/** Shows the user's name, e-mail address and organizations. */
export async function showAccount(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  return overviewPage(context, request, owner, { name: owner.user.name ?? '', problem: undefined })
}

/** Changes the user's name. An empty one removes it. */
export async function changeName(context: Context, request: Request, owner: SignedIn): Promise<Reply> {
  if (!isNameEditable(context)) return errorPage('form_field_malformed', { user: owner.user.id })
  const typed = request.params.get('name') ?? ''
  const name = parseDisplayText(typed)
  if (name === undefined && typed.trim() !== '') {
    const shown = typed.slice(0, DISPLAY_TEXT_LIMIT)
    return overviewPage(context, request, owner, { name: shown, problem: 'name-unusable' })
  }
  await countChange(context, owner, 'name')
  await context.store.renameUser({ id: owner.user.id, name, now: context.clock() })
  return doneAt(context, request, 'overview', 'name-changed')
}

async function overviewPage(
  context: Context,
  request: Request,
  owner: SignedIn,
  form: Pick<OverviewPage, 'name' | 'problem'>,
): Promise<Reply> {
  const { id, email, emailVerifiedAt } = owner.user
  const organizations = await findOrganizations(context, id)
  return {
    kind: 'page',
    status: form.problem === undefined ? 200 : 400,
    ...(form.problem === undefined ? {} : { event: formRefusal(form.problem, { user: id }) }),
    page: {
      kind: 'account-overview',
      frame: await frameOf(context, request, owner),
      email: email === undefined ? undefined : { address: email, isVerified: emailVerifiedAt !== undefined },
      isNameEditable: isNameEditable(context),
      isEmailEditable: isEmailEditable(context, await context.providers(), email),
      organizations: organizations.map(({ name }) => name),
      ...form,
    },
  }
}

/** The operator's application says the name of its persons with each sign-in. */
function isNameEditable({ settings }: Context): boolean {
  return settings.delegate === undefined
}
