import { AdminError } from '../../admin/admin-error.ts'
import { slotText, type Secret } from '../../admin/task.ts'
import { requireTask } from '../../admin/tasks.ts'
import { cut } from '../../texts/texts.ts'
import { exactTime } from '../parts.ts'
import { askAddress, withoutAsking } from './addresses.ts'
import { secretPage } from './ask.ts'
import type { Seen } from './compare.ts'
import type { Stop } from './confirm.ts'
import { page, redirect, withParameter, type ConsoleAnswer } from './context.ts'
import { errorsOf, restoredTexts } from './filling.ts'
import {
  asksFirst,
  chosenRows,
  matchingRows,
  formWords,
  type Form,
  type Members,
  type ShownPage,
  type Texts,
  type View,
} from './form.ts'
import { labelOf } from './input-fields.ts'
import { said, type Outcome } from './notice.ts'
import { attempt, frameOf, type OpenScreen } from './open-screen.ts'
import { sealOutcome } from './outcome.ts'
import type { Performed } from './perform.ts'
import type { Sent } from './sent.ts'
import { render } from './show.ts'

/** Of a reason that the address of the next page has. */
const REASON_LIMIT = 160
const REASONS = 10
const NOTE_LIMIT = 500
/** Of the reasons after these. */
const SHORT_REASON_LIMIT = 12
/** Of what a slot of the sentence has. */
const VALUE_LIMIT = 200

const NOTHING_DONE = { text: '', values: {}, done: [], unchanged: [] } as const

/** Answers a form that performed nothing. */
export async function stopped({ open, form, subjects, values }: Sent, stop: Stop): Promise<ConsoleAnswer> {
  if (stop.kind === 'ask') return redirect(stop.address)
  const { status, errors } = stop
  if (stop.kind === 'again' && asksFirst(form))
    return render(open, { status, asking: { form, subjects, values, errors } })
  const refused = Object.values(errors).map((reason) => ['', reason] as const)
  return render(open, { status, outcome: { ...NOTHING_DONE, task: form.task, refused } })
}

/** Answers a form that performed its task: with what the task answers, a secret, or the next page, which says what was done. */
export async function answer(sent: Sent, seen: Seen, performed: readonly Performed[]): Promise<ConsoleAnswer> {
  const { open, form, fields } = sent
  const [only] = performed
  if (performed.length === 1 && only?.error !== undefined)
    return stopped(sent, { kind: 'again', status: statusOf(only.error), errors: errorsOf(only.error, form, fields) })
  const answered = only?.answer
  const shows = form.kind === 'create' || form.kind === 'report' ? form.shows : undefined
  if (answered !== undefined && shows !== undefined)
    return 'view' in shows
      ? showAnswer(open, shows, answered)
      : render(open, { status: 200, result: shows.above(answered, frameOf(open)) })
  const { secret } = requireTask(form.task)
  // A public client has none.
  if (answered !== undefined && secret !== undefined && typeof answered[secret.member] === 'string')
    return showSecret(sent, seen, answered, secret)
  const outcome = sealOutcome(open, outcomeOf(sent, seen, performed))
  return redirect(withParameter(nextPage(sent, answered), 'done', outcome))
}

/** The page with the answer, and with what it names. */
async function showAnswer(open: OpenScreen, { reads, view }: ShownPage, answered: Members): Promise<ConsoleAnswer> {
  const read = await Promise.all(
    Object.entries(reads?.(answered) ?? {}).map(
      async ([name, { task, input }]) => [name, await attempt(open, task, input)] as const,
    ),
  )
  const more = Object.fromEntries(read.map(([name, one]) => [name, one instanceof AdminError ? undefined : one]))
  const refused = Object.fromEntries(
    read.flatMap(([name, one]) => (one instanceof AdminError ? [[name, one.message]] : [])),
  )
  return framed(open, view(answered, more, frameOf(open), refused))
}

