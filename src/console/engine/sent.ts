import { requireTask } from '../../admin/tasks.ts'
import { authorizeTask } from '../../admin/authorize-task.ts'
import { invalidRequest } from '../../protocol/errors.ts'
import { isFromOwnPage } from './context.ts'
import { formFields, textsIn } from './filling.ts'
import { chosenRows, OWN_NAMES, type Form, type Texts } from './form.ts'
import { frozenContext } from './frozen-context.ts'
import type { InputField } from './input-fields.ts'
import { csrfParts, subjectsIn, type OpenScreen } from './open-screen.ts'

/** A form that a page of the session sent. */
export interface Sent {
  /** Its context reads the objects of a form that shows them once, so that its task changes what was compared. */
  readonly open: OpenScreen
  readonly form: Form
  readonly fields: readonly InputField[]
  /** By the paths of the fields. */
  readonly values: Texts
  /** The rows that were chosen. Empty: the form is about the object of the path, or about none. */
  readonly subjects: readonly string[]
}

/**
 * Admits a form that a page of this session sent, with the fields that it has, of a person who may perform its task.
 *
 * @throws OAuthError invalid_request, insufficient_scope
 */
export function admit(open: OpenScreen, line: { task: string }): Sent {
  const { context, parameters, request, screen, signedIn } = open
  const { form: sent } = request
  const { secrets } = context.server
  if (
    !isFromOwnPage(request, context.origin) ||
    !secrets.digestMatches('csrf', csrfParts(open), sent.get('csrf') ?? '')
  )
    throw refused()
  const form = screen.forms.find(({ task }) => task === sent.get('task'))
  if (form === undefined) throw refused()
  line.task = `console ${form.task}`
  authorizeTask(context.server, signedIn.administrator, requireTask(form.task), parameters)
  const fields = formFields(form)
  const values = textsIn(fields, sent, OWN_NAMES)
  if (values === undefined) throw refused()
  const subjects = chosenRows(form) === undefined ? [] : subjectsIn(sent)
  const server = form.kind === 'edit' ? frozenContext(context.server) : context.server
  return { open: { ...open, context: { ...context, server } }, form, fields, values, subjects }
}

function refused() {
  return invalidRequest('console_form_wrong', { status: 403 })
}
