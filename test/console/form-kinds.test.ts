import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChangeForm, CreateForm, EditForm, Form, ReportForm } from '../../src/console/engine/form.ts'
import { screen } from '../../src/console/screen.ts'
import { OWN_NAMES } from '../../src/console/engine/form.ts'
import { SCREENS } from '../../src/console/screens.ts'
import { html } from '../../src/web/markup.ts'

/** The kinds of forms: the compiler refuses what is marked, and the unused mark of what it accepts. */

type MembersOf<One> = One extends unknown ? keyof One : never

/** Each member of each kind, once. */
const MEMBERS: Readonly<Record<MembersOf<Form>, true>> = {
  kind: true,
  task: true,
  wording: true,
  undo: true,
  use: true,
  fits: true,
  caution: true,
  rows: true,
  leadsTo: true,
  fields: true,
  first: true,
  step: true,
  preset: true,
  choices: true,
  shows: true,
  filled: true,
}

const common = { task: 'organization.rename' } as const

const WRONG: readonly Form[] = [
  // @ts-expect-error A button has no fields.
  { ...common, kind: 'change', fields: ['name'] } satisfies ChangeForm,
  // @ts-expect-error A form whose fields are empty has nothing that was filled in.
  { ...common, kind: 'create', fields: ['name'], filled: () => undefined } satisfies CreateForm,
  // @ts-expect-error A new object is not among the rows.
  { ...common, kind: 'create', fields: ['name'], rows: { member: 'organization_id' } } satisfies CreateForm,
  // @ts-expect-error A form that edits shows what there is.
  { ...common, kind: 'edit', fields: ['name'] } satisfies EditForm,
  // @ts-expect-error What is edited is edited where it is shown.
  { ...common, kind: 'edit', fields: ['name'], filled: () => undefined, leadsTo: () => '/' } satisfies EditForm,
  // @ts-expect-error A report shows its answer.
  { ...common, kind: 'report', fields: ['name'] } satisfies ReportForm,
  // @ts-expect-error A task says what was done.
  { task: 'organization.list', kind: 'change' } satisfies ChangeForm,
]

test('the four kinds of forms have at most 16 members together, and each form has those of its kind', () => {
  assert.ok(Object.keys(MEMBERS).length <= 16)
  const unknown = SCREENS.flatMap(({ forms, path }) =>
    forms.flatMap((form) =>
      Object.keys(form).flatMap((name) => (name in MEMBERS ? [] : [`${path} ${form.task} ${name}`])),
    ),
  )
  assert.deepEqual(unknown, [])
  assert.deepEqual(
    [...new Set(SCREENS.flatMap(({ forms }) => forms.map(({ kind }) => kind)))].toSorted(),
    [...new Set(WRONG.map(({ kind }) => kind))].toSorted(),
  )
})

test('no field of a form has the name of a parameter that each form sends', () => {
  const named = (fields: readonly string[]) =>
    screen<object>({
      path: '/console/x',
      section: 'server',
      reads: {},
      filters: [],
      forms: [{ ...common, kind: 'edit', fields, filled: () => undefined }],
      names: () => ({}),
      view: () => ({ title: '', main: html`` }),
    })
  assert.equal(named(['name', 'confirmed']).forms.length, 1)
  for (const own of OWN_NAMES)
    assert.throws(() => named(['name', own]), new RegExp(`has a field or filter ${own}, as each one`))
})