/** The page with a secret that the task answers, which no other page shows. */
function showSecret(
  sent: Sent,
  seen: Seen,
  answered: Members,
  { member: shown, beside: others = [] }: Secret,
): ConsoleAnswer {
  const { open, form } = sent
  const { done, use } = formWords(form)
  const beside = others.flatMap((member): readonly (readonly [string, string])[] => {
    const text = answered[member]
    return typeof text === 'string' ? [[labelOf(member), text]] : []
  })
  const revealed = {
    said: said(done, valuesOf(sent, seen, answered), {}),
    label: labelOf(shown),
    secret: String(answered[shown]),
    use: [use, form.use?.(answered)].filter((one) => one !== undefined).join(' '),
    beside,
  }
  const lead = leadOf(form, answered)
  const back =
    lead === undefined
      ? { to: open.request.path, label: 'Done' }
      : { to: lead, label: `Open the ${form.task.split('.', 1)[0]}` }
  return framed(open, secretPage(revealed, back))
}

/** What the slots of the sentence have: the object its name, others what the task answers. */
function valuesOf({ open, form }: Sent, { name, place }: Seen, answered: Members): Texts {
  const chosen = chosenRows(form)?.member
  const called = (slot: string) => (slot === chosen ? name : slot in open.parameters ? place : undefined)
  const { slots } = cut(formWords(form).done)
  return Object.fromEntries(
    slots.map((slot) => [slot, (called(slot) ?? slotText(answered, slot, exactTime)).slice(0, VALUE_LIMIT)]),
  )
}

function framed({ context, screen, signedIn }: OpenScreen, view: View): ConsoleAnswer {
  return page(context.framed(view, signedIn, screen.section))
}

/** Where the person goes on. */
function nextPage({ open, form }: Sent, answered: Members | undefined): string {
  const leads = answered === undefined || chosenRows(form) !== undefined ? undefined : leadOf(form, answered)
  const isLeft = answered !== undefined && typeof matchingRows(form)?.matching(answered).next === 'string'
  return leads ?? (isLeft ? askAddress(open, form, []) : withoutAsking(open))
}

function leadOf(form: Form, answered: Members): string | undefined {
  return form.kind === 'change' || form.kind === 'create' ? form.leadsTo?.(answered) : undefined
}

/** What the next page says of each row. */
function outcomeOf(sent: Sent, seen: Seen, performed: readonly Performed[]): Outcome {
  const { form } = sent
  const { answers, filled, name } = seen
  const answered = performed[0]?.answer
  const { undo: way } = form
  const isKnown = typeof way === 'function' && answers !== undefined && answered !== undefined
  const ids = (rows: readonly Performed[]) => rows.map(({ subject }) => subject)
  return {
    task: form.task,
    text: formWords(form).done,
    values: answered === undefined ? {} : valuesOf(sent, seen, answered),
    count: answered && matchingRows(form)?.matching(answered).names.length,
    name,
    note: noteOf(answered),
    next: requireTask(form.task).next,
    undo: isKnown ? way(answers, answered) : undefined,
    before: filled && restoredTexts(form, filled),
    done: ids(performed.filter((one) => one.answer !== undefined && one.subject !== '')),
    unchanged: ids(performed.filter((one) => one.answer === undefined && one.error === undefined)),
    refused: refusedOf(performed),
  }
}

function refusedOf(performed: readonly Performed[]): Outcome['refused'] {
  const refused = performed.flatMap(({ subject, error }) =>
    error === undefined ? [] : [[subject, error.message] as const],
  )
  return refused.map(([subject, reason], index) => [
    subject,
    reason.slice(0, index < REASONS ? REASON_LIMIT : SHORT_REASON_LIMIT),
  ])
}

/** What the task warns of. */
function noteOf(answered: Members | undefined): string | undefined {
  const { notice } = answered ?? {}
  return typeof notice === 'string' ? notice.slice(0, NOTE_LIMIT) : undefined
}

function statusOf({ kind }: AdminError): number {
  return { refused: 422, unknown: 404, conflict: 409 }[kind]
}
