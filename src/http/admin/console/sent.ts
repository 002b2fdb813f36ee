import type { InputField } from '../../../admin/input-fields.ts'
import type { ScreenForm, Texts } from '../../../console/screen.ts'
import { invalidRequest } from '../../../protocol/errors.ts'
import { authorizeTask } from '../authorize.ts'
import { formFields, taskOf, textsIn } from './filling.ts'
import { frozenContext } from './frozen-context.ts'
import { csrfParts, formFor, subjectsIn, type Found } from './show.ts'
import { isFromOwnPage, type Desk, type Visit, type Visitor } from './visit.ts'

/** A form that a page of the session sent. */
export interface Sent {
  /** Its context reads the objects of a form that shows them once, so that its task changes what was compared. */
  readonly desk: Desk
  readonly found: Found
  readonly visit: Visit
  readonly visitor: Visitor
  readonly form: ScreenForm
  readonly fields: readonly InputField[]
  /** By the paths of the fields. */
  readonly values: Texts
  /** The rows that were chosen. Empty: the form is about the object of the path, or about none. */
  readonly subjects: readonly string[]
}

/** What a form has besides the fields of its task. */
const OWN_NAMES: ReadonlySet<string> = new Set(['csrf', 'task', 'subject', 'confirmed', 'once', 'typed', 'seen'])

/**
 * Admits a form that a page of this session sent, with the fields that it has, of a person who may perform its task.
 *
 * @throws OAuthError invalid_request, insufficient_scope
 */
export function admit(desk: Desk, found: Found, visit: Visit, visitor: Visitor, line: { task: string }): Sent {
  const { form: sent, path } = visit
  const parts = csrfParts(visitor.session.grantId, path)
  if (!isFromOwnPage(visit, desk.origin) || !desk.context.secrets.digestMatches('csrf', parts, sent.get('csrf') ?? ''))
    throw refused()
  const form = formFor(found, sent.get('task'))
  line.task = `console ${form.task}`
  const context = form.filled === undefined ? desk.context : frozenContext(desk.context)
  authorizeTask(context, visitor.holder.administrator, taskOf(form.task), found.parameters)
  const fields = formFields(form)
  const values = textsIn(fields, sent, OWN_NAMES)
  if (values === undefined) throw refused()
  const subjects = form.subject === undefined ? [] : subjectsIn(sent)
  return { desk: { ...desk, context }, found, visit, visitor, form, fields, values, subjects }
}

function refused() {
  return invalidRequest('console_form_wrong', { status: 403 })
}
