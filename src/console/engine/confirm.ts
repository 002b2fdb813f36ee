import { requireTask } from '../../admin/tasks.ts'
import { after } from '../../base/brand.ts'
import { lockOutBy } from '../lock-out.ts'
import { askAddress } from './addresses.ts'
import { TYPED_FROM } from './ask.ts'
import { RETURN_LIMIT } from './context.ts'
import { asksFirst, chosenRows, matchingRows, needsRecentSignIn, worksOnce, type Texts } from './form.ts'
import { isRecent } from './open-screen.ts'
import { objectsOf } from './perform.ts'
import { findMatches } from './read.ts'
import type { Sent } from './sent.ts'

/** Why a form performs nothing. `refused`: the screen says it. `again`: the form says it, if it has a page. `ask`: the page that asks comes first. */
export type Stop =
  | { readonly kind: 'refused' | 'again'; readonly status: number; readonly errors: Texts }
  | { readonly kind: 'ask'; readonly address: string }

/** The rows of one form. */
const SUBJECT_LIMIT = 50
const ONCE_MS = 60 * 60 * 1000

const SENT_BEFORE =
  'This form was sent before, and did nothing now. Look whether its change is there. To do it once more, send it again.'
const SECRET_BEFORE = 'This was done already. The form did nothing more.'

function refuse(status: number, reason: string): Stop {
  return { kind: 'refused', status, errors: { '': reason } }
}

export function again(status: number, errors: Texts): Stop {
  return { kind: 'again', status, errors }
}

/** Checks the rows that were chosen: their number, and whether a change of all of them would lock the person out. */
export function chooseRows({ open, form, subjects }: Sent): Stop | undefined {
  if (chosenRows(form) !== undefined && subjects.length === 0) return refuse(422, 'Choose a row.')
  if (subjects.length > SUBJECT_LIMIT) return refuse(422, `At most ${SUBJECT_LIMIT} rows at a time.`)
  if (askAddress(open, form, subjects).length > RETURN_LIMIT)
    return refuse(422, 'These rows have long names: choose fewer at a time.')
  const lockedOut = objectsOf(form, open, subjects).map((one) => lockOutBy(form.task, one, open.signedIn.user.id))
  const [locked] = lockedOut
  return locked !== undefined && lockedOut.every((one) => one !== undefined) ? refuse(409, locked) : undefined
}

/** Checks that the person confirmed the form, by a sign-in and the number of the rows where the form wants them, and sends it the first time. */
export async function confirm({ open, form, subjects, values }: Sent): Promise<Stop | undefined> {
  const { form: sent } = open.request
  const asks = asksFirst(form)
  // Nothing is kept over the sign-in: the page that asks comes after it.
  const isAsked = (asks && sent.get('asked') !== '1') || (needsRecentSignIn(form) && !isRecent(open))
  if (isAsked) return { kind: 'ask', address: askAddress(open, form, subjects) }
  const { length } = subjects
  if (length >= TYPED_FROM && asks && sent.get('typed') !== String(length))
    return again(422, { typed: `This is not ${length}.` })
  if (!worksOnce(form) || (await isFirst({ open, form, subjects, values }))) return undefined
  return again(409, { '': requireTask(form.task).secret === undefined ? SENT_BEFORE : SECRET_BEFORE })
}

/**
 * Whether the form is sent the first time: a second click, or a reload of the page with the secret, creates no other one (threats.md CON-10).
 * Without a secret, a person who goes back and types something else sends another form.
 */
async function isFirst({ open, form, subjects, values }: Omit<Sent, 'fields'>): Promise<boolean> {
  const { context, request, signedIn } = open
  const { server } = context
  const once = request.form.get('once') ?? ''
  if (!/^[\w-]{22}$/.test(once)) return false
  const typed = requireTask(form.task).secret === undefined ? [JSON.stringify([subjects, values])] : []
  const digest = server.secrets.digest('console', ['once', signedIn.grantId, once, ...typed])
  const expiresAt = after(server.clock(), ONCE_MS)
  return (await server.store.consumeOnce([{ digest, expiresAt }])) === 'fresh'
}

/** Counts once more what the filters find, so that a form about it does nothing to rows that the person has not seen. */
export async function countMatches({ open, form }: Sent): Promise<Stop | undefined> {
  if (matchingRows(form) === undefined) return undefined
  const matches = await findMatches(open, form)
  const count = matches?.names.length ?? 0
  if (open.request.form.get('typed') === String(count)) return undefined
  return again(422, { '': `${count} match now, which is another number.` })
}
