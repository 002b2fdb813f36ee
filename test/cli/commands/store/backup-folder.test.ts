import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { runHere, runJsonHere } from '../../../support/command.ts'
import { openPlace, run, type Place } from '../../../support/process.ts'

const PAST = 'grantor-20200101T000000000Z.backup'
const FUTURE = 'grantor-20990101T000000000Z.backup'
const DRAFT = '.0123456789abcdef.partial'

interface Made {
  readonly path: string
  readonly removed: readonly string[]
  readonly from_future: readonly string[]
}

test('BAK-06: --keep neither counts nor removes links, folders, or files that are no backups', async (t) => {
  const { place, folder, backUp } = await open(t)
  writeFileSync(join(folder, FUTURE), '')
  writeFileSync(join(folder, FUTURE.replace('2099', '2098')), '{"format":"grantor-backup","version":2}\n')
  mkdirSync(join(folder, PAST))
  symlinkSync(join(place.folder, 'grantor.db'), join(folder, PAST.replace('2020', '2021')))
  const others = readdirSync(folder)
  const first = await backUp()
  assert.ok(existsSync(first.path))
  const second = await backUp()
  assert.deepEqual(
    [existsSync(first.path), existsSync(second.path), [first.path]],
    [false, true, second.removed.map((name) => join(folder, name))],
  )
  assert.deepEqual(
    others.filter((name) => !existsSync(join(folder, name))),
    [],
  )
})

test('BAK-06: --keep orders backups by the time in their header, and reports future ones', async (t) => {
  const { folder, backUp } = await open(t)
  const first = await backUp()
  writeFileSync(join(folder, FUTURE), readFileSync(first.path))
  const second = await backUp()
  assert.deepEqual([second.removed.includes(FUTURE), existsSync(second.path)], [true, true])
  const early = readFileSync(second.path, 'utf8')
  writeFileSync(join(folder, PAST), early.replace(/"made_at":"\d{4}/, '"made_at":"2099'))
  const third = await backUp()
  assert.deepEqual([third.from_future, existsSync(join(folder, PAST))], [[PAST], true])
  assert.ok(existsSync(third.path) && !existsSync(second.path))
})

test('BAK-06: a backup with a future time is named in a warning', async (t) => {
  const { place, folder, backUp } = await open(t)
  const { path } = await backUp()
  writeFileSync(join(folder, PAST), readFileSync(path, 'utf8').replace(/"made_at":"\d{4}/, '"made_at":"2099'))
  const { stdout } = await runHere(place, ['backup', '--to', folder, '--keep', '1'])
  assert.match(stdout, new RegExp(`Warning: ${PAST} has a time in the future`))
})

test('BAK-06: --keep does not remove the backups of another store in the same folder', async (t) => {
  const [one, other] = [await open(t), await open(t)]
  const theirs = await runJsonHere<Made>(other.place, ['backup', '--to', one.folder])
  const [first, second] = [await one.backUp(), await one.backUp()]
  assert.deepEqual(
    [theirs, first, second].map(({ path }) => existsSync(path)),
    [true, false, true],
  )
})

test('a backup removes drafts that are older than a day, and no other file', async (t) => {
  const { folder, backUp, place } = await open(t)
  const file = join(folder, 'one.backup')
  const secretDraft = `${PAST}.secret.0123456789abcdef`
  const names = [secretDraft, PAST + DRAFT, FUTURE + DRAFT, `one.backup${DRAFT}`, `notes${DRAFT}`, 'one.backup.partial']
  for (const name of names) writeFileSync(join(folder, name), '')
  await backUp()
  await runJsonHere(place, ['backup', '--to', file])
  const left = () => names.filter((name) => existsSync(join(folder, name)))
  assert.deepEqual(left(), names)
  const old = Date.now() / 1000 - 25 * 60 * 60
  for (const name of names) utimesSync(join(folder, name), old, old)
  await backUp()
  assert.deepEqual(left(), names.slice(3))
  await runJsonHere(place, ['backup', '--to', file])
  assert.deepEqual(left(), names.slice(4))
})

test('two backups to one path at once both succeed, and the file is one of them', async (t) => {
  const { folder, place } = await open(t)
  const file = join(folder, 'one.backup')
  const both = await Promise.all([1, 2].map(() => run(place, ['backup', '--to', file])))
  assert.deepEqual(
    both.map(({ code, stderr }) => [code, stderr]),
    [
      [0, ''],
      [0, ''],
    ],
  )
  assert.deepEqual(readdirSync(folder), ['one.backup'])
  assert.match(readFileSync(file, 'utf8').split('\n').at(-2) ?? '', /^\{"end":/)
})

test('BAK-02: a named pipe is refused, and the restore does not wait for its writer', async (t) => {
  const { place } = await open(t)
  const pipe = join(place.folder, 'pipe')
  execFileSync('sh', ['-c', 'mkfifo "$0"', pipe])
  const { code, stderr } = await run(place, ['restore', '--from', pipe, '--replace'])
  assert.deepEqual([code, stderr], [1, `grantor: ${pipe} is not a regular file.\n`])
})

async function open(
  t: TestContext,
): Promise<{ readonly place: Place; readonly folder: string; readonly backUp: () => Promise<Made> }> {
  const place = await openPlace(t)
  await runJsonHere(place, ['org', 'create', 'Acme'])
  const folder = join(place.folder, 'backups')
  mkdirSync(folder, { mode: 0o700 })
  return { place, folder, backUp: () => runJsonHere<Made>(place, ['backup', '--to', folder, '--keep', '1']) }
}
