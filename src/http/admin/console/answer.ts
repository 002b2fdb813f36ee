import { AdminError } from '../../../admin/admin-error.ts'
import { labelOf } from '../../../admin/input-fields.ts'
import { secretPage } from '../../../console/ask.ts'
import type { Outcome } from '../../../console/notice.ts'
import { asksFirst, type Members, type Shows } from '../../../console/screen.ts'
import { askAddress, withoutAsking } from './addresses.ts'
import type { Seen } from './compare.ts'
import type { Stop } from './confirm.ts'
import { errorsOf, restoredTexts } from './filling.ts'
import { sealOutcome } from './outcome.ts'
import type { Performed } from './perform.ts'
import type { Sent } from './sent.ts'
import { frameOf, render, seekerOf } from './show.ts'
import { page, redirect, withParameter, type ConsoleAnswer } from './visit.ts'

/** Of a reason that the address of the next page has. */
const REASON_LIMIT = 160
const REASONS = 10
const NOTE_LIMIT = 500
/** Of the reasons after these. */
const SHORT_REASON_LIMIT = 12

/** Answers a form that performed nothing. */
export async function stopped({ desk, found, ...sent }: Sent, stop: Stop): Promise<ConsoleAnswer> {
  if (stop.kind === 'ask') return redirect(stop.address)
  const { form, subjects, values, visit, visitor } = sent
  const { status, errors } = stop
  if (stop.kind === 'again' && asksFirst(form)) {
    const asking = { form, subjects, values, errors }
    return render(desk, found, visit, visitor, { status, outcome: undefined, asking })
  }
  const refused = Object.values(errors).map((reason) => ['', reason] as const)
  const outcome: Outcome = { task: form.task, text: form.done, done: [], unchanged: [], refused }
  return render(desk, found, visit, visitor, { status, outcome, asking: undefined })
}

/** Answers a form that performed its task: with what the task answers, a secret, or the next page, which says what was done. */
export async function answer(sent: Sent, seen: Seen, performed: readonly Performed[]): Promise<ConsoleAnswer> {
  const { desk, form, found, fields, visit, visitor } = sent
  const [only] = performed
  if (performed.length === 1 && only?.error !== undefined)
    return stopped(sent, { kind: 'again', status: statusOf(only.error), errors: errorsOf(only.error, form, fields) })
  const answered = only?.answer
  if (answered !== undefined && form.shows !== undefined) return showAnswer(sent, form.shows, answered)
  if (answered !== undefined && form.result !== undefined) {
    const result = form.result(answered, frameOf(desk, found, visit, visitor))
    return render(desk, found, visit, visitor, { status: 200, outcome: undefined, asking: undefined, result })
  }
  const secret = form.secret === undefined ? undefined : answered?.[form.secret]
  if (answered !== undefined && typeof secret === 'string') return showSecret(sent, seen, answered, secret)
  return redirect(
    withParameter(nextPage(sent, answered), 'done', sealOutcome(desk, visitor, outcomeOf(sent, seen, performed))),
  )
}

/** The page with the answer, and with what it names. */
async function showAnswer(sent: Sent, { reads, view }: Shows, answered: Members): Promise<ConsoleAnswer> {
  const { desk, found, visit, visitor } = sent
  const seeker = seekerOf(desk, found, visitor)
  const read = await Promise.all(
    Object.entries(reads?.(answered) ?? {}).map(
      async ([name, { task, input }]) => [name, await seeker.perform(task, input)] as const,
    ),
  )
  const more = Object.fromEntries(read.map(([name, one]) => [name, one instanceof AdminError ? undefined : one]))
  const refused = Object.fromEntries(
    read.flatMap(([name, one]) => (one instanceof AdminError ? [[name, one.message]] : [])),
  )
  const shown = view(answered, more, frameOf(desk, found, visit, visitor), refused)
  return page(desk.framed(shown, visitor, found.screen.section))
}

/** The page with a secret that the task answers, which no other page shows. */
function showSecret({ desk, form, found, visitor }: Sent, { name }: Seen, answered: Members, secret: string) {
  const { expires_at: until } = answered
  const beside = (form.beside ?? []).flatMap((member): readonly (readonly [string, string])[] => {
    const text = answered[member]
    return typeof text === 'string' ? [[labelOf(member), text]] : []
  })
  const use = {
    name,
    until: typeof until === 'string' ? until : undefined,
    note: form.secretUse?.(answered),
    beside,
    noun: labelOf(form.secret ?? '').toLowerCase(),
  }
  const back = form.leadsTo?.(answered) ?? found.here.split('?', 1)[0] ?? found.here
  return page(desk.framed(secretPage(form, secret, use, back), visitor, found.screen.section))
}

/** Where the person goes on. */
function nextPage({ form, found }: Sent, answered: Members | undefined): string {
  const leads = form.subject === undefined && answered !== undefined ? form.leadsTo?.(answered) : undefined
  const isLeft = answered !== undefined && typeof form.matches?.(answered).next === 'string'
  return leads ?? (isLeft ? askAddress(found, form, []) : withoutAsking(found))
}

/** What the next page says of each row. */
function outcomeOf({ form }: Sent, { answers, filled, name }: Seen, performed: readonly Performed[]): Outcome {
  const answered = performed[0]?.answer
  const undo = answers === undefined || answered === undefined ? undefined : form.undoes?.(answers, answered)
  const ids = (rows: readonly Performed[]) => rows.map(({ subject }) => subject)
  return {
    task: form.task,
    text: form.done,
    count: answered && form.matches?.(answered).names.length,
    name: name ?? (undo?.subjects.length === 1 ? undo.subjects[0] : undefined),
    note: noteOf(answered),
    offers: form.offers,
    undo,
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
