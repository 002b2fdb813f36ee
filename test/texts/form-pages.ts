import { requireTask } from '../../src/admin/tasks.ts'
import { askPage } from '../../src/console/engine/ask.ts'
import { asksFirst, formWords, type Form, type Frame } from '../../src/console/engine/form.ts'
import { outcomeNotice } from '../../src/console/engine/notice.ts'
import type { AnyScreen } from '../../src/console/screen.ts'
import { SCREENS } from '../../src/console/screens.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import { cut } from '../../src/texts/texts.ts'
import { readable } from './readable.ts'

/** Of each form of each screen the button, the page that asks without its fields, and what is said then. What a slot has is its name. */
export function formPages(): string {
  return SCREENS.flatMap((screen) => screen.forms.map((form) => pagesOf(screen, form))).join('\n')
}

function pagesOf(screen: AnyScreen, form: Form): string {
  const frame: Frame = {
    place: { path: screen.path, parameters: {}, query: {}, now: 0 as EpochMs },
    issuer: 'https://login.acme.test',
    organization: undefined,
    mayWrite: true,
    mayOpen: () => true,
    self: 'gus_self',
    csrf: '',
    isLoopbackOnly: true,
    reaches: () => true,
    isCut: false,
    outOfReach: '',
    forms: screen.forms,
    filters: [],
  }
  const words = formWords(form)
  const { secret } = requireTask(form.task)
  const asking = {
    form,
    summary: requireTask(form.task).summary,
    label: words.label,
    caution: undefined,
    subjects: [],
    leftOut: [],
    names: { '': '(object)' },
    values: {},
    initial: {},
    errors: {},
    fields: [],
    first: undefined,
    choices: {},
    matches: undefined,
    once: undefined,
    choosing: undefined,
    chosen: undefined,
    seen: undefined,
    about: screen.about === undefined ? undefined : '(organization)',
  }
  const values = Object.fromEntries(cut(words.done).slots.map((slot) => [slot, `{${slot}}`]))
  const outcome = { task: form.task, text: words.done, values, done: [], unchanged: [], refused: [] }
  const pages = [
    ...(asksFirst(form) ? [askPage(asking, frame).main] : [words.label]),
    ...(form.kind === 'report' ? [] : [outcomeNotice(frame, outcome, screen.forms, { names: {}, seen: undefined })]),
    ...(secret === undefined ? [] : [`${words.use}`]),
    ...(words.already === undefined ? [] : [`${words.already}.`]),
  ]
  const lines = pages.map((page) => readable(`<main >${page}</main>`)).join('\n--\n')
  return `=== ${screen.path} ${form.task}\n${lines}\n`
}
