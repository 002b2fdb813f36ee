import { after } from '../../../base/brand.ts'
import { TYPED_FROM } from '../../../console/ask.ts'
import { lockOutBy } from '../../../console/lock-out.ts'
import { asksFirst, worksOnce, type Texts } from '../../../console/screen.ts'
import { askAddress } from './addresses.ts'
import { objectsOf } from './perform.ts'
import type { Sent } from './sent.ts'
import { findMatches, isRecent } from './show.ts'
import { RETURN_LIMIT } from './sign-in.ts'

/** Why a form performs nothing. `refused`: the screen says it. `again`: the form says it, if it has a page. `ask`: the page that asks comes first. */
export type Stop =
  | { readonly kind: 'refused' | 'again'; readonly status: number; readonly errors: Texts }
  | { readonly kind: 'ask'; readonly address: string }

/** The rows of one form. */
const SUBJECT_LIMIT = 50
const ONCE_MS = 60 * 60 * 1000

const SENT_BEFORE =
  'This form was sent before, and did nothing now. Look whether what it creates is there. To create another one, send it again.'
const SECRET_BEFORE = 'This was done already. The form did nothing more.'

function refuse(status: number, reason: string): Stop {
  return { kind: 'refused', status, errors: { '': reason } }
}

/** Checks the rows that were chosen: their number, and whether a change of all of them would lock the person out. */
export function chooseRows({ form, found, subjects, visitor }: Sent): Stop | undefined {
  if (form.subject !== undefined && subjects.length === 0) return refuse(422, 'Choose a row.')
  if (subjects.length > SUBJECT_LIMIT) return refuse(422, `At most ${SUBJECT_LIMIT} rows at a time.`)
  if (askAddress(found, form, subjects).length > RETURN_LIMIT)
    return refuse(422, 'These rows have long names: choose fewer at a time.')
  const lockedOut = objectsOf(form, found, subjects).map((one) => lockOutBy(form.task, one, visitor.holder.user.id))
  const [locked] = lockedOut
  return locked !== undefined && lockedOut.every((one) => one !== undefined) ? refuse(409, locked) : undefined
}

/** Checks that the person confirmed the form, by a sign-in and the number of the rows where the form wants them, and sends it the first time. */
export async function confirm({ desk, form, found, subjects, visit, visitor }: Sent): Promise<Stop | undefined> {
  const { form: sent } = visit
  const asks = asksFirst(form)
  // Nothing is kept over the sign-in: the page that asks comes after it.
  const isAsked = (asks && sent.get('confirmed') !== '1') || (form.isRecent === true && !isRecent(desk, visitor))
  if (isAsked) return { kind: 'ask', address: askAddress(found, form, subjects) }
  const { length } = subjects
  if (length >= TYPED_FROM && asks && sent.get('typed') !== String(length))
    return { kind: 'again', status: 422, errors: { typed: `This is not ${length}.` } }
  if (!worksOnce(form) || (await isFirst({ desk, visitor }, sent.get('once') ?? ''))) return undefined
  return { kind: 'again', status: 409, errors: { '': form.secret === undefined ? SENT_BEFORE : SECRET_BEFORE } }
}

/** Whether the form is sent the first time: a second click, or a reload of the page with the secret, creates no other one (threats.md CON-10). */
async function isFirst(
  { desk: { context }, visitor: { session } }: Pick<Sent, 'desk' | 'visitor'>,
  once: string,
): Promise<boolean> {
  const { secrets, store, clock } = context
  if (!/^[\w-]{22}$/.test(once)) return false
  const digest = secrets.digest('console', ['once', session.grantId, once])
  return (await store.consumeOnce([{ digest, expiresAt: after(clock(), ONCE_MS) }])) === 'fresh'
}

/** Counts once more what the filters find, so that a form about it does nothing to rows that the person has not seen. */
export async function countMatches({ desk, form, found, visit, visitor }: Sent): Promise<Stop | undefined> {
  if (form.matches === undefined) return undefined
  const matches = await findMatches(desk, found, visit, visitor, form)
  const count = matches?.names.length ?? 0
  if (visit.form.get('typed') === String(count)) return undefined
  return { kind: 'again', status: 422, errors: { '': `${count} match now, which is another number.` } }
}
