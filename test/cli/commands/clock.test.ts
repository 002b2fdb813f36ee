import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { runHere, runJsonHere } from '../../support/command.ts'
import { openPlace, type Place } from '../../support/process.ts'

const HOUR = 60 * 60 * 1000
const YEAR = 366 * 24 * HOUR

/** As a server would have written it that was right at this moment. */
function note({ folder }: Place, agreedAt: number): void {
  const database = new DatabaseSync(join(folder, 'grantor.db'))
  const value = JSON.stringify({ agreedAt, deletionMoment: agreedAt })
  database.prepare(`insert or replace into settings values ('clock', ?)`).run(value)
  database.prepare(`delete from settings where name = 'clock-confirmed'`).run()
  database.close()
}

for (const [name, offMs, words] of [
  ['behind', HOUR, /is 3600 s behind/],
  ['ahead', -YEAR, /s ahead of/],
] as const) {
  test(`STO-13: on SQLite, while the clock is ${name}, commands revoke and create nothing until the operator confirms the clock`, async (t) => {
    const place = await openPlace(t)
    assert.equal((await runHere(place, ['migrate'])).code, 0)
    const create = (email: string) =>
      runHere(place, ['user', 'create', '--email', email, '--password', 'correct horse battery staple'])
    const made = await create('ada@acme.test')
    assert.equal(made.code, 0, made.stderr)
    note(place, Date.now() + offMs)
    const refused = await create('bob@acme.test')
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, words)
    assert.match(refused.stderr, /grantor clock confirm/)
    for (const command of [
      ['user', 'enable', 'ada@acme.test'],
      ['token', 'revoke-all', '--yes'],
      ['key', 'rotate'],
    ])
      assert.equal((await runHere(place, command)).code, 1, command.join(' '))
    const disabled = await runJsonHere<{ disabled_at: string }>(place, ['user', 'disable', 'ada@acme.test'])
    assert.notEqual(disabled.disabled_at, null)
    const { time } = await runJsonHere<{ time: string }>(place, ['clock', 'confirm'])
    assert.ok(Math.abs(Date.parse(time) - Date.now()) < HOUR / 2, 'By the clock of this machine.')
    assert.equal((await create('bob@acme.test')).code, 0)
  })
}
