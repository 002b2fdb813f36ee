import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SCREENS } from '../../src/console/screens.ts'
import { sectionsOf } from '../../src/console/sections.ts'
import { isReading } from '../../src/admin/task.ts'
import { TASKS } from '../../src/admin/tasks.ts'

/** Where a person at the console finds each task. */

/** Tasks that change something and have no form, with the reason. */
const WITHOUT_FORM: Readonly<Record<string, string>> = {
  'user.set-password': 'a link lets the user set it, so that no other person ever knows it',
  'apply.record': 'what a file applied is recorded by `grantor apply`, which reads the file',
  'apply.release': 'a set of files is ended where the files are',
}

test('every task with write access has a form on a screen, or a line with the reason why it has none', () => {
  const offered = new Set<string>(SCREENS.flatMap(({ forms }) => forms.map(({ task }) => task)))
  const changing = TASKS.filter((task) => !isReading(task) && task.access !== 'delegate').map(({ name }) => name)
  assert.deepEqual(
    {
      homeless: changing.filter((name) => !offered.has(name) && WITHOUT_FORM[name] === undefined),
      stale: Object.keys(WITHOUT_FORM).filter((name) => offered.has(name) || !changing.includes(name)),
    },
    { homeless: [], stale: [] },
  )
})

test('every screen is below an entry of the side, and no two entries have one key, path or name', () => {
  const rows = sectionsOf(undefined)
  for (const member of ['key', 'path', 'label', 'section'] as const)
    assert.equal(new Set(rows.map((row) => row[member])).size, rows.length, rows.map((row) => row[member]).join())
  assert.deepEqual(
    rows.filter(({ key }) => !/^[a-z]$/.test(key)),
    [],
  )
  const known = new Set(rows.flatMap(({ section, also = [] }) => [section, ...also]))
  assert.deepEqual(
    SCREENS.filter(({ section }) => !known.has(section)).map(({ path }) => path),
    [],
  )
  assert.deepEqual(
    rows.filter(({ path }) => !SCREENS.some((screen) => screen.path === path)),
    [],
  )
})
